"""Draws for intervals (SPEC 6): how often each unit was picked, or random shares of patterns of labels.

Plain units (sentences, articles, contexts) are drawn by `Resampling.weights`, patterns of labels by `Resampling.shares`
and `Resampling.shares_of_clusters`. One pass over the draws serves every measure: what a measure needs of a unit (sums
and counts of its rows) is added up by one matrix product with the weights.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
BLOCK = 160_000  # weights of plain units held at a time: so few that they stay in the processor's cache
WEIGHT_BLOCK = 2_000_000  # random weights of clusters held at a time
WHOLE = 1e9  # items of the population: so many that a measure's correction for small samples vanishes

Numbers = NDArray[np.float64]
Counts = NDArray[np.uint8]
Sizes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are drawn. The same seed and data give the same interval."""

    resamples: int = RESAMPLES
    seed: int = 0

    def signature(self, unit: str, method: str = "bootstrap") -> str:
        """`unit:<what is drawn>|<method>:<resamples>|seed:<seed>`."""
        return f"unit:{unit}|{method}:{self.resamples}|seed:{self.seed}"

    def weights(self, units: int) -> Iterator[Numbers]:
        """How often each unit was picked, draws x units, in blocks: *units* picks with replacement a draw."""
        cached = _latest.blocks(units, self.resamples, self.seed)
        for counts in _drawn(units, self.resamples, self.seed) if cached is None else cached:
            yield counts.astype(float)

    def shares(self, weights: Numbers) -> Numbers:
        """Shares of all items that show each pattern, draws x patterns, from a Dirichlet distribution of *weights*.

        They add up to `WHOLE`, not to 1.
        """
        drawn = np.random.default_rng(self.seed).standard_gamma(weights, size=(self.resamples, len(weights)))
        shares: Numbers = drawn * (WHOLE / drawn.sum(axis=1, keepdims=True))
        return shares

    def shares_of_clusters(self, clusters: Numbers, shape: float, prior: Numbers, scale: float) -> Numbers:
        """Shares of all items that show each pattern, draws x patterns, with a Gamma(*shape*) weight for each cluster.

        `clusters[c][p]`: how many items of cluster c show pattern p; beside them every pattern has Gamma(*prior*) times
        *scale* items. The shares add up to `WHOLE`. Clusters that are alike are drawn as one.
        """
        random = np.random.default_rng(self.seed)
        kinds, times = np.unique(clusters, axis=0, return_counts=True)
        drawn, most = np.empty((self.resamples, clusters.shape[1])), max(1, WEIGHT_BLOCK // len(kinds))
        for start in range(0, self.resamples, most):
            part = drawn[start : start + most]
            part[:] = random.standard_gamma(shape * times, size=(len(part), len(kinds))) @ kinds
        drawn += scale * random.standard_gamma(prior, size=drawn.shape)
        shares: Numbers = drawn * (WHOLE / drawn.sum(axis=1, keepdims=True))
        return shares


def ratio(above: Numbers, below: Numbers) -> Numbers:
    """One number divided by the other, draw by draw; NaN where the divisor is not above 0."""
    ratios: Numbers = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return ratios


def _drawn(units: int, resamples: int, seed: int) -> Iterator[Counts]:
    """*units* picks with replacement a draw, counted per unit; in blocks of draws."""
    random = np.random.default_rng(seed)
    left = resamples
    while left > 0:
        now = min(left, max(1, BLOCK // units))
        picks = random.integers(0, units, size=(now, units), dtype=np.int64)
        picks += np.arange(now)[:, None] * units
        # A byte is enough: that one of 256 or more units is picked 256 times in a draw has a chance below 1e-500.
        yield np.bincount(picks.ravel(), minlength=now * units).reshape(now, units).astype(np.uint8)
        left -= now


class _Cache:
    """The latest draws: models on the same sentences are drawn alike, and drawing takes longer than reckoning."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._draws: OrderedDict[tuple[int, int, int], list[Counts]] = OrderedDict()
        self._lock = Lock()

    def blocks(self, units: int, resamples: int, seed: int) -> list[Counts] | None:
        """The draws; None where they would take too much memory to keep."""
        if units * resamples > self._most:
            return None
        key = units, resamples, seed
        with self._lock:
            found = self._draws.pop(key, None)
        if found is None:
            found = list(_drawn(*key))
        with self._lock:
            self._draws[key] = found
            while sum(n * times for n, times, _seed in self._draws) > self._most:
                self._draws.popitem(last=False)
        return found


_latest = _Cache(64_000_000)
