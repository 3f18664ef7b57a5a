"""Draws for intervals: how often each unit was picked, random shares of patterns of labels, subsets of units.

See docs/methods.md#intervals.

Plain units (sentences, articles, contexts) are drawn by `Resampling.weights`, patterns of labels by `Resampling.shares`
and `Resampling.shares_of_clusters`. One pass over the draws serves every measure: what a measure needs of a unit (sums
and counts of its rows) is added up by one matrix product with the weights.

`over_subsets`: intervals and tests over a handful of units of very different size, from the values of all their subsets
(Hartigan 1969). Where the units are independent and lie evenly on both sides of the truth, the truth falls with equal
chance between any two neighbours of these values in order, for any sizes and any number of units. For a weighted mean
the interval is exact, and it excludes a value if a test that flips the signs of whole units at random rejects that
value. For other smooth measures it is as good as a bootstrap.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics.estimate import ALL_ALIKE, SUBSETS, Estimate, Note

RESAMPLES = 2000
BLOCK = 160_000  # weights of plain units held at a time: so few that they stay in the processor's cache
WEIGHT_BLOCK = 2_000_000  # random weights of clusters held at a time
WHOLE = 1e9  # items of the population: so many that a measure's correction for small samples vanishes

Numbers = NDArray[np.float64]
Counts = NDArray[np.uint8]
Sizes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Resampling:
    """The way in which intervals are drawn. The same seed and data give the same interval."""

    resamples: int = RESAMPLES
    seed: int = 0

    def signature(self, unit: str, method: str = "bootstrap") -> str:
        """Return the signature of intervals, `unit:<what is drawn>|<method>:<resamples>|seed:<seed>`."""
        return f"unit:{unit}|{method}:{self.resamples}|seed:{self.seed}"

    def weights(self, units: int) -> Iterator[Numbers]:
        """Yield how often each unit was picked, draws x units, in blocks; a draw is *units* picks with replacement."""
        cached = _latest.blocks(units, self.resamples, self.seed)
        for counts in _drawn(units, self.resamples, self.seed) if cached is None else cached:
            yield counts.astype(float)

    def shares(self, weights: Numbers) -> Numbers:
        """Return shares of items with each pattern, draws x patterns, from a Dirichlet distribution of *weights*.

        They add up to `WHOLE`, not to 1.
        """
        drawn = np.random.default_rng(self.seed).standard_gamma(weights, size=(self.resamples, len(weights)))
        shares: Numbers = drawn * (WHOLE / drawn.sum(axis=1, keepdims=True))
        return shares

    def shares_of_clusters(self, clusters: Numbers, shape: float, prior: Numbers, scale: float) -> Numbers:
        """Draw the share of items that show each pattern, draws x patterns, with a Gamma(*shape*) weight per cluster.

        `clusters[c][p]`: how many items of cluster c show pattern p. Every pattern has Gamma(*prior*) times *scale*
        further items. The shares add up to `WHOLE`. Equal clusters are drawn as one.
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
    """Return one number divided by the other, draw by draw; NaN where the divisor is not above 0."""
    ratios: Numbers = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return ratios


def _drawn(units: int, resamples: int, seed: int) -> Iterator[Counts]:
    """Yield draws of *units* picks with replacement, counted per unit, in blocks of draws."""
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
        """Return the draws; None where they would need too much memory."""
        if units * resamples > self._most:
            return None
        key = units, resamples, seed
        with self._lock:
            result = self._draws.pop(key, None)
        if result is None:
            result = list(_drawn(*key))
        with self._lock:
            self._draws[key] = result
            while sum(n * times for n, times, _seed in self._draws) > self._most:
                self._draws.popitem(last=False)
        return result


_latest = _Cache(64_000_000)


SubsetMeasures = Callable[[Numbers], Mapping[str, Numbers]]  # units in or out (draws x units) -> one number a draw

LEAST_UNITS = 6  # of 5 units p cannot fall below 2 / 2^5 = .0625
ALL_OF = 14  # units; of more, subsets are drawn
DRAWN = 8191
LOST = 0.1  # share of subsets without a value that an interval bears

