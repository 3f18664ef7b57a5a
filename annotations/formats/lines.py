"""Single lines of the files that leave."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from annotations.formats.cells import neutralised


def csv_line(cells: Iterable[Any]) -> str:
    """One row of a CSV, its line end included; no cell runs as a formula in a spreadsheet."""
    line = io.StringIO()
    # \r\n as the released file has it; it also makes every Python quote a bare \r.
    csv.writer(line, lineterminator="\r\n").writerow([neutralised(str(cell)) for cell in cells])
    return line.getvalue()


def json_line(values: Mapping[str, Any]) -> str:
    """One object of a file of JSON lines, its line end included."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n"
