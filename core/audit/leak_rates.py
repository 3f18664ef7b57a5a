"""Leak rates of extremes and controls, and the measures without the leaks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from statsmodels.stats.proportion import confint_proportions_2indep

from evenhand.core.audit.sample import Stratum
from evenhand.core.errors import N_
from evenhand.core.sentence_bias.bias import SideMeans, side_means
from evenhand.core.statistics import RESAMPLES, Estimate, Note, Resampling, wilson
from evenhand.core.statistics.intervals import over_strata, over_units
from evenhand.core.statistics.resampling import Numbers, ratio
from evenhand.core.types import Side

Rule = Literal["unanimous", "any"]
ENDS: tuple[Side | None, ...] = (None, "male", "female")
NOTHING_JUDGED = Note(N_("None of these sentences is fully labelled yet."))
MORE = N_(
    "Extremes reveal the keyword more often than comparable sentences ({extremes:.0%} against"
    " {controls:.0%}): part of the apparent bias comes from sentences that reveal the word."
)
LESS = N_(
    "Extremes reveal the keyword less often than comparable sentences ({extremes:.0%} against"
    " {controls:.0%}): leaks do not explain the strongest values."
)
UNDECIDED = N_(
    "Extremes and comparable sentences show no clear difference ({extremes:.0%} against {controls:.0%};"
    " the difference lies between {low:+.0f} and {high:+.0f} points): this audit gives no evidence that leaks"
    " cause the strongest values."
)


def difference(extreme: tuple[int, int], control: tuple[int, int]) -> Estimate:
    """Return the share of leaks among extremes minus that among controls, -1 to 1; each side is (leaks, judged).

    95% interval, and 90% `inner`: Newcombe's hybrid score interval (1998, method 10), from two Wilson intervals.
    Undefined while one side has no judged sentence.
    """
    (leaks, judged), (other_leaks, other) = extreme, control
    if not judged or not other:
        return Estimate.undefined(NOTHING_JUDGED)
    counts = (leaks, judged, other_leaks, other)
    (low, high), inner = (confint_proportions_2indep(*counts, method="newcomb", alpha=alpha) for alpha in (0.05, 0.1))
    inside = (float(inner[0]), float(inner[1]))
    return Estimate(leaks / judged - other_leaks / other, float(low), float(high), judged + other, inner=inside)


@dataclass(frozen=True, slots=True)
class Compared:
    """The share of leaks at one end (`toward` None: both) among extremes and among controls, and extremes - controls.

    `counts`: (leaks, judged) of extremes and of controls; these are labels in `compare_labels`, else sentences.
    """

    toward: Side | None
    counts: tuple[tuple[int, int], tuple[int, int]]
    extreme: Estimate
    control: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence with all its labels: `leaks` of `labels` say that it leaks."""

    stratum: Stratum
    toward: Side
    leaks: int
    labels: int


def compare_sentences(judged: Sequence[Judged], rule: Rule) -> tuple[Compared, ...]:
    """Compare extremes and controls by sentences, for both ends together and then for each end.

    *rule* "unanimous": a sentence is a leak if all its labels say so; "any": if one does. Wilson's intervals.
    """

    def counted(stratum: Stratum, toward: Side | None) -> tuple[int, int]:
        own = [one for one in judged if one.stratum == stratum and toward in (None, one.toward)]
        return sum(is_leak(one.leaks, one.labels, rule) for one in own), len(own)

    def row(toward: Side | None) -> Compared:
        extreme, control = counted("extreme", toward), counted("control", toward)
        shares = [wilson(*counts, nothing=NOTHING_JUDGED) for counts in (extreme, control)]
        return Compared(toward, (extreme, control), shares[0], shares[1], difference(extreme, control))

    return tuple(row(toward) for toward in ENDS)


def is_leak(leaks: int, labels: int, rule: Rule) -> bool:
    """Check whether *leaks* of *labels* labels make a sentence a leak under *rule*."""
    return labels > 0 and (leaks == labels if rule == "unanimous" else leaks > 0)


def compare_labels(judged: Sequence[Judged], *, resamples: int = RESAMPLES, seed: int = 0) -> tuple[Compared, ...]:
    """Compare extremes and controls by labels: the share of all labels that say leak.

    `compare_sentences` counts sentences instead. The labels of one sentence are not independent, so the intervals
    resample sentences: t on the jackknife, for the difference with the degrees of freedom of Welch and Satterthwaite.
    """

    def row(toward: Side | None) -> Compared:
        sides = []
        for stratum in ("extreme", "control"):
            own = [one for one in judged if one.stratum == stratum and toward in (None, one.toward)]
            sides.append(np.array([(one.leaks, one.labels) for one in own], dtype=float).reshape(-1, 2))
        counts = tuple((int(side[:, 0].sum()), int(side[:, 1].sum())) for side in sides)
        means = [side[:, 0] / side[:, 1] for side in sides]
        extreme, control = (_share(values, Resampling(resamples, seed + i)) for i, values in enumerate(means))
        apart = _difference(means[0], means[1])
        return Compared(toward, (counts[0], counts[1]), extreme, control, apart)

    return tuple(row(toward) for toward in ENDS)


def _share(values: Numbers, resampling: Resampling) -> Estimate:
    """Return the mean of *values* over sentences."""
    units = over_units(
        resampling, lambda weights: {"": ratio(weights @ values, weights.sum(axis=1))}, len(values), {"": (0.0, 1.0)}
    )
    return units.get("") or Estimate.undefined(NOTHING_JUDGED)


def _difference(extreme: Numbers, control: Numbers) -> Estimate:
    """Return the mean of *extreme* minus the mean of *control*, as two samples."""
    sizes = len(extreme), len(control)
    if not all(sizes):
        return Estimate.undefined(NOTHING_JUDGED, sum(sizes))
    first = np.arange(sum(sizes)) < sizes[0]
    values = np.concatenate([extreme, control])
    table = np.stack([values * first, first, values * ~first, ~first], axis=1)

    def measures(sums: Numbers) -> dict[str, Numbers]:
        return {"": ratio(sums[:, 0], sums[:, 1]) - ratio(sums[:, 2], sums[:, 3])}

    strata = (np.flatnonzero(first), np.flatnonzero(~first))
    return over_strata(measures, table, strata, bounds={"": (-1.0, 1.0)})[""]


def verdict(compared: Compared) -> Note:
    """Return the result of a comparison as a sentence."""
    low, high = compared.difference.low, compared.difference.high
    if compared.difference.value is None or low is None or high is None:
        return NOTHING_JUDGED
    values = {"extremes": compared.extreme.value, "controls": compared.control.value}
    if low > 0:
        return Note(MORE, values)
    if high < 0:
        return Note(LESS, values)
    return Note(UNDECIDED, values | {"low": 100 * low, "high": 100 * high})


@dataclass(frozen=True, slots=True)
class WithAndWithout:
    """The means of some sentences (log10), with all of them and without the leaks among them."""

    sentences: int
    leaks: int
    all: SideMeans
    kept: SideMeans


def with_and_without(values: Mapping[str, float], leaks: Collection[str]) -> WithAndWithout:
    """Return the three means of sentences (text -> Bias_c in log10), with and without the texts in *leaks*."""
    kept = [value for text, value in values.items() if text not in leaks]
    return WithAndWithout(len(values), len(values) - len(kept), side_means(values.values()), side_means(kept))
