"""The tables of the method section: funnel, agreement, agreement with oneself."""

from collections.abc import Mapping
from typing import Any

from annotations.releasing.document import DASH, Block, Heading, Say, Table, Text
from core.errors import N_

Facts = Mapping[str, Any]
MOST_CELLS = 200


def share(found: Facts, say: Say) -> str:
    """An estimate with its interval; a dash and the reason where it is undefined."""
    if found["value"] is None:
        return f"{DASH} ({reason(found, say)})"
    if found["low"] is None or found["high"] is None:
        return f"{found['value']:.3f}"
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
        "{items} items came to {people} of their annotators a second time, after {hours} hours or more; the second "
        "choice was the first one in {same} of them (Wilson's 95 % interval)."
    )
    values = {"items": f"{found['items']:,}", "people": found["people"], "hours": asked["retest_hours"]}
    return [*head, Text(say(text, **values, same=share(found["same"], say)))]
