"""The report of a run of scoring as in its record, and the rows so far of a run that continues."""

import json
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import ClassVar, Self

from evenhand.core.files.atomic_file import growing_part
from evenhand.core.files.csv_out import data_rows
from evenhand.core.generation.resumable_file import begun_of
from evenhand.core.runs.loop import Report, ScoredRows
from evenhand.core.scoring.rows import OK, Tally
from evenhand.core.types import JsonObject

SUMS = ("rows", "scored", "asked", "remembered", "saved")
NO_RATE = "No sentence had to be asked; everything was remembered."


@dataclass(frozen=True, slots=True)
class Undefined:
    """The number of rows without a score for one reason, with the first of them."""

    reason: str
    rows: int
    example_row: int
    status: str


@dataclass(frozen=True, slots=True)
class ModelReport:
    """The result of one model; rows = asked + remembered + saved + rows that could not be asked.

    `workers`: processors of a cluster that the model used; 1 without one.
    """

    model: str
    signature: str
    rows: int
    scored: int
    infinite: int
    asked: int
    remembered: int
    saved: int
    undefined: tuple[Undefined, ...]
    seconds: float
    loading_seconds: float
    workers: int = 1
    also_in_json: ClassVar = ("rate", "rate_reason")

    @property
    def rate(self) -> float | None:
        """Sentences that were asked a second; None where everything was remembered."""
        return round(self.asked / self.seconds, 1) if self.asked and self.seconds else None

    @property
    def rate_reason(self) -> str | None:
        """The reason why the rate is missing; None where there is a rate."""
        return NO_RATE if self.rate is None else None

    @classmethod
    def of(cls, model: str, signature: str, tally: Tally, loading: float, seconds: float, workers: int) -> Self:
        """Return the report of a model whose rows are counted."""
        counts = {name: getattr(tally, name) for name in (*SUMS, "infinite")}
        undefined = tuple(
            Undefined(reason, count, *tally.examples[reason]) for reason, count in tally.undefined.most_common()
        )
        seconds, loading = round(seconds, 3), round(loading, 3)
        return cls(
            model, signature, **counts, undefined=undefined, seconds=seconds, loading_seconds=loading, workers=workers
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringReport(Report[ModelReport]):
    """The report of a run: sums over its models, and the facts needed to trust or reproduce the table."""

    out: Path
    source: JsonObject
    sentences: int
    rows: int
    scored: int
    undefined: int
    asked: int
    remembered: int
    saved: int
    settings: JsonObject

    @property
    def scored_rows(self) -> ScoredRows:
        """The rows of all models."""
        reasons = Counter[str]()
        for model in self.models:
            reasons |= Counter({lost.reason: lost.rows for lost in model.undefined})
        return ScoredRows(self.rows, self.scored, self.undefined, self.remembered, reasons)


LAST = 3  # rows that are kept to be looked at
MOST = 4 << 20  # bytes that one look reads: the next one goes on from there


@dataclass(slots=True)
class SoFar:
    """The rows of a file while it grows: their number `rows`, the `last` ones, and for a table of scores the counts of
    each model: rows, rows with a score ("scored"), and those that lean to each side ("male", "female").

    `file`: the final file of the run. `read_on` adds new rows; only one thread at a time may call it.
    """

    file: Path
    rows: int = 0
    last: deque[JsonObject] = field(default_factory=lambda: deque(maxlen=LAST))
    models: dict[str, Counter[str]] = field(default_factory=dict)
    _part: tuple[Path, int] | None = None
    _at: int = 0
    _columns: list[str] | None = None

    def read_on(self) -> bool:
        """Read the lines written since the last call; return False where no run is writing."""
        part = begun if (begun := begun_of(self.file)).is_file() else growing_part(self.file)
        if part is None:
            return False
        try:
            if self._part != (here := (part, part.stat().st_ino)):  # a new file was begun
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

    def _rows_of(self, text: str) -> Iterator[JsonObject]:
        if self.file.suffix != ".csv":
            for line in filter(None, text.split("\n")):
                data = json.loads(line)
                yield data[1] if isinstance(data, list) else data  # a growing file has [place, row]
            return
        for cells in data_rows(StringIO(text, newline="")):
            if self._columns is None:
                self._columns = cells
            else:
                yield dict(zip(self._columns, cells, strict=False))

    def _take(self, row: JsonObject) -> None:
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
    """Return the offset where the last whole row ends: after a line break outside quoted cells."""
    end = data.rfind(b"\n") + 1
    while quoted and end and data[:end].count(b'"') % 2:
        end = data.rfind(b"\n", 0, end - 1) + 1
    return end
