"""The tables of the method section: funnel, agreement, agreement with oneself."""

from collections.abc import Mapping
from typing import Any

from annotations.releasing.blocks import DASH, Block, Heading, Table, Text
from annotations.releasing.document import Say
from core.errors import N_

Facts = Mapping[str, Any]
MOST_CELLS = 200


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


def number(value: float | None) -> int | float | None:
    """A number for a table: whole ones as whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def funnel_blocks(facts: Facts, say: Say) -> list[Block]:
    """How many items came in, were reviewed, were accepted by all and are kept, per pair and side."""
    heads = (N_("Pair"), N_("Side"), N_("Came in"), N_("Reviewed"), N_("All agree to keep"), N_("Kept"), N_("Quota"))
    sides = {"male": N_("male word"), "female": N_("female word"), "": ""}
    rows = [
        (row["pair"] or DASH, say(sides[row["side"]]) if row["side"] else DASH, row["mined"], row["reviewed"],
         row["unanimous"], row["kept"], row["quota"])
        for row in facts["funnel"][:MOST_CELLS]
    ]  # fmt: skip
    total = facts["total"]
    rows.append((say(N_("All")), DASH, *(total[key] for key in ("mined", "reviewed", "unanimous", "kept")), None))
    text = N_("Of the reviewed items {rate} were accepted by all who labelled them (Wilson's 95 % interval).")
    if facts["project"]["kind"] == "generations":
        text = N_("On {rate} of the reviewed items all who labelled them agree (Wilson's 95 % interval).")
    return [
        Heading(say(N_("From candidates to the set"))),
        Text(say(text, rate=share(total["rate"], say))),
        Table(tuple(say(head) for head in heads), tuple(rows)),
    ]


MEASURES = (
    (N_("Items on which everybody agreed"), "percent"),
    (N_("Two annotators agree"), "pairwise_percent"),
    (N_("Fleiss' kappa"), "fleiss_kappa"),
    (N_("Krippendorff's alpha"), "krippendorff_alpha"),
    (N_("Gwet's AC1"), "gwet_ac1"),
)
ON = {
    "all": N_(
        "Agreement is computed on the blind labels of all reviewed items, before anything was filtered: {items} items, "
        "{labels} labels."
    ),
    "share": N_(
        "Agreement is computed on the blind labels of the random share that got all its labels, before anything was "
        "filtered: {items} items, {labels} labels."
    ),
}


def agreement_blocks(facts: Facts, say: Say) -> list[Block]:
    """Agreement between people, with intervals, and by version of the guideline."""
    found = facts["agreement"]
    heads = (say(N_("Measure")), say(N_("Value and 95 % interval")), say(N_("Items")))
    rows = tuple((say(name), share(found[key], say), found[key]["n"]) for name, key in MEASURES)
    items, labels = f"{found['items']:,}", f"{found['labels']:,}"
    blocks: list[Block] = [
        Heading(say(N_("Agreement before filtering"))),
        Text(say(ON[found["on"]], items=items, labels=labels)),
        Table(heads, rows),
    ]
    if len(found["by_version"]) > 1:
        blocks.append(
            Table(
                (say(N_("Version of the guideline")), say(N_("Items")), *(say(name) for name, _ in MEASURES[::3])),
                tuple(
                    (str(one["version"]), one["items"], *(share(one[key], say) for _, key in MEASURES[::3]))
                    for one in found["by_version"]
                ),
            )
        )
    return [*blocks, Text(say(N_("Signature: {signature}"), signature=found["signature"]))]


def self_agreement(facts: Facts, say: Say) -> list[Block]:
    """Agreement of annotators with themselves, on items that came again."""
    found, asked = facts["retests"], facts["project"]
    head: list[Block] = [Heading(say(N_("Agreement with oneself")))]
    if not found["items"]:
        return [*head, Text(reason(found["same"], say)[:1].upper() + reason(found["same"], say)[1:])]
    text = N_(
        "Items came to their own annotators a second time, at least {hours} h after the first label (compared: "
        "{items}; annotators: {people}). The share with the same choice both times is {same} (Wilson's 95 % interval), "
        "Cohen's kappa {kappa}."
    )
    values = {"items": f"{found['items']:,}", "people": found["people"], "hours": asked["retest_hours"]}
    values |= {"same": share(found["same"], say), "kappa": share(found["kappa"], say)}
    blocks: list[Block] = [*head, Text(say(text, **values))]
    if left := found["other_guideline"] + found["seen"]:
        why = N_("Left out: {number}, because the guideline had changed or labels of others had been seen in between.")
        blocks.append(Text(say(why, number=left)))
    return [*blocks, Text(say(N_("Signature: {signature}"), signature=found["signature"]))]


def statistics_blocks(facts: Facts, say: Say) -> list[Block]:
    """Characters, lengths, balance and vocabulary of the kept texts."""
    found = facts["statistics"]
    head: list[Block] = [Heading(say(N_("The kept texts")))]
    if not found["sentences"]:
        return [*head, Text(say(N_("No text is kept.")))]
    length, characters, copies = found["length"], found["characters"], found["duplicates"]["exact"]
    rows = [
        (say(N_("Texts")), found["sentences"]),
        (say(N_("Characters")), characters["total"]),
        (say(N_("Distinct characters")), characters["distinct"]),
        (say(N_("Shortest")), length["min"]),
        (say(N_("Median")), number(length["median"])),
        (say(N_("Mean")), None if length["mean"] is None else round(length["mean"], 2)),
        (say(N_("Longest")), length["max"]),
        (say(N_("Texts that stand in the set already")), copies["surplus"]),
    ]
    if facts["project"]["kind"] == "sentences":
        rows += [(say(N_("With a male word")), found["male"]), (say(N_("With a female word")), found["female"])]
    common = ", ".join(f"{one['character']} {one['count']:,}" for one in characters["commonest"])
    blocks = [
        *head,
        Table((say(N_("What is counted")), say(N_("Number"))), tuple(rows)),
        Text(say(N_("Lengths are counted in characters (Unicode code points)."))),
        Text(say(N_("Commonest characters: {characters}."), characters=common)),
    ]
    if found["vocabulary"] is not None:
        blocks.append(Text(_vocabulary(found["vocabulary"], say)))
    return [*blocks, Text(say(N_("Signature: {signature}"), signature=found["signature"]))]


def _vocabulary(found: Facts, say: Say) -> str:
    text = N_(
        "Beside the vocabulary of {model} ({size} entries) the distinct characters are {published}; {known} of them "
        "are in it."
    )
    published = f"{found['distinct_of_vocabulary']:.2%}"
    return say(text, model=found["model"], size=f"{found['size']:,}", published=published,
               known=f"{found['in_vocabulary']:,}")  # fmt: skip
