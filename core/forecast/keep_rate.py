"""The share of items kept under the plan `stop`, while some are not finished.

A rejected item is finished after one label, an accepted one only after all of them. So rejects are too frequent among
finished items, and kept / reviewed is too low while items are unfinished: after the first annotator it would be 0.
Instead the share is estimated label by label (Kaplan and Meier 1958): the share of items not rejected by their first
label, of the others the share not rejected by the second, and so on; the product is the share kept. Its variance is
Greenwood's, converted to the number of items with that variance, for a Wilson interval. With all items finished this is
exactly kept / reviewed. An item in relabelling counts with its former label: without its reject it would look like one
that was never rejected (`annotations.forecast.sent_back`).

Items that all annotators label (a pilot, the random share, known answers) are rejected only with their last label. They
are a second group, added to the first: in one chain with the others, the rejects of a finished pilot would be counted
on top of theirs.

A project that was changed from `all` to `stop` has items with labels after a reject. They count as if they had stopped
at the first reject in the order of labels. Otherwise they would count as accepted by that label, and the rejects of
unfinished items would be overestimated.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stages:
    """Items that got a first, second ... label (`entered`), and how many of them were rejected with it (`rejected`)."""

    entered: Numbers
    rejected: Numbers

    def __add__(self, other: "Stages") -> "Stages":
        return Stages(self.entered + other.entered, self.rejected + other.rejected)

    @property
    def passed(self) -> list[float] | None:
        """The share that passes each label; None while no item has its last label."""
        if not self.entered.all():
            # If all are rejected earlier, no item ever gets the last label.
            gone = next((n for n, (e, r) in enumerate(zip(self.entered, self.rejected, strict=True)) if e == r > 0), -1)
            if gone < 0 or not self.entered[: gone + 1].all():
                return None
        return [1 - r / e if e else 0.0 for e, r in zip(self.entered.tolist(), self.rejected.tolist(), strict=True)]

    @property
    def rate(self) -> tuple[float, int]:
        """(kept, items): their ratio is the share kept, with the variance of so many items; (0, 0) while unknown."""
        passed = self.passed
        if passed is None:
            return 0.0, 0
        share = float(np.prod(passed))
        if share == 0:
            last = passed.index(0.0)
            items = float(self.entered[last]) / float(np.prod(passed[:last]))
        elif share == 1:
            items = float(self.entered.min())
        else:
            spread = sum((1 - s) / (s * n) for s, n in zip(passed, self.entered.tolist(), strict=True))
            items = (1 - share) / share / spread
        whole = round(items)
        return share * whole, whole

    @property
    def labels(self) -> float | None:
        """Mean number of labels that an item gets in the end; None while it is unknown."""
        passed = self.passed
        return None if passed is None else float(sum(np.prod(passed[:n]) for n in range(len(passed))))


@dataclass(frozen=True, slots=True)
class Followed:
    """The stages of items that stop at a first reject, and of those that all annotators label."""

    stopping: Stages
    full: Stages

    def __add__(self, other: "Followed") -> "Followed":
        return Followed(self.stopping + other.stopping, self.full + other.full)

    @property
    def rate(self) -> tuple[float, int]:
        """(kept, items) of both together; (0, 0) while it is unknown."""
        (kept, of), (kept_full, of_full) = self.stopping.rate, self.full.rate
        return kept + kept_full, of + of_full

    def labels(self, per_item: int, share: float) -> float | None:
        """Return the mean number of labels that an item gets in the end; None while it is unknown.

        *per_item*: the labels of the *share* of items that all annotators label.
        """
        stopping = self.stopping.labels
        return None if stopping is None else share * per_item + (1 - share) * stopping


def stages(per_item: int, counted: Iterable[tuple[int, str, int]]) -> Stages:
    """Return the stages of (labels, status, items). Labels beyond *per_item*, of a pilot, count as the last one."""
    entered, rejected = np.zeros(per_item, dtype=np.int64), np.zeros(per_item, dtype=np.int64)
    for labels, status, items in counted:
        # A pending item with all its labels is not decided by the last one yet.
        last = min(labels, per_item - 1 if status == "pending" else per_item)
        entered[:last] += items
        if status == "rejected" and last:
            rejected[last - 1] += items
    return Stages(entered, rejected)
