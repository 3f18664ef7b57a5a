"""Do two groups of annotators label differently: the difference of a share with its interval, and a test of one item.

The interval is for further annotators and further items: labels of one annotator resemble each other, and so do labels
of one item.
"""

from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics.estimate import ONE_UNIT, Estimate, Note
from evenhand.core.statistics.intervals import jackknife, of_kinds, satterthwaite

FEWEST_PEOPLE = 5  # of a group that is shown: fewer could be recognised, and say nothing of others like them
MOST_TABLES = 200_000  # that the exact test goes through

Numbers = NDArray[np.float64]
Places = NDArray[np.int64] | NDArray[np.int32]

NO_LABELS_OF_GROUP = Note(N_("One of the groups has no labels here."))


def difference_of_shares(
    chosen: NDArray[np.bool_], second: NDArray[np.bool_], annotator: Places, item: Places
) -> Estimate:
    """The share *chosen* among the labels of the first group minus that of the second, -1 to 1, one entry a label.

    *second*: of the second group. An annotator is in one group. t on the jackknife over annotators, who are drawn
    group by group, and over items, which both groups share; `units` counts items, `clusters` annotators.
    """
    parts = [~second, second]
    people, who = np.unique(annotator, return_inverse=True)
    items, where = np.unique(item, return_inverse=True)
    if not all(part.any() for part in parts):
        return Estimate.undefined(NO_LABELS_OF_GROUP, len(items))
    shares = [float(chosen[part].mean()) for part in parts]
    found = Estimate(shares[0] - shares[1], units=len(items), clusters=len(people))
    sizes = [len(np.unique(who[part])) for part in parts]
    if min(*sizes, len(items)) < 2:
        return replace(found, note=ONE_UNIT)
    by_people = [
        (jackknife(share, _without(chosen[part], _places(who[part]))) ** 2, size - 1)
        for share, part, size in zip(shares, parts, sizes, strict=True)
    ]
    of_people = sum(variance for variance, _ in by_people)
    least = min(freedom for _, freedom in by_people)
    freedom = max(least, satterthwaite(of_people, by_people)) if of_people > 0 else least
    of_items = jackknife(shares[0] - shares[1], _apart_without(chosen, parts, where, len(items))) ** 2
    both = sum(
        share * (1 - share) / (part.sum() - 1) for share, part in zip(shares, parts, strict=True) if part.sum() > 1
    )
    return of_kinds(found, [(of_people, freedom), (of_items, len(items) - 1)], both, (-1.0, 1.0))


def _places(codes: Places) -> Places:
    found: Places = np.unique(codes, return_inverse=True)[1]
    return found


def _without(chosen: NDArray[np.bool_], unit: Places) -> Numbers:
    """The share without each unit."""
    labels, yes = np.bincount(unit).astype(float), np.bincount(unit, weights=chosen)
    left = labels.sum() - labels
    shares: Numbers = np.divide(yes.sum() - yes, left, out=np.full(len(left), np.nan), where=left > 0)
    return shares


def _apart_without(chosen: NDArray[np.bool_], parts: list[NDArray[np.bool_]], where: Places, items: int) -> Numbers:
    """The difference without each item."""
    shares = []
    for part in parts:
        labels = np.bincount(where[part], minlength=items).astype(float)
        yes = np.bincount(where[part], weights=chosen[part], minlength=items)
        left = labels.sum() - labels
        shares.append(np.divide(yes.sum() - yes, left, out=np.full(items, np.nan), where=left > 0))
    apart: Numbers = shares[0] - shares[1]
    return apart


@lru_cache(maxsize=10_000)
def exact_p(first: tuple[int, ...], second: tuple[int, ...]) -> float | None:
    """Are two rows of counts of the same categories from one distribution? Fisher's exact test (Freeman and Halton).

    The chance, 0 to 1, of a table with these margins that is no likelier than this one; 1 where a row is empty. None
    where there would be more than 200,000 tables to go through.
    """
    both = tuple(a + b for a, b in zip(first, second, strict=True))
    if prod(total + 1 for total in both) > MOST_TABLES:
        return None
    of_first, ways = sum(first), comb(sum(both), sum(first))
    seen = prod(comb(total, a) for total, a in zip(both, first, strict=True))
    rest = [range(total + 1) for total in both[1:]]
    found = 0
    for others in product(*rest):
        own = of_first - sum(others)
        if 0 <= own <= both[0]:
            times = prod(comb(total, a) for total, a in zip(both, (own, *others), strict=True))
            found += times if times <= seen else 0
    return found / ways
