"""A data sheet of a project from what the database knows: what it holds, who judged it how, how far they agree.

What only people know (why, under which licence, who may be harmed) is left to be filled in, and says so.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotations.agreement import AgreementReport, agreement
from annotations.decisions import each_label_row
from annotations.funnel import funnel, mining, steps, total
from annotations.items import items as stored_items
from annotations.leaving import CANARY, needs_canary, text_may_leave
from annotations.projects import annotators, counts, guideline, guidelines
from annotations.store import Store
from annotations.types import Choice, Item, Project
from core.errors import N_
from core.guidelines import recognise
from core.language import Language, translate
from core.statistics import Estimate
from core.version import VERSION

BY_HAND = N_("To be filled in by hand.")
MOST_ROWS = 200  # of the table of cells
LONGEST = 60  # characters of a name in a table
LONGEST_ANSWER = 4_000  # of a statement of the lead


def datasheet(store: Store, project: Project, language: Language) -> str:
    """The data sheet as Markdown, in Chinese or English. It holds no text of an item and no annotator's name."""
    return datasheets(store, project, (language,))[language]


def datasheets(store: Store, project: Project, languages: Iterable[Language]) -> dict[Language, str]:
    """The data sheet in several languages; the database is read once."""
    held = _held(store, project)
    said = _said(store, project)
    way, found = mining(store, project), total(funnel(store, project))
    report = agreement(store, project) if len(said.people) > 1 else None
    sheets: dict[Language, str] = {}
    for language in languages:
        say = _Say(language)
        parts = (
            _head(project, say, held),
            _composition(project, say, held),
            _way(way, found, say),
            _judging(store, project, say, said),
            _labels(store, project, say, said),
            _agreement(report, say),
            _leaving(project, say),
            _by_hand(project, say),
        )
        sheets[language] = "\n".join(line for part in parts for line in (*part, "")).rstrip() + "\n"
    return sheets


@dataclass(slots=True)
class _Held:
    """What the items come to, counted one by one: a list of 100,000 would take a gigabyte with their labels."""

    items: int = 0
    files: set[str] = field(default_factory=set)
    cells: Counter[tuple[str, ...]] = field(default_factory=Counter)
    contexts: set[str | None] = field(default_factory=set)


@dataclass(slots=True)
class _Said:
    """What the labels that stand come to. `flags`: answers to the flag, and how many of them set it."""

    labels: int = 0
    people: set[str] = field(default_factory=set)
    choices: Counter[str] = field(default_factory=Counter)
    flags: Counter[bool] = field(default_factory=Counter)
    marks: int = 0
    tags: Counter[str] = field(default_factory=Counter)


def _held(store: Store, project: Project) -> _Held:
    held, sentences = _Held(), project.kind == "sentences"
    for item in stored_items(store, project):
        held.items += 1
        held.files.add(item.file)
        held.cells[(item.pair, str(item.side)) if sentences else _origin(item)] += 1
        if not sentences:
            held.contexts.add(item.context)
    return held


def _said(store: Store, project: Project) -> _Said:
    said = _Said()
    for row in each_label_row(store, project, which="latest"):
        said.labels += 1
        said.people.add(row["annotator"])
        said.choices[row["choice"]] += 1
        if row["extraneous"] is not None:
            said.flags[row["extraneous"]] += 1
        said.marks += len(row["spans"])
        said.tags.update(row["reasons"])
    return said


