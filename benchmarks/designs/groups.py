"""Labels of two groups of annotators of whom the second accepts more."""

import math

import numpy as np
from scipy.stats import norm

from benchmarks.coverage_loop import Cell, Design, Random
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.group_differences import difference_of_shares

SHIFT = 0.4  # of the second group, in standard deviations of a label
LEVELS = {"people": (5, 10, 25), "items": (20, 100), "accept": (0.5, 0.8), "annotator": (0.0, 0.2), "item": (0.0, 0.4)}


def _sample(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw a normal value of variance 1 a label, cut: annotators and items have their shares of the variance."""
    people, items = int(cell["people"]), int(cell["items"])
    of_annotator, of_item = float(cell["annotator"]), float(cell["item"])
    annotator, item = (places.ravel() for places in np.indices((2 * people, items)))
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
    return float(norm.ppf(float(cell["accept"])))


def _truth(cell: Cell) -> dict[str, float]:
    return {"difference of groups": float(cell["accept"]) - float(norm.cdf(_cut(cell) + SHIFT))}


DESIGN = Design(
    "Groups of annotators",
    "Two groups of equally many people label the same items, three of ten labels are missing; the second group accepts"
    " more. *annotator*, *item*: their shares of the variance of a normal value that is cut.",
    LEVELS, _sample, _truth,
)  # fmt: skip
