"""A rate from few labels of people and many of a judge (Angelopoulos et al. 2023, "PPI++").

See docs/judges.md#a-rate-from-tables.

The judge's rate is corrected by what people say of the items that both have labelled: theta = k * mean_further(f) +
mean_labelled(Y - k f), with k from 0 (people alone) to 1, chosen so that the error is least. A judge that errs to one
side widens nothing and moves nothing: its bias is measured on the labelled items and taken off.

k is cross-fitted (Zrnic and Candes 2024): the labelled units are divided into ten folds, and a unit has the k of the
other nine. Fitted on the same labels k is small when few positives are drawn, so the rate was too low (by a tenth
at a rate of .05 with 60 labels), and with unequal inclusion probabilities intervals held it in 52 to 90 of 100 samples.

A judge that is nearly always right differs from people on so few items that their spread cannot be estimated: with 50
labelled items and a judge that is right in 99%, the formula alone held the truth in 61 of 100 samples. So the error
counts one difference more than there were, of one item.

Contexts as clusters: both terms are means of cluster means (docs/judges.md#a-rate-from-tables), the mean over contexts
of the share; with `of_items`, or weights, they are means of items: the share of items, with the error still over
clusters. A cluster that holds labelled and further items is in both terms, so their errors are not independent; the
covariance counts, in the error and in the choice of k. Items that were drawn with unequal probabilities: Hajek's
weights, 1 / probability, in the term of people; the further items are then no random sample, and the judge's mean is
that of all items.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_, Refused
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.estimate import BY_T, ONE_UNIT
from evenhand.core.statistics.intervals import by_t

UNSEEN = 1.0  # differences that the labelled items might have shown and did not
FOLDS = 10
VERSION = 3  # of the method: raise it when a number may change
NO_PEOPLE = Note(N_("No item has a label by people and by the judge."))
NO_JUDGE = Note(N_("The judge has given no such label."))
NO_FURTHER = Note(N_("The judge has labelled no further items, so its labels add nothing."))
ALL_THE_SAME = Note(
    N_("People or the judge gave the same label to every item that both labelled: the judge's labels add nothing.")
)
NO_GAIN = Note(N_("The judge's labels of further items would not reduce the standard error, so they are not used."))


TOO_FEW_OF_ONE = Note(N_("People or the judge labelled fewer than two units."))
BY_T_OF_BOTH = N_("t on the combined standard error")

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labels:
    """The input labels: `people` and `automatic` of the same items, `further` of items that only the judge labelled.

    Labels are from 0 to 1. `clusters` and `further_clusters` name the cluster of each item; None: each item is its
    own. `inclusion`: the probability, above 0 and at most 1, with which each labelled item was drawn; None: equal.
    Instead of it `weights`: how many items each labelled one stands for (core.sampling.weights). `strata`: the parts
    from which labelled items were drawn separately; None for an item whose stratum also has items of other questions.
    `of_items`: the rate is the share of items, not the mean of the shares of clusters.
    """

    people: Sequence[float]
    automatic: Sequence[float]
    further: Sequence[float]
    clusters: Sequence[Hashable] | None = None
    further_clusters: Sequence[Hashable] | None = None
    inclusion: Sequence[float] | None = None
    weights: Sequence[float] | None = None
    strata: Sequence[Hashable | None] | None = None
    of_items: bool = False

    @property
    def designed(self) -> bool:
        """True if the labelled items were drawn with probabilities of their own."""
        return self.inclusion is not None or self.weights is not None


@dataclass(frozen=True, slots=True)
class Rates:
    """A rate three times, each with its 95% interval over units (items, or clusters).

    `weight`: the k of the judge's labels, 0 to 1. `worth`: as many labels of people alone would give the error of
    both (the ratio of the variances times the number of labels); None where either is undefined. `effect`: the design
    effect of people's rate, its variance against that of as many items drawn one by one with equal probability (1 = no
    loss; Kish 1965); None where people gave all the same label, or fewer than two.
    """

    people: Estimate
    judge: Estimate
    both: Estimate
    weight: float | None
    worth: float | None
    effect: float | None = None


@dataclass(frozen=True, slots=True)
class _Term:
    """A mean over units: its value, and for each unit what it adds to the error (they sum to 0).

    `units`: as many units of equal weight would tell as much (Kish); `shares`: of each unit in the mean, adding up to
    1; `largest`: the largest share of an item; `least`: the variance if labels had nothing to do with their weights.
    """

    names: list[Hashable]
    values: Numbers
    mean: float
    parts: Numbers
    units: float
    shares: Numbers
    largest: float
    least: float

    @property
    def variance(self) -> float:
        """The variance of the mean, at least `least`: few labels for many items may hide their spread."""
        return max(float(self.parts @ self.parts), self.least)


def prediction_powered(labels: Labels) -> Rates:
    """Return the rate by people, by the judge and by both. Raises Refused where the lists do not match."""
    _refuse_unequal(labels)
    people, automatic = _terms(labels)
    every = _every(labels)
    estimate = _rate(people) if people else Estimate.undefined(NO_PEOPLE)
    judge = _rate(every) if every else Estimate.undefined(NO_JUDGE)
    if people is None or automatic is None or len(people.values) < 2:
        return Rates(estimate, judge, estimate, None, None)
    effect = _design_effect(people, len(labels.people))
    rest = _rest(labels, every)
    if rest is None:
        return Rates(estimate, judge, _noted(estimate, NO_FURTHER), 0.0, float(len(labels.people)), effect)
    return replace(_both(labels, estimate, judge, people, automatic, rest), effect=effect)


def rate_of_people(labels: Labels) -> tuple[Estimate, float | None]:
    """Return the rate by people alone, and its design effect. Raises Refused where the lists do not match."""
    _refuse_unequal(labels)
    people = _terms(labels)[0]
    if people is None:
        return Estimate.undefined(NO_PEOPLE), None
    return _rate(people), _design_effect(people, len(labels.people)) if len(people.values) > 1 else None


def _design_effect(people: _Term, labels: int) -> float | None:
    alone = people.mean * (1 - people.mean) / (labels - 1)
    return people.variance / alone if alone > 0 else None


def _every(labels: Labels) -> _Term | None:
    """Return the judge's mean of all items, by clusters, or by items where labelled items stand for others."""
    values, clusters = [*labels.automatic, *labels.further], None
    if labels.clusters is not None:
        clusters = [*labels.clusters, *(labels.further_clusters or ())]
    return _mean(values, clusters, np.ones(len(values)) if labels.designed else None, of_items=labels.of_items)


