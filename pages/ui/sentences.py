"""What the views of a project share: bars, sentences with their word marked, a guideline as its readers see it."""

from collections.abc import Iterable, Mapping, Sequence

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import frontend
from evenhand.annotations.desk.frontend import option_name
from evenhand.annotations.files.import_items import PreviewRow
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.types import CellCount, Choice, Item, Kind, Mark, Project, ProjectCounts, Question
from evenhand.core.errors import LINE_REASONS
from evenhand.core.forecast.quota import WORDS, QuotaOutcome
from evenhand.core.guidelines import changed_lines, in_language
from evenhand.core.types import Problem, Span
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.tables import Column, element, joined, span, table
from evenhand.pages.ui.text import _, in_brackets, language, named, sentence, series

AROUND = 2  # lines without a change that are shown near one
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")  # an image would fetch a foreign address
SIGNS: dict[QuotaOutcome, str] = {"none": "", "met": "✓", "yes": "✓", "no": "✗", "undecided": "?", "unknown": "?"}
TONES: dict[QuotaOutcome, str] = {"met": "good", "yes": "good", "no": "bad"}


def side_word(side: str) -> str:
    """Return the side in words, never by colour alone."""
    return _("male word") if side == "male" else _("female word")


def side_mark(side: str) -> Markup:
    """Return the side in words and in its colour."""
    return span(side_word(side), f"side {side}")


def marked(text: str, word: Span | None, side: str | None) -> Markup:
    """Return a sentence with its word tinted, underlined and named above; *word*: half-open code points, None for
    none."""
    if word is None or side not in ("male", "female"):
        return escape(text)
    start, end = word
    inside = joined([text[start:end], side_mark(side)])
    return joined([text[:start], span(inside, f"word {side}"), text[end:]])


def with_cover(item: Item) -> Markup:
    """Return a sentence whose word is covered by a bar that is as wide for every word."""
    if item.word is None:
        return escape(item.text)
    start, end = item.word
    cover = Markup('<span class="covered-word" role="img" aria-label="{}"></span>').format(_("covered word"))
    return joined([item.text[:start], cover, item.text[end:]])


def with_marks(text: str, marks: Iterable[tuple[int, int, str]], start: int = 0, stop: int | None = None) -> Markup:
    """Return *text* from *start* to *stop* with each mark (start, end, class) in it that overlaps no earlier one."""
    at, stop = start, len(text) if stop is None else stop
    parts: list[str | Markup] = []
    for first, last, kind in marks:
        if at <= first and last <= stop:
            parts += [text[at:first], element("mark", text[first:last], kind)]
            at = last
    return joined([*parts, text[at:stop]])


def with_keyword(text: str, word: Span | None, side: str | None) -> Markup:
    """Return a sentence with its word tinted, underlined and named behind it, for lines that are close to each
    other."""
    if word is None or side not in ("male", "female"):
        return escape(text)
    start, end = word
    mark = element("mark", text[start:end], f"word {side}")
    return joined([text[:start], mark, element("small", side_word(side), f"side {side}"), text[end:]])


def choice_sign(choice: str) -> tuple[str, str]:
    """Return the sign of a choice and the class of its colour: ("✓", "good"), ("✕", "bad"); ("•", "") where it is
    neither."""
    return {
        "accept": ("✓", "good"),
        "correct": ("✓", "good"),
        "reject": ("✕", "bad"),
        "misgendering": ("✕", "bad"),
    }.get(choice, ("•", ""))


def judgement(
    who: str,
    choice: str,
    names: Mapping[str, str],
    lines: Iterable[str] = (),
    note: str = "",
    *,
    right: bool | None = None,
) -> Markup:
    """Return one judgement of an item: whose or when, what in the words of *names*, why, and the note.

    *right*: whether it counts as good; None: as its choice does.
    """
    sign, tone = choice_sign(choice) if right is None else ("✓", "good") if right else ("✕", "bad")
    reasons = joined(element("li", line) for line in lines)
    parts = [
        element("div", who, "soft"),
        element("div", f"{sign} {names.get(choice, choice)}", f"choice {tone}".strip()),
        element("ul", reasons) if reasons else "",
        element("div", note, "note") if note else "",
    ]
    return element("div", joined(parts), f"judgement {tone}".strip())


def judgement_lines(
    reasons: Iterable[str],
    marks: Iterable[Mark],
    text: str,
    names: Mapping[str, str],
    *,
    extraneous: bool | None = None,
) -> list[str]:
    """Return the reasons of an annotator for a choice: the codes in words, the marked words of *text*, the flag."""
    kinds = {"pronoun": _("wrong pronoun"), "extraneous": _("gendered word")}
    lines = [names.get(code, code) for code in reasons]
    lines += [
        named(names.get(mark.kind) or kinds.get(mark.kind, mark.kind), text[mark.start : mark.end]) for mark in marks
    ]
    return [*lines, _("extraneous gendered language")] if extraneous else lines


