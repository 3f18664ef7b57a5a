"""Intervals over occupations, drawn in strata: the stereotyped words and the neutral ones are two samples.

A stratum is what occurs in the same sets. Each stratum is resampled by itself, so PS, AS and NS keep their sizes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from core.errors import N_
from core.statistics import RESAMPLES, Estimate, Note
from core.statistics.estimate import NO_VARIATION, few_units
from core.statistics.intervals import by_percentiles
from core.statistics.label_bootstrap import FEW

Numbers = NDArray[np.float64]
# label counts [draws, sets, labels] -> one number per measure and draw, NaN = undefined
Measures = Callable[[Numbers], Mapping[str, Numbers]]

ONE_UNIT = Note(N_("It rests on a single unit: no interval."))
HANGS_ON_ONE = Note(N_("Without one of its units it is undefined: no interval."))


@dataclass(frozen=True, slots=True)
class Drawing:
    """How intervals are drawn. The same seed and data give the same interval."""

    resamples: int = RESAMPLES
    seed: int = 0

    def signature(self, unit: str) -> str:
        """`unit:<kind>|strata|bootstrap:<resamples>|seed:<seed>`."""
        return f"unit:{unit}|strata|bootstrap:{self.resamples}|seed:{self.seed}"

    def intervals(
        self, counts: Numbers, measures: Measures, rests_on: Mapping[str, tuple[int, ...]]
    ) -> dict[str, Estimate]:
        """Each measure with its 95 % interval; *counts* are units x sets x labels.

        `rests_on[name]`: the sets that the measure needs. Where fewer than 15 units stand in one of the strata of
        those sets, the interval is t on the stratified jackknife with its degrees of freedom, and marked (SPEC 6).
        A measure that is undefined is left out of the answer: the caller knows the reason.
        """
        found = {name: float(values[0]) for name, values in measures(counts.sum(0, keepdims=True)).items()}
        strata = _strata(counts)
        drawn = measures(self._draws(counts, strata))
        without = measures(counts.sum(0) - counts)
        estimates = {}
        for name, value in found.items():
            if not np.isfinite(value):
                continue
            used = [codes for codes in strata if counts[codes][:, rests_on[name]].sum() > 0]
            estimate = Estimate(value, units=sum(map(len, used)))
            if min(map(len, used)) < FEW:
                estimates[name] = _by_t(estimate, [without[name][codes] for codes in used])
            else:
                estimates[name] = by_percentiles(drawn[name], estimate)
        return estimates

    def _draws(self, counts: Numbers, strata: list[NDArray[np.int64]]) -> Numbers:
        total = np.zeros((self.resamples, *counts.shape[1:]))
        for number, codes in enumerate(strata):
            random = np.random.default_rng([self.seed, number])
            weights = random.multinomial(len(codes), np.full(len(codes), 1 / len(codes)), size=self.resamples)
            flat = counts[codes].reshape(len(codes), -1)
            total += (weights.astype(float) @ flat).reshape(total.shape)
        return total


def _strata(counts: Numbers) -> list[NDArray[np.int64]]:
    """Units by the sets they stand in; one stratum for all where a unit would be alone in its own."""
    present = counts.sum(axis=2) > 0
    _patterns, codes = np.unique(present, axis=0, return_inverse=True)
    codes = codes.reshape(-1)
    strata = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    if len(strata) > 1 and min(map(len, strata)) < 2:
        return [np.arange(len(counts))]
    return strata


def _by_t(found: Estimate, without: list[Numbers]) -> Estimate:
    """t with the stratified jackknife's error; degrees of freedom of Welch and Satterthwaite.

    For a mean over units of equal size in one stratum this is t with units - 1 on the unit means.
    """
    if min(map(len, without)) < 2:
        return replace(found, note=ONE_UNIT)
    if not all(np.isfinite(values).all() for values in without):
        return replace(found, note=HANGS_ON_ONE)
    parts = [((len(v) - 1) / len(v) * float(((v - v.mean()) ** 2).sum()), len(v) - 1) for v in without]
    variance = sum(part for part, _ in parts)
    if variance == 0:
        assert found.value is not None
        return replace(found, low=found.value, high=found.value, note=NO_VARIATION, se=0.0)
    df = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    se = float(np.sqrt(variance))
    reach = float(stats.t.ppf(0.975, df)) * se
    assert found.value is not None
    low, high = found.value - reach, found.value + reach
    return replace(found, low=low, high=high, note=few_units(found.units), se=se, df=max(1, round(df)))