TOO_FEW_UNITS = N_(
    "Only {units} independent units: no interval and no test, because even if all leaned the same way, p"
    " would be at least {p}."
)
LOST_SUBSETS = N_("Undefined in {count} of {subsets} subsets of the units: no interval.")


def subsets_of(units: int, seed: int = 0) -> Numbers:
    """Return subsets of units, one per row: 1 for in, 0 for out. The last row has all units; no row is empty."""
    if units <= ALL_OF:
        numbers = np.arange(1, 2**units)
        return ((numbers[:, None] >> np.arange(units)) & 1).astype(float)
    drawn = np.random.default_rng(seed).integers(0, 2, size=(DRAWN, units)).astype(float)
    drawn[-1] = 1.0
    return drawn[drawn.any(axis=1)]


def subsets_signature(unit: str, units: int, seed: int = 0) -> str:
    """Return the basis of an interval for a signature: the unit, and how many subsets of units, drawn or all."""
    if units <= ALL_OF:
        return f"unit:{unit}|subsets:{2**units - 1 if units >= LEAST_UNITS else 0}"
    return f"unit:{unit}|subsets:{DRAWN}|seed:{seed}"


def turned(units: int, seed: int = 0) -> Numbers:
    """Return signs (1 or -1) of the units, a row per way to turn them: all ways, or a sample. The first turns none."""
    return np.vstack([np.ones(units), 1 - 2 * subsets_of(units, seed)])


def too_few(units: int) -> Note:
    """Return the note that so few units allow neither an interval nor a test."""
    return Note(TOO_FEW_UNITS, {"units": units, "p": f"{min(1.0, 2.0 ** (1 - units)):.2g}"})


def over_subsets(
    measures: SubsetMeasures, units: int, *, neutral: Mapping[str, float] | None = None, seed: int = 0
) -> dict[str, Estimate]:
    """Return each measure with its 95% interval, 90% interval (`inner`) and p of its neutral value (default 0).

    A measure that is NaN on all units is left out of the answer: the caller knows the reason. Fewer than 6 units, or a
    measure that is undefined in a tenth of the subsets: the value alone, with the reason in `note`.
    """
    if units == 0:
        return {}
    values = {name: float(whole[0]) for name, whole in measures(np.ones((1, units))).items()}
    result = {name: Estimate(value, units=units) for name, value in values.items() if np.isfinite(value)}
    if units < LEAST_UNITS:
        return {name: replace(estimate, note=too_few(units)) for name, estimate in result.items()}
    drawn = measures(subsets_of(units, seed))
    return {name: _interval(drawn[name], estimate, (neutral or {}).get(name, 0.0)) for name, estimate in result.items()}


def _interval(values: Numbers, estimate: Estimate, neutral: float) -> Estimate:
    known = np.sort(values[np.isfinite(values)])
    lost = len(values) - len(known)
    if lost > LOST * len(values):
        return replace(estimate, note=Note(LOST_SUBSETS, {"count": lost, "subsets": len(values)}))
    assert estimate.value is not None
    wide, inner = (_ends(known, level) for level in (0.95, 0.90))
    if wide[0] == wide[1]:
        return replace(estimate, note=ALL_ALIKE)
    se = float(np.sqrt(((known - estimate.value) ** 2).mean()))
    p = two_sided_of_subsets(known, neutral)
    return replace(estimate, low=wide[0], high=wide[1], se=se, method=SUBSETS, inner=inner, p=p)


def two_sided_of_subsets(values: Numbers, at: float) -> float:
    """Return p of the value *at*, at most 1: twice the share of subset values on its rarer side, plus one value."""
    near = 1e-12 * max(1.0, float(np.abs(values).max()))
    rarer = min(int((values >= at - near).sum()), int((values <= at + near).sum()))
    return min(1.0, 2 * (1 + rarer) / (len(values) + 1))


def _ends(ordered: Numbers, level: float) -> tuple[float, float]:
    """Return the outermost values that `two_sided_of_subsets` accepts at 1 - *level*."""
    rank = int(np.floor((1 - level) * (len(ordered) + 1) / 2 + 1e-9))
    return float(ordered[rank - 1]), float(ordered[-rank])