def item_card(
    item: str, text: Markup, people: Iterable[Markup] = (), *, about: str | Markup = "", context: str | Markup = ""
) -> Markup:
    """Return a card with a text exactly as it is: what it is *about* above, then the context, the text, what people
    say."""
    said = joined(people)
    parts = [
        element("div", about, "small") if about else "",
        element("div", context, "context") if context else "",
        element("div", text, "completion"),
        element("div", said, "people") if said else "",
    ]
    return element("article", joined(parts), "card", data_item=item)


def person_meant(item: Item) -> str:
    """Return the person meant in a generation, "" for none; model and setting stay hidden, as at the desk."""
    name, sets = item.extra.get("name"), item.extra.get("pronouns") or []
    if item.context is None or not (name or sets):
        return ""
    pronouns = series(map(str, sets)) if isinstance(sets, list) else str(sets)
    return _("{name}, pronouns: {pronouns}", name=name or DASH, pronouns=pronouns or DASH)


def guideline_html(text: str) -> Markup:
    """Return a guideline as HTML: Markdown without raw HTML and without images."""
    return element("div", Markup(_MARKDOWN.render(text)), "guideline")  # noqa: S704  # the parser lets no HTML through


def choice_name(choice: Choice) -> str:
    """Return a choice or reason as the visitor reads it; in the other language where it has no name in this one."""
    return option_name(choice, language())


def options_html(options: Sequence[Choice], about: Mapping[str, str] | None = None) -> Markup:
    """Return a table of choices or reasons: key, meaning for this visitor, stored code.

    *about*: descriptions by code.
    """
    values = about or {}
    rows = [
        (element("kbd", option.key.upper()) if option.key else "", _meaning(option, values), option.code)
        for option in options
    ]
    return table((_("Key"), _("Meaning"), _("Code")), rows)


def asked_as(question: Question) -> Choice:
    """Return a question as a row of `options_html`: with its scale and what its ends are called, or as a text."""
    named = {"zh": question.zh or question.en, "en": question.en or question.zh}
    if not question.points:
        kind = _("a text")
    else:
        low, high = (
            in_brackets(getattr(question, end), name) if (name := end_name(question, end)) else getattr(question, end)
            for end in ("low", "high")
        )
        kind = f"{low} – {high}"
    kind = series([kind, _("required")]) if question.required else kind
    return Choice(question.code, question.key, *(in_brackets(named[tag], kind) for tag in ("zh", "en")))


def end_name(question: Question, end: str) -> str:
    """Return the name of an end of a scale, low or high; "" where it has none."""
    first, second = ("zh", "en") if language() == "zh" else ("en", "zh")
    name: str = getattr(question, f"{end}_{first}") or getattr(question, f"{end}_{second}")
    return name


def names_of(store: Store, project: Project, extra: Sequence[Choice] = ()) -> dict[str, str]:
    """Return codes of choices and reasons as the visitor reads them; the newest wording counts."""
    options = (option for version in guidelines(store, project) for option in version.options)
    return {option.code: choice_name(option) for option in (*options, *extra)}


def _meaning(choice: Choice, about: Mapping[str, str]) -> str | Markup:
    text = about.get(choice.code)
    return joined([choice_name(choice), element("div", text, "soft")]) if text else choice_name(choice)


def bar(parts: Iterable[tuple[str, float]]) -> Markup:
    """Return a bar of coloured parts: the class of each (good, bad, male, female, ink) and its share of the whole, 0 to
    1."""
    inside = joined(element("i", "", kind, style=f"width:{100 * share:.1f}%") for kind, share in parts)
    return element("div", inside, "bar", aria_hidden="true")


def status_bar(counts: ProjectCounts, kind: Kind = "sentences") -> Markup:
    """Return accepted, rejected and open sentences as a bar and in words; of generations, gold labels and open."""
    parts = [(_("accepted"), counts.accepted, "good"), (_("rejected"), counts.rejected, "bad")]
    if kind == "generations":
        parts = [(_("with a gold label"), counts.accepted + counts.rejected, "good")]
    named = [*((name, number) for name, number, _tone in parts), (_("still open"), counts.pending)]
    if counts.aside:
        named.append((_("set aside by all"), counts.aside))
    legend = joined(Markup("<span><b>{:,}</b> {}</span>").format(number, name) for name, number in named)
    drawn = bar((tone, number / max(1, counts.items)) for _name, number, tone in parts)
    return joined([drawn, element("div", legend, "legend")])


