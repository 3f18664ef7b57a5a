"""Means over generations with intervals over contexts: generations of one context resemble each other (SPEC 6).

The standard error over contexts is that of the jackknife over whole contexts; where every context has equally many
generations it is sd(context means, ddof 1) / sqrt(contexts). The published error, sd / sqrt(n) with every generation
as independent, stands beside it.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import N_
from core.statistics import Estimate, Note, Resampling, wilson
from core.statistics.intervals import jackknife, over_units
from core.statistics.resampling import Numbers, ratio

NOTHING = Note(N_("No generation here has been labelled to the end yet."))
NOT_SAID = Note(N_("Nobody said it of any generation here."))
ALL_ALIKE = Note(N_("All contexts gave the same, so their spread cannot be seen: no interval."))
WILSON = Note(N_("All contexts gave the same: Wilson interval, each context counted once."))
VERSION = 1  # of the method: raise it when a number may change


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of values from 0 to 1.

    `estimate`: the value, its 95 % interval and error over contexts (`units`); `published`: the standard error as in
    the paper, generations independent, ddof 1 (None for fewer than two); `rows`: how many generations went in.
    """

    estimate: Estimate
    published: float | None
    rows: int

    @property
    def value(self) -> float | None:
        """The mean, None where undefined."""
        return self.estimate.value


def signature(resampling: Resampling) -> str:
    """`unit:context|bootstrap:2000|seed:0`; fewer than 15 contexts: t on the jackknife's values."""
    return resampling.signature("context")


def context_means(
    columns: Mapping[str, Sequence[float] | Numbers],
    clusters: Sequence[Hashable],
    resampling: Resampling | None = None,
) -> dict[str, Mean]:
    """The mean of each column (NaN = not said, left out), with intervals over *clusters*; one pass for all columns.

    Fewer than 15 clusters: t interval, cut at 0 and 1. One cluster: no interval. Nothing in a column: undefined.
    """
    resampling = resampling or Resampling()
    values = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    codes, count = codes_of(clusters)
    sums = {name: _sums(column, codes, count) for name, column in values.items()}

    def measures(weights: Numbers) -> dict[str, Numbers]:
        return {name: ratio(weights @ total, weights @ known) for name, (total, known) in sums.items()}

    found = over_units(resampling, measures, count, dict.fromkeys(values, (0.0, 1.0)), _support(sums))
    return {
        name: _mean(column, _by_jackknife(found.get(name), sums[name]), len(clusters))
        for name, column in values.items()
    }


def _by_jackknife(found: Estimate | None, sums: tuple[Numbers, Numbers]) -> Estimate | None:
    """*found* with the jackknife's standard error: the draws' own is too small by about half a unit in their number."""
    total, known = (one[sums[1] > 0] for one in sums)  # without contexts that have no value
    if found is None or len(known) < 2:
        return found
    whole, without = total.sum() / known.sum(), (total.sum() - total) / (known.sum() - known)
    return replace(found, se=jackknife(whole, without))


def codes_of(clusters: Sequence[Hashable]) -> tuple[NDArray[np.int64], int]:
    """Each row's unit as a number from 0, and how many units there are."""
    number: dict[Hashable, int] = {}
    codes = np.array([number.setdefault(cluster, len(number)) for cluster in clusters], dtype=np.int64)
    return codes, len(number)


def _sums(column: Numbers, codes: NDArray[np.int64], count: int) -> tuple[Numbers, Numbers]:
    known = np.isfinite(column)
    weights = (np.where(known, column, 0.0), known.astype(float))
    total, number = (np.bincount(codes, weights=w, minlength=count).astype(float) for w in weights)
    return total, number


def _support(sums: Mapping[str, tuple[Numbers, Numbers]]) -> dict[str, int]:
    return {name: int((known > 0).sum()) for name, (_total, known) in sums.items()}


def _mean(column: Numbers, found: Estimate | None, rows: int) -> Mean:
    known = column[np.isfinite(column)]
    if found is None or not len(known):
        return Mean(Estimate.undefined(NOT_SAID if rows else NOTHING), None, 0)
    published = float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else None
    return Mean(without_false_certainty(found), published, len(known))


def without_false_certainty(found: Estimate) -> Estimate:
    """*found*, but no interval of width 0: at 0 or 1 Wilson's over contexts, elsewhere none; the note says so."""
    if found.value is None or found.low is None or found.low < (found.high or 0.0):
        return found
    if found.value not in (0.0, 1.0):
        return replace(found, low=None, high=None, note=ALL_ALIKE)
    by_context = wilson(round(found.value * found.units), found.units, nothing=NOTHING)
    return replace(found, low=by_context.low, high=by_context.high, note=WILSON)
