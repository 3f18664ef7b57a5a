"""Intervals by resampling whole units: sentences, or the articles that they come from (SPEC 6).

One pass over the draws serves every measure: a draw says how often each unit was picked, and what a measure
needs of a unit (sums and counts of its rows) is added up by one matrix product.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from core.errors import N_
from core.statistics import RESAMPLES, Estimate, Note
from core.statistics.bootstrap import FEW
from core.statistics.values import NO_VARIATION, few_units

UnitKind = Literal["sentence", "source"]
UnitChoice = Literal["auto", "sentence", "source"]
Numbers = NDArray[np.float64]
Measures = Callable[[Numbers], Mapping[str, Numbers]]  # weights (draws x units) -> one number per measure and draw

BLOCK = 2_000_000  # weights held in memory at a time
ONE_UNIT = Note(N_("A single unit: no interval."))


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
        random = np.random.default_rng(self.seed)
        left = self.resamples
        while left > 0:
            now = min(left, max(1, BLOCK // units))
            picks = random.integers(0, units, size=(now, units), dtype=np.int64)
            picks += np.arange(now)[:, None] * units
            yield np.bincount(picks.ravel(), minlength=now * units).reshape(now, units).astype(float)
            left -= now

    def intervals(
        self, measures: Measures, units: int, bounds: Mapping[str, tuple[float, float]] | None = None
    ) -> dict[str, Estimate]:
        """Each measure with its 95 % interval over units: percentiles of the draws.

        Fewer than 15 units: the t interval on the jackknife's pseudo-values (for a mean over equal units these are
        the unit means), cut at `bounds`, marked. One unit: no interval. A measure that is NaN is left out of the
        answer: the caller knows the reason.
        """
        if units == 0:
            return {}
        values = {name: float(found[0]) for name, found in measures(np.ones((1, units))).items()}
        found = {name: Estimate(value, units=units) for name, value in values.items() if np.isfinite(value)}
        if units == 1:
            return {name: replace(estimate, note=ONE_UNIT) for name, estimate in found.items()}
        if units < FEW:
            without = measures(np.ones((units, units)) - np.eye(units))
            return {n: _by_t(without[n], estimate, (bounds or {}).get(n)) for n, estimate in found.items()}
        blocks = [measures(weights) for weights in self.weights(units)]
        return {n: _percentiles(np.concatenate([b[n] for b in blocks]), estimate) for n, estimate in found.items()}


def _percentiles(values: Numbers, found: Estimate) -> Estimate:
    known = values[np.isfinite(values)]
    lost = {"count": len(values) - len(known), "resamples": len(values)}
    if len(known) < len(values) / 2:
        return replace(found, note=Note(N_("Undefined in {count} of {resamples} resamples: no interval."), lost))
    low, high = (float(end) for end in np.percentile(known, [2.5, 97.5]))
    note = None
    if len(known) < len(values):
        note = Note(N_("Undefined in {count} of {resamples} resamples, which are left out of the interval."), lost)
    elif low == high:
        note = NO_VARIATION
    return replace(found, low=low, high=high, note=note, se=float(known.std(ddof=1)))


def _by_t(without: Numbers, found: Estimate, bounds: tuple[float, float] | None) -> Estimate:
    units, value = found.units, found.value
    assert value is not None
    if not np.isfinite(without).all():
        message = N_("Few units ({units}), and without one of them the measure is undefined: no interval.")
        return replace(found, note=Note(message, {"units": units}))
    pseudo = units * value - (units - 1) * without
    se = float(pseudo.std(ddof=1) / np.sqrt(units))
    reach = float(stats.t.ppf(0.975, units - 1)) * se
    least, most = bounds or (-np.inf, np.inf)
    low, high = max(least, value - reach), min(most, value + reach)
    return replace(found, low=low, high=high, note=few_units(units), se=se)
