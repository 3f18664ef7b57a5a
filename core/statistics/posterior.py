"""95% intervals of agreement from the Dirichlet posterior over patterns: what labels an item can have.

Drawing items again fails where nearly every label is the same. If no item of the sample holds two rare labels, then no
draw does: every draw has a kappa just below 0, and the interval misses a kappa of 0 most of the time. Here a pattern
that was not seen keeps a small weight. For two categories and m labels an item that is 1/2 / (m - 1) for each number of
rare labels, 0 to m: Jeffreys' 1/2 for two labels, and less for more, since one item with m rare labels tells of many
pairs of them. docs/coverage.md has what these intervals hold.

Where items come in clusters (sentences of an article, generations of a context), whole clusters get random weights
(the Bayesian bootstrap, Rubin 1981), as spread as t with clusters - 1 degrees of freedom asks. The unseen patterns keep
their weight, times the design effect: as many items of a cluster tell as little as one where all are alike.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics.estimate import CLUSTERED, DIRICHLET, ONE_ITEM, Estimate, Note, modified_wilson
from evenhand.core.statistics.intervals import FEW, Measure, percentiles
from evenhand.core.statistics.resampling import Numbers, Resampling, Sizes

FEWEST = 3  # rare labels: with one or two, kappa and specific agreement miss a high truth nearly always
FEWEST_ITEMS = 10  # with 5, AC1 held 89%, Cohen's kappa 91%, the share of a rare category 84%
FEWEST_BY_T = 5  # clusters, or items with rare labels: t asks for more spread than random weights of 4 units can have
TOO_FEW_ITEMS = N_("Fewer than 10 items ({units}): too few for a 95% interval.")
TOO_FEW_RARE = N_("Labels of rare categories: {labels}, too few for a 95% interval.")
RARE_ITEMS = N_("Items with labels of rare categories: {items}, too few for a 95% interval.")
RARE_IN_ONE = Note(N_("All labels of rare categories come from one unit: no interval."))
TOO_FEW_CLUSTERS = N_("Fewer than 5 units ({units}): too few for a 95% interval.")
FEW_CLUSTERS = N_("Few units ({units}): a wide interval.")

Chosen = NDArray[np.bool_]  # of the categories, whether one is meant


@dataclass(frozen=True, slots=True)
class Seen:
    """Items by pattern: `sizes[p]` of them show pattern p, which has `counts[p][k]` labels of category k.

    `prior[p]`: the weight of pattern p in addition to the items that show p. `clusters[c][p]`: how many items of
    cluster c show p, where items come in clusters.
    """

    counts: Sizes
    sizes: Numbers
    prior: Numbers
    clusters: Numbers | None = None

    def shares(self, resampling: Resampling, rare: Chosen | None = None) -> Numbers:
        """Return shares of the patterns among all items, draws x patterns, from their posterior; the sum is `WHOLE`.

        *rare*: as of `over_patterns`.
        """
        if self.clusters is None:
            shape = 1.0 if rare is None else _weight_by_t(self.telling(rare))
            return resampling.shares(shape * (self.sizes + self.prior))
        shape = _weight_by_t(len(self.clusters))
        return resampling.shares_of_clusters(self.clusters, shape, self.prior, shape * self.design_effect)

    def telling(self, rare: Chosen) -> int:
        """Count the items that inform a measure of *rare* labels: with three labels or more, items with a rare label.

        Items on which three people agree on the most common category say nothing of how often they would agree on
        another category. With two labels all items count: Jeffreys' prior is then used in full and is wide enough.
        """
        several = self.counts.sum(axis=1).max(initial=0) > 2
        return int(self.sizes[self.counts[:, rare].any(axis=1)].sum() if several else self.sizes.sum())

    @property
    def design_effect(self) -> float:
        """1 + (g - 1) ICC, with g the mean size of an item's cluster and ICC how alike the labels of a cluster are.

        The ICC comes from an analysis of variance over all categories together, and is at least 0. Clusters are
        informative if they hold the most common category, or if they hold others; the smaller of the two numbers
        counts. One more cluster with ICC 1 is added: where nearly all labels are the same, the ICC is not known.
        """
        assert self.clusters is not None
        items, labels = self.clusters.sum(axis=1), np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        whole, count = items.sum(), len(items)
        size = (items**2).sum() / whole
        portions = self.counts / labels
        apart = portions - self.clusters.sum(axis=0) @ portions / whole
        between = float(((self.clusters @ apart) ** 2 / items[:, None]).sum())
        within = float((self.clusters.sum(axis=0) @ apart**2).sum()) - between
        first, second = between / (count - 1), within / max(1.0, whole - count)
        room = first + ((whole - size) / (count - 1) - 1) * second
        alike = max(0.0, (first - second) / room) if room > 0 else 1.0
        commonest = int(np.argmax(self.clusters.sum(axis=0) @ self.counts))
        usual = self.counts[:, commonest] > 0
        others = np.delete(self.counts, commonest, axis=1).any(axis=1)
        telling = min(int((self.clusters[:, holds].sum(axis=1) > 0).sum()) for holds in (usual, others))
        return float(1 + (size - 1) * (alike * telling + 1) / (telling + 1))


def _weight_by_t(units: int) -> float:
    """Return the shape of a unit's Gamma weight, so that a mean over five or more is as spread as t says.

    Gamma(1) is the Bayesian bootstrap; the mean of k units varies by (k - 1) / k s^2 / (shape k + 1) in the draws.
    """
    from scipy.special import ndtri, stdtrit  # takes a third of a second to import

    wider = float(stdtrit(units - 1, 0.975) / ndtri(0.975)) ** 2
    return ((units - 1) / wider - 1) / units


def over_patterns(
    resampling: Resampling, measure: Measure, seen: Seen, estimate: Estimate, rare: Chosen | None = None
) -> Estimate:
    """Return *estimate* with the 2.5 and 97.5 percentiles of *measure* over shares of the patterns of *seen*.

    *rare*: the categories on whose labels the measure rests where these are rare. Items are then drawn as spread as t
    asks, with as many degrees of freedom as items tell of it, less 1 (`Seen.telling`); fewer than five of them, fewer
    than `FEWEST` such labels, or all of them in one cluster: no interval. Nor is there one on fewer than
    `FEWEST_ITEMS` items or `FEWEST_BY_T` clusters. The interval never leaves out the value itself, as percentiles
    would at complete agreement.
    """
    if estimate.value is None:
        return estimate
    if seen.clusters is not None:
        estimate = replace(estimate, clusters=len(seen.clusters))
    if why := _withheld(estimate, seen, rare):
        return replace(estimate, note=why)
    made = percentiles(measure(seen.shares(resampling, rare)), estimate)
    if made.low is None or made.high is None or made.value is None:
        return made
    few = Note(FEW_CLUSTERS, {"units": estimate.clusters}) if 0 < estimate.clusters < FEW else made.note
    method = DIRICHLET if seen.clusters is None else CLUSTERED
    return replace(made, low=min(made.low, made.value), high=max(made.high, made.value), note=few, method=method)


def _withheld(estimate: Estimate, seen: Seen, rare: Chosen | None) -> Note | None:
    """Return why the interval is withheld; None if it is not."""
    if seen.clusters is not None and estimate.clusters < FEWEST_BY_T:
        return Note(TOO_FEW_CLUSTERS, {"units": estimate.clusters})
    if seen.clusters is None and estimate.units <= 1:
        return ONE_ITEM
    if estimate.units < FEWEST_ITEMS and (seen.clusters is None or rare is not None):
        return Note(TOO_FEW_ITEMS, {"units": estimate.units})
    if rare is None:
        return None
    of_pattern = seen.counts[:, rare].sum(axis=1)
    if seen.clusters is not None and np.count_nonzero(seen.clusters @ of_pattern) == 1:
        return RARE_IN_ONE
    labels, items = int(seen.sizes @ of_pattern), seen.telling(rare)
    if labels < FEWEST:
        return Note(TOO_FEW_RARE, {"labels": labels})
    return Note(RARE_ITEMS, {"items": items}) if seen.clusters is None and items < FEWEST_BY_T else None


def all_but_the_commonest(labels: Sizes) -> Chosen:
    """Return True for each category except the most common one; *labels*: the number of labels per category."""
    chosen: Chosen = np.arange(len(labels)) != (np.argmax(labels) if len(labels) else 0)
    return chosen


def share_over_clusters(
    hits: ArrayLike, totals: ArrayLike, estimate: Estimate, resampling: Resampling | None = None
) -> Estimate:
    """Return *estimate*, sum(*hits*) / sum(*totals*) with a number a cluster, with its interval.

    The interval is over clusters. The patterns are yes and no, with Jeffreys' 1/2 for each. The order of the clusters
    does not change it, so that pages and papers that read them in different orders give one interval for one number.
    """
    yes, every = np.asarray(hits, dtype=float), np.asarray(totals, dtype=float)
    held = np.stack([yes, every - yes], axis=1)[every > 0]
    held = held[np.lexsort((held[:, 1], held[:, 0]))]
    seen = Seen(np.eye(2, dtype=np.int64), held.sum(axis=0), np.full(2, 0.5), held)
    return over_patterns(resampling or Resampling(), lambda draws: draws[:, 0] / draws.sum(axis=1), seen, estimate)


def share_of_rows(hits: Iterable[bool], units: Iterable[str], *, nothing: Note) -> Estimate:
    """Return the share of *hits*, 0 to 1. Its interval is over units if one has several rows, else modified Wilson.

    Full agreement and retest agreement use this interval, so a number has the same interval on every page.
    *units*: the article or context of each row; a row without one ("") is a unit of its own. *nothing*: the reason
    for no rows.
    """
    return share_of_counted(Counter(zip(units, map(bool, hits), strict=True)), nothing=nothing)


def share_of_counted(rows: Mapping[tuple[str, bool], int], *, nothing: Note) -> Estimate:
    """Return `share_of_rows` for rows that are already counted: (unit, is a hit) -> number of rows."""
    agreed, every = sum(count for (_, hit), count in rows.items() if hit), sum(rows.values())
    number = {unit: place for place, unit in enumerate(dict.fromkeys(unit for unit, _ in rows if unit))}
    held = np.zeros((len(number), 2), dtype=np.int64)
    for (unit, hit), count in rows.items():
        if unit:
            held[number[unit], int(hit)] += count
    if not several_in_one(held):
        return modified_wilson(agreed, every, nothing=nothing)
    alone = np.repeat([[0, 1], [1, 0]], [rows.get(("", True), 0), rows.get(("", False), 0)], axis=0)
    clusters = np.concatenate([held, alone])
    return share_over_clusters(clusters[:, 1], clusters.sum(axis=1), Estimate(agreed / every, units=every))


def several_in_one(clusters: Numbers | Sizes | None) -> bool:
    """Return True if a cluster (clusters x patterns) holds more than one item; else items are independent units."""
    return clusters is not None and bool((clusters.sum(axis=1) > 1).any())


def present_clusters(clusters: Numbers | Sizes, unseen: int) -> Numbers:
    """Return the clusters that contain an item, with *unseen* more patterns that none of them shows."""
    full = clusters[clusters.sum(axis=1) > 0].astype(float)
    return np.concatenate([full, np.zeros((len(full), unseen))], axis=1)


def two_way_splits(labels: int, used: NDArray[np.bool_]) -> tuple[Sizes, Numbers]:
    """Return patterns of *labels* labels with one category or two, and the prior weight of each.

    *used*: which categories of the list occur; the others get no weight, unless there is only one.
    """
    places = np.flatnonzero(used) if used.sum() > 1 else np.arange(len(used))
    pairs = list(combinations(places.tolist(), 2))
    unit = np.eye(len(used), dtype=np.int64)
    whole = [labels * unit[place] for place in places]
    split = [n * unit[a] + (labels - n) * unit[b] for a, b in pairs for n in range(1, labels)]
    weights = np.array([0.5 / max(1, len(places) - 1)] * len(whole) + [0.5 / max(1, len(pairs))] * len(split))
    return np.array(whole + split, dtype=np.int64), weights / max(1, labels - 1)