def _rest(labels: Labels, every: _Term | None) -> _Term | None:
    """Return the judge's mean that the labelled items correct; None where the judge has labelled too little else."""
    rest = every
    if not labels.designed or not labels.further:
        rest = _mean(labels.further, labels.further_clusters, of_items=labels.of_items)
    return None if rest is None or len(rest.values) < 2 else rest


def _both(labels: Labels, estimate: Estimate, judge: Estimate, people: _Term, automatic: _Term, rest: _Term) -> Rates:
    corrected = _corrected(labels, people, rest)
    variance = corrected.variance(_shared(people.names, rest.names))
    if corrected.weight == 0.0 or variance >= people.variance:
        alike = min(np.ptp(people.values), np.ptp(automatic.values)) == 0
        return Rates(
            estimate, judge, _noted(estimate, ALL_THE_SAME if alike else NO_GAIN), 0.0, float(len(labels.people))
        )
    value = min(1.0, max(0.0, corrected.residual.mean))
    both = by_t(
        Estimate(value, units=len(people.values)), variance**0.5, len(people.values), (0.0, 1.0), _freedom(people),
        BY_T_OF_BOTH,
    )  # fmt: skip
    worth = people.variance / variance * len(labels.people) if variance > 0 else None
    return Rates(estimate, judge, both, corrected.weight, worth)


