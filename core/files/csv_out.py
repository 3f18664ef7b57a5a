"""Single lines of the files that are written: CSV that no spreadsheet runs, and JSON lines."""

import csv
import json
from collections.abc import Iterable, Mapping
from typing import Any

from core.files.formula_cells import neutralised

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)  # made once: json.dumps makes one for every line


class _AsItIs:
    """The target of a CSV writer that returns the line, so that `writerow` returns it."""

    def write(self, line: str) -> str:
        return line


_AS_IT_IS = _AsItIs()


def csv_line(cells: Iterable[Any]) -> str:
    """One row of a CSV, its line end included: undefined is an empty cell, numbers are exact, no text is a formula."""
    # \r\n as the released file has it; it also makes every Python quote a bare \r.
    row = ["" if cell is None else neutralised(cell) if isinstance(cell, str) else cell for cell in cells]
    line: str = csv.writer(_AS_IT_IS, lineterminator="\r\n").writerow(row)
    return line


def json_line(values: Mapping[str, Any]) -> str:
    """One object of a file of JSON lines, its line end included."""
    return _JSON.encode(values) + "\n"
