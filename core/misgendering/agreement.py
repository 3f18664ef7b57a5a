"""Do the two ways agree? MCC, kappa, raw agreement, and how far they disagree on each instance.

See docs/misgendering.md#the-numbers.

The disagreement on an instance has a Beta distribution (004 eq. 8, 9, 12, 13).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from statsmodels.stats.inter_rater import cohens_kappa

from evenhand.core.errors import N_, Refused
from evenhand.core.statistics import Estimate, Note, wilson
from evenhand.core.statistics.intervals import over_clusters
from evenhand.core.statistics.resampling import Numbers, ratio
from evenhand.core.statistics.units import Clusters

Z = 1.959963984540054
NO_PAIR = Note(N_("No instance has verdicts by both methods."))
CONSTANT = Note(
    N_("One of the two methods gave the same verdict for every instance, so no correlation can be computed.")
)
ALL_THE_SAME = Note(N_("Both methods gave the same verdict for every instance, so chance agreement is 1."))
ONE_VERDICT = Note(
    N_(
        "One of the two methods gave the same verdict for every instance, so kappa is 0 by definition and has"
        " no interval."
    )
)
TOO_FEW = Note(N_("Fewer than 4 instances: no interval."))
ONE_INSTANCE = Note(N_("Only one instance: no standard error."))
BOUNDS = {
    "mcc": (-1.0, 1.0),
    "kappa": (-1.0, 1.0),
    "agreement": (0.0, 1.0),
    "disagreement": (0.0, 1.0),
    "difference": (-1.0, 1.0),
}


@dataclass(frozen=True, slots=True)
class Cells:
    """The number of instances by their two verdicts: probability-based first, 1 = right, 0 = wrong."""

    prob0gen0: int
    prob0gen1: int
    prob1gen0: int
    prob1gen1: int

    @property
    def n(self) -> int:
        """The number of instances with both verdicts."""
        return self.prob0gen0 + self.prob0gen1 + self.prob1gen0 + self.prob1gen1

    @property
    def table(self) -> NDArray[np.int64]:
        """2 x 2, always with both labels: rows probability-based 0, 1; columns generation-based 0, 1."""
        return np.array([[self.prob0gen0, self.prob0gen1], [self.prob1gen0, self.prob1gen1]])


def cells(prob: Sequence[int] | Numbers, gen: Sequence[int] | Numbers) -> Cells:
    """Return the cells of two vectors of 0 and 1; a pair in which either is missing (NaN) is left out."""
    a, b = np.asarray(prob, dtype=float), np.asarray(gen, dtype=float)
    both = np.isfinite(a) & np.isfinite(b)
    counts = np.bincount((2 * a[both] + b[both]).astype(np.int64), minlength=4)
    return Cells(*map(int, counts))


def mcc(found: Cells) -> Estimate:
    """Return Matthews' correlation, -1 to 1: Pearson's r of the two 0/1 vectors, 95% by Fisher's z, rows independent.

    Undefined where one vector is constant. |r| = 1: the interval is [r, r]; fewer than 4 instances: none. `se` is
    such that value / se is Fisher's z statistic (atanh r times the root of n - 3).
    """
    if found.n == 0:
        return Estimate.undefined(NO_PAIR)
    r = float(_mcc(found.table.reshape(1, 4).astype(float))[0])
    if math.isnan(r):
        return Estimate.undefined(CONSTANT, found.n)
    if found.n < 4:
        return Estimate(r, units=found.n, note=TOO_FEW)
    if abs(r) >= 1 - 1e-12:
        return Estimate(r, r, r, found.n, se=0.0)
    z, reach = math.atanh(r), 1 / math.sqrt(found.n - 3)
    se = reach * (r / z if z else 1.0)
    return Estimate(r, math.tanh(z - Z * reach), math.tanh(z + Z * reach), found.n, se=se)


def kappa(found: Cells) -> Estimate:
    """Return Cohen's kappa (1960), -1 to 1, with the interval kappa +- 1.96 SE of Fleiss, Cohen and Everitt (1969).

    The full 2 x 2 table is used even if a verdict does not occur. If one way is constant, kappa is 0 by definition and
    has no interval, because the formula gives a standard error of 0. Kappa is undefined if both are constant and equal.
    The half-width is `high - value`; it is not cut at 1.
    """
    if found.n == 0:
        return Estimate.undefined(NO_PAIR)
    if found.prob0gen0 == found.n or found.prob1gen1 == found.n:
        return Estimate.undefined(ALL_THE_SAME, found.n)
    if not (found.table.any(axis=0).all() and found.table.any(axis=1).all()):
        return Estimate(0.0, units=found.n, note=ONE_VERDICT)
    with np.errstate(all="ignore"):
        result = cohens_kappa(found.table)
    value, se = float(result.kappa), float(result.std_kappa)
    return Estimate(value, value - Z * se, value + Z * se, found.n, se=se)


def raw_agreement(found: Cells) -> Estimate:
    """Return the share of instances with equal verdicts, 0 to 1, with its Wilson interval.

    `se` = sqrt(p (1 - p) / (n - 1)).

    The published error bar is that standard error, not a 95% interval.
    """
    equal = found.prob0gen0 + found.prob1gen1
    estimate = wilson(equal, found.n, nothing=NO_PAIR)
    if estimate.value is None:
        return estimate
    if found.n < 2:
        return Estimate(estimate.value, estimate.low, estimate.high, 1, note=ONE_INSTANCE)
    se = math.sqrt(estimate.value * (1 - estimate.value) / (found.n - 1))
    return Estimate(estimate.value, estimate.low, estimate.high, found.n, se=se)


def by_units(prob: Numbers, gen: Numbers, clusters: Clusters) -> dict[str, Estimate]:
    """Return `mcc`, `kappa`, `agreement`, `disagreement`, `difference` with intervals over the units of *clusters*.

    `disagreement` is the share of instances on which the ways differ, 0 to 1. `difference` is the share right by
    probability minus the share right by generation, -1 to 1. Both vectors have a verdict in every row, never NaN.
    The errors of `mcc` and `kappa` count one instance more of each rarer cell (docs/methods.md#intervals-of-models).
    A value that is undefined on all data has a reason.
    """
    columns = np.eye(4)[(2 * prob + gen).astype(np.int64)]
    both = cells(prob, gen)
    result = over_clusters(_shares, columns, clusters, BOUNDS)
    result |= over_clusters(_chance_corrected, columns, clusters, BOUNDS, _rarer(both))
    whole = kappa(both)
    if whole.note is ONE_VERDICT:
        result["kappa"] = replace(whole, units=clusters.units)
    reasons = {"mcc": mcc(both).reason or NO_PAIR, "kappa": whole.reason or NO_PAIR}
    return {name: result.get(name) or Estimate.undefined(reasons.get(name, NO_PAIR), both.n) for name in BOUNDS}


def _shares(sums: Numbers) -> dict[str, Numbers]:
    n = sums.sum(axis=1)
    with np.errstate(all="ignore"):
        agreement = np.where(n > 0, (sums[:, 0] + sums[:, 3]) / n, np.nan)
        apart = ratio(sums[:, 2] - sums[:, 1], n)
        return {"agreement": agreement, "disagreement": 1 - agreement, "difference": apart}


def _chance_corrected(sums: Numbers) -> dict[str, Numbers]:
    return {"mcc": _mcc(sums), "kappa": _kappa(sums)}


def _rarer(found: Cells) -> list[Numbers]:
    """Return one instance of the rarer way to agree, and one of the rarer way to disagree.

    Where few instances are wrong by both ways, units without any show no spread, and the interval lay below the truth.
    """
    counts = found.table.ravel()
    return [np.eye(4)[first if counts[first] <= counts[second] else second] for first, second in ((0, 3), (1, 2))]


def _mcc(sums: Numbers) -> Numbers:
    """Return Matthews' correlation of each row of sums; NaN where a margin is empty."""
    a, b, c, d = sums.T
    room = (a + b) * (c + d) * (a + c) * (b + d)
    return ratio(a * d - b * c, np.sqrt(room))


def _kappa(sums: Numbers) -> Numbers:
    a, b, c, d = sums.T
    n = a + b + c + d
    chance = (a + b) * (a + c) + (c + d) * (b + d)
    return ratio((a + d) * n - chance, n**2 - chance)


NOTHING = Note(N_("All four probabilities are 0, so no form is preferred."))


@dataclass(frozen=True, slots=True)
class Theory:
    """`delta`: the chance, 0 to 1, that a pronoun drawn at the slot is not the one the probability-based way prefers.

    `delta_star`: the least that any preference could reach, with the most likely pronoun. None with `reason` where all
    probabilities are 0. `shares`: the probabilities scaled to sum to 1.
    """

    delta: float | None
    delta_star: float | None
    shares: dict[str, float]
    reason: Note | None = None


def theory(probabilities: Mapping[str, float], preferred: str) -> Theory:
    """Return delta = 1 - Pr(preferred | context) / sum of Pr over the forms; delta* uses the largest Pr instead.

    *probabilities*: of the forms of one case, given the text before the slot; they need not sum to 1 (only their
    ratios count). *preferred*: the form that is most likely in the whole sentence (two-sided). Raises Refused for a
    negative or infinite probability or a *preferred* that is not among the forms.
    """
    for name, value in probabilities.items():
        if not math.isfinite(value) or value < 0:
            raise Refused(N_("{value} is not a probability of {name}."), value=value, name=name)
    if preferred not in probabilities:
        raise Refused(N_("{name} is not one of the pronouns."), name=preferred)
    most = max(probabilities.values())
    if most == 0:
        return Theory(None, None, {}, NOTHING)
    scaled = {name: value / most for name, value in probabilities.items()}  # no overflow, no underflow of the sum
    total = math.fsum(scaled.values())
    return Theory(
        delta=1 - scaled[preferred] / total,
        delta_star=1 - 1 / total,
        shares={name: value / total for name, value in scaled.items()},
    )


ONE_VALUE = Note(N_("Only one instance: its disagreement has no variance."))
NO_SPREAD = Note(N_("The disagreement is the same on every instance, so no Beta distribution can be fitted."))
TOO_WIDE = Note(
    N_("The disagreement varies too much for a Beta distribution: its variance must be below mean × (1 − mean).")
)
EDGE = 1e-12  # relative to 1; a smaller difference is rounding


@dataclass(frozen=True, slots=True)
class BetaFit:
    """A Beta distribution by the method of moments.

    `alpha`, `beta` > 0 or None with `reason`. alpha < beta: agreement is more common; both below 1: the ways either
    agree or disagree outright, with little between. `mean` and `variance` (ddof 1) of the disagreement; `low`, `high`:
    95% intervals of alpha and beta over units where they could be drawn.
    """

    alpha: Estimate
    beta: Estimate
    mean: float | None
    variance: float | None
    n: int

    @property
    def reason(self) -> Note | None:
        """The reason for which the fit is missing; None where it is defined."""
        return self.alpha.reason


def disagreement(prob: Numbers, gen: Numbers) -> Numbers:
    """Return d = mp (1 - mg) + (1 - mp) mg, 0 to 1: the chance that two random verdicts, one of each way, differ.

    *prob*: verdict per instance (0, 1, or the mean over its templates); *gen*: mean over its generations.
    """
    return prob * (1 - gen) + (1 - prob) * gen


def fit_beta(
    values: Sequence[float] | Numbers,
    clusters: Clusters | None = None,
) -> BetaFit:
    """Return alpha = m (q / v - 1), beta = (1 - m) (q / v - 1) with mean m, variance v (ddof 1), q = m (1 - m).

    This is the method of moments, although the published code names it otherwise. Undefined unless 0 < v < q. NaN is
    left out. With *clusters* (one unit per value) alpha and beta get intervals over units.
    """
    d = np.asarray(values, dtype=float)
    known = np.isfinite(d)
    d, n = d[known], int(known.sum())
    if n < 2:
        return _none(NO_PAIR if n == 0 else ONE_VALUE, float(d[0]) if n else None, None, n)
    mean, variance = float(d.mean()), float(d.var(ddof=1))
    if variance <= EDGE:
        return _none(NO_SPREAD, mean, variance, n)
    if variance >= mean * (1 - mean) * (1 - EDGE):
        return _none(TOO_WIDE, mean, variance, n)
    columns = np.stack([np.ones(n), d, d**2], axis=1)
    point = {
        name: Estimate(float(entry[0]), units=n)
        for name, entry in _beta_from_moments(columns.sum(axis=0)[None, :]).items()
    }
    if clusters is not None:
        bounds = {"alpha": (0.0, np.inf), "beta": (0.0, np.inf)}
        point |= over_clusters(_beta_from_moments, columns, clusters.of(known), bounds)
    return BetaFit(point["alpha"], point["beta"], mean, variance, n)


def _none(reason: Note, mean: float | None, variance: float | None, n: int) -> BetaFit:
    undefined = Estimate.undefined(reason, n)
    return BetaFit(undefined, undefined, mean, variance, n)


def _beta_from_moments(sums: Numbers) -> dict[str, Numbers]:
    """Return alpha and beta from the columns n, sum of d, sum of d squared; NaN where they are undefined."""
    n, one, two = sums.T
    with np.errstate(all="ignore"):
        mean = one / n
        variance = (two - one * mean) / (n - 1)
        room = mean * (1 - mean)
        factor = np.where((variance > EDGE) & (variance < room), room / variance - 1, np.nan)
    return {"alpha": mean * factor, "beta": (1 - mean) * factor}
