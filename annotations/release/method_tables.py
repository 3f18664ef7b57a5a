"""The tables of the method section: agreement, agreement with oneself, statistics of the kept texts."""

from collections.abc import Mapping
from typing import Any

from annotations.papers.blocks import Block, Heading, Table, Text
from annotations.papers.markdown import Say
from annotations.release.method_origin import reason, share
from core.errors import N_

Facts = Mapping[str, Any]


def number(value: float | None) -> int | float | None:
    """A number for a table: whole ones as whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


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


INTERVALS = N_(
    "Intervals hold 95 %: Wilson's for the items on which everybody agreed, a bootstrap over items for the others; the "
    "signature names the number of draws."
)


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
    return [*blocks, Text(say(INTERVALS)), Text(say(N_("Signature: {signature}"), signature=found["signature"]))]


def self_agreement(facts: Facts, say: Say) -> list[Block]:
    """Agreement of annotators with themselves, on items that came again."""
    found, asked = facts["retests"], facts["project"]
    head: list[Block] = [Heading(say(N_("Agreement with oneself")))]
    if not found["items"]:
        return [*head, Text(reason(found["same"], say)[:1].upper() + reason(found["same"], say)[1:])]
    drawn = N_("Of what each annotator had labelled, a random share of {share} came a second time.")
    later = N_(
        "Of what each annotator had labelled, a random share of {share} came a second time, at least {hours} h after "
        "the first label."
    )
    text = N_(
        "Pairs of labels compared: {items} (annotators: {people}). The share with the same choice both times is {same} "
        "(Wilson's 95 % interval), Cohen's kappa {kappa} (bootstrap over pairs)."
    )
    first = say(later if asked["retest_hours"] else drawn, share=f"{asked['retest']:.1%}", hours=asked["retest_hours"])
    values = {"items": f"{found['items']:,}", "people": found["people"]}
    values |= {"same": share(found["same"], say), "kappa": share(found["kappa"], say)}
    blocks: list[Block] = [*head, Text(say.joined(first, say(text, **values)))]
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
        (say(N_("Exact copies of another text")), copies["surplus"]),
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
        "Distinct characters are {published} of the number of entries in the vocabulary of {model} ({size}); {known} "
        "of them are among these."
    )
    published = f"{found['distinct_of_vocabulary']:.2%}"
    return say(text, model=found["model"], size=f"{found['size']:,}", published=published,
               known=f"{found['in_vocabulary']:,}")  # fmt: skip
