"""How often the interval of a difference between groups of annotators holds the truth: a part of `benchmarks.coverage`.

python -m benchmarks.coverage_groups
"""

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.coverage_designs import Cell, Design, Random
from benchmarks.coverage_means import sections_of
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.group_differences import difference_of_shares

SHIFT = 0.4  # of the second group, in standard deviations of a label
LEVELS = {"people": (5, 10, 25), "items": (20, 100), "accept": (0.5, 0.8), "annotator": (0.0, 0.2), "item": (0.0, 0.4)}


def _sample(cell: Cell, random: Random) -> dict[str, Estimate]:
    """A normal value of variance 1 a label, cut: annotators and items have their shares of the variance."""
    people, items = int(cell["people"]), int(cell["items"])
    of_annotator, of_item = float(cell["annotator"]), float(cell["item"])
    annotator, item = (one.ravel() for one in np.indices((2 * people, items)))
    there = random.random(annotator.size) < 0.7  # each label is missing with a chance of .3
    annotator, item = annotator[there], item[there]
    value = (
        math.sqrt(of_annotator) * random.standard_normal(2 * people)[annotator]
        + math.sqrt(of_item) * random.standard_normal(items)[item]
        + math.sqrt(1 - of_annotator - of_item) * random.standard_normal(len(item))
    )
    second = annotator >= people
    chosen = value < _cut(cell) + SHIFT * second
    return {"difference of groups": difference_of_shares(chosen, second, annotator, item)}


def _cut(cell: Cell) -> float:
    from scipy.stats import norm

    return float(norm.ppf(float(cell["accept"])))


def _truth(cell: Cell) -> dict[str, float]:
    from scipy.stats import norm

    return {"difference of groups": float(cell["accept"]) - float(norm.cdf(_cut(cell) + SHIFT))}


DESIGN = Design(
    "Groups of annotators",
    "Two groups of equally many people label the same items, three of ten labels are missing; the second group accepts"
    " more. *annotator*, *item*: their shares of the variance of a normal value that is cut.",
    LEVELS, _sample, _truth,
)  # fmt: skip


def sections(samples: int, again: int, seed: int) -> Iterator[str]:
    """This part of the document: every cell."""
    return sections_of(DESIGN, "Groups", ("people", "items"), samples, again, seed)


if __name__ == "__main__":
    print("\n".join(sections(200, 1000, 0)))
