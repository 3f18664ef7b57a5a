"""Two annotators: Cohen's kappa and how high it could have been."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.statistics.estimate import AT_ITS_BOUND, NO_SHARED_ITEM, ONE_CATEGORY, Estimate
from evenhand.core.statistics.posterior import (
    Seen,
    all_but_the_commonest,
    over_patterns,
    present_clusters,
    several_in_one,
)
from evenhand.core.statistics.resampling import Numbers, Resampling, ratio

Table = NDArray[Any]  # counts; rows: what the first chose; columns: the second; of every category of the list


def cohen_kappa(table: Table, resampling: Resampling | None = None, clusters: Table | None = None) -> Estimate:
    """Cohen's kappa (Cohen 1960) of a square table of counts, -1 to 1, with its interval over items.

    (p_o - p_e) / (1 - p_e): 0 = as often as chance with these margins, 1 = always.
    The table has the full list of categories, used or not. Undefined where
    both used the same single category. `clusters[c]`: the cells of the table in cluster c (an article or a context),
    where items come in clusters.
    """
    units = int(table.sum())
    if units == 0:
        return Estimate.undefined(NO_SHARED_ITEM)
    sizes = table.reshape(-1)
    # statsmodels' cohens_kappa to the last digits (a test compares them), whose import takes a second.
    value = float(_kappas(sizes[None, :].astype(float))[0])
    if np.isnan(value):
        return Estimate.undefined(ONE_CATEGORY, units)
    found = Estimate(value, units=units)
    one = np.eye(len(table), dtype=np.int64)
    cells = (one[:, None] + one).reshape(-1, len(table))  # the two labels of an item in each cell
    held = _either_way(clusters) if clusters is not None and several_in_one(clusters) else None
    rare = all_but_the_commonest(table.sum(axis=0) + table.sum(axis=1))
    seen = Seen(cells, sizes.astype(float), _prior(table).reshape(-1), held)
    return over_patterns(resampling or Resampling(), _kappas, seen, found, rare)


def _either_way(clusters: Table) -> Numbers:
    """The clusters that hold an item, with the same annotator first whichever was asked for: kappa is the same."""
    size = round(clusters.shape[1] ** 0.5)
    turned = clusters.reshape(-1, size, size).transpose(0, 2, 1).reshape(clusters.shape)
    return present_clusters(min(clusters, turned, key=np.ndarray.tolist), 0)


def _prior(table: Table) -> Numbers:
    """The prior weight of each cell, over the categories that were used: as of patterns of two labels."""
    used = (table.any(axis=0) | table.any(axis=1)).astype(float)
    count, both = used.sum(), np.outer(used, used)
    weights: Numbers = np.where(np.eye(len(table), dtype=bool), both / 2, both / (2 * count)) / (count - 1)
    return weights


def largest_kappa(table: Table) -> Estimate:
    """The largest kappa that the margins of *table* allow (Umesh, Peterson and Sauber 1989), 0 to 1.

    With p_o replaced by the sum of the smaller margin of each category: two
    annotators who accept at different rates cannot reach 1. It has no interval:
    where they accept at one rate it is 1, which no interval from a sample reaches.
    """
    units = int(table.sum())
    if units == 0:
        return Estimate.undefined(NO_SHARED_ITEM)
    value = float(_largest(table.reshape(1, -1).astype(float))[0])
    if np.isnan(value):
        return Estimate.undefined(ONE_CATEGORY, units)
    return Estimate(value, units=units, note=AT_ITS_BOUND)


def _largest(draws: Numbers) -> Numbers:
    size = round(draws.shape[1] ** 0.5)
    tables = draws.reshape(-1, size, size)
    total, rows, columns = tables.sum(axis=(1, 2)), tables.sum(axis=2), tables.sum(axis=1)
    return _beyond_chance(np.minimum(rows, columns).sum(axis=1) * total, (rows * columns).sum(axis=1), total)


def _kappas(draws: Numbers) -> Numbers:
    size = round(draws.shape[1] ** 0.5)
    tables = draws.reshape(-1, size, size)
    total = tables.sum(axis=(1, 2))
    agreed = np.trace(tables, axis1=1, axis2=2) * total
    return _beyond_chance(agreed, (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1), total)


def _beyond_chance(agreed: Numbers, chance: Numbers, total: Numbers) -> Numbers:
    # In whole numbers, so that "both used one category" is exactly 0 and not 1e-17.
    room = total**2 - chance
    return ratio(agreed - chance, room)
