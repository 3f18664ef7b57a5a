"""Proportions of items, and p-values of several intervals at once."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.statistics.estimate import MODIFIED_WILSON, WILSON, Estimate, Note

_NORMAL_97_5 = 1.9599639845400545  # 97.5% of the standard normal distribution lie below
_POISSON_5 = (0.0512933, 0.3553615, 0.8176914)  # means of which 5% give 1, 2, 3 or more: half of chi2(2x) at 5%


def wilson(successes: float, units: int, *, nothing: Note) -> Estimate:
    """*successes* of *units* as a share of 1, with the Wilson score interval, 95% (Wilson 1927).

    No units: undefined, with *nothing* as the reason.
    """
    if units == 0:
        return Estimate.undefined(nothing)
    # statsmodels' proportion_confint to the last digit (a test compares them): importing it takes a second, for which
    # every page with a share on it would wait.
    share, square = successes / units, _NORMAL_97_5 * _NORMAL_97_5
    whole = 1 + square / units
    middle = (share + square / (2 * units)) / whole
    reach = _NORMAL_97_5 * math.sqrt(share * (1.0 - share) / units + square / (4.0 * units * units)) / whole
    # At 0 and 1 rounding leaves the ends 1e-17 outside or off the mark.
    low, high = max(0.0, float(middle - reach)), min(1.0, float(middle + reach))
    return Estimate(share, low, high, units, method=WILSON)


def modified_wilson(successes: float, units: int, *, nothing: Note) -> Estimate:
    """`wilson`, with a further end where one to three units are on one side (Brown, Cai and DasGupta 2001).

    There Wilson's own interval covers as little as 83%: the end on that side becomes the exact one of a Poisson count.
    An estimate that is no count (*successes* with a fraction, of unfinished items) keeps Wilson's own.
    """
    found = wilson(successes, units, nothing=nothing)
    if found.value is None or successes != int(successes):
        return found
    successes = int(successes)
    assert found.low is not None and found.high is not None
    few = _POISSON_5[: 2 if units <= 50 else 3]
    low, high, others = found.low, found.high, units - successes
    if 0 < successes <= len(few):
        low = min(low, few[successes - 1] / units)
    if 0 < others <= len(few):
        high = max(high, 1 - few[others - 1] / units)
    return replace(found, low=low, high=high, method=MODIFIED_WILSON)


def holm(estimates: Sequence[Estimate]) -> list[bool]:
    """Which of several estimates still differ from 0 after Holm's adjustment, at 0.05.

    The test of each is its value over its standard error, as normal, or as t
    where the interval is a t interval; an estimate with a `p` of its own has that.
    An estimate without any of these, with an error of 0, or whose interval is withheld, is not tested: False.
    """
    tested = [i for i, e in enumerate(estimates) if e.value is not None and e.se and e.low is not None]
    stays = [False] * len(estimates)
    for i, p in zip(tested, holm_adjusted([two_sided(estimates[i]) for i in tested]), strict=True):
        stays[i] = bool(p <= 0.05)
    return stays


def holm_adjusted(p: ArrayLike) -> NDArray[np.float64]:
    """The p-values *p* (0 to 1, in any order) after Holm's adjustment, in the same order, at most 1 (Holm 1979)."""
    # statsmodels' multipletests to the last digit (a test compares them): it collects garbage in every call, for which
    # a page of the app would wait half a second.
    found = np.asarray(p, dtype=np.float64)
    order = np.argsort(found)
    adjusted = np.empty_like(found)
    adjusted[order] = np.minimum(np.maximum.accumulate(found[order] * np.arange(len(found), 0, -1)), 1.0)
    return adjusted


def two_sided(estimate: Estimate) -> float:
    """p of 0 for an estimate with a standard error: its own, else by t or the normal distribution."""
    assert estimate.value is not None and estimate.se
    if estimate.p is not None:
        return estimate.p
    if estimate.df is not None:
        from scipy import stats  # scipy.stats takes a while to import

        return 2 * float(stats.t.sf(abs(estimate.value) / estimate.se, estimate.df))
    return math.erfc(abs(estimate.value) / estimate.se / math.sqrt(2))
