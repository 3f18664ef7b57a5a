"""95 % intervals of measures, from draws of a design or from leaving out one unit at a time (SPEC 6).

Percentiles of the draws; where fewer than 15 units were drawn, t on the jackknife's error, cut at what the measure can
be at all, and marked. One unit: no interval. `core.statistics.resampling` says how each design is drawn.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import N_
from core.statistics.estimate import (
    BOOTSTRAP,
    BY_T,
    NO_VARIATION,
    ONE_CONTEXT,
    ONE_ITEM,
    ONE_UNIT,
    Estimate,
    Note,
    few_units,
)
from core.statistics.resampling import Numbers, Resampling, Sizes, ones
from core.statistics.units import Clusters, codes_of

FEW = 15  # units; below that the percentile bootstrap is too narrow (SPEC 6)

Measure = Callable[[Numbers], Numbers]  # what was drawn (draws x ...) -> one number a draw, NaN = undefined
Measures = Callable[[Numbers], Mapping[str, Numbers]]
Bounds = tuple[float, float]

HANGS_ON_ONE = N_("Few units ({units}), and without one of them the measure is undefined: no interval.")
MOSTLY_UNDEFINED = N_("Undefined in {count} of {resamples} resamples: no interval.")
PARTLY_UNDEFINED = N_("Undefined in {count} of {resamples} resamples, which are left out of the interval.")
RESTS_ON_ONE = Note(N_("It rests on a single unit of one side: no interval."))


def percentiles(draws: Numbers, found: Estimate) -> Estimate:
    """*found* with the 2.5 and 97.5 percentiles of *draws* (one number a draw, NaN where it was undefined).

    No interval where more than half of the draws are undefined; where some
    are, or all are equal, the note says so. `se` is the draws' deviation, ddof 1.
    """
    known = draws[np.isfinite(draws)]
    lost = {"count": len(draws) - len(known), "resamples": len(draws)}
    if len(known) < len(draws) / 2:
        return replace(found, note=Note(MOSTLY_UNDEFINED, lost))
    low, high = (float(end) for end in np.percentile(known, [2.5, 97.5]))
    note = Note(PARTLY_UNDEFINED, lost) if len(known) < len(draws) else None
    if low == high:
        note = NO_VARIATION
    return replace(found, low=low, high=high, note=note, se=float(known.std(ddof=1)), method=BOOTSTRAP)


def by_t(
    found: Estimate, se: float, units: int, bounds: Bounds | None = None, freedom: float | None = None
) -> Estimate:
    """*found* +- t(*freedom*, else units - 1) times *se*, cut at *bounds*; the note: few units, or none that differ."""
    from scipy import stats  # scipy.stats takes a while to import

    assert found.value is not None
    df = units - 1 if freedom is None else freedom
    reach = float(stats.t.ppf(0.975, df)) * se
    least, most = bounds or (-np.inf, np.inf)
    low, high = max(least, found.value - reach), min(most, found.value + reach)
    note = few_units(units) if se else NO_VARIATION
    return replace(found, low=low, high=high, note=note, se=se, df=max(1, round(df)), method=BY_T)


def jackknife(value: float, without: Numbers) -> float:
    """The standard error of a measure from its values without one unit at a time: that of the pseudo-values' mean.

    For a mean over equal units the pseudo-values are the unit means. NaN where it is undefined without some unit.
    """
    count = len(without)
    pseudo = count * value - (count - 1) * without
    return float(pseudo.std(ddof=1) / np.sqrt(count))


def from_draws(draws: Numbers, found: Estimate, rests: int, bounds: Bounds | None = None) -> Estimate:
    """*found* with percentiles of *draws*; where it rests on few units, t with the standard error of the draws.

    The draws of k values spread as if their variance were divided by k, not k - 1: the error is widened by that.
    """
    if rests < 2:
        return replace(found, note=RESTS_ON_ONE)
    by_percentiles = percentiles(draws, found)
    if rests >= FEW or by_percentiles.se is None:
        return by_percentiles
    return by_t(found, by_percentiles.se * float(np.sqrt(rests / (rests - 1))), rests, bounds)


class _Design(Protocol):
    """What is drawn of one sample: all units, all but one (and how often each such row counts), or draws of them."""

    @property
    def units(self) -> int: ...
    def all(self) -> Numbers: ...
    def without(self) -> tuple[Numbers, Sizes]: ...
    def draws(self, resampling: Resampling) -> Iterator[Numbers]: ...


@dataclass(frozen=True, slots=True)
class _Units:
    """Plain units; measures take their weights."""

    units: int

    def all(self) -> Numbers:
        return np.ones((1, self.units))

    def without(self) -> tuple[Numbers, Sizes]:
        return np.ones((self.units, self.units)) - np.eye(self.units), ones(self.units)

    def draws(self, resampling: Resampling) -> Iterator[Numbers]:
        return resampling.weights(self.units)


@dataclass(frozen=True, slots=True)
class _Items:
    """Items by patterns of labels; measures take how many items show each.

    Items with the same labels are one pattern: drawing the counts of patterns is drawing items, and costs by the
    pattern (27 for three annotators and three choices), not by the item.
    """

    sizes: Sizes

    @property
    def units(self) -> int:
        return int(self.sizes.sum())

    def without(self) -> tuple[Numbers, Sizes]:
        present = np.flatnonzero(self.sizes)
        rows = np.repeat(self.sizes[None, :].astype(float), len(present), axis=0)
        rows[np.arange(len(present)), present] -= 1
        return rows, self.sizes[present]

    def all(self) -> Numbers:
        return self.sizes[None, :].astype(float)

    def draws(self, resampling: Resampling) -> Iterator[Numbers]:
        return (counts for (counts,) in resampling.picks(self.sizes))


@dataclass(frozen=True, slots=True)
class _Contexts:
    """Whole contexts of items: `patterns[c][i]` of context c's items show pattern i."""

    patterns: Sizes

    @property
    def units(self) -> int:
        return len(self.patterns)

    def all(self) -> Numbers:
        total: Numbers = self.patterns.sum(axis=0)[None, :].astype(float)
        return total

    def without(self) -> tuple[Numbers, Sizes]:
        return self.all() - self.patterns, ones(self.units)

    def draws(self, resampling: Resampling) -> Iterator[Numbers]:
        return (times @ self.patterns for (times,) in resampling.picks(ones(self.units)))


