"""The table of models as HTML: measures down, models across, as Table 4 of the paper has it. Every text is escaped."""

import html
from collections.abc import Mapping, Sequence

from core.charts.style import Palette
from core.report.table_lines import BarPart, Cell, Group, Line

SHEET = """
.models-scroll {{ overflow-x: auto; border: 1px solid {line}; border-radius: 12px; background: {card} }}
.models-table {{ border-collapse: separate; border-spacing: 0; width: 100%; color: {ink}; font-size: .92rem;
  font-variant-numeric: tabular-nums }}
.models-table th, .models-table td {{ text-align: left; vertical-align: top; padding: .6rem .65rem;
  border-bottom: 1px solid {line} }}
.models-table thead th {{ font-size: 1rem; overflow-wrap: anywhere; min-width: 7.9rem;
  border-bottom: 2px solid {line} }}
.models-table tbody th {{ position: sticky; left: 0; background: {card}; min-width: 11.5rem; max-width: 17rem;
  border-right: 1px solid {line}; font-weight: 650; z-index: 1 }}
.models-table thead th:first-child {{ position: sticky; left: 0; background: {card}; z-index: 2;
  border-right: 1px solid {line} }}
.models-table small {{ display: block; font-weight: 400; color: {soft}; font-size: .8rem; line-height: 1.45 }}
.models-table tr.models-group th {{ position: static; background: {paper}; color: {soft}; font-size: .8rem;
  letter-spacing: .04em; font-weight: 650; padding: .45rem .9rem }}
.models-table tr.models-group th span {{ position: sticky; left: .9rem }}
.models-table tr:last-child th, .models-table tr:last-child td {{ border-bottom: 0 }}
.models-table td b {{ font-size: 1.02rem; font-weight: 600 }}
.models-table tr.models-strong td b {{ font-size: 1.3rem; font-weight: 700 }}
.models-note {{ display: inline-block; margin-top: .25rem; padding: 0 .45rem; border: 1px solid {line};
  border-radius: 6px; color: {soft}; font-size: .76rem; font-weight: 400 }}
.models-bar {{ display: flex; height: 12px; border-radius: 6px; overflow: hidden; margin: .25rem 0 .3rem;
  background: {line}; min-width: 5rem }}
.models-bar i {{ display: block; height: 100% }}
.models-bar .male {{ background: {male} }} .models-bar .female {{ background: {female} }}
.models-bar .none {{ background: {neutral} }}
.models-bar .pairs {{ background: {ink} }} .models-bar .widths {{ background: {neutral} }}
.models-bar .contexts {{ background: {good} }}
.models-table .models-how {{ overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: .68rem }}
@media (max-width: 640px) {{
  .models-table {{ font-size: .86rem }}
  .models-table tbody th {{ min-width: 7.2rem; max-width: 7.2rem; padding: .5rem .6rem }}
  .models-table thead th {{ min-width: 8.6rem }}
  .models-table th, .models-table td {{ padding: .5rem .6rem }}
  .models-table tbody th small {{ display: none }}
}}
"""
COLOURS = ("line", "card", "paper", "ink", "soft", "male", "female", "neutral", "good")


def style(palette: Palette) -> str:
    """The look of the table in one theme, as the text of a style element."""
    return SHEET.format(**{name: getattr(palette, name) for name in COLOURS})


def table_html(
    models: Sequence[str],
    groups: Sequence[Group],
    *,
    corner: str,
    notes: Mapping[str, str],
    signatures: Mapping[str, str],
) -> str:
    """The table. `corner` stands above the measures, `notes` below a model's name; hovering says the signature."""
    heads = "".join(f'<th scope="col">{html.escape(model)}{_note(notes.get(model, ""))}</th>' for model in models)
    rows = []
    for group in groups:
        name = f'<tr class="models-group"><th colspan="{len(models) + 1}" scope="rowgroup"><span>'
        rows.append(f"{name}{html.escape(group.name)}</span></th></tr>")
        rows += [_row(line, models, signatures) for line in group.lines]
    return (
        f'<div class="models-scroll" tabindex="0"><table class="models-table"><thead><tr><th scope="col">'
        f"<small>{html.escape(corner)}</small></th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _note(note: str) -> str:
    return f'<br><span class="models-note">{html.escape(note)}</span>' if note else ""


def _row(line: Line, models: Sequence[str], signatures: Mapping[str, str]) -> str:
    cells = "".join(_cell(cell, signatures.get(model, "")) for model, cell in zip(models, line.cells, strict=True))
    head = f'<th scope="row">{html.escape(line.name)}<small>{html.escape(line.meaning)}</small></th>'
    return f"<tr{' class=models-strong' if line.strong else ''}>{head}{cells}</tr>"


def _cell(cell: Cell, signature: str) -> str:
    number = f"<b>{html.escape(cell.text)}</b>" if cell.text else ""
    # A cell of small lines only holds how something was made: long words without a place to break.
    kind = ' class="models-how"' if not cell.text and not cell.parts else ""
    below = "".join(f"<small{kind}>{html.escape(text)}</small>" for text in (*cell.below, cell.reason) if text)
    return f'<td title="{html.escape(signature, quote=True)}">{number}{_bar(cell.parts)}{below}</td>'


def _bar(parts: Sequence[BarPart]) -> str:
    if not parts:
        return ""
    said = ", ".join(f"{part.name} {100 * part.share:.1f} %" for part in parts)
    inner = "".join(f'<i class="{part.colour}" style="width:{100 * part.share:.2f}%"></i>' for part in parts)
    return f'<div class="models-bar" role="img" aria-label="{html.escape(said, quote=True)}">{inner}</div>'
