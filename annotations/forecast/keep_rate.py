"""The share that is kept where items stop at a first reject, while some are still on their way.

A rejected item is done after one label, an accepted one only after all of them. So among the items that are *done* by
now there are too many rejects, and kept / reviewed is too low for as long as anything is under way: after the first
annotator alone it would be 0. Instead the share is followed label by label (Kaplan and Meier 1958): of the items that
got a first label the share that was not rejected with it, of those that got a second one the share that was not
rejected with that, and so on; the product is the share kept. Its variance is Greenwood's; it is turned into as many
items as would have that variance, so that a Wilson interval can be drawn. With nothing under way this is exactly
kept / reviewed, of as many items as were reviewed. An item whose labels were sent back goes on to count where it was:
without its reject it would look like one that was never rejected (`annotations.forecast.sent_back`).

What all label whatever the first one says (a pilot, the random share, hidden gold) is rejected with its last label
only. It is followed apart and both are added up: a pilot is done before the others have a second label, and in one
chain with them its rejects would be counted on top of theirs.

A project that was changed from `all` to `stop` has items with labels after a reject. They count as if they had stopped
there: with its first reject, in the order in which the labels came. Counted with their last label they would have
passed a first one that rejected them, and what is under way would be thought to be rejected once more.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.database.events import events
from annotations.database.store import Store
from annotations.forecast.sent_back import LastWords
from annotations.types import Project

Numbers = NDArray[np.int64]
Cell = tuple[str, str]

# All items in the order of their rows: twice as fast as in that of an index.
LABELLED = """
SELECT pair, side, full, labels, status, items FROM cell JOIN (
    SELECT cell, shared OR pilot IS NOT NULL OR known IS NOT NULL AS full, labels, status, count(*) AS items
    FROM item NOT INDEXED WHERE labels > 0 AND batch IN (SELECT id FROM published_batch WHERE project = ?)
    GROUP BY cell, full, labels, status
) AS counted ON counted.cell = cell.id
"""

# Items that stop at a first reject and have labels after it: how many labels they had with it, and how many now.
LATER = """
SELECT pair, side, first, labels, count(*) FROM cell JOIN (
    SELECT item.cell AS cell, item.labels AS labels, (
        SELECT count(*) FROM assignment WHERE assignment.item = item.id AND blind <= (
            SELECT min(blind) FROM assignment JOIN label ON label.id = blind
            WHERE assignment.item = item.id AND choice = 'reject')) AS first
    FROM item WHERE labels > 1 AND status = 'rejected' AND shared = 0 AND pilot IS NULL AND known IS NULL
        AND batch IN (SELECT id FROM published_batch WHERE project = ?)
) AS rejected ON rejected.cell = cell.id WHERE first BETWEEN 1 AND labels - 1 GROUP BY cell.id, first, labels
"""


@dataclass(frozen=True, slots=True)
class Stages:
    """Items that got a first, second ... label (`entered`), and how many of them were rejected with it (`rejected`)."""

    entered: Numbers
    rejected: Numbers

    def __add__(self, other: "Stages") -> "Stages":
        return Stages(self.entered + other.entered, self.rejected + other.rejected)

    @property
    def passed(self) -> list[float] | None:
        """The share that passes each label; None where nobody has come so far as the last one."""
        if not self.entered.all():
            # Where all are rejected earlier, nobody ever comes to the last label.
            gone = next((n for n, (e, r) in enumerate(zip(self.entered, self.rejected, strict=True)) if e == r > 0), -1)
            if gone < 0 or not self.entered[: gone + 1].all():
                return None
        return [1 - r / e if e else 0.0 for e, r in zip(self.entered.tolist(), self.rejected.tolist(), strict=True)]

    @property
    def rate(self) -> tuple[float, int]:
        """(kept, of how many items): the share kept is their ratio, and its variance that of so many items; (0, 0)
        where nobody knows it yet."""
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
        """Labels that an item gets in the end, on average; None where nobody knows it yet."""
        passed = self.passed
        return None if passed is None else float(sum(np.prod(passed[:n]) for n in range(len(passed))))


@dataclass(frozen=True, slots=True)
class Followed:
    """The stages of items that stop at a first reject, and of those that all label whatever the first one says."""

    stopping: Stages
    full: Stages

    def __add__(self, other: "Followed") -> "Followed":
        return Followed(self.stopping + other.stopping, self.full + other.full)

    @property
    def rate(self) -> tuple[float, int]:
        """(kept, of how many items) of both together; (0, 0) where nobody knows it yet."""
        (kept, of), (kept_full, of_full) = self.stopping.rate, self.full.rate
        return kept + kept_full, of + of_full

    def labels(self, project: Project) -> float | None:
        """Labels that an item of *project* gets in the end, on average; None where nobody knows it yet."""
        stopping = self.stopping.labels
        return None if stopping is None else project.share * project.per_item + (1 - project.share) * stopping


def stages(project: Project, counted: Iterable[tuple[int, str, int]]) -> Stages:
    """From (labels, status, items). Labels beyond the wanted number, of a pilot, count as the last one."""
    per_item = project.per_item
    entered, rejected = np.zeros(per_item, dtype=np.int64), np.zeros(per_item, dtype=np.int64)
    for labels, status, items in counted:
        # What has all its labels and waits all the same is not decided by the last one yet.
        last = min(labels, per_item - 1 if status == "pending" else per_item)
        entered[:last] += items
        if status == "rejected" and last:
            rejected[last - 1] += items
    return Stages(entered, rejected)


def followed_by_cell(store: Store, project: Project, returned: Iterable[LastWords] = ()) -> Mapping[Cell, Followed]:
    """(pair, side) -> its stages; only those with a label. *returned*: items that count by what was last said."""
    rows: dict[Cell, tuple[list[tuple[int, str, int]], list[tuple[int, str, int]]]] = {}
    for pair, side, full, labels, status, items in store.db.execute(LABELLED, (project.id,)):
        rows.setdefault((pair, side), ([], []))[full].append((labels, status, items))
    if any((each.data.get("old") or {}).get("plan") == "all" for each in events(store, project, action="plan")):
        for pair, side, first, labels, items in store.db.execute(LATER, (project.id,)):
            rows[pair, side][False].extend([(labels, "rejected", -items), (first, "rejected", items)])
    for one in returned:
        full = one.terms.shared or one.terms.pilot is not None or one.terms.known
        as_it_stands, as_was_said = (one.labels, one.status, -1), (len(one.choices), one.outcome, 1)
        rows.setdefault((one.pair, one.side), ([], []))[full].extend([as_it_stands, as_was_said])
    return {cell: Followed(*(stages(project, part) for part in found)) for cell, found in rows.items()}
