"""A model of the work that a project will take: labels, hours, candidates for the quotas.

The input is how many labels of each fully labelled item were rejects. Under the plan `stop` an item costs the labels up
to its first reject. The mean over all orders of the annotators is exactly (n + 1) / (r + 1) for r rejects among n, and
n without rejects. An item with more than n labels stands for all its subsets of n (hypergeometric).

Two quantities are uncertain, and both are simulated: the shares of items with 0, 1 ... n rejects (Dirichlet, Jeffreys'
prior of 1/2 each), and the sum over so many items (normal, with the variance of one item's labels). Hours are labels
times the mean time of a label; a median would underestimate the sum, because some labels take long. Times over five
minutes count as five, as in the hours of a release; the interval is by resampling items. Intervals are the 2.5 and 97.5
percentiles of the draws; the share that all accept has the Wilson interval, which also gives that of the candidates
needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.forecast.quota import OWN_RATE, QuotaOutcome, candidates_needed, verdict
from evenhand.core.statistics import Estimate, Note, modified_wilson

Numbers = NDArray[np.float64]
BREAK_S = 300.0  # a longer time on one item is a break

NO_SECONDS = Note(N_("No label has a recorded time."))
ONE_ITEM = Note(N_("All times come from a single item: no interval."))
DRAWS = 2000
METHOD = 3  # version of this forecast, in its signature

NO_SAMPLE = Note(N_("No item is fully labelled yet: run a pilot to estimate the work."))
NO_QUOTA = Note(N_("No quotas are set for pairs and sides."))
NO_ITEMS = Note(N_("There are no items yet."))

Patterns = Mapping[tuple[int, int], int]  # (labels, rejects) -> items


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
        sums, counts = np.array([item.sum() for item in items]), np.array([float(len(item)) for item in items])
        for n in range(draws):
            drawn = random.integers(len(items), size=len(items))
            self._means[n] = sums[drawn].sum() / counts[drawn].sum()
        low, high = (float(entry) for entry in np.percentile(self._means, [2.5, 97.5]))
        self.mean = Estimate(value, min(low, value), max(high, value), len(items))

    def seconds_of(self, labels: Numbers) -> Numbers:
        """Return draws of the seconds that *labels* labels take."""
        taken: Numbers = np.maximum(labels * self._means + np.sqrt(labels) * self._noise, 0.0)
        return taken


@dataclass(frozen=True, slots=True)
class Cell:
    """One pair and side: its candidates, its quota (None: unlimited), items kept already, fully labelled items.

    `left`: candidates never decided; `returned_kept`: items in relabelling that were kept before it.
    """

    pair: str
    side: str
    stock: int
    quota: int | None = None
    kept: int = 0
    patterns: Patterns = field(default_factory=dict)
    left: int = 0
    returned_kept: int = 0


@dataclass(frozen=True, slots=True)
class CellNeed:
    """The candidates that one pair and side needs for its quota.

    `rate`: share that all accept, 0 to 1, Wilson interval; `own`: of this pair and side alone. `needed`: candidates for
    the whole quota, quota / rate with its interval; None if none was kept. `verdict`: whether the candidates `left`
    meet the rest of the quota (core.forecast.quota).
    """

    pair: str
    side: str
    stock: int
    quota: int
    kept: int
    rate: Estimate
    own: bool
    needed: Estimate
    left: int
    verdict: QuotaOutcome
    json_names: ClassVar = {"stock": "items", "own": None}
    also_in_json: ClassVar = ("rate_from",)
    flat_estimates: ClassVar = True

    @property
    def rate_from(self) -> str:
        """The source of the rate: "own", or "all" for all cells together."""
        return "own" if self.own else "all"


@dataclass(frozen=True, slots=True)
class Work:
    """The total cost of a plan.

    `judgements`: labels; `each`: labels per candidate, 1 to n; `hours`: all annotators together.
    """

    judgements: Estimate
    each: Estimate
    hours: Estimate
    flat_estimates: ClassVar = True


@dataclass(frozen=True, slots=True)
class WorkForecast:
    """Both plans side by side.

    `candidates`: how many will be judged, all or up to the quotas. `rate`: share that all accept. `seconds`: mean time
    of one label, none counted as more than 300 s. `saved`: 1 - labels under `stop` / labels under `all`, 0 to 1.
    `needed`: candidates that all quotas take together; its range adds up those of the cells.
    """

    per_item: int
    share: float
    candidates: Estimate
    rate: Estimate
    seconds: Estimate
    all: Work
    stop: Work
    saved: Estimate
    needed: Estimate
    cells: tuple[CellNeed, ...]
    signature: str
    flat_estimates: ClassVar = True


def labels_to_first_reject(labels: int, rejects: int) -> tuple[float, float]:
    """Return mean and mean square of the number of labels up to the first reject, over all orders of *labels*."""
    beyond = [comb(labels - rejects, j) / comb(labels, j) for j in range(labels)]  # P(the first j are accepts)
    return sum(beyond), sum((2 * j + 1) * share for j, share in enumerate(beyond))


def rejects_among(per_item: int, patterns: Patterns) -> Numbers:
    """Return expected numbers of items with 0, 1 ... *per_item* rejects in random subsets of their labels.

    Items with fewer labels are left out.
    """
    values = np.zeros(per_item + 1)
    for (labels, rejects), items in patterns.items():
        if labels >= per_item:
            for r in range(min(rejects, per_item) + 1):
                values[r] += items * comb(rejects, r) * comb(labels - rejects, per_item - r) / comb(labels, per_item)
    return values


def forecast_work(
    cells: Sequence[Cell],
    per_item: int,
    share: float,
    *,
    seconds: Mapping[int, Sequence[float]] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> WorkForecast:
    """Forecast the work of labelling *cells* under both plans.

    *per_item*: labels per item; under `stop` all annotators label a *share* of the items, 0 to 1. *seconds*: times of
    the labels of each item (any key), as the desk measured them. The same input and seed give the same numbers.
    """
    random = np.random.default_rng(seed)
    pooled = sum((rejects_among(per_item, cell.patterns) for cell in cells), np.zeros(per_item + 1))
    # Cells that use the share of all together use the same draws: their errors are correlated.
    together = random.dirichlet(pooled + 0.5, draws)
    drawn = [_Drawn(cell, per_item, share, (pooled, together), random, draws) for cell in cells]
    time = LabelTime(seconds or {}, random, draws)
    needs = tuple(one.need() for one in drawn if one.cell.quota is not None)
    known = all(one.known for one in drawn)
    judged = _sum([one.judged for one in drawn], known)
    whole = _sum([one.whole for one in drawn], known)
    stopped = _sum([one.stopped for one in drawn], bool(pooled.sum()))
    if not cells or not sum(cell.stock for cell in cells):
        judged = whole = stopped = _Total.undefined(NO_ITEMS)
    return WorkForecast(
        per_item,
        share,
        judged.estimate,
        modified_wilson(float(pooled[0]), round(float(pooled.sum())), nothing=NO_SAMPLE),
        time.mean,
        _work(whole, judged, time),
        _work(stopped, judged, time),
        stopped.share_below(whole),
        _needed_in_all(needs),
        needs,
        f"labels-forecast|dirichlet:jeffreys|per-item:{per_item}|share:{share:g}|time:mean,most300s"
        f"|draws:{draws}|seed:{seed}|v{METHOD}",
    )


@dataclass(frozen=True, slots=True)
class _Total:
    """A sum with its draws; `estimate` is shown."""

    estimate: Estimate
    draws: Numbers

    @classmethod
    def undefined(cls, reason: Note) -> "_Total":
        return cls(Estimate.undefined(reason), np.zeros(0))

    @classmethod
    def of(cls, value: float, draws: Numbers) -> "_Total":
        low, high = (float(entry) for entry in np.percentile(draws, [2.5, 97.5]))
        return cls(Estimate(value, min(low, value), max(high, value)), draws)

    def over(self, other: "_Total") -> Estimate:
        """Return the ratio of this total to the other."""
        if self.estimate.value is None or not other.estimate.value:
            return Estimate.undefined(self.estimate.reason or other.estimate.reason or NO_ITEMS)
        counted = other.draws > 0
        return _Total.of(
            self.estimate.value / other.estimate.value, self.draws[counted] / other.draws[counted]
        ).estimate

    def share_below(self, other: "_Total") -> Estimate:
        """Return 1 - this total / the other."""
        estimate = self.over(other)
        if estimate.value is None or estimate.low is None or estimate.high is None:
            return estimate
        return Estimate(1 - estimate.value, 1 - estimate.high, 1 - estimate.low)


class _Drawn:
    """One cell with its draws."""

    def __init__(
        self,
        cell: Cell,
        per_item: int,
        share: float,
        pooled: tuple[Numbers, Numbers],
        random: np.random.Generator,
        draws: int,
    ) -> None:
        own = rejects_among(per_item, cell.patterns)
        self.cell, self.own = cell, bool(own.sum() >= OWN_RATE)
        self.found, drawn = (own, random.dirichlet(own + 0.5, draws)) if self.own else pooled
        self.sample = float(self.found.sum())
        self.known = bool(self.sample) or cell.quota is None
        nothing = np.zeros(draws)
        point = self.found / self.sample if self.sample else None
        candidates = float(self._judged(None if point is None else point[:1])[0])
        self.judged = (candidates, nothing + self._judged(drawn[:, 0] if self.sample else None))
        self.whole = (candidates * per_item, self.judged[1] * per_item)
        if point is None:
            self.stopped = (0.0, nothing)
            return
        mean, square = np.array([labels_to_first_reject(per_item, r) for r in range(per_item + 1)]).T
        each = share * per_item + (1 - share) * float(point @ mean)
        means = share * per_item + (1 - share) * (drawn @ mean)
        variance = np.maximum(share * per_item**2 + (1 - share) * (drawn @ square) - means**2, 0.0)
        noise = random.standard_normal(draws) * np.sqrt(self.judged[1] * variance)
        total = np.clip(self.judged[1] * means + noise, self.judged[1], self.whole[1])
        self.stopped = (candidates * each, total)

    def _judged(self, rates: Numbers | None) -> Numbers:
        """Return the number of candidates to judge: all, or as many as the quota needs at these *rates*."""
        if self.cell.quota is None or rates is None:
            return np.array([float(self.cell.stock)])
        if not self.cell.quota:
            return np.zeros_like(rates)
        with np.errstate(divide="ignore", invalid="ignore"):
            taken = np.where(rates > 0, self.cell.quota / rates, np.inf)
        return np.minimum(self.cell.stock, taken)

    def need(self) -> CellNeed:
        """Return the candidates needed for the quota."""
        cell, quota = self.cell, self.cell.quota or 0
        rate = modified_wilson(float(self.found[0]), round(self.sample), nothing=NO_SAMPLE)
        needed, missing = candidates_needed(quota, rate), max(0, quota - cell.kept - cell.returned_kept)
        answer = verdict(missing, cell.left, candidates_needed(missing, rate))
        return CellNeed(cell.pair, cell.side, cell.stock, quota, cell.kept, rate, self.own, needed, cell.left, answer)


def _needed_in_all(needs: Sequence[CellNeed]) -> Estimate:
    if not needs:
        return Estimate.undefined(NO_QUOTA)
    lows, highs = [need.needed.low for need in needs], [need.needed.high for need in needs]
    low = sum(value for value in lows if value is not None) if None not in lows else None
    values = [need.needed.value for need in needs]
    if missing := [need.needed for need in needs if need.needed.value is None]:
        return Estimate(None, low=low, reason=missing[0].reason)
    high = sum(value for value in highs if value is not None) if None not in highs else None
    return Estimate(sum(value for value in values if value is not None), low, high)


def _sum(parts: Sequence[tuple[float, Numbers]], known: bool) -> _Total:
    if not known or not parts:
        return _Total.undefined(NO_SAMPLE)
    return _Total.of(sum(value for value, _ in parts), np.sum([draws for _, draws in parts], axis=0))


def _work(labels: _Total, judged: _Total, time: LabelTime) -> Work:
    if labels.estimate.value is None:
        return Work(labels.estimate, labels.estimate, labels.estimate)
    if time.mean.value is None:
        hours = Estimate.undefined(time.mean.reason or NO_SECONDS)
    else:
        value = labels.estimate.value * time.mean.value / 3600
        hours = _Total.of(value, time.seconds_of(labels.draws) / 3600).estimate
    return Work(labels.estimate, labels.over(judged), hours)
