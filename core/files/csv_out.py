"""Single lines of the files that are written: exact CSV, CSV that no spreadsheet runs, and JSON lines.

Tables that people open and copies for spreadsheet programs are guarded: a cell that begins with = + - @, their
full-width forms, a tab or a line break gets an apostrophe in front (the rule of OWASP's page on CSV injection). A cell
that already has apostrophes before such a character gets one more, so removing one apostrophe always restores the text.
Releases, exports of data, scores and tables of runs are not guarded: what they hold is the text. Tables of runs of
earlier versions are guarded throughout, which `is_guarded` tells.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

DANGEROUS = re.compile("'*[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
FIRST = frozenset("'=+-@\uff1d\uff0b\uff0d\uff20\t\r\n")  # what a match begins with: most cells need no further look
NEUTRALISED = re.compile("'+[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")


def neutralised(cell: str) -> str:
    """Return *cell* in a form that no spreadsheet runs; `restored` undoes it exactly."""
    return "'" + cell if cell[:1] in FIRST and DANGEROUS.match(cell) else cell


def restored(cell: str) -> str:
    """Return the *cell* from which `neutralised` made this one."""
    return cell[1:] if NEUTRALISED.match(cell) else cell


def is_guarded(cells: Iterable[str]) -> bool:
    """Return True if a table's texts are guarded: some have the apostrophe, and none that needs it lacks it."""
    guarded = False
    for cell in cells:
        if cell[:1] in FIRST:
            if cell[0] != "'" and DANGEROUS.match(cell):
                return False
            guarded = guarded or NEUTRALISED.match(cell) is not None
    return guarded


BOM = "\ufeff"
LONGEST_CELL = 16 << 20  # characters; Python's own limit of 131,072 is below what a text of a table may have
LONGEST_NUMBER = 40  # characters: a float has 24 at most
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf|nan")
# A cell, or a part of one behind a comma, that begins as a formula does.
_PERHAPS_FORMULA = re.compile(rf'(?:^|,)"?[{re.escape("".join(sorted(FIRST)))}]')
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)  # made once: json.dumps makes one for every line


class _AsItIs:
    """The target of a CSV writer that returns the line, so that `writerow` returns it."""

    def write(self, line: str) -> str:
        return line


_AS_IT_IS = _AsItIs()


def data_line(cells: Iterable[Any]) -> str:
    """Return one row of a CSV of data with its line end: texts and numbers exactly, an empty cell for undefined.

    Offsets into a text count the characters of the cell. A spreadsheet may run such a text as a formula: see
    `spreadsheet_lines`.
    """
    # \r\n as the released file has it; it also makes every Python quote a bare \r.
    line: str = csv.writer(_AS_IT_IS, lineterminator="\r\n").writerow(cells)  # None is written as an empty cell
    return line


def csv_line(cells: Iterable[Any]) -> str:
    """Return `data_line` for a table to open in a spreadsheet: no text becomes a formula."""
    return data_line(neutralised(cell) if isinstance(cell, str) else cell for cell in cells)


def data_rows(lines: Iterable[str], delimiter: str = ",", *, plain: bool = False) -> Iterator[list[str]]:
    """Return the rows of a CSV with cells of up to `LONGEST_CELL` characters; *plain*: a quotation mark is a character.

    Raises csv.Error.
    """
    csv.field_size_limit(LONGEST_CELL)
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE if plain else csv.QUOTE_MINIMAL)


def spreadsheet_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield rows or lines of `data_line` such that a spreadsheet shows every text and runs none.

    The byte order mark at the beginning tells a spreadsheet that the file is UTF-8.
    """
    for number, row in enumerate(data_rows(lines)):
        yield ("" if number else BOM) + csv_line(row)


def spreadsheet_copy(table: Path) -> str:
    """Copy the CSV *table*, or TSV by its ending, such that a spreadsheet shows every text and runs none.

    A column of numbers stays one: -0.5 gets no apostrophe where the whole column is numbers.
    """
    with table.open(encoding="utf-8-sig", newline="") as file:
        if table.suffix.lower() == ".tsv":
            rows = [line.rstrip("\r\n").split("\t") for line in file]
        else:
            rows = list(data_rows(file))
    numbers = [all(map(_is_number, column)) for column in zip_longest(*rows[1:], fillvalue="")]
    cells = (zip(row, numbers, strict=False) for row in rows[1:])
    written = (data_line(cell if is_number else neutralised(cell) for cell, is_number in row) for row in cells)
    return BOM + csv_line(rows[0]) + "".join(written) if rows else ""


def _is_number(cell: str) -> bool:
    return not cell or (len(cell) <= LONGEST_NUMBER and NUMBER.fullmatch(cell) is not None)


def has_formula(line: str) -> bool:
    """Return True if a spreadsheet would run a cell of this row of `data_line`."""
    if _PERHAPS_FORMULA.search(line, 0, len(line) - 2) is None:  # nearly every row, at a twentieth of the time
        return False
    return line != csv_line(next(data_rows([line])))


def json_line(values: Mapping[str, Any]) -> str:
    """Return one object as a line of JSON, with its line end."""
    return _JSON.encode(values) + "\n"
