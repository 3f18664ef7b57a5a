"""Can the quota be met? The same answer on the pages Mine, Progress and Labelling plan and in their commands.

Candidates needed = sentences missing / share kept so far; its range uses the ends of the share's interval
(95%, Wilson's, modified).
The quota can be met if the remaining candidates suffice at the lower end, and cannot be met if they do not suffice at
the upper end. A pair and side with few reviewed candidates uses the share of all together.

Items in relabelling count by their former labels: all of them will be reviewed again and are expected to give the same
result. So the candidates needed are these and those for the rest.

The share kept under the plan `stop`, while some items are not finished:
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

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, modified_wilson

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


OWN_RATE = 10  # a pair and side with so many reviewed candidates uses its own share
Cell = tuple[str, str]
Rate = tuple[float, int]  # kept, of how many reviewed
QuotaOutcome = Literal["none", "met", "yes", "no", "undecided", "unknown"]
QUOTA_OUTCOMES: tuple[QuotaOutcome, ...] = get_args(QuotaOutcome)
WORDS: dict[QuotaOutcome, str] = {
    "none": N_("no quota"),
    "met": N_("is met"),
    "yes": N_("yes"),
    "no": N_("no"),
    "undecided": N_("inconclusive"),
    "unknown": N_("not known"),
}

NOTHING_REVIEWED = Note(N_("No items have been reviewed yet, so the acceptance rate is unknown."))
NOT_SO_FAR = Note(
    N_("No fully labelled item has been accepted by all annotators yet, so the acceptance rate is unknown.")
)
NO_QUOTA = Note(N_("There are no quotas."))
NONE_KEPT = N_("None of the {reviewed} reviewed items was accepted, so the number needed cannot be estimated.")
ROUNDING = 1e-9  # for the rounding of a number of candidates


def share_kept(own: Rate, everything: Rate, nothing: Note = NOTHING_REVIEWED) -> tuple[Estimate, bool]:
    """Return the share of reviewed candidates that are kept, 0 to 1, with its interval (Wilson's, modified).

    The second value says whether it is that of *own*: with fewer than 10 reviewed it is the share of *everything*.
    *nothing*: the reason if that is undefined too.
    """
    is_own = own[1] >= OWN_RATE
    kept, reviewed = own if is_own else everything
    # An item decided before it had all its labels counts as kept and not as reviewed.
    return modified_wilson(min(kept, reviewed), reviewed, nothing=nothing), is_own


def candidates_needed(missing: int, rate: Estimate) -> Estimate:
    """Return the candidates needed for *missing* kept ones at *rate*; if none was kept, at the rate's upper end."""
    if missing == 0:
        return Estimate(0.0, 0.0, 0.0, rate.units)
    if rate.value is None:
        return Estimate.undefined(rate.reason or NOTHING_REVIEWED)
    low = missing / rate.high if rate.high else None
    if not rate.value:
        return Estimate(None, low, None, rate.units, Note(NONE_KEPT, {"reviewed": f"{rate.units:,}"}))
    return Estimate(missing / rate.value, low, missing / rate.low if rate.low else None, rate.units)


def verdict(missing: int | None, left: int, needed: Estimate) -> QuotaOutcome:
    """Tell whether *left* candidates suffice for *missing* sentences (None: no quota), which take *needed* ones."""
    if missing is None:
        return "none"
    if missing == 0:
        return "met"
    if needed.low is None:
        return "unknown"
    if left < needed.low - ROUNDING:
        return "no"
    return "yes" if needed.high is not None and left >= needed.high - ROUNDING else "undecided"


@dataclass(frozen=True, slots=True)
class Counted:
    """One pair and side: numbers of items.

    `mined`: in the project. `reviewed`: with all their blind labels. `compared`: reviewed, with at least two labels.
    `unanimous`: reviewed, and accepted by every label (generations: compared, with the same choice). `kept`: accepted
    as gold (generations: with a gold label). `left`: pending, without those set `aside` (skipped by all). `quota` None:
    as many as there are. `returned`: those of `left` that were reviewed before their relabelling; `returned_kept`: of
    these, kept before it.
    """

    quota: int | None
    mined: int
    reviewed: int
    compared: int
    unanimous: int
    kept: int
    left: int
    aside: int = 0
    returned: int = 0
    returned_kept: int = 0


@dataclass(frozen=True, slots=True)
class QuotaForecast:
    """The forecast of one pair and side.

    `missing`: quota - kept, 0 or more; None without a quota. `rate`: share of reviewed ones that are kept, 0 to 1, of
    this pair and side alone (`own`) or of all together. `needed`: candidates to review for the missing ones,
    rounded up, with the ends of the rate's interval; `high` None: no upper end. `verdict`: "none" (no quota), "met"
    (already), "yes", "no", "undecided", "unknown" (nothing reviewed). `to_find`: further candidates needed, 0 or more.
    """

    missing: int | None
    rate: Estimate
    own: bool
    needed: Estimate
    verdict: QuotaOutcome
    to_find: Estimate

    @property
    def share_of(self) -> str:
        """The source of the share: "own", or "all" together."""
        return "own" if self.own else "all"


def quota_forecasts(
    cells: Mapping[Cell, Counted], stopped: Mapping[Cell, Followed] | None = None
) -> dict[Cell, QuotaForecast]:
    """Return the forecast of every (pair, side).

    `stopped`: under the plan `stop`, the stages of items; the shares are then those of `Followed.rate`.
    """
    everything = _rate(cells, list(cells), stopped)
    return {cell: _forecast(one, _rate(cells, [cell], stopped), everything) for cell, one in cells.items()}


def _rate(cells: Mapping[Cell, Counted], which: Sequence[Cell], stopped: Mapping[Cell, Followed] | None) -> Rate:
    """Return (kept, reviewed) of some cells together."""
    if stopped is None:
        counted = [cells[cell] for cell in which]
        kept = sum(one.kept + one.returned_kept for one in counted)
        return kept, sum(one.reviewed + one.returned for one in counted)
    result = [stopped[cell] for cell in which if cell in stopped]
    return sum(result[1:], result[0]).rate if result else (0, 0)


def _forecast(one: Counted, own_rate: Rate, everything: Rate) -> QuotaForecast:
    rate, own = share_kept(own_rate, everything, NOT_SO_FAR if one.reviewed else NOTHING_REVIEWED)
    if one.quota is None:
        return QuotaForecast(None, rate, own, Estimate.undefined(NO_QUOTA), "none", Estimate.undefined(NO_QUOTA))
    missing = max(0, one.quota - one.kept)
    needed = candidates_needed(missing, rate)
    if missing and one.returned:
        # All items in relabelling are reviewed again.
        needed = _ends(candidates_needed(max(0, missing - one.returned_kept), rate), lambda end: end + one.returned)
    answer, needed = verdict(missing, one.left, needed), _ends(needed, lambda end: math.ceil(end - ROUNDING))
    return QuotaForecast(missing, rate, own, needed, answer, _ends(needed, lambda end: max(0.0, end - one.left)))


def _ends(needed: Estimate, change: Callable[[float], float]) -> Estimate:
    value, low, high = (None if end is None else float(change(end)) for end in (needed.value, needed.low, needed.high))
    return replace(needed, value=value, low=low, high=high)
