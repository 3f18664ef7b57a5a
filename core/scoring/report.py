"""What a run of scoring did, as its record has it."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from evenhand.core.runs.loop import Report
from evenhand.core.runs.scored_rows import ScoredRows
from evenhand.core.scoring.rows import Tally

SUMS = ("rows", "scored", "asked", "remembered", "saved")
NO_RATE = "No sentence had to be asked; everything was remembered."


@dataclass(frozen=True, slots=True)
class Undefined:
    """How many rows have no score for one reason, with the first of them."""

    reason: str
    rows: int
    example_row: int
    status: str


@dataclass(frozen=True, slots=True)
class ModelReport:
    """What came of one model; rows = asked + remembered + saved + rows that could not be asked.

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
        """Why there is no rate."""
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
    """What a run did: sums over its models, and what a reader needs to trust the table or to make it again."""

    out: Path
    source: dict[str, Any]
    sentences: int
    rows: int
    scored: int
    undefined: int
    asked: int
    remembered: int
    saved: int
    settings: dict[str, Any]

    @property
    def scored_rows(self) -> ScoredRows:
        """The rows of all models."""
        reasons = Counter[str]()
        for model in self.models:
            reasons |= Counter({lost.reason: lost.rows for lost in model.undefined})
        return ScoredRows(self.rows, self.scored, self.undefined, self.remembered, reasons)
