"""Inclusion probabilities of items, and the draw itself.

Every design gives each item a size. The inclusion probability is proportional to the size, except for a random share
that is equal for all items. So no probability is 0, and an estimate that weighs each label by 1 / probability has no
bias for any sizes (Horvitz and Thompson 1952). Items are drawn systematically from a list (Madow 1949): as many items
as requested, each with exactly its probability, and from each stretch of the list (a stratum, a cluster) its share, to
within one item. The sizes of the designs:

| design | size |
|---|---|
| simple | all alike |
| stratified | all alike within a stratum; every stratum gets as many items, or as many as its share |
| clusters | all alike; items of one cluster are neighbours, so clusters are drawn in proportion to their size |
| disagreement | how far the judges' labels of the item differ |
| variance | the deviation, in the item's stratum, of the values whose mean is the final estimate (Neyman 1934) |

Quotas of kept sentences (`to_close_quotas`) differ: the items most likely to be kept come first, except for the random
share.
"""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_, Refused

Design = Literal["simple", "stratified", "clusters", "disagreement", "variance", "quotas"]
DESIGNS: tuple[Design, ...] = get_args(Design)
SIZED = DESIGNS[:-1]  # that draw as many items as asked for
BY_JUDGES = ("disagreement", "variance")  # designs that need labels of judges
SHARE = 0.3  # of the probability that is the same for all, unless another is asked for
LEAST_SHARE = 0.05
AT_LEAST = 0.01  # errors of a judge in a stratum where none was seen
PRIOR = 4.0  # weight of the expected errors of a stratum, in labels
Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]

NOTHING_TO_DRAW = N_("No item can be drawn: each has a label, is on a desk, was skipped or was drawn before.")
WRONG_SHARE = N_("The random part must be from {least} to 1, not {share}: no item may have probability 0.")
WRONG_NUMBER = N_("A sample needs at least one item.")


def probabilities(sizes: Sequence[float] | Numbers, number: int, share: float = SHARE) -> Numbers:
    """Return the inclusion probability of each item, above 0 and at most 1; the sum is *number*, or all items if fewer.

    *sizes*: 0 or more, in any unit; *share*: the part of the probability that is equal for all items, so that each has
    at least *share* x *number* / items. An item that would exceed 1 is drawn for certain, and the others share the
    rest. Raises Refused for a share or number out of range, and without items.
    """
    held = np.asarray(sizes, dtype=float)
    if not len(held):
        raise Refused(NOTHING_TO_DRAW)
    if number < 1:
        raise Refused(WRONG_NUMBER)
    if not LEAST_SHARE <= share <= 1:
        raise Refused(WRONG_SHARE, least=LEAST_SHARE, share=share)
    if number >= len(held):
        return np.ones(len(held))
    of_size = held / held.sum() if held.sum() > 0 else np.full(len(held), 1 / len(held))
    base: Numbers = share / len(held) + (1 - share) * of_size
    sure, found = np.zeros(len(held), dtype=bool), base
    while True:
        found = (number - sure.sum()) * base / base[~sure].sum()
        over = (found >= 1) & ~sure
        if not over.any():
            break
        sure |= over
    every: Numbers = np.where(sure, 1.0, found)
    return every


def draw(found: Numbers, groups: Sequence[Hashable] | None, places: Codes, start: float) -> NDArray[np.bool_]:
    """Draw items with the probabilities *found*, which sum to a whole number; True for each item that is drawn.

    *groups*: items of one group (a stratum, a cluster) are neighbours in the list; None: no groups. *places*: a random
    number per item (`random_place`), which orders groups and items; *start*: a random number from 0 to 1.
    """
    drawn: NDArray[np.bool_] = found >= 1
    rest = np.flatnonzero(~drawn)
    number = round(float(found[rest].sum()))
    if not number:
        return drawn
    codes = _codes(groups, places)[rest] if groups is not None else np.zeros(len(rest), dtype=np.int64)
    order = rest[np.lexsort((places[rest], codes))]
    ends = np.cumsum(found[order])
    points = (start + np.arange(number)) * (ends[-1] / number)
    drawn[order[np.minimum(np.searchsorted(ends, points, side="right"), len(order) - 1)]] = True
    return drawn


def _codes(groups: Sequence[Hashable], places: Codes) -> Codes:
    """Return each item's group as a number; the groups are in the order of the smallest place of their items."""
    at: dict[Hashable, int] = {}
    codes = np.array([at.setdefault(group, len(at)) for group in groups], dtype=np.int64)
    first = np.full(len(at), np.iinfo(np.int64).max)
    np.minimum.at(first, codes, places)
    rank = np.empty(len(at), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(at))
    return rank[codes]


