"""Simulate for each design how many items people must label until the interval of a rate is as narrow as wanted.

The label of each item is drawn by chance, with its expected probability. A sample is drawn, weighed and estimated by
the functions that real samples go through. This is repeated a few times for several sizes of a sample. Between these
sizes the width is taken to fall as a straight line on logarithms.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evenhand.core.errors import N_
from evenhand.core.sampling.designs import SHARE, Codes, Design, Numbers, draw, probabilities
from evenhand.core.sampling.weights import Drawn, Frame, weights
from evenhand.core.statistics.estimate import Note
from evenhand.core.statistics.prediction_powered import Labels, prediction_powered

SIZES = (25, 50, 100, 200, 400, 800)
TIMES = 16  # samples of each size
MOST = 3_000  # items that are simulated; of more items, a random sample of this size
NEVER = Note(N_("Even with all items labelled, the interval would be wider."))
NO_INTERVALS = Note(N_("The simulated samples give no interval, so no width can be estimated."))


@dataclass(frozen=True)
class Listed:
    """The items in a design: their sizes, the strata that are drawn separately, and the groups of the list."""

    sizes: Numbers
    strata: Sequence[Hashable]
    groups: Sequence[Hashable] | None = None


@dataclass(frozen=True)
class Expected:
    """The expected labels of the items. `rates`: the probability that people give the label, 0 to 1; `judge`: the label
    of the judge, NaN = none (all NaN: the rate is that of people alone); `accuracy`: instead of `judge`, the share of
    items for which a judge would agree with people; `clusters`: contexts."""

    rates: Numbers
    judge: Numbers
    clusters: Sequence[Hashable]
    accuracy: float | None = None


@dataclass(frozen=True, slots=True)
class Needed:
    """The items that a design needs. `widths`: items labelled -> median width of the 95% interval, 0 to 1; `items`:
    needed for the wanted width, None with `reason`; `beyond`: more than were simulated, so by the square root law."""

    design: Design
    widths: tuple[tuple[int, float], ...]
    items: int | None
    beyond: bool = False
    reason: Note | None = None


def labels_needed(
    expected: Expected,
    designs: Mapping[Design, Listed],
    width: float,
    *,
    share: float = SHARE,
    seed: int = 0,
    report: Callable[[float], None] = lambda _: None,
) -> list[Needed]:
    """Return for each design how many items must be labelled for an interval of *width* (0 to 1), from high to low.

    Every design gets the same draws of labels. Equal arguments and *seed* give equal results.
    """
    count = len(expected.rates)
    sizes = [size for size in SIZES if size < count] or [count]
    result = []
    for number, (design, listed) in enumerate(designs.items()):
        widths = []
        for size in sizes:
            drawn = [
                _width(expected, listed, design, size, share, np.random.default_rng([seed, size, time]))
                for time in range(TIMES)
            ]
            known = [value for value in drawn if value is not None]
            if len(known) > TIMES / 2:
                widths.append((size, float(np.median(known))))
        result.append(needed(design, widths, width, count))
        report((number + 1) / len(designs))
    return result


def needed(design: Design, widths: Sequence[tuple[int, float]], width: float, most: int) -> Needed:
    """Return the items that *width* needs, given the *widths* by size; *most*: the number of items."""
    given = tuple(widths)
    if not given:
        return Needed(design, given, None, reason=NO_INTERVALS)
    items, beyond = given[0][0], False
    if given[0][1] > width:
        for (small, wide), (large, narrow) in pairwise(given):
            if narrow <= width:
                part = math.log(wide / width) / math.log(wide / narrow)
                items = math.ceil(small * (large / small) ** part)
                break
        else:
            items, beyond = math.ceil(given[-1][0] * (given[-1][1] / width) ** 2), True
    if items > most:
        return Needed(design, given, None, reason=NEVER)
    return Needed(design, given, items, beyond)


def _width(
    expected: Expected, listed: Listed, design: Design, size: int, share: float, rng: np.random.Generator
) -> float | None:
    """Return the width of the interval of one simulated sample; None without an interval."""
    count = len(expected.rates)
    truth = (rng.random(count) < expected.rates).astype(float)
    judge = expected.judge
    if expected.accuracy is not None:
        judge = np.where(rng.random(count) < expected.accuracy, truth, 1 - truth)
    places: Codes = rng.permutation(count)
    found = probabilities(listed.sizes, size, 1.0 if design in ("simple", "clusters") else share)
    mine = draw(found, listed.groups, places, float(rng.random()))
    asked = [Drawn(1, 1, float(found[at]), listed.strata[int(at)]) for at in np.flatnonzero(mine)]
    weighs = weights(asked, [True] * len(asked), {(1, 1): Frame(count, len(asked))})
    names = np.asarray(expected.clusters, dtype=object)
    known = np.isfinite(judge)
    both, rest = (mine & known, ~mine & known) if known.any() else (mine, np.zeros(count, dtype=bool))
    kept = both[np.flatnonzero(mine)]
    said = truth[both]
    labels = Labels(
        said.tolist(), (judge[both] if known.any() else said).tolist(), judge[rest].tolist(), names[both].tolist(),
        names[rest].tolist(), weights=weighs[kept].tolist(),
        strata=[drawn.stratum or None for drawn, keep in zip(asked, kept, strict=True) if keep],
    )  # fmt: skip
    rates = prediction_powered(labels)
    both_rate = rates.both if known.any() else rates.people
    return None if both_rate.low is None or both_rate.high is None else both_rate.high - both_rate.low
