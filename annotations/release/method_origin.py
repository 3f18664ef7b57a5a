"""Where the items of a set come from, in its method section: the text that was read, and the way to what is kept."""

from collections.abc import Mapping
from typing import Any

from annotations.papers.blocks import DASH, Block, Heading, Table, Text
from annotations.papers.markdown import Say
from core.errors import N_

Facts = Mapping[str, Any]
MOST_CELLS = 200
MOST_RUNS = 10  # whose signatures are named
MOST_FILES = 20
SIDES = {"male": N_("male word"), "female": N_("female word"), "": ""}


def share(found: Facts, say: Say) -> str:
    """An estimate with its interval; a dash and the reason where it is undefined."""
    if found["value"] is None:
        return f"{DASH} ({reason(found, say)})"
    if found["low"] is None or found["high"] is None:
        why = f" ({say(found['note'], **found['note_values'])})" if "note" in found else ""
        return f"{found['value']:.3f}{why}"
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


def reason(found: Facts, say: Say) -> str:
    """Why an estimate is undefined."""
    return say(found["value_reason"], **found["value_values"])


def text_blocks(facts: Facts, say: Say) -> list[Block]:
    """The texts: how much was read, what mining left of it, which files came in."""
    found, statement = facts["sources"], facts["project"]["source_statement"]
    kind = {"sentences": N_("sentences"), "generations": N_("texts that language models wrote")}
    came = say(
        N_("{items} {kind} came in (files: {files})."),
        items=f"{facts['total']['mined']:,}",
        kind=say(kind[facts["project"]["kind"]]),
        files=f"{found['files']:,}",
    )
    rows = tuple((name, items) for name, items in found["largest"][:MOST_FILES])
    return [
        Heading(say(N_("Texts"))),
        *([Text(statement)] if statement else []),
        *mining_blocks(facts, say),
        Text(say.joined(came, *_mined_without_run(facts, say))),
        Table((say(N_("File")), say(N_("Items"))), rows),
    ]


def _mined_without_run(facts: Facts, say: Say) -> list[str]:
    found = facts["sources"]
    if not found["mined"]:
        return []
    text = N_("{mined} of them were mined from texts with a recorded source; mining flagged {flagged} as doubtful.")
    said = [say(text, mined=f"{found['mined']:,}", flagged=f"{found['flagged']:,}")]
    if facts["mining"]["imported"] < found["mined"]:
        said.append(say(N_("Of some of these how much text was read is not recorded.")))
    return said


def mining_blocks(facts: Facts, say: Say) -> list[Block]:
    """What runs of mining read and left, in words and per pair and side; nothing where none is recorded."""
    found = facts["mining"]
    if not found["runs"]:
        return []
    read = N_(
        "Mining read {characters} characters, {sentences} sentences (files: {files}). Sentences with exactly one "
        "keyword: {one}. Filters left out {rejected} ({filters}). Candidates: {candidates}, {imported} of them came in."
    )
    numbers = {key: f"{found['read'][key]:,}" for key in ("files", "characters", "sentences")}
    numbers |= {"one": f"{found['exactly_one']:,}", "rejected": f"{sum(found['rejected'].values()):,}"}
    numbers |= {key: f"{found[key]:,}" for key in ("candidates", "imported")}
    filters = ", ".join(f"{code} {number:,}" for code, number in found["rejected"].items())
    said = [say(read, **numbers, filters=filters or DASH)]
    if not found["whole"]:
        said.append(say(N_("Only the beginning of the text was read.")))
    if len(found["runs"]) > 1:
        text = N_("These are the sums of {runs} runs; a sentence that several of them read counts in each.")
        said.append(say(text, runs=len(found["runs"])))
    signatures = list(dict.fromkeys(run["signature"] for run in found["runs"]))[:MOST_RUNS]
    return [
        Text(say.joined(*said)),
        _mined_cells(found["cells"], say),
        *(Text(say(N_("Signature: {signature}"), signature=one)) for one in signatures),
    ]


def _mined_cells(cells: Mapping[str, Facts], say: Say) -> Table:
    heads = (N_("Pair"), N_("Side"), N_("With the keyword"), N_("Exactly one keyword"), N_("Candidates"), N_("Flagged"))
    keys = ("with_keyword", "exactly_one", "candidates", "flagged_candidates")
    rows = [
        (pair, say(SIDES[side]), *(sides[side].get(key, 0) for key in keys))
        for pair, sides in cells.items()
        for side in ("male", "female")
    ]
    return Table(tuple(say(head) for head in heads), tuple(rows[:MOST_CELLS]))


COLUMNS = N_(
    "Came in: items that were imported. Reviewed: with all the labels planned for them (where labelling stops at a "
    "first reject, with that one). Share: of the reviewed items, those that all who labelled them accept, with "
    "Wilson's 95 % interval. Kept: accepted by the labels or by adjudication."
)
AGREED = N_(
    "Came in: items that were imported. Reviewed: with all the labels planned for them. Share: of the reviewed items, "
    "those on which all who labelled them agree, with Wilson's 95 % interval. Kept: with a gold label, by the labels "
    "or by adjudication."
)


def funnel_blocks(facts: Facts, say: Say) -> list[Block]:
    """How many items came in, were reviewed, were accepted by all and are kept, per pair and side."""
    quotas = any(row["quota"] is not None for row in facts["funnel"])
    heads = [N_("Pair"), N_("Side"), N_("Came in"), N_("Reviewed"), N_("All agree to keep"), N_("Share"), N_("Kept")]
    rows = [_row(row, say, quotas) for row in facts["funnel"][:MOST_CELLS]]
    rows.append(_row({"pair": say(N_("All")), "side": "", "quota": None} | facts["total"], say, quotas))
    total = facts["total"]
    text = N_("All who labelled them accept {unanimous} of {reviewed} reviewed items: {rate}.")
    if facts["project"]["kind"] == "generations":
        text = N_("All who labelled them agree on {unanimous} of {reviewed} reviewed items: {rate}.")
        heads[4] = N_("All agree")
    numbers = {key: f"{total[key]:,}" for key in ("unanimous", "reviewed")}
    return [
        Heading(say(N_("From candidates to the set"))),
        Text(say(text, rate=share(total["rate"], say), **numbers)),
        Table(tuple(say(head) for head in (*heads, *([N_("Quota")] if quotas else []))), tuple(rows)),
        Text(say(AGREED if facts["project"]["kind"] == "generations" else COLUMNS)),
    ]


def _row(row: Facts, say: Say, quotas: bool) -> tuple[object, ...]:
    side = say(SIDES[row["side"]]) if row["side"] else DASH
    counts = (row["mined"], row["reviewed"], row["unanimous"], _short(row["rate"]), row["kept"])
    return (row["pair"] or DASH, side, *counts, *([row["quota"]] if quotas else []))


def _short(found: Facts) -> str:
    """As `share`, without the reason: that nothing is reviewed stands in the column before."""
    if found["value"] is None:
        return DASH
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"
