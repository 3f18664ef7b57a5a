"""Intervals by resampling items, or whole contexts of items, drawn as counts of label patterns.

Items with the same labels are one *pattern*. Drawing n items with replacement
is drawing the counts of the patterns from a multinomial: the same
distribution, and it costs by the pattern (27 for three annotators and three
choices), not by the item. Where items come in contexts (generations), whole
contexts are drawn: a draw of contexts times the patterns of each context.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.statistics.estimate import ONE_CONTEXT, ONE_UNIT, Estimate, Note
from core.statistics.intervals import HANGS_ON_ONE, by_percentiles, by_t

RESAMPLES = 2000
FEW = 15  # units; below that the percentile bootstrap is too narrow (SPEC 6)
BLOCK = 4_000_000  # counts held in memory at a time

Numbers = NDArray[np.float64]
Measure = Callable[
    [Numbers], Numbers
]  # counts of the patterns (draws x patterns) -> one number a draw, NaN = undefined


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are drawn. The same seed and data give the same interval."""

    resamples: int = RESAMPLES
    seed: int = 0
    unit: str = "item"  # what is drawn, for the signature

    @property
    def signature(self) -> str:
        """`unit:item|bootstrap:<resamples>|seed:<seed>`; fewer than 15 units: t on jackknife values."""
        return f"unit:{self.unit}|bootstrap:{self.resamples}|seed:{self.seed}"

    def interval(
        self,
        measure: Measure,
        sizes: NDArray[np.int64],
        found: Estimate,
        least: float = -1.0,
        contexts: NDArray[np.int64] | None = None,
    ) -> Estimate:
        """*found* with its 95 % interval: percentiles of *measure* over draws of items.

        `sizes[i]` is the number of items with pattern i. Fewer than 15 items:
        the t interval on the jackknife's pseudo-values, which for a mean are
        the items' own values (SPEC 6), cut at `least` and 1 and marked. One
        item: no interval. `contexts[c][i]`: how many items of context c have
        pattern i; then contexts are what is drawn, left out and counted.
        """
        if found.value is None:
            return found
        if contexts is not None:
            contexts = contexts[contexts.sum(axis=1) > 0]
        units = int(sizes.sum()) if contexts is None else len(contexts)
        if units <= 1:
            return replace(found, note=ONE_UNIT if contexts is None else ONE_CONTEXT)
        if units < FEW:
            return _by_t(measure, sizes, found, least, contexts)
        drawn = self._draws(sizes) if contexts is None else self._contexts(contexts)
        values = np.concatenate([measure(draws) for draws in drawn])
        return by_percentiles(values, found)

    def _draws(self, sizes: NDArray[np.int64]) -> Iterator[Numbers]:
        random = np.random.default_rng(self.seed)
        share, left = sizes / sizes.sum(), self.resamples
        while left > 0:
            now = min(left, max(1, BLOCK // len(sizes)))
            yield random.multinomial(sizes.sum(), share, size=now).astype(float)
            left -= now

    def _contexts(self, contexts: NDArray[np.int64]) -> Iterator[Numbers]:
        for times in self._draws(np.ones(len(contexts), dtype=np.int64)):
            yield times @ contexts


def _by_t(
    measure: Measure,
    sizes: NDArray[np.int64],
    found: Estimate,
    least: float,
    contexts: NDArray[np.int64] | None = None,
) -> Estimate:
    if contexts is None:
        units = int(sizes.sum())
        present = np.flatnonzero(sizes)
        without = np.repeat(sizes[None, :].astype(float), len(present), axis=0)
        without[np.arange(len(present)), present] -= 1
        values = np.repeat(measure(without), sizes[present])
    else:
        units = len(contexts)
        values = measure((sizes[None, :] - contexts).astype(float))
    if not np.isfinite(values).all():
        return replace(found, note=Note(HANGS_ON_ONE, {"units": units}))
    assert found.value is not None
    pseudo = units * found.value - (units - 1) * values
    return by_t(found, float(pseudo.std(ddof=1) / np.sqrt(units)), units, (least, 1.0))
