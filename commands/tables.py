"""Tables for the terminal: rows of values and estimates as aligned columns."""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, cast

from evenhand.core.language import columns_wide

if TYPE_CHECKING:  # it brings numpy along, which takes long to import
    from evenhand.core.statistics.estimate import Estimate

DASH = "—"
Cell = object  # a number, an Estimate, None, a tuple of one of these and its format, or what str writes
NUMBER = re.compile(r"[-+±]?[\d,.]+(?:e[-+]\d+)?%?(?:/h)?|—|nan|-?inf")


def number(value: float | None, form: str = ".3f") -> str:
    """Return *value* in *form*, or a dash where it is None or NaN."""
    return DASH if value is None or value != value else format(value, form)


def table(rows: Iterable[Sequence[Cell]], head: Sequence[str] = (), *, form: str = ".3f", indent: str = "") -> str:
    """Return *rows* as lines of aligned columns under *head*; numbers to the right, an estimate with its interval.

    Floats and estimates have *form*, or that of a tuple (value, form); counts have commas, None is a dash. Why a value
    or an interval is missing, or what it rests on, follows the row in brackets. Columns without a text below their
    head are left out.
    """
    parts = [[_parts(cell, form) for cell in row] for row in rows]
    lines = [[text for cell in row for text in cell[:2]] for row in parts]
    if head:
        lines.insert(0, [text for name in head for text in (name, "")])
    first = 1 if head and parts else 0
    columns = [_aligned(column, first) for column in zip_longest(*lines, fillvalue="") if any(column[first:])]
    notes = ["; ".join(dict.fromkeys(note for *_, note in row if note)) for row in parts]
    ends = ["" for _ in head[:1]] + [f"({note})" if note else "" for note in notes]
    return "\n".join(indent + "  ".join(cells).rstrip() for cells in zip(*columns, ends, strict=True))


def _parts(cell: Cell, form: str) -> tuple[str, str, str]:
    """Return the text of a cell, its interval, and the note that follows the row."""
    if isinstance(cell, tuple):
        return _parts(*cell)
    if cell is None or isinstance(cell, int | float):
        return number(cell, "," if isinstance(cell, int) else form), "", ""
    if not hasattr(cell, "interval_text"):
        return str(cell), "", ""
    estimate = cast("Estimate", cell)
    note = estimate.missing_text(form) if estimate.value is None else str(estimate.note or "")
    return number(estimate.value, form), estimate.interval_text(form), note


def _aligned(column: Sequence[str], head: int) -> list[str]:
    """Return the texts of a column as wide as the widest; to the right if all below the *head* lines are numbers."""
    wide = max(map(columns_wide, column))
    right = all(NUMBER.fullmatch(text) for text in column[head:] if text)
    spaces = (" " * (wide - columns_wide(text)) for text in column)
    return [space + text if right else text + space for text, space in zip(column, spaces, strict=True)]
