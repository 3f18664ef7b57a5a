"""Means over generations with intervals over contexts: generations of one context resemble each other.

See docs/methods.md#intervals.

The standard error over contexts comes from the jackknife over whole contexts. If every context has equally many
generations, it is sd(context means, ddof 1) / sqrt(contexts). The published error, sd / sqrt(n), which treats
generations as independent, is reported as well.

Rates of all generations are estimated from a labelled sample, weighted by strata.

A stratum is a model with a pronoun set, a data set and a setting. Each labelled generation represents N_h / n_h
generations of its stratum (design weight): rate = sum over strata of N_h / N x mean of the labelled ones (the
stratified mean; Cochran 1977, Sampling Techniques, 5.4). Intervals are over contexts. All strata are redrawn together,
since a context may lie in several strata. The intervals lack a finite population correction, so they are conservative.

F1 over code points, per kind of mark, shows how far two annotators marked the same characters.

F1 = 2 |A and B| / (|A| + |B|), with A and B the sets of marked code points: 0 = nothing in common, 1 = the same. F1 is
symmetric, so neither annotator is the reference. Where neither marked anything F1 is undefined, and such generations
do not count: the labels already show agreement on "nothing to mark".
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, Resampling
from evenhand.core.statistics.intervals import T_OVER_UNITS, Bounds, over_units
from evenhand.core.statistics.resampling import Numbers, ratio
from evenhand.core.types import JsonObject

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

    def to_json(self) -> JsonObject:
        """Return the mean with the number of generations and of contexts."""
        return self.estimate.to_json() | {"n": self.rows, "contexts": self.estimate.units if self.rows else 0}

    @property
    def value(self) -> float | None:
        """The mean, None where undefined."""
        return self.estimate.value


def signature(resampling: Resampling) -> str:
    """Return the signature `unit:context|jackknife-t:400|bootstrap-t:2000|seed:0`; draws only above 400 contexts."""
    return resampling.signature("context", T_OVER_UNITS)


def context_means(
    columns: Mapping[str, Sequence[float] | Numbers],
    clusters: Sequence[Hashable],
    resampling: Resampling | None = None,
    *,
    bounds: Bounds = (0.0, 1.0),
) -> dict[str, Mean]:
    """Return the mean of each column (NaN is left out), with intervals over *clusters*, in one pass.

    *bounds*: the ends of the values' scale. One cluster: no interval. Nothing in a column: undefined.
    """
    resampling = resampling or Resampling()
    values = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    codes, count = codes_of(clusters)
    sums = {name: _sums(column, codes, count) for name, column in values.items()}

    def measures(weights: Numbers) -> dict[str, Numbers]:
        return {name: ratio(weights @ total, weights @ known) for name, (total, known) in sums.items()}

    units = over_units(resampling, measures, count, dict.fromkeys(values, bounds), _known(sums))
    return {name: _mean(column, units.get(name), len(clusters)) for name, column in values.items()}


def codes_of(clusters: Sequence[Hashable]) -> tuple[NDArray[np.int64], int]:
    """Return each row's unit as a number from 0, and the number of units."""
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


def _mean(column: Numbers, estimate: Estimate | None, rows: int) -> Mean:
    known = column[np.isfinite(column)]
    if estimate is None or not len(known):
        return Mean(Estimate.undefined(NOT_SAID if rows else NOTHING), None, 0)
    published = float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else None
    return Mean(estimate, published, len(known))


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
    """Return the rate of *values* (0 to 1, NaN = not labelled) among all generations.

    *population*: stratum -> how many generations it has in all, labelled or not. Undefined where nothing is labelled.
    """
    known = np.isfinite(np.asarray(values, dtype=float))
    held = np.asarray(values, dtype=float)[known]
    rows = [stratum for stratum, entry in zip(strata, known, strict=True) if entry]
    total = sum(population.values())
    order = {stratum: i for i, stratum in enumerate(dict.fromkeys(rows))}
    if not order:
        return Weighted(None, Estimate.undefined(NO_STRATUM), 0, total, 0.0, 0, 0)
    sizes = np.array([population[stratum] for stratum in order], dtype=float)
    units, count = codes_of([cluster for cluster, entry in zip(clusters, known, strict=True) if entry])
    place = units * len(order) + np.array([order[stratum] for stratum in rows])
    shape = (count, len(order))
    sums = np.bincount(place, weights=held, minlength=count * len(order)).reshape(shape).astype(float)
    counts = np.bincount(place, minlength=count * len(order)).reshape(shape).astype(float)
    estimate = over_units(
        resampling or Resampling(),
        lambda weights: {"rate": _rates(weights, sums, counts, sizes)},
        count,
        {"rate": (0.0, 1.0)},
    )["rate"]
    thin = int((counts.sum(axis=0) == 1).sum())
    return Weighted(float(held.mean()), estimate, len(held), total, float(sizes.sum()) / total, len(order), thin)


