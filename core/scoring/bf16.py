"""A run in bf16 in which no decision rests on bf16: what its error could carry over one is asked again in fp32.

`core.models.bf16_decisions` says which rows these are; here it is done for inputs of any length: only one number a row
is kept, and the sentences are read again when they are needed.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from math import isfinite
from typing import Any

from core.errors import N_
from core.models.bf16_decisions import Decision, drawn_sample, near_decision
from core.scoring.cache import CachedScorer
from core.scoring.rows import CHUNK, Progress, ScoredRow, ScoreItem, Tally, score_items, scored_row
from core.types import Score

NO_VALUE = N_("No sentence of the sample has a Bias_c in both precisions, so the error is not known.")


class ExactNearDecisions:
    """Rows of one model: bf16 values of *rough*, and those of *exact* (fp32) wherever a decision is near.

    *items* gives the input anew each time. `rows` may be called once; `facts` is what a report says afterwards.
    """

    def __init__(self, items: Callable[[], Iterator[ScoreItem]], rough: CachedScorer, exact: CachedScorer) -> None:
        self._items, self._rough, self._exact = items, rough, exact
        self._values: list[float | None] = []
        self._known: set[int] = set()
        self._exact_scores: dict[bytes, Score] = {}  # by probe: a sentence and its twin keep one number
        self._near: dict[int, Decision] = {}
        self._sampled = 0
        self._error: float | None = None
        self._sample_error: float | None = None

    def rows(
        self, *, model: str, tally: Tally, progress: Progress | None = None, chunk: int = CHUNK
    ) -> Iterator[ScoredRow]:
        """The finished rows in the order of the input; *tally* counts what was asked in bf16, and the rows given."""
        asked = score_items(self._items(), self._rough, model=model, tally=tally, progress=progress, chunk=chunk)
        self._values = [row.bias_log10 for row in asked]
        tally.begin_rows()
        self._settle()
        # Remembered by now, so nothing is asked a second time.
        again = score_items(self._items(), self._rough, model=model, chunk=chunk)
        for row in again:
            probe = row.item.probe
            exact = None if probe is None else self._exact_scores.get(self._rough.key(probe))
            finished = row if exact is None else scored_row(row.item, model, exact, exact.signature)
            tally.count(finished)
            yield finished

    def _settle(self) -> None:
        """Compare a sample, then everything near a decision, until the largest difference seen changes nothing."""
        drawn = drawn_sample(len(self._values))
        self._sampled = len(drawn)
        self._error = self._sample_error = self._compare(drawn)
        while self._error is not None:
            self._near = near_decision(self._values, self._error)
            fresh = self._near.keys() - self._known
            if not fresh:
                return
            self._error = max(self._error, self._compare(fresh) or 0.0)

    def _compare(self, numbers: Collection[int]) -> float | None:
        """Ask for these rows in fp32; the largest difference of their Bias_c (log10), None where none has one."""
        wanted, largest = set(numbers), None
        chosen = ((i, item) for i, item in enumerate(self._items()) if i in wanted and item.probe is not None)
        while some := list(islice(chosen, CHUNK)):
            scores = self._exact.score([item.probe for _, item in some if item.probe is not None])
            for (i, item), score in zip(some, scores, strict=True):
                assert item.probe is not None
                self._known.add(i)
                self._exact_scores[self._rough.key(item.probe)] = score
                rough, value = self._values[i], scored_row(item, "", score, score.signature).bias_log10
                if rough is not None and value is not None and isfinite(rough) and isfinite(value):
                    largest = max(largest or 0.0, abs(rough - value))
        return largest

    def facts(self) -> dict[str, Any]:
        """Largest difference of Bias_c (log10) seen, in the sample and in all compared rows; how many, and why."""
        found: dict[str, Any] = {
            "largest_difference": self._error,
            "sample_largest_difference": self._sample_error,
            "sampled": self._sampled,
            "rescored": len(self._known & self._near.keys()),
            "compared": len(self._known),
            "near": dict(Counter(self._near.values())),
        }
        reasons = {f"{key}_reason": NO_VALUE for key, value in found.items() if value is None}
        return found | reasons
