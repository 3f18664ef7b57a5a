"""How the page Ruler writes numbers, reasons and tables of sentences."""

import html
from collections.abc import Sequence

import streamlit as st

from core.models.planted.names import RAIN, PlantedModel
from pages.ui.language import _
from pages.ui.numbers import number

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SHORT = 17  # characters: "+0.300 → +0.300" stays in one line

SHEET = """<style>
.ruler-table { border-collapse: collapse; width: 100%; font-size: .92rem; line-height: 1.4 }
.ruler-table th { text-align: left; font-weight: 500; opacity: .75 }
.ruler-table th, .ruler-table td { padding: .38em .7em .38em 0; vertical-align: top;
  border-bottom: 1px solid color-mix(in srgb, currentColor 16%, transparent); font-variant-numeric: tabular-nums }
.ruler-table .short { white-space: nowrap }
@media (max-width: 640px) {
  .ruler-table thead { position: absolute; left: -9999px }
  .ruler-table tr { display: block; padding: .5em 0;
    border-bottom: 1px solid color-mix(in srgb, currentColor 30%, transparent) }
  .ruler-table td { display: flex; gap: .8em; border: 0; padding: .1em 0 }
  .ruler-table td::before { content: attr(data-label); flex: 0 0 38%; opacity: .75 }
}
</style>"""


def sentences_table(rows: Sequence[dict[str, str]]) -> None:
    """A table whose cells wrap; on a narrow screen every row becomes a card. Text is shown exactly as it is."""
    if not rows:
        return
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in rows[0])
    body = "".join(f"<tr>{''.join(_cell(name, cell) for name, cell in row.items())}</tr>" for row in rows)
    st.html(f'{SHEET}<table class="ruler-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')


def _cell(name: str, cell: str) -> str:
    kind = ' class="short"' if len(cell) <= SHORT else ""
    return f'<td data-label="{html.escape(name, quote=True)}"{kind}><span>{html.escape(cell)}</span></td>'


def scientific(value: float, digits: int) -> str:
    """A very small number as people write it: 1 × 10⁻⁷."""
    head, power = f"{value:.{digits}e}".split("e")
    return f"{head} × 10{str(int(power)).translate(RAISED)}".replace("-", "−")


def planted_as(plant: PlantedModel) -> str:
    """What was planted, in words."""
    size = number(plant.size, "+.4g") if plant.size else "0"
    if plant.kind == "offset":
        return _("a constant {size} in every sentence, made inside the network").format(size=size)
    if plant.kind == "pairs":
        text = _("{one} for words of one mask, {two} for words of two; the sentence does not matter")
        return text.format(one=size, two=number(-plant.size * 12 / 7, "+.4g"))
    if plant.kind == "context":
        text = _("{with_rain} where {rain} stands in the sentence, {without} elsewhere; the words do not matter")
        return text.format(with_rain=size, without=number(-plant.size, "+.4g"), rain=RAIN)
    return _("{size} for every word pair in every sentence").format(size=size)
