"""Intervals by resampling whole units: sentences, or the articles that they come from (SPEC 6).

One pass over the draws serves every measure: a draw says how often each unit was picked, and what a measure
needs of a unit (sums and counts of its rows) is added up by one matrix product.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.errors import N_
from core.statistics import RESAMPLES, Estimate, Note
from core.statistics.intervals import HANGS_ON_ONE, by_percentiles, by_t
from core.statistics.label_bootstrap import FEW

UnitKind = Literal["sentence", "source"]
UnitChoice = Literal["auto", "sentence", "source"]
Numbers = NDArray[np.float64]
Counts = NDArray[np.uint8]
Measures = Callable[[Numbers], Mapping[str, Numbers]]  # weights (draws x units) -> one number per measure and draw

BLOCK = 160_000  # weights held at a time: so few that they stay in the processor's cache
ONE_UNIT = Note(N_("A single unit: no interval."))
RESTS_ON_ONE = Note(N_("It rests on a single unit of one side: no interval."))


@dataclass(frozen=True, slots=True)
class Units:
    """What is drawn: `codes[i]` is the unit of row i, 0 to `count` - 1."""

    kind: UnitKind
    codes: NDArray[np.int64]
    count: int

    def sums(self, *columns: Numbers) -> Numbers:
        """Per unit the sum of each column over its rows, units x columns."""
        return np.stack([np.bincount(self.codes, weights=column, minlength=self.count) for column in columns], axis=1)


def units_of(rows: pd.DataFrame, unit: UnitChoice = "auto") -> Units:
    """The units of *rows*.

    "sentence": each distinct text (rows without text count each). "source": each article; a row that names none is
    a unit of its own. "auto": source where the rows name at least two and some article has several rows.
    """
    named = rows["source"].to_numpy() != ""
    several = rows["source"][named].nunique() if named.any() else 0
    if unit == "auto":
        unit = "source" if 2 <= several < int(named.sum()) else "sentence"
    texts = rows["source" if unit == "source" else "sentence"]
    codes, distinct = pd.factorize(texts.where(texts != ""))
    codes = codes.astype(np.int64)
    alone = codes < 0
    codes[alone] = len(distinct) + np.arange(alone.sum())
    return Units(unit, codes, len(distinct) + int(alone.sum()))


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


class _Remembered:
    """The latest draws: models on the same sentences are drawn alike, and drawing takes longer than reckoning."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[int, int, int], list[Counts]] = OrderedDict()
        self._lock = Lock()

    def blocks(self, units: int, resamples: int, seed: int) -> list[Counts] | None:
        """The draws; None where they would take too much memory to keep."""
        if units * resamples > self._most:
            return None
        key = units, resamples, seed
        with self._lock:
            found = self._kept.pop(key, None)
        if found is None:
            found = list(_drawn(*key))
        with self._lock:
            self._kept[key] = found
            while sum(n * times for n, times, _seed in self._kept) > self._most:
                self._kept.popitem(last=False)
        return found


_remembered = _Remembered(64_000_000)


@dataclass(frozen=True, slots=True)
class Draws:
    """How intervals are drawn. The same seed and data give the same interval."""

    resamples: int = RESAMPLES
    seed: int = 0

    def signature(self, unit: str) -> str:
        """`unit:<kind>|bootstrap:<resamples>|seed:<seed>`."""
        return f"unit:{unit}|bootstrap:{self.resamples}|seed:{self.seed}"

    def weights(self, units: int) -> Iterator[Numbers]:
        """How often each unit was picked, draws x units, in blocks: *units* picks with replacement a draw."""
        known = _remembered.blocks(units, self.resamples, self.seed)
        for counts in _drawn(units, self.resamples, self.seed) if known is None else known:
            yield counts.astype(float)

    def intervals(
        self,
        measures: Measures,
        units: int,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        support: Mapping[str, int] | None = None,
    ) -> dict[str, Estimate]:
        """Each measure with its 95 % interval over units: percentiles of the draws.

        Fewer than 15 units: the t interval on the jackknife's pseudo-values (for a mean over equal units these are
        the unit means), cut at `bounds`, marked. One unit: no interval. A measure that is NaN is left out of the
        answer: the caller knows the reason. *support*: on how many units a measure rests where that is fewer than all
        (Bias_man on those that lean to the male word); fewer than 15 of them get a t interval too.
        """
        rests = support or {}
        if units == 0:
            return {}
        values = {name: float(found[0]) for name, found in measures(np.ones((1, units))).items()}
        found = {name: Estimate(value, units=units) for name, value in values.items() if np.isfinite(value)}
        if units == 1:
            return {name: replace(estimate, note=ONE_UNIT) for name, estimate in found.items()}
        if units < FEW:
            without = measures(np.ones((units, units)) - np.eye(units))
            pseudo = {n: (units * e.value - (units - 1) * without[n]) for n, e in found.items() if e.value is not None}
            return {n: _by_t(pseudo[n], e, rests.get(n, units), (bounds or {}).get(n)) for n, e in found.items()}
        blocks = [measures(weights) for weights in self.weights(units)]
        drawn = {n: np.concatenate([b[n] for b in blocks]) for n in found}
        return {n: _from_draws(drawn[n], e, rests.get(n, units), (bounds or {}).get(n)) for n, e in found.items()}


def _from_draws(values: Numbers, found: Estimate, rests: int, bounds: tuple[float, float] | None) -> Estimate:
    """Percentiles; where the measure rests on few units, t with the standard error of the draws.

    The draws of k values spread as if their variance were divided by k, not k - 1: the error is widened by that.
    """
    if rests >= FEW:
        return by_percentiles(values, found)
    if rests < 2:
        return replace(found, note=RESTS_ON_ONE)
    known = values[np.isfinite(values)]
    return by_t(found, float(known.std(ddof=1)) * float(np.sqrt(rests / (rests - 1))), rests, bounds)


def _by_t(pseudo: Numbers, found: Estimate, rests: int, bounds: tuple[float, float] | None) -> Estimate:
    if not np.isfinite(pseudo).all():
        return replace(found, note=Note(HANGS_ON_ONE, {"units": found.units}))
    if rests < 2:
        return replace(found, note=RESTS_ON_ONE)
    return by_t(found, float(pseudo.std(ddof=1) / np.sqrt(len(pseudo))), rests, bounds)
