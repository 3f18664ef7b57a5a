"""The table of models as HTML: measures down, models across, as Table 4 of the paper has it. Every text is escaped."""

import html
from collections.abc import Mapping, Sequence

from evenhand.core.report.table_lines import BarPart, Cell, Group, Line


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
    said = ", ".join(f"{part.name} {100 * part.share:.1f}%" for part in parts)
    inner = "".join(f'<i class="{part.colour}" style="width:{100 * part.share:.2f}%"></i>' for part in parts)
    return f'<div class="models-bar" role="img" aria-label="{html.escape(said, quote=True)}">{inner}</div>'
