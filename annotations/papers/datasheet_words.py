"""The words of a data sheet: what was read of a project as blocks, in Chinese or English.

What only people know (why, under which licence, who may be harmed) is left to be filled in, and says so.
"""

from annotations.agreement.report import AgreementReport
from annotations.papers.blocks import Answered, Block, Heading, Points, Table, Text, Verbatim
from annotations.papers.datasheet_facts import Known
from annotations.papers.markdown import Say
from annotations.progress.funnel import steps
from annotations.text_policy import CANARY, needs_canary, text_may_leave
from annotations.types import Choice, Project
from core.errors import N_
from core.guidelines import recognise
from core.language import Language
from core.statistics import Estimate, Note
from core.version import VERSION

BY_HAND = N_("To be filled in by hand.")
MOST_ROWS = 200  # of the table of cells
KINDS = {"sentences": N_("sentences"), "generations": N_("texts that language models wrote")}
SIDES = {"male": N_("male word"), "female": N_("female word")}


def sheet_blocks(known: Known, language: Language) -> list[Block]:
    """The data sheet. It holds no text of an item and no annotator's name."""
    say = Say(language)
    parts: tuple[list[Block], ...] = (
        _head(known, say),
        _composition(known, say),
        _way(known, say),
        _judging(known, say),
        _labels(known, say),
        _agreement(known.agreement, say),
        _leaving(known.project, say),
        _by_hand(known.project, say),
    )
    return [block for part in parts for block in part]


def _head(known: Known, say: Say) -> list[Block]:
    text = N_("{items} {kind}; files: {files}; begun on {day}; written by Evenhand {version}.")
    project, held = known.project, known.held
    numbers = {"items": f"{held.items:,}", "files": f"{len(held.files):,}"}
    first = say(text, kind=say(KINDS[project.kind]), day=project.created[:10], version=VERSION, **numbers)
    ids = say(N_("Each item has a public id of 32 hexadecimal digits, the same in every file of this project."))
    return [
        Heading(say(N_("Data sheet: {project}"), project=project.name), 1),
        Text(say.joined(first, ids)),
    ]


def _composition(known: Known, say: Say) -> list[Block]:
    held, sentences = known.held, known.project.kind == "sentences"
    blocks: list[Block] = [Heading(say(N_("What it holds")))]
    names: tuple[str, ...]
    if sentences:
        names = (N_("Keyword pair"), N_("Side"), N_("Items"))
    else:
        names = (N_("Model"), N_("Data set"), N_("Pronouns"), N_("Setting"), N_("Items"))
        text = N_("{contexts} distinct contexts; texts that share a context are not independent of each other.")
        blocks.append(Text(say(text, contexts=f"{len(held.contexts):,}")))
    cells = sorted(held.cells.items())
    # Names from files stay as they are, also where one of them is a word of this sheet.
    rows = [(*((key[0], say(SIDES.get(key[1], key[1]))) if sentences else key), number) for key, number in cells]
    shown = tuple(tuple(part if part != "" else None for part in row) for row in rows[:MOST_ROWS])
    blocks.append(Table(tuple(say(name) for name in names), shown))
    if len(rows) > MOST_ROWS:
        blocks.append(Text(say(N_("and {number} more rows"), number=f"{len(rows) - MOST_ROWS:,}")))
    return blocks


def _way(known: Known, say: Say) -> list[Block]:
    text = N_(
        "Share of the reviewed items on which all agree (of sentences: to keep them), Wilson's 95 % interval: {share}."
    )
    value, interval, _items = _estimate(known.found["rate"], say)
    rows = tuple((say(name), number) for name, number in steps(known.way, known.found))
    return [
        Heading(say(N_("From candidates to the set"))),
        Table((say(N_("Step")), say(N_("Number"))), rows),
        Text(say(text, share=value if interval is None else f"{value} {interval}")),
        *(_signature(one, say) for one in dict.fromkeys(run["signature"] for run in known.way["runs"])),
    ]


def _signature(signature: str, say: Say) -> Text:
    return Text(say(N_("Signature: {signature}"), signature=signature))


STOPS = N_(
    "Labelling of an item stopped at its first reject; a random share of {share} of the items, drawn in advance and "
    "not recognisable, got all {labels} labels."
)
ON_SHARE = N_("Computed on the random share of items that got all their labels.")
BLIND = N_(
    "Every label was made without seeing another's label, the model's name or a rule's verdict; later ones are marked "
    "after_reveal and count neither for agreement nor for gold."
)


def _judging(known: Known, say: Say) -> list[Block]:
    project, said = known.project, known.said
    built = recognise(known.guideline.text)
    which = say(N_("built in ({name})"), name=built) if built else say(N_("the project's own"))
    joined = N_("Annotators: {number}, of whom {active} have labelled.")
    points = (
        say(N_("Guideline: {which}; versions: {number}."), which=which, number=known.versions),
        say(joined, number=known.joined, active=len(said.people)),
        _plan(project, say),
        say(N_("Order of the items: random, seed {seed}."), seed=project.seed),
        say(BLIND),
    )
    return [Heading(say(N_("How it was judged"))), Points(points)]


