"""The agreement of any number of annotators; of two, Cohen's kappa and its largest possible value.

All measures except Cohen's kappa need only the number of annotators per category, item by item.

`Tally.counts` has a row per pattern (how many annotators chose each category)
and `Tally.sizes` has the number of items with that pattern.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics.estimate import (
    AT_ITS_BOUND,
    CATEGORY_UNUSED,
    NO_LABEL,
    NO_SHARED_ITEM,
    NO_TWO_LABELS,
    ONE_CATEGORY,
    TOO_FEW_CATEGORIES,
    Estimate,
    Note,
    modified_wilson,
)
from evenhand.core.statistics.intervals import Measure
from evenhand.core.statistics.posterior import (
    Seen,
    all_but_the_commonest,
    over_patterns,
    present_clusters,
    several_in_one,
    share_over_clusters,
    two_way_splits,
)
from evenhand.core.statistics.resampling import Numbers, Resampling, ratio

FEWEST_HOLDING = 4  # clusters that hold a category, for an interval of its share
HELD_BY_FEW = N_("The rarer labels come from few units ({units}): too few for a 95% interval.")

Counts = NDArray[np.int64]
Of = Callable[["Tally"], Measure]  # a measure of draws of this tally's patterns


@dataclass(frozen=True, slots=True)
class Tally:
    """Items by what their annotators chose; the columns are the full list of categories."""

    counts: Counts
    sizes: NDArray[np.int64]
    clusters: Counts | None = None  # clusters x patterns, where items come in clusters (articles, contexts)

    @classmethod
    def of(cls, items: Counts, clusters: NDArray[np.int64] | None = None) -> "Tally":
        """Count from one row per item how many annotators chose each category; *clusters*: the cluster of each item."""
        rows = np.asarray(items, dtype=np.int64)
        # One number per row: ten times faster than comparing rows, which counts at 100,000 items.
        base = int(rows.max(initial=0)) + 1
        keys = rows @ (base ** np.arange(rows.shape[1], dtype=np.int64))
        _, first, where, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        spread = None
        if clusters is not None:
            spread = np.zeros((int(clusters.max(initial=-1)) + 1, len(first)), dtype=np.int64)
            np.add.at(spread, (clusters, where), 1)
        return cls(rows[first], np.asarray(sizes, dtype=np.int64), spread)

    def only(self, keep: NDArray[np.bool_]) -> "Tally":
        """Return the items with some of the patterns."""
        spread = None if self.clusters is None else self.clusters[:, keep]
        return Tally(self.counts[keep], self.sizes[keep], spread)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The number of labels that an item of each pattern has."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64)

    @property
    def paired(self) -> "Tally":
        """The items with at least two labels: one label can neither agree nor disagree."""
        return self.only(self.labels >= 2)

    @property
    def used(self) -> "Tally":
        """A tally of the same items that has only the categories chosen at least once."""
        return Tally(self.counts[:, self.counts.any(axis=0)], self.sizes, self.clusters)

    @property
    def rare(self) -> NDArray[np.bool_]:
        """All categories except the most common one."""
        return all_but_the_commonest(self.sizes @ self.counts)

    @property
    def complete(self) -> "Tally":
        """The items with the most common number of labels, of two or more; the larger of two equally common numbers."""
        paired = self.paired
        many = np.bincount(paired.labels, weights=paired.sizes) if len(paired.sizes) else np.zeros(1)
        wanted = len(many) - 1 - int(np.argmax(many[::-1]))
        return paired.only(paired.labels == wanted)

    def split_by(self, category: int) -> "Tally":
        """Return a tally of the same items with two categories: *category*, and all others together."""
        chosen = self.counts[:, category]
        return Tally(np.stack([chosen, self.labels - chosen], axis=1), self.sizes, self.clusters)

    @property
    def units(self) -> int:
        """The number of items."""
        return int(self.sizes.sum())

    @property
    def seen(self) -> tuple["Tally", Seen]:
        """The patterns of the items and further possible patterns, with the weight of each.

        The prior is spread over patterns of one or two categories. All of these have the most common number of labels,
        of two or more.
        """
        usual = self.complete.labels if self.paired.units else self.labels
        splits, prior = two_way_splits(int(usual.max(initial=1)), self.counts.sum(axis=0) > 0)
        more, clusters = len(splits), None
        every = Tally(np.concatenate([self.counts, splits]), np.append(self.sizes, np.zeros(more, dtype=np.int64)))
        if self.clusters is not None and several_in_one(self.clusters):
            clusters = present_clusters(self.clusters, more)
        prior = np.append(np.zeros(len(self.sizes)), prior)
        return every, Seen(every.counts, every.sizes.astype(float), prior, clusters)


def unanimity(tally: Tally, resampling: Resampling | None = None) -> Estimate:
    """Return percent agreement: the share of items (two or more labels) on which all annotators agree, 0 to 1.

    Its interval is Wilson's, modified for rare counts; over clusters where items come in clusters, since Wilson's takes
    items as independent.
    """
    paired = tally.paired
    same = paired.counts.max(axis=1, initial=0) == paired.labels
    agreed = int(paired.sizes[same].sum())
    if paired.clusters is None or not several_in_one(paired.clusters):
        return modified_wilson(agreed, paired.units, nothing=NO_TWO_LABELS)
    result = Estimate(agreed / paired.units, units=paired.units)
    hits, items = paired.clusters[:, same].sum(axis=1), paired.clusters.sum(axis=1)
    return share_over_clusters(hits, items, result, resampling)


def pairwise_agreement(tally: Tally, resampling: Resampling | None = None) -> Estimate:
    """Return the chance that two annotators of an item agree, averaged over items (P-bar of Fleiss 1971), 0 to 1.

    Where each item has two labels this is `unanimity`, with its interval: one number has one interval.
    """
    if tally.paired.units and (tally.paired.labels == 2).all():
        return unanimity(tally, resampling)
    return _over_items(tally.paired, _agreed, resampling)


def fleiss_kappa(tally: Tally, resampling: Resampling | None = None) -> Estimate:
    """Return Fleiss' kappa (Fleiss 1971), -1 to 1, for items with equally many labels; see `Tally.complete`.

    Undefined where only one category was used.
    """
    # statsmodels' fleiss_kappa to the last digits (a test compares them): importing it takes a second.
    return _of_categories(tally.complete, _fleiss, resampling)


def krippendorff_alpha(tally: Tally, resampling: Resampling | None = None) -> Estimate:
    """Return Krippendorff's alpha for nominal data (Krippendorff 2011), at most 1; items may lack labels.

    1 - observed / expected disagreement. Undefined where only one category was used.
    """
    return _of_categories(tally.paired, _alpha, resampling)


def ordinal_alpha(tally: Tally, resampling: Resampling | None = None) -> Estimate:
    """Return Krippendorff's alpha for ordered categories (Krippendorff 2011), at most 1; columns are in order.

    Two labels differ the more, the more labels of all annotators lie between them. Undefined where only one category
    was used.
    """
    return _of_categories(tally.paired, _ordinal_alpha, resampling)


def _of_categories(tally: Tally, measure: Of, resampling: Resampling | None) -> Estimate:
    """Return a measure that is undefined where only one category was used."""
    if tally.units and np.isnan(measure(tally)(_as_draw(tally))[0]):
        return Estimate.undefined(ONE_CATEGORY, tally.units)
    return _over_items(tally, measure, resampling, rare=tally.rare)


def gwet_ac1(tally: Tally, resampling: Resampling | None = None) -> Estimate:
    """Return Gwet's AC1 (Gwet 2008, equations 3 to 5), -1 to 1; items may lack labels.

    Chance agreement is 1/(q-1) times the sum of p_k (1 - p_k), with q the
    length of the full list of categories and p_k the mean share of category k
    over the items with a label. AC1 defines chance in another way; it is not a
    corrected kappa. A category that was never chosen counts in q and raises
    the value; `gwet_ac1(tally.used)` is over the chosen categories.
    """
    if tally.counts.shape[1] < 2:
        return Estimate.undefined(TOO_FEW_CATEGORIES, tally.units)
    if tally.paired.units == 0:
        return Estimate.undefined(NO_TWO_LABELS)
    some = tally.only(tally.labels > 0)
    return _over_items(some, _ac1, resampling)


def specific_agreement(tally: Tally, category: int, resampling: Resampling | None = None) -> Estimate:
    """Return how often another annotator of an item chose *category* too where one annotator chose it, 0 to 1.

    For two annotators 2a / (2a + b + c) (Dice 1945; Cicchetti and Feinstein
    1990). Undefined where no annotator chose *category*.
    """
    paired = tally.paired
    if paired.units and not (paired.counts[:, category] @ paired.sizes):
        return Estimate.undefined(CATEGORY_UNUSED, paired.units)

    def measure(paired: Tally) -> Measure:
        chosen = paired.counts[:, 0]
        both, pairs = chosen * (chosen - 1), chosen * (paired.labels - 1)
        return lambda draws: ratio(draws @ both, draws @ pairs)

    return _over_items(paired.split_by(category), measure, resampling, rare=np.array([True, False]))


def prevalence(tally: Tally, category: int, resampling: Resampling | None = None) -> Estimate:
    """Return the share of *category* among all labels, 0 to 1, with its interval over items.

    Over clusters there is none where one to three of them hold the category, or anything else: 89 of 100 held it.
    """
    if not tally.labels @ tally.sizes:
        return Estimate.undefined(NO_LABEL)

    def measure(tally: Tally) -> Measure:
        return lambda draws: ratio(draws @ tally.counts[:, 0], draws @ tally.labels)

    split = tally.split_by(category)
    estimate = _over_items(split, measure, resampling)
    if split.clusters is None or not several_in_one(split.clusters):
        return estimate
    holding = int(min(np.count_nonzero(split.clusters @ counts) for counts in split.counts.T))
    if estimate.low is None or not 0 < holding < FEWEST_HOLDING:
        return estimate
    return replace(estimate, low=None, high=None, method="", note=Note(HELD_BY_FEW, {"units": holding}))


def _over_items(
    tally: Tally, measure: Of, resampling: Resampling | None, *, rare: NDArray[np.bool_] | None = None
) -> Estimate:
    if tally.units == 0:
        return Estimate.undefined(NO_TWO_LABELS)
    of_draws = measure(tally)
    estimate = Estimate(float(of_draws(_as_draw(tally))[0]), units=tally.units)
    every, seen = tally.seen
    return over_patterns(resampling or Resampling(), measure(every), seen, estimate, rare)


def _as_draw(tally: Tally) -> Numbers:
    return tally.sizes[None, :].astype(float)


def _pairs(tally: Tally) -> Numbers:
    """Return, per pattern, the share of pairs of annotators who agree; 0 for a pattern without a pair."""
    pairs = tally.labels * (tally.labels - 1)
    agreed = (tally.counts * (tally.counts - 1)).sum(axis=1)
    shares: Numbers = np.divide(agreed, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    return shares


def _agreed(tally: Tally) -> Measure:
    shares = _pairs(tally)
    return lambda draws: ratio(draws @ shares, draws.sum(axis=1))


def _fleiss(tally: Tally) -> Measure:
    shares = _pairs(tally)

    def kappas(draws: Numbers) -> Numbers:
        chosen = draws @ tally.counts
        total = chosen.sum(axis=1)
        observed = ratio(draws @ shares, draws.sum(axis=1))
        chance = (chosen**2).sum(axis=1)
        room = total**2 - chance
        return ratio(observed * total**2 - chance, room)

    return kappas


def _alpha(tally: Tally) -> Measure:
    others = np.maximum(tally.labels - 1, 1)[:, None]
    same = (tally.counts * (tally.counts - 1) / others).sum(axis=1)

    def alphas(draws: Numbers) -> Numbers:
        chosen = draws @ tally.counts
        total = chosen.sum(axis=1)
        observed = (total - draws @ same) * (total - 1)
        expected = total**2 - (chosen**2).sum(axis=1)
        # A ratio of expected 0 is "one category only".
        return 1 - ratio(observed, expected)

    return alphas


def _ordinal_alpha(tally: Tally) -> Measure:
    others = np.maximum(tally.labels - 1, 1)[:, None, None]
    # Coincidences of each pattern; those of a category with itself are at no distance.
    pairs = (tally.counts[:, :, None] * tally.counts[:, None, :] / others).reshape(len(tally.counts), -1)

    def alphas(draws: Numbers) -> Numbers:
        chosen = draws @ tally.counts
        # Labels from the one category to the other, half of those of the two themselves.
        place = np.cumsum(chosen, axis=1) - chosen / 2
        far = ((place[:, :, None] - place[:, None, :]) ** 2).reshape(len(draws), -1)
        observed = ((draws @ pairs) * far).sum(axis=1) * (chosen.sum(axis=1) - 1)
        expected = ((chosen[:, :, None] * chosen[:, None, :]).reshape(len(draws), -1) * far).sum(axis=1)
        return 1 - ratio(observed, expected)

    return alphas


def _ac1(tally: Tally) -> Measure:
    shares, paired = _pairs(tally), (tally.labels >= 2).astype(float)
    portions = tally.counts / tally.labels[:, None]

    def values(draws: Numbers) -> Numbers:
        observed = ratio(draws @ shares, draws @ paired)
        mean = draws @ portions / draws.sum(axis=1)[:, None]
        chance = (mean * (1 - mean)).sum(axis=1) / (mean.shape[1] - 1)
        return ratio(observed - chance, 1 - chance)

    return values


Table = NDArray[Any]  # counts; rows: what the first chose; columns: the second; of every category of the list


def cohen_kappa(table: Table, resampling: Resampling | None = None, clusters: Table | None = None) -> Estimate:
    """Return Cohen's kappa (Cohen 1960) of a square table of counts, -1 to 1, with its interval over items.

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
    estimate = Estimate(value, units=units)
    values = np.eye(len(table), dtype=np.int64)
    cells = (values[:, None] + values).reshape(-1, len(table))  # the two labels of an item in each cell
    held = _either_way(clusters) if clusters is not None and several_in_one(clusters) else None
    rare = all_but_the_commonest(table.sum(axis=0) + table.sum(axis=1))
    seen = Seen(cells, sizes.astype(float), _prior(table).reshape(-1), held)
    return over_patterns(resampling or Resampling(), _kappas, seen, estimate, rare)


def _either_way(clusters: Table) -> Numbers:
    """Return the clusters that hold an item, with the annotators in one fixed order, which does not change kappa."""
    size = round(clusters.shape[1] ** 0.5)
    turned = clusters.reshape(-1, size, size).transpose(0, 2, 1).reshape(clusters.shape)
    return present_clusters(min(clusters, turned, key=np.ndarray.tolist), 0)


def _prior(table: Table) -> Numbers:
    """Return the prior weight of each cell over the used categories, as of patterns of two labels."""
    used = (table.any(axis=0) | table.any(axis=1)).astype(float)
    count, both = used.sum(), np.outer(used, used)
    weights: Numbers = np.where(np.eye(len(table), dtype=bool), both / 2, both / (2 * count)) / (count - 1)
    return weights


def largest_kappa(table: Table) -> Estimate:
    """Return the largest kappa that the margins of *table* allow (Umesh, Peterson and Sauber 1989), 0 to 1.

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