@dataclass(frozen=True, slots=True)
class _Corrected:
    """The judge's mean corrected by people: `residual` is the mean of Y - k (f - the judge's mean), `rest` that mean.

    `weight`: the mean k of the labelled units.
    """

    residual: _Term
    rest: _Term
    weight: float

    @property
    def unseen(self) -> float:
        """The variance of one difference more than was observed, of the labelled item that counts most."""
        return (self.weight * UNSEEN * self.residual.largest) ** 2

    def variance(self, shared: list[tuple[int, int]]) -> float:
        """Return the variance of the rate; *shared*: units of people and judge that are in both terms."""
        together = _together(self.rest.parts, self.residual.parts, shared)
        of_rest = float(self.rest.parts @ self.rest.parts)
        return self.residual.variance + self.weight**2 * of_rest + 2 * self.weight * together + self.unseen


def _corrected(labels: Labels, people: _Term, rest: _Term) -> _Corrected:
    """Return the judge's mean as people correct it, with the k of each unit fitted on the other folds."""
    places, count = _places(labels.clusters, len(labels.people))
    folds = np.arange(count) % FOLDS
    weights = np.zeros(count)
    for fold in range(min(FOLDS, count)):
        others = _terms(_part(labels, np.flatnonzero(folds[places] != fold).tolist()))
        if others[0] is not None and others[1] is not None and len(others[0].values) > 1:
            weights[folds == fold] = _weight(labels, others[0], others[1], rest)
    moved = weights[places] * (np.asarray(labels.automatic, dtype=float) - rest.mean)
    values = np.asarray(labels.people, dtype=float) - moved
    residual = _terms(replace(labels, people=values.tolist()))[0]
    assert residual is not None and len(residual.values) == len(people.values)
    return _Corrected(residual, rest, float(residual.shares @ weights))


def _part(labels: Labels, rows: list[int]) -> Labels:
    """Return the labelled items of *rows* alone; further items stay."""

    def of(values: Sequence[Any] | None) -> Any:
        return None if values is None else [values[row] for row in rows]

    named = ("people", "automatic", "clusters", "inclusion", "weights", "strata")
    return replace(labels, **{name: of(getattr(labels, name)) for name in named})


def _freedom(term: _Term) -> float:
    """Return the degrees of freedom of a mean, at least 1; `units` counts heavy units as few."""
    return max(1.0, term.units - 1)


def _weight(labels: Labels, people: _Term, automatic: _Term, rest: _Term) -> float:
    """Return the k with the smallest error, from 0 to 1."""
    shared = _shared(people.names, rest.names)
    if labels.clusters is None and not labels.designed:  # items are alike, labelled or not: one spread
        every = np.concatenate([automatic.values, rest.values])
        least = every.var(ddof=1) * (1 / len(rest.values) + 1 / people.units) + (UNSEEN * people.largest) ** 2
    else:  # a cluster mean spreads less the more items it has
        least = float(automatic.parts @ automatic.parts) + float(rest.parts @ rest.parts)
        least += (UNSEEN * people.largest) ** 2 - 2 * _together(rest.parts, automatic.parts, shared)
    gain = float(automatic.parts @ people.parts) - _together(rest.parts, people.parts, shared)
    return min(1.0, max(0.0, float(gain / least))) if least > 0 else 0.0


@dataclass(frozen=True, slots=True)
class _Moved:
    """A rate, what each unit adds to its error, how many units it rests on, and the variance that no unit has."""

    value: float
    parts: dict[Hashable, float]
    units: int
    unseen: float = 0.0


