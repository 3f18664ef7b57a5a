"""The method section of a release, written from its facts: what was done, how often, and how far people agreed."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotations.releasing.blocks import Block, Heading, Points, Table, Text, Verbatim
from annotations.releasing.document import Say
from annotations.releasing.method_numbers import (
    agreement_blocks,
    funnel_blocks,
    self_agreement,
    share,
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
        _texts(facts, say),
        _pilots(facts, say),
        _criteria(facts, say),
        _labelling(facts, say),
        _time(facts, say),
        funnel_blocks(facts, say),
        agreement_blocks(facts, say),
        self_agreement(facts, say),
        _adjudication(facts, say),
        statistics_blocks(facts, say),
        _rights(facts, say),
        [Heading(say(N_("Appendix: text of the guideline"))), Verbatim(guideline_text)],
    )
    return [block for part in parts for block in part]


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


def _texts(facts: Facts, say: Say) -> list[Block]:
    found = facts["sources"]
    kind = {"sentences": N_("sentences"), "generations": N_("texts that language models wrote")}
    lines = [
        say(
            N_("{items} {kind} came in (files: {files})."),
            items=f"{facts['total']['mined']:,}",
            kind=say(kind[facts["project"]["kind"]]),
            files=f"{found['files']:,}",
        )
    ]
    if found["mined"]:
        text = N_("{mined} of them were mined from texts with a recorded source; mining flagged {flagged} as doubtful.")
        lines.append(say(text, mined=f"{found['mined']:,}", flagged=f"{found['flagged']:,}"))
    rows = tuple((name, items) for name, items in found["largest"][:20])
    heads = (say(N_("File")), say(N_("Items")))
    statement = facts["project"]["source_statement"]
    return [
        Heading(say(N_("Texts"))),
        Text(" ".join(lines) if say.language == "en" else "".join(lines)),
        *([Text(statement)] if statement else []),
        Table(heads, rows),
    ]


def _pilots(facts: Facts, say: Say) -> list[Block]:
    blocks: list[Block] = [Heading(say(N_("Pilot")))]
    if not facts["pilots"]:
        return [*blocks, Text(say(N_("There was no pilot: the first version of the guideline was given.")))]
    heads = (N_("Pilot"), N_("Items"), N_("Labels each"), N_("Fully labelled"), N_("All accept"), N_("Free tags"),
             N_("Different tags"), N_("From"), N_("To"))  # fmt: skip
    rows = tuple(
        (str(one["number"]), one["items"], one["people"], one["labelled"], share(one["unanimous"], say), one["tags"],
         one["distinct_tags"], one["begun"][:10], (one["closed"] or "")[:10])
        for one in facts["pilots"]
    )  # fmt: skip
    text = N_(
        "In a pilot everybody labelled the same randomly drawn items and gave free tags, from which the criteria were "
        "made."
    )
    return [*blocks, Text(say(text)), Table(tuple(say(head) for head in heads), rows)]


def _criteria(facts: Facts, say: Say) -> list[Block]:
    versions: Sequence[Mapping[str, Any]] = facts["guidelines"]
    newest = versions[-1]
    heads = (say(N_("Version")), say(N_("Written on")), say(N_("Labels that stand")), say(N_("What changed")))
    rows = tuple((str(one["version"]), one["created"][:10], one["labels"], one["changes"]) for one in versions)
    choices, reasons = (tuple(_option(one, say) for one in newest[key]) for key in ("choices", "reasons"))
    blocks: list[Block] = [Heading(say(N_("Guideline"))), Table(heads, rows)]
    listed = ("；" if say.language == "zh" else "; ").join(choices)
    blocks.append(Text(say(N_("Choices: {choices}."), choices=listed)))
    if reasons:
        blocks += [Text(say(N_("Criteria (reasons of a reject, or tags):"))), Points(reasons)]
    sent = facts["events"].get("sent_back", 0)
    if sent:
        once = N_("Labels made under an older version were sent back to their annotators once.")
        text = N_("Labels made under an older version were sent back to their annotators {times} times.")
        blocks.append(Text(say(once) if sent == 1 else say(text, times=sent)))
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


def _labelling(facts: Facts, say: Say) -> list[Block]:
    asked, people = facts["project"], facts["people"]
    plan = "doubled" if asked["doubled"] is not None else asked["plan"]
    gold = "agreed" if asked["kind"] == "generations" and asked["gold"] == "unanimous" else asked["gold"]
    values = {"labels": asked["per_item"], "share": f"{asked['share']:.1%}", "number": asked["doubled"]}
    points = [
        say(N_("Annotators: {joined} joined, {labelled} labelled, {active} are active."), **people),
        say(PLANS[plan], **values),
        say(GOLD[gold]),
        say(FORMS[asked["presentation"]]),
        say(BLIND, seed=asked["seed"]),
    ]
    if replaced := facts["events"].get("replaced", 0):
        points.append(say(N_("Annotators replaced during the work: {number}."), number=replaced))
    return [Heading(say(N_("Labelling"))), Points(tuple(points))]


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
    first, last = found["first_day"], found["last_day"]
    on, between = N_("on {first}"), N_("from {first} to {last}")
    days = say(on, first=first) if first == last else say(between, first=first, last=last)
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
        "{left}; not looked at: {open}."
    )
    lines = [Text(say(text, split=f"{found['split']:,}", decided=decided, left=found["left"], open=found["open"]))]
    if facts["project"]["kind"] == "sentences":
        rescue = (
            N_("Adjudication may accept what the labels reject (sentences kept in this way: {rescued}).")
            if facts["project"]["rescue"]
            else N_("Adjudication may not accept what the labels reject.")
        )
        lines.append(Text(say(rescue, rescued=found["rescued"])))
    return [*head, *lines]


def _rights(facts: Facts, say: Say) -> list[Block]:
    release, asked = facts["release"], facts["project"]
    return [
        Heading(say(N_("Licence and identity"))),
        Points(
            (
                say(N_("Licence: {licence}"), licence=asked["licence"]),
                say(N_("Release {version} of {day}."), version=release["version"], day=release["created"][:10]),
                say(N_("Hash of the contents: {hash}"), hash=release["hash"]),
                say(N_("Line that asks to keep the texts out of training data: {canary}"), canary=facts["canary"]),
            )
        ),
    ]
