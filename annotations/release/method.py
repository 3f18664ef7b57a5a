"""The method section of a release, written from its facts: what was done, how often, and how far people agreed."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotations.papers.blocks import Block, Heading, Points, Table, Text, Verbatim
from annotations.papers.markdown import Say
from annotations.release.method_origin import funnel_blocks, share, text_blocks
from annotations.release.method_tables import (
    agreement_blocks,
    self_agreement,
    statistics_blocks,
)
from core.errors import N_
from core.language import Language

Facts = Mapping[str, Any]


def method(facts: Facts, guideline_text: str, language: Language) -> list[Block]:
    """The method section as blocks, in Chinese or English; `guideline_text` is that of the newest version."""
    say = Say(language)
    parts: tuple[list[Block], ...] = (
        _head(facts, say),
        text_blocks(facts, say),
        _pilots(facts, say),
        _criteria(facts, say),
        _labelling(facts, say),
        _time(facts, say),
        funnel_blocks(facts, say),
        agreement_blocks(facts, say),
        self_agreement(facts, say),
        _adjudication(facts, say),
        statistics_blocks(facts, say),
        _changes(facts, say),
        _rights(facts, say),
        _appendix(facts, guideline_text, say),
    )
    return [block for part in parts for block in part]


def _appendix(facts: Facts, guideline_text: str, say: Say) -> list[Block]:
    version = facts["guidelines"][-1]["version"]
    older = [Text(say(N_("Older versions are in the folder guideline/ of the release.")))] if version > 1 else []
    title = Heading(say(N_("Appendix: text of the guideline, version {version}"), version=version))
    return [title, *older, Verbatim(guideline_text)]


def _head(facts: Facts, say: Say) -> list[Block]:
    release = facts["release"]
    return [
        Heading(say(N_("Method: {project}, release {version}"), **_named(facts)), 1),
        Text(
            say(
                N_(
                    "{kept} of {reviewed} reviewed items are kept. Written from the project's database by Evenhand "
                    "{app}; contents {hash} (SHA-256)."
                ),
                kept=f"{facts['total']['kept']:,}",
                reviewed=f"{facts['total']['reviewed']:,}",
                app=facts["app"],
                hash=release["hash"],
            )
        ),
    ]


def _named(facts: Facts) -> dict[str, str]:
    return {"project": facts["project"]["name"], "version": facts["release"]["version"]}


def _pilots(facts: Facts, say: Say) -> list[Block]:
    blocks: list[Block] = [Heading(say(N_("Pilot")))]
    if not facts["pilots"]:
        return [*blocks, Text(say(N_("There was no pilot: the first version of the guideline was given.")))]
    text = N_(
        "In a pilot everybody labelled the same randomly drawn items and gave free tags, from which the criteria were "
        "made."
    )
    return [*blocks, Text(say(text)), Points(tuple(_pilot(one, say) for one in facts["pilots"]))]


def _pilot(one: Facts, say: Say) -> str:
    text = N_(
        "Pilot {number} ({days}): {items} items, {people} labels each; of {labelled} items with all labels, all "
        "accepted a share of {unanimous} (Wilson's 95 % interval). Free tags given: {tags}, different ones: {distinct}."
    )
    numbers = {key: f"{one[key]:,}" for key in ("number", "items", "people", "labelled", "tags")}
    return say(text, days=_days(one["begun"], one["closed"] or one["begun"], say), distinct=f"{one['distinct_tags']:,}",
               unanimous=share(one["unanimous"], say), **numbers)  # fmt: skip


def _days(first: str, last: str, say: Say) -> str:
    on, between = N_("on {first}"), N_("from {first} to {last}")
    first, last = first[:10], last[:10]
    return say(on, first=first) if first == last else say(between, first=first, last=last)


def _criteria(facts: Facts, say: Say) -> list[Block]:
    versions: Sequence[Mapping[str, Any]] = facts["guidelines"]
    newest = versions[-1]
    heads = (say(N_("Version")), say(N_("Written on")), say(N_("Labels that stand")))
    rows = tuple((str(one["version"]), one["created"][:10], one["labels"]) for one in versions)
    told = N_("Version {version}: {changes}")
    changed = tuple(say(told, version=one["version"], changes=one["changes"]) for one in versions if one["changes"])
    choices, reasons = (tuple(_option(one, say) for one in newest[key]) for key in ("choices", "reasons"))
    blocks: list[Block] = [Heading(say(N_("Guideline"))), Table(heads, rows)]
    if changed:
        blocks += [Text(say(N_("What changed:"))), Points(changed)]
    listed = ("；" if say.language == "zh" else "; ").join(choices)
    blocks.append(Text(say(N_("Choices: {choices}."), choices=listed)))
    if reasons:
        blocks += [Text(say(N_("Criteria (reasons of a reject, or tags):"))), Points(reasons)]
    sent = facts["events"].get("sent_back", 0)
    if sent:
        text = N_("Labels under an older version that were sent back to their annotators: {labels} (times: {times}).")
        blocks.append(Text(say(text, labels=f"{facts['sent_back']:,}", times=sent)))
    return blocks


def _option(option: Sequence[str], say: Say) -> str:
    code, zh, en = option
    return f"{(zh if say.language == 'zh' else en) or code} ({code})"


PLANS = {
    "all": N_("Each item was planned to get {labels} labels."),
    "stop": N_(
        "Labelling of an item stopped at its first reject; a random share of {share} of the items, drawn in advance "
        "and not recognisable, got all {labels} labels."
    ),
    "doubled": N_("Each item got one label, and {number} items drawn at random got {labels}."),
}
GOLD = {
    "unanimous": N_("A sentence is kept where all its labels accept it; one reject is enough to leave it out."),
    "agreed": N_("A text has a gold label where all its labels agree; the others wait for an adjudicator."),
    "majority": N_("More than half of the labels decide; a tie decides nothing."),
}
FORMS = {
    "masked": N_("The gendered word was masked on the desk at first."),
    "original": N_("Items were shown as they are."),
}
BLIND = N_(
    "Every label that counts was made before its annotator saw anything that others said; the order of the items was "
    "random (seed {seed})."
)


JOINED = N_("Annotators: {joined} joined, {labelled} labelled, {active} are active; codes stand for their names.")


def _labelling(facts: Facts, say: Say) -> list[Block]:
    asked, people = facts["project"], facts["people"]
    plan = "doubled" if asked["doubled"] is not None else asked["plan"]
    gold = "agreed" if asked["kind"] == "generations" and asked["gold"] == "unanimous" else asked["gold"]
    values = {"labels": asked["per_item"], "share": f"{asked['share']:.1%}", "number": asked["doubled"]}
    points = [
        say(JOINED, **{key: people[key] for key in ("joined", "labelled", "active")}),
        say(PLANS[plan], **values),
        say(GOLD[gold]),
        say(FORMS[asked["presentation"]]),
        say(BLIND, seed=asked["seed"]),
    ]
    if replaced := facts["events"].get("replaced", 0):
        points.append(say(N_("Annotators replaced during the work: {number}."), number=replaced))
    points.append(_known(facts["hidden_gold"], say))
    heads = (say(N_("Annotator")), say(N_("Labels that stand")), say(N_("Hours")))
    rows = tuple((one["code"], one["labels"], one["hours"]) for one in people["each"])
    return [Heading(say(N_("Labelling"))), Points(tuple(points)), *([Table(heads, rows)] if rows else [])]


def _known(found: Facts, say: Say) -> str:
    if not found["items"] and not found["labels"]:
        return say(N_("No items with known answers were mixed in."))
    text = N_(
        "Items with an answer that only the lead knew, not recognisable as such: {items}. Labels on them: {labels}; "
        "the share equal to that answer is {share} (Wilson's 95 % interval)."
    )
    return say(text, items=f"{found['items']:,}", labels=f"{found['labels']:,}", share=share(found["share"], say))


def _time(facts: Facts, say: Say) -> list[Block]:
    found = facts["labels"]
    head: list[Block] = [Heading(say(N_("Time")))]
    if not found["timed"]:
        return [*head, Text(say(found["hours_reason"]))]
    text = N_(
        "{labels} labels stand, made {days}. On the {timed} labels with a time people spent {hours} hours in all; the "
        "median is {median} seconds. A stay of more than {limit} seconds counts as {limit} (number of such stays: "
        "{breaks})."
    )
    days = _days(found["first_day"], found["last_day"], say)
    return [
        *head,
        Text(
            say(
                text, labels=f"{found['standing']:,}", days=days,
                timed=f"{found['timed']:,}", hours=f"{found['hours']:.2f}", median=f"{found['median_seconds']:.1f}",
                breaks=f"{found['breaks']:,}", limit=300,
            )
        ),
    ]  # fmt: skip


def _adjudication(facts: Facts, say: Say) -> list[Block]:
    found = facts["adjudication"]
    head: list[Block] = [Heading(say(N_("Adjudication")))]
    if not found["split"] and not found["decided"] and not found["left"]:
        return [*head, Text(say(N_("No item had differing labels.")))]
    decided = sum(found["decided"].values())
    text = N_(
        "Items whose labels differ: {split}. Decided by an adjudicator: {decided}; left as the labels have them: "
        "{left}; not looked at: {open}, for which the rule above holds."
    )
    lines = [Text(say(text, split=f"{found['split']:,}", decided=decided, left=found["left"], open=found["open"]))]
    if decided:
        names = {option[0]: _option(option, say) for option in facts["guidelines"][-1]["choices"]}
        told = ", ".join(f"{names.get(code, code)}: {number:,}" for code, number in found["decided"].items())
        lines.append(Text(say(N_("What adjudicators decided: {choices}."), choices=told)))
    if facts["project"]["kind"] == "sentences":
        rescue = (
            N_("Adjudication may accept what the labels reject (sentences kept in this way: {rescued}).")
            if facts["project"]["rescue"]
            else N_("Adjudication may not accept what the labels reject.")
        )
        lines.append(Text(say(rescue, rescued=found["rescued"])))
    return [*head, *lines]


def _changes(facts: Facts, say: Say) -> list[Block]:
    release, found = facts["release"], facts["changes"]
    head: list[Block] = [Heading(say(N_("Changes")))]
    if release["previous"] is None:
        head.append(Text(say(N_("This is the first release."))))
    else:
        text = N_(
            "Since release {version}: {added} items came into the set and {removed} left it; {gold} have another gold "
            "label. Labels: {new} new, {changed} changed, {gone} taken back. The whole list is in changes.json."
        )
        keys = {"added": "kept_added", "removed": "kept_removed", "gold": "gold_changed", "new": "labels_added",
                "changed": "labels_changed", "gone": "labels_removed"}  # fmt: skip
        numbers = {key: f"{found[name]:,}" for key, name in keys.items()}
        head.append(Text(say(text, version=release["previous"], **numbers)))
    return [*head, *([Text(release["notes"])] if release["notes"] else [])]


def _rights(facts: Facts, say: Say) -> list[Block]:
    release, asked = facts["release"], facts["project"]
    points = [
        say(N_("Licence: {licence}"), licence=asked["licence"]),
        say(N_("Release {version} of {day}."), version=release["version"], day=release["created"][:10]),
        say(N_("Hash of the contents: {hash}"), hash=release["hash"]),
    ]
    text = N_("README.md has this line, which asks to keep the set out of training data: {canary}")
    if facts["canary_in_texts"]:
        text = N_("Files with texts carry this line or its id, which asks to keep them out of training data: {canary}")
    return [Heading(say(N_("Licence and identity"))), Points((*points, say(text, canary=facts["canary"])))]