def paired_difference(one: Labels, other: Labels) -> Rates:
    """Return the first rate minus the second, -1 to 1: by people, by the judge and by both, over the clusters of both.

    What a cluster adds to the error of one rate is subtracted from what it adds to the other, so an effect on both
    rates does not widen the difference. `weight` is the smaller of the two. Raises Refused where clusters are missing.
    """
    if one.clusters is None or other.clusters is None:
        raise Refused(N_("A paired difference needs the clusters in which the items are paired."))
    found = [_moved_by(labels) for labels in (one, other)]
    people, judge = _less(found[0][0], found[1][0], BY_T), _less(found[0][1], found[1][1], BY_T)
    weights = [weight for _, _, _, weight in found]
    if None in weights:
        return Rates(people, judge, people, None, None)
    both = _less(found[0][2], found[1][2], BY_T_OF_BOTH)
    count = len(one.people) + len(other.people)
    if max(weights) == 0.0:  # type: ignore[type-var]
        return Rates(people, judge, _noted(people, NO_GAIN), 0.0, float(count))
    worth = (people.se / both.se) ** 2 * count if people.se and both.se else None
    return Rates(people, judge, both, min(weights), worth)  # type: ignore[type-var]


def _moved_by(labels: Labels) -> tuple[_Moved | None, _Moved | None, _Moved | None, float | None]:
    """Return for the rates by people, judge and both the effect of each unit; and k."""
    _refuse_unequal(labels)
    people, automatic = _terms(labels)
    every = _every(labels)
    judge = _as_moved(every) if every is not None and len(every.values) > 1 else None
    if people is None or automatic is None or len(people.values) < 2:
        return None, judge, None, None
    mine = _as_moved(people)
    rest = _rest(labels, every)
    if rest is None:
        return mine, judge, mine, 0.0
    corrected = _corrected(labels, people, rest)
    residual, weight = corrected.residual, corrected.weight
    parts = dict(zip(residual.names, residual.parts.tolist(), strict=True))
    for name, part in zip(rest.names, (weight * rest.parts).tolist(), strict=True):
        parts[name] = parts.get(name, 0.0) + part
    return mine, judge, _Moved(residual.mean, parts, len(people.values), corrected.unseen), weight


def _as_moved(term: _Term) -> _Moved:
    return _Moved(term.mean, dict(zip(term.names, term.parts.tolist(), strict=True)), len(term.values))


def _less(one: _Moved | None, other: _Moved | None, method: str) -> Estimate:
    if one is None or other is None:
        return Estimate.undefined(TOO_FEW_OF_ONE)
    names = one.parts.keys() | other.parts.keys()
    squares = sum((one.parts.get(name, 0.0) - other.parts.get(name, 0.0)) ** 2 for name in names)
    value = min(1.0, max(-1.0, one.value - other.value))
    # As few as the smaller of the two has: what is not shared has no more freedom than that.
    units = min(one.units, other.units)
    return by_t(Estimate(value, units=units), (squares + one.unseen + other.unseen) ** 0.5, units, (-1.0, 1.0),
                method=method)  # fmt: skip


def _terms(labels: Labels) -> tuple[_Term | None, _Term | None]:
    """Return people's and the judge's labels of the same items, by the same units."""
    weights, strata = None, labels.strata if labels.designed else None
    if labels.inclusion is not None:
        weights = 1 / np.asarray(labels.inclusion, dtype=float)
    elif labels.weights is not None:
        weights = np.asarray(labels.weights, dtype=float)
    people, automatic = (
        _mean(given, labels.clusters, weights, strata, of_items=labels.of_items)
        for given in (labels.people, labels.automatic)
    )
    return people, automatic