def over_units(
    resampling: Resampling,
    measures: Measures,
    units: int,
    bounds: Mapping[str, Bounds] | None = None,
    support: Mapping[str, int] | None = None,
) -> dict[str, Estimate]:
    """Each measure of the weights of *units* units (draws x units), with its interval over these.

    A measure that is NaN is left out of the answer: the caller knows the reason. *support*: on how many units a measure
    rests where that is fewer than all (Bias_man on those that lean to the male word); fewer than 15 of them get a t
    interval too.
    """
    if units == 0:
        return {}
    design = _Units(units)
    values = {name: float(found[0]) for name, found in measures(design.all()).items()}
    found = {name: Estimate(value, units=units) for name, value in values.items() if np.isfinite(value)}
    if units == 1:
        return {name: replace(estimate, note=ONE_UNIT) for name, estimate in found.items()}
    return _over(resampling, design, measures, found, bounds or {}, support or {})


def over_items(
    resampling: Resampling,
    measure: Measure,
    sizes: Sizes,
    found: Estimate,
    least: float = -1.0,
    contexts: Sizes | None = None,
) -> Estimate:
    """*found* with the interval of *measure* over items, `sizes[i]` of which have pattern i; cut at *least* and 1.

    `contexts[c][i]`: how many items of context c have pattern i; then whole contexts are drawn, left out and counted.
    """
    if found.value is None:
        return found
    design: _Design = _Items(sizes) if contexts is None else _Contexts(contexts[contexts.sum(axis=1) > 0])
    if design.units <= 1:
        return replace(found, note=ONE_ITEM if contexts is None else ONE_CONTEXT)
    found_by_name = {"": found}
    return _over(resampling, design, lambda drawn: {"": measure(drawn)}, found_by_name, {"": (least, 1.0)}, {})[""]


def _over(
    resampling: Resampling,
    design: _Design,
    measures: Measures,
    found: Mapping[str, Estimate],
    bounds: Mapping[str, Bounds],
    support: Mapping[str, int],
) -> dict[str, Estimate]:
    units = design.units
    if units < FEW:
        rows, times = design.without()
        left_out = {name: np.repeat(values, times) for name, values in measures(rows).items()}
        return {
            name: _few(left_out[name], one, units, support.get(name, units), bounds.get(name))
            for name, one in found.items()
        }
    blocks = [measures(drawn) for drawn in design.draws(resampling)]
    draws = {name: np.concatenate([block[name] for block in blocks]) for name in found}
    return {
        name: from_draws(draws[name], one, support.get(name, units), bounds.get(name)) for name, one in found.items()
    }


def _few(without: Numbers, found: Estimate, units: int, rests: int, bounds: Bounds | None) -> Estimate:
    if not np.isfinite(without).all():
        return replace(found, note=Note(HANGS_ON_ONE, {"units": units}))
    if rests < 2:
        return replace(found, note=RESTS_ON_ONE)
    assert found.value is not None
    return by_t(found, jackknife(found.value, without), rests, bounds)


