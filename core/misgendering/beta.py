"""How far the two ways disagree on each instance, and the Beta distribution of it (SPEC 4.7; 004 eq. 8, 9, 12, 13)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.intervals import over_clusters
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.statistics.units import Clusters

NO_VALUE = Note(N_("No instance has verdicts by both methods."))
ONE_VALUE = Note(N_("Only one instance: its disagreement has no variance."))
NO_SPREAD = Note(N_("The disagreement is the same on every instance, so no Beta distribution can be fitted."))
TOO_WIDE = Note(
    N_("The disagreement varies too much for a Beta distribution: its variance must be below mean × (1 − mean).")
)
EDGE = 1e-12  # beside 1, below which a difference is rounding


@dataclass(frozen=True, slots=True)
class BetaFit:
    """A Beta distribution by the method of moments.

    `alpha`, `beta` > 0 or None with `reason`. alpha < beta: agreement is the commoner; both below 1: the ways either
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
        """Why there is no fit."""
        return self.alpha.reason


def disagreement(prob: Numbers, gen: Numbers) -> Numbers:
    """d = mp (1 - mg) + (1 - mp) mg, 0 to 1: the chance that a verdict of each way, drawn at random, differ.

    *prob*: verdict per instance (0, 1, or the mean over its templates); *gen*: mean over its generations.
    """
    return prob * (1 - gen) + (1 - prob) * gen


def fit_beta(
    values: Sequence[float] | Numbers,
    clusters: Clusters | None = None,
) -> BetaFit:
    """alpha = m (q / v - 1), beta = (1 - m) (q / v - 1) with mean m, variance v (ddof 1), q = m (1 - m).

    The method of moments, whatever the published code calls it. Undefined unless 0 < v < q. NaN is left out.
    With *clusters* (one unit per value) alpha and beta get intervals over units.
    """
    d = np.asarray(values, dtype=float)
    known = np.isfinite(d)
    d, n = d[known], int(known.sum())
    if n < 2:
        return _none(NO_VALUE if n == 0 else ONE_VALUE, float(d[0]) if n else None, None, n)
    mean, variance = float(d.mean()), float(d.var(ddof=1))
    if variance <= EDGE:
        return _none(NO_SPREAD, mean, variance, n)
    if variance >= mean * (1 - mean) * (1 - EDGE):
        return _none(TOO_WIDE, mean, variance, n)
    columns = np.stack([np.ones(n), d, d**2], axis=1)
    point = {
        name: Estimate(float(found[0]), units=n)
        for name, found in _beta_from_moments(columns.sum(axis=0)[None, :]).items()
    }
    if clusters is not None:
        bounds = {"alpha": (0.0, np.inf), "beta": (0.0, np.inf)}
        point |= over_clusters(_beta_from_moments, columns, clusters.of(known), bounds)
    return BetaFit(point["alpha"], point["beta"], mean, variance, n)


def _none(reason: Note, mean: float | None, variance: float | None, n: int) -> BetaFit:
    undefined = Estimate.undefined(reason, n)
    return BetaFit(undefined, undefined, mean, variance, n)


def _beta_from_moments(sums: Numbers) -> dict[str, Numbers]:
    """alpha and beta from the columns n, sum of d, sum of d squared; NaN where they are undefined."""
    n, one, two = sums.T
    with np.errstate(all="ignore"):
        mean = one / n
        variance = (two - one * mean) / (n - 1)
        room = mean * (1 - mean)
        factor = np.where((variance > EDGE) & (variance < room), room / variance - 1, np.nan)
    return {"alpha": mean * factor, "beta": (1 - mean) * factor}
