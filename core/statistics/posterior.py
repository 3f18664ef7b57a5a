"""95 % intervals of agreement from the Dirichlet posterior over patterns: what labels an item can have.

Drawing items again fails where nearly every label is the same. If no item of the sample holds two rare labels, then no
draw does: every draw has a kappa just below 0, and the interval misses a kappa of 0 most of the time. Here a pattern
that was not seen keeps a small weight. For two categories and m labels an item that is 1/2 / (m - 1) for each number of
rare labels, 0 to m: Jeffreys' 1/2 for two labels, and less for more, since one item with m rare labels tells of many
pairs of them. docs/coverage.md has what these intervals hold.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.errors import N_
from core.statistics.estimate import DIRICHLET, ONE_ITEM, Estimate, Note
from core.statistics.intervals import Measure, percentiles
from core.statistics.resampling import Numbers, Resampling, Sizes

FEWEST = 3  # rare labels: with one or two, kappa and specific agreement miss a high truth nearly always
FEWEST_ITEMS = 10  # with 5, Cohen's kappa held 91 %, the specific agreement of a rare category 87 %
TOO_FEW_ITEMS = N_("Fewer than 10 items ({units}): no interval holds 95 % on so few.")
TOO_FEW_RARE = N_("Labels of rare categories: {labels}. No interval holds 95 % on so few.")


def over_patterns(
    resampling: Resampling, measure: Measure, weights: Numbers, found: Estimate, rare: int | None = None
) -> Estimate:
    """*found* with the 2.5 and 97.5 percentiles of *measure* over shares of patterns drawn with *weights*.

    *weights*: how many items show each pattern, plus its part of the prior. *rare*: how many labels the measure rests
    on where these are rare; fewer than `FEWEST`, or fewer than `FEWEST_ITEMS` items: no interval. The interval never
    leaves out the value itself, as percentiles would at complete agreement.
    """
    if found.value is None:
        return found
    if found.units <= 1:
        return replace(found, note=ONE_ITEM)
    if rare is not None and found.units < FEWEST_ITEMS:
        return replace(found, note=Note(TOO_FEW_ITEMS, {"units": found.units}))
    if rare is not None and rare < FEWEST:
        return replace(found, note=Note(TOO_FEW_RARE, {"labels": rare}))
    made = percentiles(measure(resampling.shares(weights)), found)
    if made.low is None or made.high is None:
        return made
    return replace(made, low=min(made.low, found.value), high=max(made.high, found.value), method=DIRICHLET)


def two_way_splits(labels: int, used: NDArray[np.bool_]) -> tuple[Sizes, Numbers]:
    """Patterns of *labels* labels with one category or two, and the prior weight of each.

    *used*: which categories of the list occur; the others get no weight, unless there is only one.
    """
    places = np.flatnonzero(used) if used.sum() > 1 else np.arange(len(used))
    pairs = list(combinations(places.tolist(), 2))
    unit = np.eye(len(used), dtype=np.int64)
    whole = [labels * unit[place] for place in places]
    split = [n * unit[a] + (labels - n) * unit[b] for a, b in pairs for n in range(1, labels)]
    weights = np.array([0.5 / max(1, len(places) - 1)] * len(whole) + [0.5 / max(1, len(pairs))] * len(split))
    return np.array(whole + split, dtype=np.int64), weights / max(1, labels - 1)
