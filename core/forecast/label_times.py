"""The mean time of a label, for a forecast of hours."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note

BREAK_S = 300.0  # a longer time on one item is a break

NO_SECONDS = Note(N_("No label has a recorded time."))
ONE_ITEM = Note(N_("All times come from a single item: no interval."))

Numbers = NDArray[np.float64]


class LabelTime:
    """The mean time of a label in seconds, none counted as more than 300 s, with draws of it.

    `mean`: with percentiles of the means of items drawn with replacement; undefined where no label has a time.
    """

    def __init__(self, times: Mapping[int, Sequence[float]], random: np.random.Generator, draws: int) -> None:
        items = [np.minimum(np.asarray(some, dtype=float), BREAK_S) for some in times.values() if len(some)]
        self.mean, self._means, self._noise = Estimate.undefined(NO_SECONDS), np.zeros(draws), np.zeros(draws)
        if not items:
            return
        every = np.concatenate(items)
        value = float(every.mean())
        # The spread of the sum for a known mean: by the square root of the number of times.
        self._noise = random.standard_normal(draws) * float(every.std())
        if len(items) == 1:
            self.mean, self._means = Estimate(value, units=1, note=ONE_ITEM), np.full(draws, value)
            return
        sums, counts = np.array([one.sum() for one in items]), np.array([float(len(one)) for one in items])
        for n in range(draws):
            drawn = random.integers(len(items), size=len(items))
            self._means[n] = sums[drawn].sum() / counts[drawn].sum()
        low, high = (float(one) for one in np.percentile(self._means, [2.5, 97.5]))
        self.mean = Estimate(value, min(low, value), max(high, value), len(items))

    def seconds_of(self, labels: Numbers) -> Numbers:
        """Seconds that draws of a number of *labels* take."""
        taken: Numbers = np.maximum(labels * self._means + np.sqrt(labels) * self._noise, 0.0)
        return taken
