"""Tables and verdicts of the page Professions as HTML; every text is escaped, undefined is a dash with its reason."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from evenhand.core.association.hypotheses import BALANCED, OUTCOMES, QUESTIONS, Evidence, Verdict
from evenhand.core.association.measures import Difference, Group
from evenhand.core.association.published import Printed
from evenhand.core.charts.association import CLASS_NAMES, GENDER_NAMES
from evenhand.core.report.numbers import interval, plain_number, signed_number
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import ANSWERS, equivalence
from evenhand.pages.ui.equivalence import against, shown_from
from evenhand.pages.ui.numbers import DASH, note_text
from evenhand.pages.ui.tables import Column, below, element, joined, number_columns, span, table
from evenhand.pages.ui.text import _, in_brackets, named, paragraph

MARKS = {"yes": "✓", "half": "◐", "no": "✗", "undecided": "?"}


def _table(heads: Sequence[str], rows: Sequence[Sequence[str | Markup]], words: Sequence[int] = ()) -> Markup:
    """Columns of numbers after the first one; those at the places *words* hold words, each on one line."""
    columns = number_columns(heads, set(range(1, len(heads))) - set(words))
    return table([Column(one.name, "short") if at in words else one for at, one in enumerate(columns)], rows)


def _estimate(found: Estimate, *, lean: bool = False, after: str = "") -> Markup:
    """A value with its interval below; *lean*: in the colour of the side that it leans to; *after*: a mark."""
    if found.value is None:
        return span(DASH, title=note_text(found.reason))
    tone = ("male" if found.value > 0 else "female") if lean else ""
    value = span(signed_number(found.value) + after, f"strong {tone}" if tone else "")
    ends = interval(found.low, found.high, signed=True) or note_text(found.note)
    return joined([value, element("div", ends, "small", title=note_text(found.note))])


def class_name(kind: str) -> str:
    """A class of professions in words."""
    return _(CLASS_NAMES.get(kind, kind))


def difference_table(
    found: Sequence[Difference], without: Sequence[Difference], head: str = "", margin: float | None = None
) -> Markup:
    """W, M, M - W with interval and the thesis's W - M; a second M - W without pairs of one word. * = Holm.

    The last column holds M - W against *margin* (ln), and about the smallest one that such data show.
    """
    bare = {one.name: one for one in without}
    heads = [head or _("Professions"), "W", "M", _("M − W (ln)"), _("W − M, as in the thesis")]
    if bare:
        heads.append(_("M − W without bera/bera"))
    heads.append(_("Against the margin"))
    lines: list[list[str | Markup]] = []
    for one in found:
        star = " *" if one.stays else ""
        cells = [signed_number(one.female), signed_number(one.male), _estimate(one.estimate, lean=True, after=star)]
        cells.append(signed_number(one.w_minus_m))
        if bare:
            cells.append(_estimate(bare[one.name].estimate, lean=True) if one.name in bare else DASH)
        tested = equivalence(one.estimate, margin)
        cells.append(joined([_(ANSWERS[tested.answer]), below(shown_from(tested) or DASH)]))
        units = _("{p} professions × {w} pairs") if one.unit == "pair" else _("{p} professions × {w} words")
        drawn = units.format(p=one.professions, w=one.words)
        lines.append([joined([class_name(one.name), below(drawn)]), *cells])
    return _table(heads, lines)


def group_table(groups: Sequence[Group]) -> Markup:
    """The describe table of the thesis: mean, standard deviation, extremes and quartiles."""
    heads = [_("Professions"), "n", _("Mean"), _("SD"), _("Max"), "75%", "50%", "25%", _("Min")]
    lost = any(one.undefined for one in groups)
    heads += [_("Unscored")] if lost else []
    lines: list[list[str | Markup]] = []
    for one in groups:
        numbers = one.numbers
        rest = (numbers.std, numbers.max, numbers.q75, numbers.q50, numbers.q25, numbers.min)
        words = _(GENDER_NAMES.get(one.gender, one.gender))
        side = one.gender if one.gender in ("male", "female") else ""
        cells = [f"{numbers.n:,}", _estimate(one.mean), *(plain_number(value) for value in rest)]
        cells += [f"{one.undefined:,}"] if lost else []
        lines.append([joined([class_name(one.kind), below(span(words, side))]), *cells])
    return _table(heads, lines)


def word_table(found: pd.DataFrame, kinds: Sequence[str]) -> Markup:
    """A person word a line: pieces, mean association by class, sentences without a number."""
    heads = [_("Person word"), _("Gender"), _("Subwords"), *(_(CLASS_NAMES.get(kind, kind)) for kind in kinds)]
    heads.append(_("Unscored"))
    lines: list[list[str | Markup]] = []
    for row in found.to_dict("records"):
        gender = _(GENDER_NAMES.get(row["person_gender"], row["person_gender"]))
        means = [signed_number(_number(row.get(kind))) for kind in kinds]
        pieces = plain_number(_number(row["pieces"]), 0)
        lines.append([str(row["person_key"]).replace("_", " "), gender, pieces, *means, f"{row['undefined']:,}"])
    return _table(heads, lines, words=(1,))


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def printed_table(
    found: Sequence[Printed], verdicts: Mapping[str, Sequence[Verdict]], model: str, own: Sequence[Difference]
) -> Markup:
    """The run's own differences, then the printed ones; a flag where one does not follow, and the verdicts on print."""
    heads = [_("Model"), _("Professions"), "W", "M", "W − M", "M − W", _("Hypotheses")]
    lines: list[list[str | Markup]] = []
    for number, one in enumerate(own):
        name = joined([model, below(_("this run"))]) if number == 0 else ""
        means = [signed_number(value) for value in (one.female, one.male, one.w_minus_m)]
        lines.append([name, class_name(one.name), *means, _estimate(one.estimate, lean=True), ""])
    for row in found:
        flag = ""
        if not row.follows:
            text = _("does not follow from the reported means: {value}")
            flag = "⚠ " + text.format(value=f"{float(row.woman) - float(row.man):.3f}")
        lean = span(signed_number(row.m_minus_w), f"strong {'male' if row.m_minus_w > 0 else 'female'}")
        first = row.kind == "female"
        name = joined([row.model, below(_("as printed"))]) if first else ""
        summary = _summary(verdicts.get(row.model, ())) if first else ""
        difference = joined([_minus(row.difference), below(flag)])
        lines.append([name, class_name(row.kind), _minus(row.woman), _minus(row.man), difference, lean, summary])
    return _table(heads, lines, words=(1, 6))