def _plan(project: Project, say: Say) -> str:
    if project.plan == "stop":
        return say(STOPS, share=f"{project.share:.1%}", labels=project.per_item)
    if project.doubled is None:
        return say(N_("Labels wanted for each item: {number}."), number=project.per_item)
    text = N_("One label for each item, and {number} items drawn at random with {labels} labels each.")
    return say(text, number=f"{project.doubled:,}", labels=project.per_item)


def _labels(known: Known, say: Say) -> list[Block]:
    said, done = known.said, known.counts
    numbers = {
        "labels": f"{said.labels:,}",
        "settled": f"{done.accepted + done.rejected:,}",
        "open": f"{done.pending:,}",
    }
    rows = tuple((_name(one, say), one.code, said.choices[one.code]) for one in known.guideline.choices)
    blocks: list[Block] = [
        Heading(say(N_("Labels"))),
        Text(say(N_("{labels} labels stand; {settled} items have a gold label, {open} are open."), **numbers)),
        Table((say(N_("Label")), say(N_("Code")), say(N_("Number"))), rows),
    ]
    if said.flags:
        text = N_("Extraneous gendered language: flagged in {yes} of {all} labels that answered.")
        blocks.append(Text(say(text, yes=f"{said.flags[True]:,}", all=f"{said.flags.total():,}")))
    if said.marks:
        text = N_("{marks} marked places; half-open code points of the completion.")
        blocks.append(Text(say(text, marks=f"{said.marks:,}")))
    if said.tags:
        named = {one.code: _name(one, say) for one in known.guideline.reasons}
        heads = (say(N_("Reason or tag")), say(N_("Code")), say(N_("Number")))
        tags = tuple((named.get(code, code), code, number) for code, number in said.tags.most_common())
        blocks.append(Table(heads, tags))
    return blocks


def _name(choice: Choice, say: Say) -> str:
    return (choice.zh if say.language == "zh" else choice.en) or choice.code


def _agreement(found: AgreementReport | None, say: Say) -> list[Block]:
    blocks: list[Block] = [Heading(say(N_("Agreement")))]
    if found is None:
        return [*blocks, Text(say(N_("Fewer than two people have labelled, so there is none to report.")))]
    measures = (
        (N_("Items on which everybody agreed"), found.overall.unanimity),
        (N_("Krippendorff's alpha"), found.overall.alpha),
        (N_("Gwet's AC1"), found.overall.ac1),
    )
    if found.on == "share":
        blocks.append(Text(say(ON_SHARE)))
    heads = (say(N_("Measure")), say(N_("Value")), say(N_("95 % interval")), say(N_("Items")))
    table = Table(heads, tuple((say(name), *_estimate(one, say)) for name, one in measures))
    return [*blocks, table, _signature(found.signature, say)]


def _estimate(one: Estimate, say: Say) -> tuple[str, str | None, int]:
    """Value, interval and number of items; a dash and why where there is no value."""
    if one.value is None:
        return f"— ({_note(one.reason, say)})" if one.reason else "—", None, one.units
    if one.low is None or one.high is None:
        return f"{one.value:.3f}", f"— ({_note(one.note, say)})" if one.note else None, one.units
    return f"{one.value:.3f}", f"[{one.low:.3f}, {one.high:.3f}]", one.units


def _note(note: Note, say: Say) -> str:
    return say(note.message, **note.values)


def _leaving(project: Project, say: Say) -> list[Block]:
    locked = project.kind == "generations" and not text_may_leave(project)
    text = (
        N_("Texts leave in encrypted archives (AES-256) only; labels without text are in the open.")
        if locked
        else N_("Texts leave in plain.")
    )
    blocks: list[Block] = [Heading(say(N_("How it is passed on"))), Text(say(text))]
    if needs_canary(project):
        line = N_("Files with text carry this line, so that they can be kept out of training data:")
        blocks += [Text(say(line)), Verbatim(CANARY)]
    return blocks


def _by_hand(project: Project, say: Say) -> list[Block]:
    questions = (
        (N_("Where do the texts come from?"), project.source_statement),
        (N_("Under which licence are texts and labels passed on?"), project.licence),
        (N_("Why was it made, and who paid for it?"), ""),
        (N_("Who are the annotators, how were they found, trained, paid and protected?"), ""),
        (N_("Whom could the texts or the labels harm, and what was done about it?"), ""),
        (N_("What is it good for, and what should nobody use it for?"), ""),
        (N_("Who keeps it, and how does one report an error?"), ""),
    )
    answers = (Answered(say(question), answer or say(BY_HAND)) for question, answer in questions)
    return [Heading(say(N_("What only people know"))), *answers]
