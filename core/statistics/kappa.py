"""Two annotators: Cohen's kappa and how high it could have been."""

import numpy as np
from numpy.typing import NDArray

from core.statistics.estimate import NO_SHARED_ITEM, ONE_CATEGORY, Estimate
from core.statistics.intervals import over_items
from core.statistics.resampling import Numbers, Resampling, ratio

Table = NDArray[
    np.int64
]  # rows: what the first chose; columns: the second; one row and column per category of the list


def cohen_kappa(table: Table, resampling: Resampling | None = None, contexts: Table | None = None) -> Estimate:
    """Cohen's kappa (Cohen 1960) of a square table of counts, -1 to 1, with its interval over items.

    (p_o - p_e) / (1 - p_e): 0 = as often as chance with these margins, 1 = always.
    The table has the full list of categories, used or not. Undefined where
    both used the same single category. `contexts[c]`: the cells of the table in context c, where the interval is
    over contexts.
    """
    units = int(table.sum())
    if units == 0:
        return Estimate.undefined(NO_SHARED_ITEM)
    sizes = table.reshape(-1)
    if np.isnan(_kappas(sizes[None, :].astype(float))[0]):
        return Estimate.undefined(ONE_CATEGORY, units)
    from statsmodels.stats.inter_rater import cohens_kappa  # statsmodels takes a while to import

    value = float(cohens_kappa(table, return_results=False))
    return over_items(resampling or Resampling(), _kappas, sizes, Estimate(value, units=units), -1.0, contexts)


def largest_kappa(table: Table, resampling: Resampling | None = None, contexts: Table | None = None) -> Estimate:
    """The largest kappa that the margins of *table* allow (Umesh, Peterson and Sauber 1989), 0 to 1.

    With p_o replaced by the sum of the smaller margin of each category: two
    annotators who accept at different rates cannot reach 1. Its interval is over items, or over contexts.
    """
    units = int(table.sum())
    if units == 0:
        return Estimate.undefined(NO_SHARED_ITEM)
    sizes = table.reshape(-1)
    value = float(_largest(sizes[None, :].astype(float))[0])
    if np.isnan(value):
        return Estimate.undefined(ONE_CATEGORY, units)
    return over_items(resampling or Resampling(), _largest, sizes, Estimate(value, units=units), -1.0, contexts)


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