class _Say:
    """Sentences in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def __call__(self, text: str, **values: Any) -> str:
        sentence = translate(text, self.language)
        return sentence.format(**values) if values else sentence

    def choice(self, choice: Choice) -> str:
        """The words of a choice."""
        return (choice.zh if self.language == "zh" else choice.en) or choice.code


def _head(project: Project, say: _Say, held: _Held) -> list[str]:
    kinds = {"sentences": N_("sentences"), "generations": N_("texts that language models wrote")}
    kind = say(kinds[project.kind])
    return [
        "# " + say(N_("Data sheet: {project}"), project=_cell(project.name)),
        "",
        say(
            N_("{items} {kind}; files: {files}; begun on {day}; written by Evenhand {version}."),
            items=f"{held.items:,}", kind=kind, files=len(held.files), day=project.created[:10], version=VERSION,
        ),
        say(N_("Each item has a public id of 32 hexadecimal digits, the same in every file of this project.")),
    ]  # fmt: skip


def _composition(project: Project, say: _Say, held: _Held) -> list[str]:
    lines = ["## " + say(N_("What it holds")), ""]
    names: tuple[str, ...]
    if project.kind == "sentences":
        names = (N_("Keyword pair"), N_("Side"), N_("Items"))
    else:
        names = (N_("Model"), N_("Data set"), N_("Pronouns"), N_("Setting"), N_("Items"))
        text = N_("{contexts} distinct contexts; texts that share a context are not independent of each other.")
        lines += [say(text, contexts=f"{len(held.contexts):,}"), ""]
    sides = {"male": N_("male word"), "female": N_("female word")}
    rows = [(*(say(sides.get(part, part)) for part in key), number) for key, number in sorted(held.cells.items())]
    lines += _table([say(name) for name in names], rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        lines.append(say(N_("and {number} more rows"), number=len(rows) - MOST_ROWS))
    return lines


def _way(way: dict[str, Any], found: dict[str, Any], say: _Say) -> list[str]:
    rows = ((say(name), number) for name, number in steps(way, found))
    value, interval, _items = _estimate(found["rate"], say)
    text = N_(
        "Share of the reviewed items on which all agree (of sentences: to keep them), Wilson's 95 % interval: {share}."
    )
    lines = ["## " + say(N_("From candidates to the set")), "", *_table([say(N_("Step")), say(N_("Number"))], rows), ""]
    lines.append(say(text, share=value if interval == "—" else f"{value} {interval}"))
    for one in dict.fromkeys(run["signature"] for run in way["runs"]):
        lines += ["", say(N_("Signature: {signature}"), signature=f"`{one}`")]
    return lines


def _origin(item: Item) -> tuple[str, ...]:
    sets = item.extra.get("pronouns")
    pronouns = ", ".join(map(str, sets)) if isinstance(sets, list) else ""
    return (
        *(str(item.extra.get(key, "")) for key in ("model", "dataset")),
        pronouns,
        str(item.extra.get("setting", "")),
    )


def _judging(store: Store, project: Project, say: _Say, said: _Said) -> list[str]:
    shown = guideline(store, project)
    built = recognise(shown.text)
    text = say(N_("built in ({name})"), name=built) if built else say(N_("the project's own"))
    joined = len(annotators(store, project, active=False))
    lines = ["## " + say(N_("How it was judged")), ""]
    lines.append(
        "- " + say(N_("Guideline: {which}; versions: {number}."), which=text, number=len(guidelines(store, project)))
    )
    lines.append(
        "- " + say(N_("Annotators: {number}, of whom {active} have labelled."), number=joined, active=len(said.people))
    )
    if project.plan == "stop":
        lines.append("- " + say(STOPS, share=f"{project.share:.1%}", labels=project.per_item))
    elif project.doubled is None:
        lines.append("- " + say(N_("Labels wanted for each item: {number}."), number=project.per_item))
    else:
        text = N_("One label for each item, and {number} items drawn at random with {labels} labels each.")
        lines.append("- " + say(text, number=project.doubled, labels=project.per_item))
    lines.append("- " + say(N_("Order of the items: random, seed {seed}."), seed=project.seed))
    lines.append("- " + say(BLIND))
    return lines


STOPS = N_(
    "Labelling of an item stopped at its first reject; a random share of {share} of the items, drawn in advance and "
    "not recognisable, got all {labels} labels."
)
ON_SHARE = N_("Computed on the random share of items that got all their labels.")
BLIND = N_(
    "Every label was made without seeing another's label, the model's name or a rule's verdict; later ones are marked "
    "after_reveal and count neither for agreement nor for gold."
)


def _labels(store: Store, project: Project, say: _Say, said: _Said) -> list[str]:
    done, shown = counts(store, project), guideline(store, project)
    lines = ["## " + say(N_("Labels")), ""]
    numbers = {
        "labels": f"{said.labels:,}",
        "settled": f"{done.accepted + done.rejected:,}",
        "open": f"{done.pending:,}",
    }
    lines += [say(N_("{labels} labels stand; {settled} items have a gold label, {open} are open."), **numbers), ""]
    table = [(say.choice(one), one.code, said.choices[one.code]) for one in shown.choices]
    lines += _table([say(N_("Label")), say(N_("Code")), say(N_("Number"))], table)
    if said.flags:
        text = N_("Extraneous gendered language: flagged in {yes} of {all} labels that answered.")
        lines += ["", say(text, yes=f"{said.flags[True]:,}", all=f"{said.flags.total():,}")]
    if said.marks:
        lines += [
            "",
            say(N_("{marks} marked places; half-open code points of the completion."), marks=f"{said.marks:,}"),
        ]
    if said.tags:
        named = {one.code: say.choice(one) for one in shown.reasons}
        heads = [say(N_("Reason or tag")), say(N_("Code")), say(N_("Number"))]
        lines += ["", *_table(heads, [(named.get(code, code), code, n) for code, n in said.tags.most_common()])]
    return lines


def _agreement(found: AgreementReport | None, say: _Say) -> list[str]:
    lines = ["## " + say(N_("Agreement")), ""]
    if found is None:
        return [*lines, say(N_("Fewer than two people have labelled, so there is none to report."))]
    measures = (
        (N_("Items on which everybody agreed"), found.overall.unanimity),
        (N_("Krippendorff's alpha"), found.overall.alpha),
        (N_("Gwet's AC1"), found.overall.ac1),
    )
    heads = [say(N_("Measure")), say(N_("Value")), say(N_("95 % interval")), say(N_("Items"))]
    if found.on == "share":
        lines += [say(ON_SHARE), ""]
    lines += _table(heads, [(say(name), *_estimate(one, say)) for name, one in measures])
    return [*lines, "", say(N_("Signature: {signature}"), signature=f"`{found.signature}`")]


def _estimate(one: Estimate, say: _Say) -> tuple[str, str, int]:
    if one.value is None:
        return f"— ({say(str(one.reason))})", "—", one.units
    interval = "—" if one.low is None or one.high is None else f"[{one.low:.3f}, {one.high:.3f}]"
    return f"{one.value:.3f}", interval, one.units


def _leaving(project: Project, say: _Say) -> list[str]:
    lines = ["## " + say(N_("How it is passed on")), ""]
    if project.kind == "generations" and not text_may_leave(project):
        lines.append(say(N_("Texts leave in encrypted archives (AES-256) only; labels without text are in the open.")))
    else:
        lines.append(say(N_("Texts leave in plain.")))
    if needs_canary(project):
        lines += ["", say(N_("Files with text carry this line, so that they can be kept out of training data:")), ""]
        lines.append(f"    {CANARY}")
    return lines


def _by_hand(project: Project, say: _Say) -> list[str]:
    lines = ["## " + say(N_("What only people know")), ""]
    given = (
        (N_("Where do the texts come from?"), project.source_statement),
        (N_("Under which licence are texts and labels passed on?"), project.licence),
    )
    for question, answer in given:
        lines += [f"**{say(question)}** {_cell(answer, LONGEST_ANSWER) if answer else say(BY_HAND)}", ""]
    asked = (
        N_("Why was it made, and who paid for it?"),
        N_("Who are the annotators, how were they found, trained, paid and protected?"),
        N_("Whom could the texts or the labels harm, and what was done about it?"),
        N_("What is it good for, and what should nobody use it for?"),
        N_("Who keeps it, and how does one report an error?"),
    )
    for question in asked:
        lines += [f"**{say(question)}** {say(BY_HAND)}", ""]
    return lines[:-1]


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    return lines + ["| " + " | ".join(_cell(one) for one in row) + " |" for row in rows]


def _cell(value: object, longest: int = LONGEST) -> str:
    """A value that cannot break out of its cell; names from files stay names."""
    if isinstance(value, int):
        return f"{value:,}"
    text = " ".join(str(value).split())
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return text or "—"