def _mean(
    given: Sequence[float] | Numbers,
    clusters: Sequence[Hashable] | None,
    weights: Numbers | None = None,
    strata: Sequence[Hashable | None] | None = None,
    *,
    of_items: bool = False,
) -> _Term | None:
    """Return the mean of *given* with *weights*, else of cluster means or *of_items*; None without items."""
    if not len(given):
        return None
    values = np.asarray(given, dtype=float)
    names = [] if clusters is None else list(dict.fromkeys(clusters))
    places, count = _places(clusters, len(values))
    each = np.bincount(places, minlength=count)
    if weights is None:
        given_shares: Numbers = np.ones(len(values)) if of_items else 1.0 / each[places]
    else:
        given_shares = weights
    shares: Numbers = given_shares / given_shares.sum()
    mean = float(shares @ values)
    parts, least = _parts(values, shares, places, mean, strata)
    own, units = np.bincount(places, shares, count), np.bincount(places, shares * values, count)
    least = 0.0 if weights is None else least
    kish = 1 / float(own @ own)
    return _Term(names, units / own, mean, parts, kish, own.astype(float), float(shares.max()), least)


def _places(clusters: Sequence[Hashable] | None, items: int) -> tuple[NDArray[np.int64], int]:
    """Return the number of the unit of each item, and how many units there are."""
    if clusters is None:
        return np.arange(items), items
    at = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    return np.array([at[name] for name in clusters], dtype=np.int64), len(at)


def _parts(
    values: Numbers, shares: Numbers, places: NDArray[np.int64], mean: float, strata: Sequence[Hashable | None] | None
) -> tuple[Numbers, float]:
    """Return what each unit adds to the error: its share times its distance from the mean of its stratum, or of all.

    Squares of n units of a stratum count n / (n - 1) times. A stratum with labels of one unit has no spread of its own.
    """
    count = int(places.max()) + 1
    centre, more = np.full(len(values), mean), np.full(len(values), count / max(1, count - 1))
    groups: dict[Hashable, list[int]] = {}
    for place, name in enumerate(strata or [None] * len(values)):
        groups.setdefault(name, []).append(place)
    least = 0.0
    for name, rows in groups.items():
        own, units = shares[rows], len(np.unique(places[rows]))
        if name is not None and units > 1:
            centre[rows] = float(own @ values[rows] / own.sum())
            more[rows] = units / (units - 1)
        spread = float(own @ (values[rows] - centre[rows]) ** 2 / own.sum())
        least += spread * float(own @ own)
    parts = shares * (values - centre) * np.sqrt(more)
    return np.bincount(places, parts, count).astype(float), least


def _shared(one: list[Hashable], other: list[Hashable]) -> list[tuple[int, int]]:
    """Return (place in *one*, place in *other*) of each unit that both terms have."""
    at = {name: place for place, name in enumerate(other)}
    return [(place, at[name]) for place, name in enumerate(one) if name in at]


def _together(rest: Numbers, labelled: Numbers, shared: list[tuple[int, int]]) -> float:
    """Return the covariance of two means that share units."""
    return float(sum(rest[there] * labelled[here] for here, there in shared))


def _rate(term: _Term) -> Estimate:
    estimate = Estimate(term.mean, units=len(term.values))
    if len(term.values) < 2:
        return replace(estimate, note=ONE_UNIT)
    return by_t(estimate, term.variance**0.5, len(term.values), (0.0, 1.0), _freedom(term))


def _noted(estimate: Estimate, note: Note) -> Estimate:
    return replace(estimate, note=note)


def _refuse_unequal(labels: Labels) -> None:
    same = [labels.automatic, labels.clusters, labels.inclusion, labels.weights, labels.strata]
    if any(one is not None and len(one) != len(labels.people) for one in same) or (
        labels.further_clusters is not None and len(labels.further_clusters) != len(labels.further)
    ):
        raise Refused(N_("Labels, clusters and probabilities must be for the same items, in the same order."))
    if labels.inclusion is not None and not all(0 < value <= 1 for value in labels.inclusion):
        raise Refused(N_("A sampling probability must be above 0 and at most 1."))
    if labels.weights is not None and not all(weight > 0 for weight in labels.weights):
        raise Refused(N_("A weight must be above 0."))
