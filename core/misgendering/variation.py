"""How much the verdict on one instance changes from generation to generation, or template to template (SPEC 4.5)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.intervals import over_clusters
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.statistics.units import Clusters

LEVELS = ("0", "0.4", "0.49")  # of five: all alike, one differs, two differ
FIVE = 5
NO_VERDICT = Note(N_("No instance has a verdict."))
NOT_FIVE = Note(N_("No instance has five verdicts, so the three levels cannot be shown."))
ONE_ROW = Note(N_("Only one instance: no standard error."))


@dataclass(frozen=True, slots=True)
class Variation:
    """Instance variation of a set.

    `mean` of sigma over instances, 0 to 0.5, with its interval over units; `std` population (ddof 0), None where there
    is no instance. `levels`: share of instances with five verdicts at each of LEVELS, None where there is no such
    instance; `complete` is their number. `n` instances have a sigma, `dropped` have no verdict at all.
    """

    mean: Estimate
    std: float | None
    levels: dict[str, float] | None
    n: int
    complete: int
    dropped: int


def sigmas(verdicts: Numbers) -> Numbers:
    """Population standard deviation (ddof 0) of each row's verdicts, rows x verdicts of 0, 1 or NaN (missing).

    NaN for a row with no verdict; 0 for a row with one.
    """
    known = np.isfinite(verdicts)
    count = known.sum(axis=1)
    share = np.divide(np.nansum(verdicts, axis=1), count, out=np.full(len(verdicts), np.nan), where=count > 0)
    # Of 0 and 1 the mean says all: sigma = sqrt(p (1 - p)), and it is exactly 0 where all are alike.
    spread: Numbers = np.sqrt(share * (1 - share))
    return spread


def level_counts(verdicts: Numbers) -> NDArray[np.int64]:
    """How many rows of five verdicts are all alike, have one that differs, have two: always three numbers."""
    full = verdicts[np.isfinite(verdicts).all(axis=1)] if verdicts.shape[1] == FIVE else verdicts[:0]
    right = full.sum(axis=1).astype(np.int64)
    return np.bincount(np.minimum(right, FIVE - right), minlength=3).astype(np.int64)


def variation(verdicts: Numbers, clusters: Clusters) -> Variation:
    """The variation of instances, one row each, whose units are *clusters*."""
    each = sigmas(verdicts)
    known = np.isfinite(each)
    counts = level_counts(verdicts)
    complete = int(counts.sum())
    return Variation(
        mean=mean_by_units(each, clusters, NO_VERDICT, (0.0, 0.5)),
        std=float(each[known].std()) if known.any() else None,
        levels=dict(zip(LEVELS, (counts / complete).tolist(), strict=True)) if complete else None,
        n=int(known.sum()),
        complete=complete,
        dropped=int((~known).sum()),
    )


def mean_by_units(
    values: Numbers,
    clusters: Clusters,
    nothing: Note,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """The mean of *values* over rows that have one (not NaN), with its interval over units; *nothing*: none has."""
    known = np.isfinite(values)
    columns = np.stack([np.where(known, values, 0.0), known.astype(float)], axis=1)
    if not known.any():
        return Estimate.undefined(nothing)
    return over_clusters(_mean, columns[known], clusters.of(known), {"mean": bounds})["mean"]


def _mean(sums: Numbers) -> dict[str, Numbers]:
    with np.errstate(all="ignore"):
        return {"mean": sums[:, 0] / sums[:, 1]}


def failure_rate(verdicts: Numbers) -> Estimate:
    """Mean over rows of the share of verdicts that are missing, 0 to 1; `se` = sd (ddof 1) / sqrt(rows), as published.

    Of TANGO: generations from which no template could be made.
    """
    if not verdicts.size:
        return Estimate.undefined(NO_VERDICT)
    missing = (~np.isfinite(verdicts)).mean(axis=1)
    if len(missing) < 2:
        return Estimate(float(missing.mean()), units=1, note=ONE_ROW)
    se = float(missing.std(ddof=1) / np.sqrt(len(missing)))
    return Estimate(float(missing.mean()), units=len(missing), se=se)
