"""Single lines of the files that leave."""

import csv
import json
from collections.abc import Iterable, Mapping
from typing import Any

from core.files.cells import neutralised

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)  # made once: json.dumps makes one for every line


class _AsItIs:
    """What a CSV writer writes to: it hands the line back, and so does `writerow`."""

    def write(self, line: str) -> str:
        return line


_AS_IT_IS = _AsItIs()


def csv_line(cells: Iterable[Any]) -> str:
    """One row of a CSV, its line end included; no cell runs as a formula in a spreadsheet."""
    # \r\n as the released file has it; it also makes every Python quote a bare \r.
    line: str = csv.writer(_AS_IT_IS, lineterminator="\r\n").writerow([neutralised(str(cell)) for cell in cells])
    return line


def json_line(values: Mapping[str, Any]) -> str:
    """One object of a file of JSON lines, its line end included."""
    return _JSON.encode(values) + "\n"
