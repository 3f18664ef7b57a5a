"""With which probability each item is drawn, and which items are.

Every design gives each item a size; its inclusion probability is proportional to it, but for a random share that all
items have alike: no probability is 0, so an estimate that weighs each label by 1 / probability has no bias, whatever
the sizes were made of (Horvitz and Thompson 1952). Drawn is systematically from a list (Madow 1949): as many items as
asked for, each with exactly its probability, and each stretch of the list (a stratum, a cluster) with its share, to one
item. The sizes of the designs:

| design | size |
|---|---|
| simple | all alike |
| stratified | all alike within a stratum; every stratum gets as many items, or as many as its share |
| clusters | all alike; items of one cluster stand together, so clusters are drawn in proportion to their size |
| disagreement | how far the judges' labels of the item differ |
| variance | the deviation, in the item's stratum, of what the final estimate is a mean of (Neyman 1934) |

Quotas of kept sentences (`to_close_quotas`) are another matter: the likeliest to be kept come first, but for the random
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
PRIOR = 4.0  # labels that the expected errors of a stratum are worth beside those that were seen
Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]

NOTHING_TO_DRAW = N_("No item can be drawn: each has a label, is on a desk, was skipped or was drawn before.")
WRONG_SHARE = N_("The random share must be from {least} to 1, not {share}: no item may have probability 0.")
WRONG_NUMBER = N_("A sample needs at least one item.")


def probabilities(sizes: Sequence[float] | Numbers, number: int, share: float = SHARE) -> Numbers:
    """The inclusion probability of each item, above 0 and at most 1; they sum to *number*, or to all items.

    *sizes*: 0 and more, in any unit; *share*: of the probability that is the same for all items, so that each has at
    least *share* x *number* / items. What would exceed 1 is drawn for certain, and the others get the rest. Raises
    Refused for a share or number out of range and where there is no item.
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
    """Which items are drawn, with the probabilities *found*, which sum to a whole number.

    *groups*: items of one group stand together in the list (a stratum, a cluster); None: no groups. *places*: a random
    number an item (`random_place`), which orders groups and items; *start*: a random number from 0 to 1.
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
    """Each item's group as a number; the groups in an order that *places* decides, as that of the items."""
    at: dict[Hashable, int] = {}
    codes = np.array([at.setdefault(group, len(at)) for group in groups], dtype=np.int64)
    first = np.full(len(at), np.iinfo(np.int64).max)
    np.minimum.at(first, codes, places)
    rank = np.empty(len(at), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(at))
    return rank[codes]


def random_place(seed: int | str, text: str | bytes) -> int:
    """A number from 0 to 2^63 that depends on the seed and the text alone: the same on any machine."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(data, digest_size=8, key=str(seed).encode()).digest()
    return int.from_bytes(digest, "big") >> 1


def equal_strata(strata: Sequence[Hashable]) -> Numbers:
    """Sizes by which every stratum gets as many items, whatever its number of items."""
    codes = np.unique(np.array([str(hashable) for hashable in strata]), return_inverse=True)[1]
    sizes: Numbers = 1.0 / np.bincount(codes)[codes]
    return sizes


def disagreement(votes: Numbers) -> Numbers:
    """How far the labels of each item differ: the variance of its labels from 0 to 1, times 4; 0 = all the same.

    *votes*: items x judges, a judge's label or its probability, NaN = none. An item with labels of fewer than two
    judges counts as its one judge doubts; without any as the mean of the others.
    """
    known = np.isfinite(votes)
    count = known.sum(axis=1)
    mean = np.divide(np.where(known, votes, 0).sum(axis=1), count, out=np.full(len(votes), np.nan), where=count > 0)
    found = 4 * mean * (1 - mean)
    usual = float(np.nanmean(found)) if np.isfinite(found).any() else 1.0
    sizes: Numbers = np.where(np.isfinite(found), found, usual)
    return sizes


def deviations(strata: Sequence[Hashable], expected: Numbers, seen: Numbers) -> Numbers:
    """The deviation of each item's stratum: the root of how often a label differs from what is expected of it.

    *expected*: for each item the probability of an error, from labels of judges; *seen*: 1 = people's label differed,
    0 = it did not, NaN = no label. Seen errors count beside the expected ones, which are worth four labels a stratum.
    """
    found: Numbers = np.sqrt(rates_of(strata, expected, seen))
    return found


def rates_of(strata: Sequence[Hashable], expected: Numbers, seen: Numbers) -> Numbers:
    """The rate of each item's stratum, 0 to 1, of what was *seen* (NaN: nothing) and what is *expected* of its items.

    What is expected counts as four items a stratum, and is at least 1% and at most 99%.
    """
    names, codes = np.unique(np.array([str(stratum) for stratum in strata]), return_inverse=True)
    known = np.isfinite(seen)
    sums = np.bincount(codes[known], weights=seen[known], minlength=len(names))
    counts = np.bincount(codes[known], minlength=len(names))
    prior = np.bincount(codes, weights=expected) / np.bincount(codes)
    found: Numbers = ((PRIOR * np.clip(prior, AT_LEAST, 1 - AT_LEAST) + sums) / (PRIOR + counts))[codes]
    return found


def to_close_quotas(
    rates: Numbers, cells: Sequence[Hashable], missing: Mapping[Hashable, int], share: float = SHARE
) -> Numbers:
    """Inclusion probabilities with which, in each cell, as many items as are *missing* are expected to be kept.

    *rates*: with which probability each item is kept. The likeliest of a cell come first, which takes the fewest items;
    but a *share* of the probability is the same for all items of the cell. They sum to a whole number in each cell. A
    cell without enough items: all of them. An item of a cell that lacks nothing has probability 0: leave it out.
    """
    found = np.zeros(len(rates))
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
        # Items that are as likely as the last one are alike: none of them comes first.
        last = np.isclose(rates[order], rates[order[number - 1]])
        first = rates[order] > rates[order[number - 1]]
        first &= ~last
        greedy = np.where(first, 1.0, np.where(last, (number - first.sum()) / last.sum(), 0.0))
        found[order] = share * number / len(rows) + (1 - share) * greedy
    return found
