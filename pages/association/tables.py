"""Tables and verdicts of the page Professions as HTML; every text is escaped, undefined is a dash with its reason."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.association.hypotheses import BALANCED, OUTCOMES, Evidence, Verdict
from core.association.measures import Difference, Group
from core.association.published import Printed
from core.charts.association import CLASS_NAMES, GENDER_NAMES
from core.report.numbers import interval, plain_number, signed_number
from core.report.table_lines import note_text
from core.statistics import Estimate
from pages.ui.language import _
from pages.ui.numbers import DASH

MARKS = {"yes": "✓", "half": "◐", "no": "✗", "undecided": "?"}


def _table(heads: Sequence[str], lines: Sequence[str]) -> str:
    shown = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in heads)
    return (
        f'<div class="prof-scroll" tabindex="0"><table class="prof-table"><thead><tr>{shown}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _row(name: str, cells: Sequence[str]) -> str:
    return f'<tr><td class="l">{name}</td>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _estimate(found: Estimate, *, lean: bool = False, after: str = "") -> str:
    """A value with its interval below; *lean*: in the colour of the side that it leans to; *after*: a mark."""
    if found.value is None:
        return f'<span title="{html.escape(note_text(found.reason, _), quote=True)}">{DASH}</span>'
    text = signed_number(found.value) + after
    if lean:
        text = f'<span class="{"m" if found.value > 0 else "f"}">{text}</span>'
    span = interval(found.low, found.high, signed=True) or note_text(found.note, _)
    return f'{text}<small title="{html.escape(note_text(found.note, _), quote=True)}">{html.escape(span)}</small>'


def class_name(kind: str) -> str:
    """A class of professions in words, escaped."""
    return html.escape(_(CLASS_NAMES.get(kind, kind)))


def difference_table(found: Sequence[Difference], without: Sequence[Difference], head: str = "") -> str:
    """W, M, M - W with interval and the thesis's W - M; a second M - W without pairs of one word. * = Holm."""
    bare = {one.name: one for one in without}
    heads = [head or _("Professions"), "W", "M", _("M − W (ln)"), _("W − M, as the thesis has it")]
    if bare:
        heads.append(_("M − W without bera/bera"))
    lines = []
    for one in found:
        star = " *" if one.stays else ""
        cells = [signed_number(one.female), signed_number(one.male), _estimate(one.estimate, lean=True, after=star)]
        cells.append(signed_number(one.w_minus_m))
        if bare:
            cells.append(_estimate(bare[one.name].estimate, lean=True) if one.name in bare else DASH)
        units = _("{p} professions × {w} pairs") if one.unit == "pair" else _("{p} professions × {w} words")
        drawn = html.escape(units.format(p=one.professions, w=one.words))
        lines.append(_row(f"{class_name(one.name)}<small>{drawn}</small>", cells))
    return _table(heads, lines)


def group_table(groups: Sequence[Group]) -> str:
    """The describe table of the thesis: mean, standard deviation, extremes and quartiles."""
    heads = [_("Professions"), "n", _("Mean"), _("Std"), _("Max"), "75 %", "50 %", "25 %", _("Min")]
    lost = any(one.undefined for one in groups)
    heads += [_("without a number")] if lost else []
    lines = []
    for one in groups:
        numbers = one.numbers
        rest = (numbers.std, numbers.max, numbers.q75, numbers.q50, numbers.q25, numbers.min)
        words = html.escape(_(GENDER_NAMES.get(one.gender, one.gender)))
        side = {"male": "m", "female": "f"}.get(one.gender, "")
        cells = [f"{numbers.n:,}", _estimate(one.mean), *(plain_number(value) for value in rest)]
        cells += [f"{one.undefined:,}"] if lost else []
        lines.append(_row(f'{class_name(one.kind)}<small><span class="{side}">{words}</span></small>', cells))
    return _table(heads, lines)


