"""Rates of all generations from a labelled sample, weighted back by strata.

A stratum is a model with a pronoun set, a data set and a setting. Each labelled generation stands for N_h / n_h of its
stratum (design weight): rate = sum over strata of N_h / N x mean of the labelled ones (the stratified mean; Cochran
1977, Sampling Techniques, 5.4). Intervals are over contexts, all strata redrawn together, since a context may lie in
several strata; there is no finite population correction, so they are on the safe side.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.human_vs_rule.means_over_contexts import codes_of
from evenhand.core.statistics import Estimate, Note, Resampling
from evenhand.core.statistics.intervals import over_units
from evenhand.core.statistics.resampling import Numbers

NO_STRATUM = Note(N_("No stratum has a labelled generation."))


@dataclass(frozen=True, slots=True)
class Weighted:
    """A rate of all generations.

    `sample`: the plain mean of the labelled ones; `estimate`: the weighted rate with its interval over contexts;
    `labelled` of `population` generations; `covered`: the share of generations whose stratum has a labelled one, 0 to
    1: the rate says nothing of the others; `strata`: how many have a labelled one, `thin`: how many have only one.
    """

    sample: float | None
    estimate: Estimate
    labelled: int
    population: int
    covered: float
    strata: int
    thin: int
    json_names: ClassVar = {"estimate": "", "population": "generations", "strata": None, "thin": None}


def weighted(
    values: Sequence[float] | Numbers,
    strata: Sequence[Hashable],
    clusters: Sequence[Hashable],
    population: Mapping[Hashable, int],
    resampling: Resampling | None = None,
) -> Weighted:
    """The rate of *values* (0 to 1, NaN = not labelled) among all generations.

    *population*: stratum -> how many generations it has in all, labelled or not. Undefined where nothing is labelled.
    """
    known = np.isfinite(np.asarray(values, dtype=float))
    held = np.asarray(values, dtype=float)[known]
    rows = [stratum for stratum, kept in zip(strata, known, strict=True) if kept]
    total = sum(population.values())
    order = {stratum: i for i, stratum in enumerate(dict.fromkeys(rows))}
    if not order:
        return Weighted(None, Estimate.undefined(NO_STRATUM), 0, total, 0.0, 0, 0)
    sizes = np.array([population[stratum] for stratum in order], dtype=float)
    units, count = codes_of([cluster for cluster, kept in zip(clusters, known, strict=True) if kept])
    place = units * len(order) + np.array([order[stratum] for stratum in rows])
    shape = (count, len(order))
    sums = np.bincount(place, weights=held, minlength=count * len(order)).reshape(shape).astype(float)
    counts = np.bincount(place, minlength=count * len(order)).reshape(shape).astype(float)
    found = over_units(
        resampling or Resampling(),
        lambda weights: {"rate": _rates(weights, sums, counts, sizes)},
        count,
        {"rate": (0.0, 1.0)},
    )["rate"]
    thin = int((counts.sum(axis=0) == 1).sum())
    return Weighted(float(held.mean()), found, len(held), total, float(sizes.sum()) / total, len(order), thin)


def _rates(weights: Numbers, sums: Numbers, counts: Numbers, sizes: NDArray[np.float64]) -> Numbers:
    drawn, here = weights @ sums, weights @ counts
    seen = here > 0  # a stratum that a draw leaves out passes its share on to the others
    means = np.divide(drawn, here, out=np.zeros_like(drawn), where=seen)
    above, below = (means * sizes).sum(axis=1), (seen * sizes).sum(axis=1)
    rates: Numbers = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return rates
