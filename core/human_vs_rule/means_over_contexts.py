"""Means over generations with intervals over contexts: generations of one context resemble each other (SPEC 6).

The standard error over contexts is that of the jackknife over whole contexts; where every context has equally many
generations it is sd(context means, ddof 1) / sqrt(contexts). The published error, sd / sqrt(n) with every generation
as independent, stands beside it.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, Resampling
from evenhand.core.statistics.intervals import T_OVER_UNITS, Bounds, over_units
from evenhand.core.statistics.resampling import Numbers, ratio

NOTHING = Note(N_("No generation is fully labelled yet."))
NOT_SAID = Note(N_("No generation received this label."))
VERSION = 2  # of the method: raise it when a number may change


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of values from 0 to 1.

    `estimate`: the value, its 95% interval and error over contexts (`units`); `published`: the standard error as in
    the paper, generations independent, ddof 1 (None for fewer than two); `rows`: how many generations went in.
    """

    estimate: Estimate
    published: float | None
    rows: int

    def to_json(self) -> dict[str, Any]:
        """Return the mean with the number of generations and of contexts."""
        return self.estimate.to_json() | {"n": self.rows, "contexts": self.estimate.units if self.rows else 0}

    @property
    def value(self) -> float | None:
        """The mean, None where undefined."""
        return self.estimate.value


def signature(resampling: Resampling) -> str:
    """`unit:context|jackknife-t:400|bootstrap-t:2000|seed:0`: draws only where there are more than 400 contexts."""
    return resampling.signature("context", T_OVER_UNITS)


def context_means(
    columns: Mapping[str, Sequence[float] | Numbers],
    clusters: Sequence[Hashable],
    resampling: Resampling | None = None,
    *,
    bounds: Bounds = (0.0, 1.0),
) -> dict[str, Mean]:
    """The mean of each column (NaN = not said, left out), with intervals over *clusters*; one pass for all columns.

    *bounds*: the ends of the values' scale. One cluster: no interval. Nothing in a column: undefined.
    """
    resampling = resampling or Resampling()
    values = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    codes, count = codes_of(clusters)
    sums = {name: _sums(column, codes, count) for name, column in values.items()}

    def measures(weights: Numbers) -> dict[str, Numbers]:
        return {name: ratio(weights @ total, weights @ known) for name, (total, known) in sums.items()}

    found = over_units(resampling, measures, count, dict.fromkeys(values, bounds), _known(sums))
    return {name: _mean(column, found.get(name), len(clusters)) for name, column in values.items()}


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


def _known(sums: Mapping[str, tuple[Numbers, Numbers]]) -> dict[str, list[Numbers]]:
    return {name: [known] for name, (_total, known) in sums.items()}


def _mean(column: Numbers, found: Estimate | None, rows: int) -> Mean:
    known = column[np.isfinite(column)]
    if found is None or not len(known):
        return Mean(Estimate.undefined(NOT_SAID if rows else NOTHING), None, 0)
    published = float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else None
    return Mean(found, published, len(known))