def _minus(printed: str) -> str:
    """A number as printed, with a minus sign."""
    return printed.replace("-", "−")


def _summary(verdicts: Sequence[Verdict]) -> Markup:
    parts = [
        named(f"{one.name} {_reading(one)}", _(OUTCOMES[one.outcome]))
        for one in verdicts
        if (one.name, one.reading) != ("H2", "relative")
    ]
    return joined(parts, Markup("<br>"))


def _reading(one: Verdict) -> str:
    return _("literal reading") if one.reading == "literal" else _("relative reading")


def verdict_cards(found: Sequence[Verdict]) -> Markup:
    """A card a hypothesis with what it asks, the verdict in each reading and what it rests on."""
    cards = []
    for name, question in QUESTIONS.items():
        readings = [one for one in found if one.name == name]
        parts = joined(_verdict(one, alone=len(readings) == 1) for one in readings)
        inside = joined([element("h4", name), element("p", _(question), "small"), parts])
        cards.append(element("div", inside, "card"))
    return element("div", joined(cards), "cards")


def _verdict(one: Verdict, *, alone: bool) -> Markup:
    lead = "" if alone else named(_reading(one), "")
    outcome = span(f"{MARKS[one.outcome]} {_(OUTCOMES[one.outcome])}", "strong")
    sure = ""
    if one.outcome != "undecided" and one.clear is not None:
        text = _("every interval excludes 0") if one.clear else _("some intervals include 0")
        sure = in_brackets("", text)
    items = (
        [] if one.name == "H2" and one.reading == "relative" else [element("li", _item(item)) for item in one.evidence]
    )
    said = [note_text(one.remark)]
    if one.equivalence is not None and one.equivalence.smallest is not None:
        text = _("With data like these, a difference of {smallest} or more is detected in 80 of 100 cases.")
        said.append(text.format(smallest=plain_number(one.equivalence.smallest)))
    parts = [lead, outcome, span(sure, "small"), element("ul", joined(items)), below(paragraph(said))]
    return element("div", joined(parts), "part")


def _item(item: Evidence) -> str:
    name = _(CLASS_NAMES.get(item.what, item.what))
    value, ends = signed_number(item.estimate.value), interval(item.estimate.low, item.estimate.high, signed=True)
    mark = {True: "✓", False: "✗", None: ""}[item.holds]
    if item.what == BALANCED:
        mark = ""
    said = f"{value} {ends} {mark}"
    return named(name, said if item.equivalence is None else in_brackets(said, against(item.equivalence)))