def by_pair(cells: Iterable[CellCount]) -> dict[str, dict[str, CellCount]]:
    """Return the cells by keyword pair, then by side."""
    pairs: dict[str, dict[str, CellCount]] = {}
    for cell in cells:
        pairs.setdefault(cell.pair, {})[cell.side] = cell
    return pairs


def quota_bars(cells: Iterable[CellCount]) -> Markup:
    """Return a table of accepted sentences per pair and side against the quota, or against all if there is none."""
    columns = (Column(_("Keyword pair")), Column(side_mark("male")), Column(side_mark("female")))
    rows = [
        (pair or DASH, _quota(sides.get("male")), _quota(sides.get("female"))) for pair, sides in by_pair(cells).items()
    ]
    return table(columns, rows, kind="quotas")


def _quota(cell: CellCount | None) -> str | Markup:
    if cell is None:
        return DASH
    whole = cell.items if cell.quota is None else cell.quota
    share = min(1.0, cell.accepted / whole) if whole else 0.0
    words = _("{accepted} of {wanted} needed") if cell.quota is not None else _("{accepted} of {wanted} sentences")
    text = words.format(accepted=f"{cell.accepted:,}", wanted=f"{whole:,}")
    return joined([bar([(cell.side, share)]), element("div", text, "legend")])


def preview_table(rows: Sequence[PreviewRow]) -> Markup:
    """Return the first rows of a file: the word that was found, or what is wrong with the row."""
    columns = (Column(_("Line"), "number"), Column(_("Sentence"), "text"))
    return table(columns, [(f"{row.line:,}", _preview(row)) for row in rows])


def _preview(row: PreviewRow) -> str | Markup:
    if row.problem is not None:
        return joined([row.text[:300], element("div", f"⚠ {problem_text(row.problem)}", "problem")])
    if row.item is not None and row.item.candidate is not None:
        candidate = row.item.candidate
        return marked(candidate.sentence, (candidate.start, candidate.end), candidate.side)
    return row.text[:300]


def problem_text(problem: Problem) -> str:
    """Return what is wrong with a line, in the visitor's language."""
    return sentence(problem.message, problem.values)


def reason_name(code: str) -> str:
    """Return in a few words why a line could not be used; an unknown code is returned as it is."""
    return _(LINE_REASONS.get(code, code))


def setting_name(setting: str) -> str:
    """Return the name of a setting (pre or post) in the visitor's language; others unchanged."""
    return {"pre": _("before the slot"), "post": _("after the slot")}.get(setting, setting)


def desk_html(markdown: str) -> Markup:
    """Return a guideline as annotators see it next to the sentence; nothing in it is read as HTML."""
    made = []
    for block in frontend.blocks(in_language(markdown, language())):
        if block["kind"] == "list":
            start = str(int(block["start"])) if block["ordered"] else ""
            points = joined(element("li", _runs(runs)) for runs in block["items"])
            made.append(element("ol" if block["ordered"] else "ul", points, start=start))
        else:
            made.append(element("h2" if block["kind"] == "head" else "p", _runs(block["runs"])))
    return element("div", joined(made), "asdesk")


def _runs(runs: Iterable[tuple[str, bool]]) -> Markup:
    return joined(element("strong", text) if strong else text for text, strong in runs)


def difference_html(old: str, new: str) -> Markup:
    """Return two texts line by line: removed lines are struck through and marked −, added ones underlined and marked
    +."""
    looks = {"-": ("−", "removed"), "+": ("+", "added")}
    rows = []
    lines = list(changed_lines(old.splitlines(), new.splitlines()))
    near = {place + step for place, line in enumerate(lines) if line[0] != " " for step in range(-AROUND, AROUND + 1)}
    for place, line in enumerate(lines):
        if place not in near:  # far from any change
            if place == 0 or place - 1 in near:
                rows.append(element("div", "…", "soft"))
            continue
        sign, look = looks.get(line[0], ("", ""))
        rows.append(element("div", joined([element("b", sign), span(line[1:], "verbatim")]), f"line {look}".strip()))
    return element("div", joined(rows), "difference")


def quota_answer(verdict: QuotaOutcome) -> Markup:
    """Return the answer to "Can it be met?" for a cell of a table, never by colour alone."""
    text = f"{SIGNS[verdict]} {_(WORDS[verdict])}".strip()
    return span(text, f"nowrap strong {TONES.get(verdict, 'soft')}")
