"""What a run that goes on has written so far: the whole lines of the file that becomes its table."""

import json
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from evenhand.core.files.csv_out import data_rows
from evenhand.core.files.whole_file import growing_part
from evenhand.core.generation.growing_file import begun_of
from evenhand.core.scoring.rows import OK

LAST = 3  # rows that are kept to be looked at
MOST = 4 << 20  # bytes that one look reads: the next one goes on from there


@dataclass(slots=True)
class SoFar:
    """The rows of a file while it grows: `rows` of them, the `last` ones, and of a table of scores what came of each
    model: how many rows, how many with a score ("scored"), how many of these lean to each side ("male", "female").

    `file` is what the run makes in the end. `read_on` adds what is new; it is for one thread at a time.
    """

    file: Path
    rows: int = 0
    last: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=LAST))
    models: dict[str, Counter[str]] = field(default_factory=dict)
    _part: tuple[Path, int] | None = None
    _at: int = 0
    _columns: list[str] | None = None

    def read_on(self) -> bool:
        """Read what was written since the last look. False where nothing is being written."""
        part = begun if (begun := begun_of(self.file)).is_file() else growing_part(self.file)
        if part is None:
            return False
        try:
            if self._part != (here := (part, part.stat().st_ino)):  # begun anew
                self.rows, self._at, self._columns, self._part = 0, 0, None, here
                self.last.clear()
                self.models.clear()
            with part.open("rb") as file:
                file.seek(self._at)
                new = file.read(MOST)
        except OSError:  # it has just ended
            return False
        whole = new[: _end_of_rows(new, quoted=self.file.suffix == ".csv")]
        self._at += len(whole)
        for row in self._rows_of(whole.decode("utf-8", "replace")):
            self._take(row)
        return True

    def _rows_of(self, text: str) -> Iterator[dict[str, Any]]:
        if self.file.suffix != ".csv":
            for line in filter(None, text.split("\n")):
                found = json.loads(line)
                yield found[1] if isinstance(found, list) else found  # a growing file has [place, row]
            return
        for cells in data_rows(StringIO(text, newline="")):
            if self._columns is None:
                self._columns = cells
            else:
                yield dict(zip(self._columns, cells, strict=False))

    def _take(self, row: dict[str, Any]) -> None:
        self.rows += 1
        self.last.append(row)
        if "bias_log10" not in row:
            return
        counted = self.models.setdefault(str(row.get("model", "")), Counter())
        counted["rows"] += 1
        if row.get("status") == OK and row["bias_log10"]:
            value = float(row["bias_log10"])
            counted.update(["scored", *(["male"] if value > 0 else ["female"] if value < 0 else [])])


def _end_of_rows(data: bytes, *, quoted: bool) -> int:
    """Where the last whole row ends: after a line break that stands in no quoted cell."""
    end = data.rfind(b"\n") + 1
    while quoted and end and data[:end].count(b'"') % 2:
        end = data.rfind(b"\n", 0, end - 1) + 1
    return end