def over_strata(
    resampling: Resampling,
    measures: Measures,
    table: Numbers,
    strata: Sequence[Sizes],
    rests_on: Mapping[str, Sequence[int]] | None = None,
    bounds: Mapping[str, Bounds] | None = None,
) -> dict[str, Estimate]:
    """Each measure of sums of the rows of *table* (draws x the rest of its shape), each stratum drawn by itself.

    `strata[k]`: the rows of stratum k; `rests_on[name]`: the strata that a measure needs, else all. Where one of these
    has fewer than 15 units, the interval is t on the stratified jackknife with the degrees of freedom of Welch and
    Satterthwaite. A measure that is undefined is left out of the answer: the caller knows the reason.
    """
    total = table.sum(axis=0)
    values = {name: float(found[0]) for name, found in measures(total[None]).items()}
    draws, without = measures(resampling.strata(strata, table)), measures(total - table)
    estimates = {}
    for name, value in values.items():
        if not np.isfinite(value):
            continue
        used = [strata[k] for k in (rests_on or {}).get(name, range(len(strata)))]
        found = Estimate(value, units=sum(map(len, used)))
        if min(map(len, used)) < FEW:
            estimates[name] = _few_in_strata([without[name][rows] for rows in used], found, (bounds or {}).get(name))
        else:
            estimates[name] = percentiles(draws[name], found)
    return estimates


def _few_in_strata(without: Sequence[Numbers], found: Estimate, bounds: Bounds | None) -> Estimate:
    if min(map(len, without)) < 2:
        return replace(found, note=ONE_UNIT)
    if not all(np.isfinite(values).all() for values in without):
        return replace(found, note=Note(HANGS_ON_ONE, {"units": found.units}))
    assert found.value is not None
    parts = [(jackknife(found.value, values) ** 2, len(values) - 1) for values in without]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / df for part, df in parts) if variance else 1.0
    return by_t(found, float(np.sqrt(variance)), min(map(len, without)), bounds, freedom)


def over_clusters(
    resampling: Resampling,
    measures: Measures,
    columns: Numbers,
    clusters: Clusters,
    bounds: Mapping[str, Bounds] | None = None,
) -> dict[str, Estimate]:
    """Each measure of the sums of *columns* (rows x columns), with its interval over the units of *clusters*.

    One kind: whole units are drawn. Two kinds: units of both are drawn independently and a row counts by the product
    (Owen 2007, the pigeonhole bootstrap). Fewer than 15 units of a kind: t, with both kinds together as in Cameron,
    Gelbach and Miller 2011. A measure that is NaN is left out of the answer: the caller knows the reason.
    """
    if not len(columns):
        return {}
    if len(clusters.kinds) == 1:
        sums = _summed(clusters.codes[0], columns)
        return over_units(resampling, lambda weights: measures(weights @ sums), len(sums), bounds)
    values = measures(columns.sum(axis=0)[None, :])
    found = {n: Estimate(float(v[0]), units=clusters.units) for n, v in values.items() if np.isfinite(v[0])}
    if clusters.units < FEW:
        return _few_crossed(clusters, columns, measures, found, bounds or {})
    drawn = [
        measures(np.prod([w[:, codes] for w, codes in zip(weights, clusters.codes, strict=True)], axis=0) @ columns)
        for weights in resampling.picks(*map(ones, clusters.counts), row=len(columns))
    ]
    return {name: percentiles(np.concatenate([one[name] for one in drawn]), e) for name, e in found.items()}


def _summed(codes: NDArray[np.int64], columns: Numbers) -> Numbers:
    return np.stack([np.bincount(codes, weights=column) for column in columns.T], axis=1)


def _few_crossed(
    clusters: Clusters, columns: Numbers, measures: Measures, found: dict[str, Estimate], bounds: Mapping[str, Bounds]
) -> dict[str, Estimate]:
    if clusters.units < 2:
        return {name: replace(estimate, note=ONE_UNIT) for name, estimate in found.items()}
    cells = codes_of([f"{a} {b}" for a, b in zip(*clusters.codes, strict=True)])[0]
    total = columns.sum(axis=0)[None, :]
    left_out = [measures(total - _summed(codes, columns)) for codes in (*clusters.codes, cells)]
    estimates = {}
    for name, estimate in found.items():
        assert estimate.value is not None
        one, other, both = (jackknife(estimate.value, values[name]) ** 2 for values in left_out)
        # Two kinds: what both say, less what is counted twice; never less than either says alone.
        variance = max(one + other - both, one, other)
        if np.isfinite(variance):
            estimates[name] = by_t(estimate, float(np.sqrt(variance)), clusters.units, bounds.get(name))
        else:
            estimates[name] = replace(estimate, note=Note(HANGS_ON_ONE, {"units": clusters.units}))
    return estimates