def word_table(found: pd.DataFrame, kinds: Sequence[str]) -> str:
    """A person word a line: pieces, mean association by class, sentences without a number."""
    heads = [_("Person word"), _("Person words"), _("Pieces"), *(_(CLASS_NAMES.get(kind, kind)) for kind in kinds)]
    heads.append(_("without a number"))
    lines = []
    for row in found.to_dict("records"):
        gender = html.escape(_(GENDER_NAMES.get(row["person_gender"], row["person_gender"])))
        means = [signed_number(_number(row.get(kind))) for kind in kinds]
        pieces = plain_number(_number(row["pieces"]), 0)
        lines.append(_row(html.escape(str(row["person_key"])), [gender, pieces, *means, f"{row['undefined']:,}"]))
    return _table(heads, lines)


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def printed_table(
    found: Sequence[Printed], verdicts: Mapping[str, Sequence[Verdict]], model: str, own: Sequence[Difference]
) -> str:
    """The run's own differences, then the printed ones; a flag where one does not follow, and the verdicts on print."""
    heads = [_("Model"), _("Professions"), "W", "M", "W − M", "M − W", _("Hypotheses")]
    lines, here, on_paper = [], html.escape(_("this run")), html.escape(_("as printed"))
    for number, one in enumerate(own):
        name = f"{html.escape(model)}<small>{here}</small>" if number == 0 else ""
        means = [signed_number(value) for value in (one.female, one.male, one.w_minus_m)]
        lines.append(_row(name, [class_name(one.name), *means, _estimate(one.estimate, lean=True), ""]))
    for row in found:
        flag = ""
        if not row.follows:
            why = _("does not follow from the printed means: {value}").format(
                value=f"{float(row.woman) - float(row.man):.3f}"
            )
            flag = f'<small class="wrap">⚠ {html.escape(why)}</small>'
        lean = f'<span class="{"m" if row.m_minus_w > 0 else "f"}">{signed_number(row.m_minus_w)}</span>'
        first = row.kind == "female"
        name = f"{html.escape(row.model)}<small>{on_paper}</small>" if first else ""
        summary = _summary(verdicts.get(row.model, ())) if first else ""
        cells = [class_name(row.kind), _minus(row.woman), _minus(row.man), _minus(row.difference) + flag, lean, summary]
        lines.append(_row(name, cells))
    return _table(heads, lines)


def _minus(printed: str) -> str:
    """A number as printed, with a minus sign."""
    return html.escape(printed.replace("-", "−"))


def _summary(verdicts: Sequence[Verdict]) -> str:
    parts = [
        f"{one.name} {_reading(one)}: {html.escape(_(OUTCOMES[one.outcome]))}"
        for one in verdicts
        if (one.name, one.reading) != ("H2", "relative")
    ]
    return "<br>".join(parts)


def _reading(one: Verdict) -> str:
    return html.escape(_("literally") if one.reading == "literal" else _("relatively"))


def verdict_cards(found: Sequence[Verdict]) -> str:
    """A card a hypothesis with what it asks, the verdict in each reading and what it rests on."""
    asks = {
        "H1": _("Professions of a gender raise the words of that gender."),
        "H2": _("Professions of a gender lower the words of the other gender."),
        "H3": _("Balanced professions make no difference."),
        "H4": _("Multilingual models differ less than monolingual ones."),
    }
    cards = []
    for name, question in asks.items():
        readings = [one for one in found if one.name == name]
        inner = "".join(_verdict(one, alone=len(readings) == 1) for one in readings)
        cards.append(
            f'<div class="prof-verdict"><h4>{name}</h4><p class="asks">{html.escape(question)}</p>{inner}</div>'
        )
    return f'<div class="prof-verdicts">{"".join(cards)}</div>'


def _verdict(one: Verdict, *, alone: bool) -> str:
    lead = "" if alone else f"{_reading(one)}: "
    outcome = f"{MARKS[one.outcome]} {html.escape(_(OUTCOMES[one.outcome]))}"
    sure = ""
    if one.outcome != "undecided" and one.clear is not None:
        text = _("every interval excludes 0") if one.clear else _("not every interval excludes 0")
        sure = f" <small>({html.escape(text)})</small>"
    items = "" if one.name == "H2" and one.reading == "relative" else "".join(_item(item) for item in one.evidence)
    why = f'<p class="why">{html.escape(note_text(one.remark, _))}</p>' if one.remark else ""
    return f'<div>{lead}<span class="outcome">{outcome}</span>{sure}<ul>{items}</ul>{why}</div>'


def _item(item: Evidence) -> str:
    name = _(CLASS_NAMES.get(item.what, item.what))
    value, span = signed_number(item.estimate.value), interval(item.estimate.low, item.estimate.high, signed=True)
    mark = {True: "✓", False: "✗", None: ""}[item.holds]
    if item.what == BALANCED:
        mark = ""
    return f"<li>{html.escape(name)}: {value} {html.escape(span)} {mark}</li>"