def _rates(weights: Numbers, sums: Numbers, counts: Numbers, sizes: NDArray[np.float64]) -> Numbers:
    drawn, here = weights @ sums, weights @ counts
    seen = here > 0  # a stratum that a draw leaves out passes its share on to the others
    means = np.divide(drawn, here, out=np.zeros_like(drawn), where=seen)
    above, below = (means * sizes).sum(axis=1), (seen * sizes).sum(axis=1)
    rates: Numbers = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return rates


Marks = Iterable[tuple[int, int, str]]  # half-open code points and a kind

NONE_MARKED = Note(N_("Neither of two annotators marked anything."))
NO_TWO = Note(N_("No generation has marks by two annotators to compare."))


def characters(marks: Marks, kind: str) -> frozenset[int]:
    """Return the code points that marks of *kind* cover."""
    return frozenset(i for start, end, of in marks if of == kind for i in range(start, end))


def f1(a: Marks, b: Marks, kind: str) -> tuple[float | None, Note | None]:
    """Return F1 of two annotators' marks on one text, 0 to 1; (None, reason) if neither marked anything."""
    one, other = characters(a, kind), characters(b, kind)
    if not one and not other:
        return None, NONE_MARKED
    return 2 * len(one & other) / (len(one) + len(other)), None


@dataclass(frozen=True, slots=True)
class MarkAgreement:
    """Marks of one kind over all generations.

    `pooled`: 2 sum |A and B| / sum (|A| + |B|) over every two annotators of every generation, with its interval over
    contexts; `mean`: the mean of the F1 of single generations and pairs; `pairs`: how many pairs have a mark; `both`:
    in how many of them both marked something; `same`: in how many exactly the same.
    """

    kind: str
    pooled: Estimate
    mean: float | None
    pairs: int
    both: int
    same: int
    json_names: ClassVar = {
        "kind": None, "pooled": "f1", "mean": "mean_f1", "pairs": "pairs_with_a_mark", "both": "both_marked",
        "same": "same_marks",
    }  # fmt: skip
    also_in_json: ClassVar = ("mean_f1_reason",)

    @property
    def mean_f1_reason(self) -> Note | None:
        """The reason for which the mean F1 is missing; None where it is defined."""
        return self.pooled.reason if self.mean is None else None


def agreement(
    items: Mapping[Hashable, Sequence[Sequence[tuple[int, int, str]]]],
    clusters: Mapping[Hashable, Hashable],
    kind: str,
    resampling: Resampling | None = None,
) -> MarkAgreement:
    """Return agreement on marks of *kind*. *items*: generation -> marks of each annotator; *clusters*: -> its unit."""
    rows = []
    for item, said in items.items():
        for a, b in combinations([characters(marks, kind) for marks in said], 2):
            if a or b:
                rows.append((clusters[item], 2 * len(a & b), len(a) + len(b), bool(a and b), a == b))
    if not rows:
        return MarkAgreement(kind, Estimate.undefined(NO_TWO), None, 0, 0, 0)
    units, count = codes_of([row[0] for row in rows])
    above = np.bincount(units, weights=[row[1] for row in rows], minlength=count)
    below = np.bincount(units, weights=[row[2] for row in rows], minlength=count)

    def measures(weights: Numbers) -> dict[str, Numbers]:
        # Every unit here has a mark, so a draw is never empty; leaving out the only unit is not asked for.
        return {"f1": (weights @ above) / (weights @ below)}

    pooled = over_units(resampling or Resampling(), measures, count, {"f1": (0.0, 1.0)})["f1"]
    mean = float(np.mean([row[1] / row[2] for row in rows]))
    return MarkAgreement(kind, pooled, mean, len(rows), sum(r[3] for r in rows), sum(r[4] for r in rows))