def random_place(seed: int | str, text: str | bytes) -> int:
    """Return a number from 0 to 2^63 that depends only on the seed and the text: the same on any machine."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(data, digest_size=8, key=str(seed).encode()).digest()
    return int.from_bytes(digest, "big") >> 1


def equal_strata(strata: Sequence[Hashable]) -> Numbers:
    """Return sizes by which every stratum gets equally many items, for strata of any size."""
    codes = np.unique(np.array([str(hashable) for hashable in strata]), return_inverse=True)[1]
    sizes: Numbers = 1.0 / np.bincount(codes)[codes]
    return sizes


def disagreement(votes: Numbers) -> Numbers:
    """Return how far the labels of each item differ: the variance of its labels times 4, 0 (all equal) to 1.

    *votes*: items x judges, a judge's label or its probability, NaN = none. An item with one label counts by
    the probability of its judge; an item without labels gets the mean of the others.
    """
    known = np.isfinite(votes)
    count = known.sum(axis=1)
    mean = np.divide(np.where(known, votes, 0).sum(axis=1), count, out=np.full(len(votes), np.nan), where=count > 0)
    found = 4 * mean * (1 - mean)
    usual = float(np.nanmean(found)) if np.isfinite(found).any() else 1.0
    sizes: Numbers = np.where(np.isfinite(found), found, usual)
    return sizes


def deviations(strata: Sequence[Hashable], expected: Numbers, seen: Numbers) -> Numbers:
    """Return the deviation of each item's stratum: the square root of its error rate.

    *expected*: for each item the probability of an error, from labels of judges; *seen*: 1 = people's label differed,
    0 = it did not, NaN = no label. The expected errors count in addition, as four labels per stratum.
    """
    result: Numbers = np.sqrt(rates_of(strata, expected, seen))
    return result


def rates_of(strata: Sequence[Hashable], expected: Numbers, seen: Numbers) -> Numbers:
    """Return the rate of each item's stratum, 0 to 1, from the labels *seen* (NaN: none) and those *expected*.

    The mean of the expected rates counts as four items per stratum, and is at least 1% and at most 99%.
    """
    names, codes = np.unique(np.array([str(stratum) for stratum in strata]), return_inverse=True)
    known = np.isfinite(seen)
    sums = np.bincount(codes[known], weights=seen[known], minlength=len(names))
    counts = np.bincount(codes[known], minlength=len(names))
    prior = np.bincount(codes, weights=expected) / np.bincount(codes)
    rates: Numbers = ((PRIOR * np.clip(prior, AT_LEAST, 1 - AT_LEAST) + sums) / (PRIOR + counts))[codes]
    return rates


def to_close_quotas(
    rates: Numbers, cells: Sequence[Hashable], missing: Mapping[Hashable, int], share: float = SHARE
) -> Numbers:
    """Return inclusion probabilities by which the expected number of kept items of each cell is the *missing* one.

    *rates*: the probability that an item is kept. The most likely items of a cell come first, which takes the fewest
    items; but a *share* of the probability is equal for all items of the cell. The probabilities of a cell sum to a
    whole number. A cell without enough items: all of them. The items of a cell that lacks nothing have probability 0;
    leave them out.
    """
    values = np.zeros(len(rates))
    names = np.array([str(cell) for cell in cells])
    for cell, lacks in missing.items():
        rows = np.flatnonzero(names == str(cell))
        order = rows[np.argsort(-rates[rows], kind="stable")]
        kept = np.cumsum(rates[order])  # by the first 1, 2, 3 ... of the cell
        if not len(rows) or lacks < 1:
            continue
        counts = np.arange(1, len(rows) + 1)
        enough = share * counts * rates[rows].mean() + (1 - share) * kept >= lacks - 1e-9
        number = int(np.argmax(enough)) + 1 if enough.any() else len(rows)
        # Items as likely as the last one have equal probabilities: none of them comes first.
        last = np.isclose(rates[order], rates[order[number - 1]])
        first = rates[order] > rates[order[number - 1]]
        first &= ~last
        greedy = np.where(first, 1.0, np.where(last, (number - first.sum()) / last.sum(), 0.0))
        values[order] = share * number / len(rows) + (1 - share) * greedy
    return values
