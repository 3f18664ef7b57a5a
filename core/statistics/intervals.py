"""95% intervals of measures, from leaving out one unit at a time or from draws of a design (docs/methods.md#intervals).

t on the jackknife's error, on the logarithm of what runs from 0 up and the log-odds of what runs between two ends: the
mean of skewed values errs more the larger it is, and percentiles of draws held Bias_man over 20 articles in 81 to 91 of
100 samples. What has no ends is corrected for skewness. The degrees of freedom count units by their sizes: five long
articles among twenty are hardly more than five. Two kinds of units that are crossed: the error of both, less what is
counted twice. One unit: no interval. Agreement is in `core.statistics.posterior`. docs/coverage.md has what all of
these hold.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics.estimate import (
    ALL_ALIKE,
    BOOTSTRAP,
    BY_T,
    BY_T_CROSSED,
    BY_T_OF_DRAWS,
    BY_T_SKEWED,
    NO_VARIATION,
    ONE_UNIT,
    WILSON,
    Estimate,
    Note,
    few_units,
)
from evenhand.core.statistics.resampling import Numbers, Resampling, Sizes, ratio
from evenhand.core.statistics.units import Clusters, effective_units

FEW = 15  # units; an interval on fewer is marked (docs/methods.md#intervals)
MOST_LEFT_OUT = 400  # units; with more of them draws are cheaper than leaving out each
FEWEST_SKEWED = 8  # units
NEAR_AN_END, FEWEST_CROSSED = 0.05, 30  # of 20 templates, 97% right, nearly all errors may be of the few that are hard
LOW_OR_HIGH, FEWEST_OF_A_STRATUM = 0.2, 12
STILL = 1e-9  # below which a spread is rounding
FARTHEST = 3.0  # on the logarithm: an interval over a factor of 20 to either side says nothing

Measure = Callable[[Numbers], Numbers]  # what was drawn (draws x ...) -> one number a draw, NaN = undefined
Measures = Callable[[Numbers], Mapping[str, Numbers]]
Bounds = tuple[float, float]

HANGS_ON_ONE = N_("Few units ({units}), and without one of them the measure is undefined: no interval.")
MOSTLY_UNDEFINED = N_("Undefined in {count} of {resamples} resamples: no interval.")
PARTLY_UNDEFINED = N_("Undefined in {count} of {resamples} resamples, which are left out of the interval.")
RESTS_ON_ONE = Note(N_("One side has only a single unit: no interval."))
UNEQUAL = Note(N_("Nearly all of the data come from a single unit: no interval."))
T_OVER_UNITS = f"jackknife-t:{MOST_LEFT_OUT}|bootstrap-t"  # in signatures: `Resampling.signature(unit, T_OVER_UNITS)`
BY_JACKKNIFE = "jackknife-t"
CLOSE_TO_AN_END = N_("Too close to 0 or 1 for a 95% interval over so few units ({units}).")
UNSEEN_SKEW = N_("Too few units ({units}) to estimate skewness: no 95% interval for the difference.")
TOO_WIDE = Note(N_("The units differ so much that an interval would span more than a factor of 20: no interval."))
ALIKE_AT_AN_END = N_("All units gave the same value: Wilson interval, with each of the {units} units counted once.")


def percentiles(draws: Numbers, estimate: Estimate) -> Estimate:
    """Return *estimate* with the 2.5 and 97.5 percentiles of *draws* (one number a draw, NaN if undefined).

    No interval where more than half of the draws are undefined; where some
    are, or all are equal, the note says so. `se` is the draws' deviation, ddof 1.
    """
    known = draws[np.isfinite(draws)]
    lost = {"count": len(draws) - len(known), "resamples": len(draws)}
    if len(known) < len(draws) / 2:
        return replace(estimate, note=Note(MOSTLY_UNDEFINED, lost))
    low, high = (float(end) for end in np.percentile(known, [2.5, 97.5]))
    note = Note(PARTLY_UNDEFINED, lost) if len(known) < len(draws) else None
    if low == high:
        note = NO_VARIATION
    return replace(estimate, low=low, high=high, note=note, se=float(known.std(ddof=1)), method=BOOTSTRAP)


def by_t(
    estimate: Estimate,
    se: float,
    units: int,
    bounds: Bounds | None = None,
    freedom: float | None = None,
    method: str = BY_T,
    skew: float = 0.0,
) -> Estimate:
    """Return *estimate* with *se* times t of *freedom* (else units - 1), on the scale of the measure.

    *bounds* name the scale: from 0 up the logarithm, between two ends the log-odds (for -1 and 1 that is Fisher's z),
    None the plain scale, corrected for *skew*, the skewness of the value's error (Hall 1992). At one of two ends:
    Wilson's interval with this t, each unit counted once. No interval where all units gave the same elsewhere, or
    where it would reach over a factor of 20 to either side.
    """
    from scipy import stats  # scipy.stats takes a while to import

    value, df = estimate.value, units - 1 if freedom is None else freedom
    assert value is not None
    least, most = bounds or (-np.inf, np.inf)
    t, ends, still = float(stats.t.ppf(0.975, df)), np.isfinite(most), se <= STILL * max(1.0, abs(value))
    made = replace(estimate, note=few_units(units) if units < FEW else None, se=se, df=max(1, round(df)), method=method)
    if ends and min(value - least, most - value) <= STILL:
        inner = abs(most - least) * t**2 / (t**2 + units)
        low, high = (most - inner, most) if most - value <= STILL else (least, least + inner)
        return replace(made, low=low, high=high, note=Note(ALIKE_AT_AN_END, {"units": units}), method=WILSON)
    reach = t * se
    if ends:
        reach *= (most - least) / ((value - least) * (most - value))
    elif np.isfinite(least):
        reach /= value - least if value > least else np.nan
    if still or (np.isfinite(least) and not ends and not reach <= FARTHEST):
        return replace(estimate, note=ALL_ALIKE if still else TOO_WIDE, se=se)
    if skew and bounds is None:
        low, high = (value - se * _without_skew(end, skew) for end in (t, -t))
        return replace(made, low=low, high=high, method=BY_T_SKEWED)
    low, high = (_moved(value, step, least, most) for step in (-reach, reach))
    return replace(made, low=low, high=high)


def _without_skew(t: float, skew: float) -> float:
    """Correct a t statistic for the skew of its error: the inverse of Hall's (1992) cubic transformation."""
    return t if abs(skew) < STILL else 3 / skew * (float(np.cbrt(1 + skew * (t - skew / 6))) - 1)


def _moved(value: float, step: float, least: float, most: float) -> float:
    """Return *value* after a *step* on the scale that runs from *least* to *most*."""
    if np.isfinite(most):
        odds = (value - least) / (most - value) * float(np.exp(min(step, 700.0)))  # e^700 is still a number
        return most - (most - least) / (1 + odds)
    return least + (value - least) * float(np.exp(step)) if np.isfinite(least) else value + step


def jackknife(value: float, without: Numbers) -> float:
    """Return the standard error of a measure from its values without one unit each, by the mean of pseudo-values.

    For a mean over equal units the pseudo-values are the unit means. NaN where it is undefined without some unit.
    """
    count = len(without)
    pseudo = count * value - (count - 1) * without
    return float(pseudo.std(ddof=1) / np.sqrt(count))


def third_moment(value: float, without: Numbers) -> float:
    """Return the third central moment of the same mean; 0 for fewer than 8 units, which show no skewness."""
    count = len(without)
    if count < FEWEST_SKEWED:
        return 0.0
    pseudo = count * value - (count - 1) * without
    return float(((pseudo - pseudo.mean()) ** 3).mean() / count**2)


def over_units(
    resampling: Resampling,
    measures: Measures,
    units: int,
    bounds: Mapping[str, Bounds] | None = None,
    sizes: Mapping[str, Sequence[Numbers]] | None = None,
) -> dict[str, Estimate]:
    """Return each measure of the weights of *units* units (draws x units), with its t interval over these.

    *sizes*: how many rows of each unit a measure rests on, an array for each side that it needs (Bias_man: the rows
    that lean to the male word); else all alike. They say how many units there are in effect. Up to 400 units the error
    is the jackknife's, else the spread of draws. A measure that is NaN is left out of the answer: the caller knows the
    reason.
    """
    if units == 0:
        return {}
    values = {name: float(measure[0]) for name, measure in measures(np.ones((1, units))).items()}
    result = {name: Estimate(value, units=units) for name, value in values.items() if np.isfinite(value)}
    if units == 1:
        return {name: replace(estimate, note=ONE_UNIT) for name, estimate in result.items()}
    if units <= MOST_LEFT_OUT:
        drawn = measures(np.ones((units, units)) - np.eye(units))
    else:
        blocks = [measures(weights) for weights in resampling.weights(units)]
        drawn = {name: np.concatenate([block[name] for block in blocks]) for name in result}
    every = {name: (sizes or {}).get(name) or [np.ones(units)] for name in result}
    return {
        name: _of_units(estimate, drawn[name], every[name], (bounds or {}).get(name))
        for name, estimate in result.items()
    }


def _of_units(estimate: Estimate, drawn: Numbers, sides: Sequence[Numbers], bounds: Bounds | None) -> Estimate:
    """Return the t interval from *drawn*: values without one unit each, or draws where there are many units."""
    rests, freedom = min(int(np.count_nonzero(side)) for side in sides), min(map(effective_units, sides)) - 1
    if rests < 2 or freedom < 1:
        return replace(estimate, note=RESTS_ON_ONE if rests < 2 else UNEQUAL)
    assert estimate.value is not None
    if estimate.units <= MOST_LEFT_OUT:
        without = drawn[np.any(sides, axis=0)]
        if not np.isfinite(without).all():
            return replace(estimate, note=Note(HANGS_ON_ONE, {"units": rests}))
        se = jackknife(estimate.value, without)
        skew = third_moment(estimate.value, without) / se**3 if se > STILL else 0.0
        return by_t(estimate, se, rests, bounds, freedom, skew=skew)
    known = drawn[np.isfinite(drawn)]
    lost = {"count": len(drawn) - len(known), "resamples": len(drawn)}
    if len(known) < len(drawn) / 2:
        return replace(estimate, note=Note(MOSTLY_UNDEFINED, lost))
    # The draws of k units spread as if their variance were divided by k, not k - 1.
    se = float(known.std(ddof=1)) * float(np.sqrt(rests / (rests - 1)))
    made = by_t(estimate, se, rests, bounds, freedom, BY_T_OF_DRAWS)
    return replace(made, note=made.note or (Note(PARTLY_UNDEFINED, lost) if len(known) < len(drawn) else None))


def over_strata(
    measures: Measures,
    table: Numbers,
    strata: Sequence[Sizes],
    rests_on: Mapping[str, Sequence[int]] | None = None,
    bounds: Mapping[str, Bounds] | None = None,
) -> dict[str, Estimate]:
    """Return each measure of sums of the rows of *table* (n x any shape), with t on the stratified jackknife.

    `strata[k]`: the rows of stratum k; `rests_on[name]`: the strata that a measure needs, else all. The degrees of
    freedom are those of Welch and Satterthwaite. What may be negative is a difference of shares: on the plain scale,
    cut at its bounds. A measure that is undefined is left out of the answer: the caller
    knows the reason.
    """
    total = table.sum(axis=0)
    values = {name: float(measure[0]) for name, measure in measures(total[None]).items()}
    without, estimates = measures(total - table), {}
    for name, value in values.items():
        if np.isfinite(value):
            used = [strata[k] for k in (rests_on or {}).get(name, range(len(strata)))]
            estimate = Estimate(value, units=sum(map(len, used)))
            estimates[name] = _of_strata([without[name][rows] for rows in used], estimate, (bounds or {}).get(name))
    return estimates


def _of_strata(without: Sequence[Numbers], estimate: Estimate, bounds: Bounds | None) -> Estimate:
    fewest = min(map(len, without))
    if fewest < 2:
        return replace(estimate, note=ONE_UNIT)
    if not all(np.isfinite(values).all() for values in without):
        return replace(estimate, note=Note(HANGS_ON_ONE, {"units": estimate.units}))
    assert estimate.value is not None
    parts = [(jackknife(estimate.value, values) ** 2, len(values) - 1) for values in without]
    variance = sum(part for part, _ in parts)
    if variance > STILL**2 and bounds is not None and (why := _unsure(estimate.value, fewest, bounds)):
        return replace(estimate, note=why)
    if variance <= STILL**2 or bounds is None or bounds[0] >= 0:
        freedom = satterthwaite(variance, parts) if variance > STILL**2 else fewest - 1
        return by_t(estimate, float(np.sqrt(variance)), fewest, bounds, freedom)
    skew = sum(third_moment(estimate.value, values) for values in without) / variance**1.5
    made = by_t(estimate, float(np.sqrt(variance)), fewest, None, satterthwaite(variance, parts), skew=skew)
    assert made.low is not None and made.high is not None
    return replace(made, low=max(bounds[0], made.low), high=min(bounds[1], made.high))


def _unsure(value: float, fewest: int, bounds: Bounds) -> Note | None:
    """Return why a share or a difference of shares has no interval, or None where it has; the smallest stratum has
    *fewest* units."""
    if bounds[0] < 0:
        return Note(UNSEEN_SKEW, {"units": fewest}) if fewest < FEWEST_SKEWED else None
    close = min(value - bounds[0], bounds[1] - value) < LOW_OR_HIGH
    return Note(CLOSE_TO_AN_END, {"units": fewest}) if close and fewest < FEWEST_OF_A_STRATUM else None


def satterthwaite(variance: float, parts: Sequence[tuple[float, float]]) -> float:
    """Return the degrees of freedom of a variance made of *parts*, each with its own degrees (Satterthwaite 1946)."""
    return variance**2 / sum(part**2 / df for part, df in parts)


def over_clusters(
    measures: Measures,
    columns: Numbers,
    clusters: Clusters,
    bounds: Mapping[str, Bounds] | None = None,
    unseen: Sequence[Numbers] = (),
) -> dict[str, Estimate]:
    """Return each measure of the sums of *columns* (rows x columns), with its t interval over the units of *clusters*.

    One kind: the jackknife over whole units. Two kinds that are crossed: `of_kinds`. *unseen*: rows that a sample might
    have had and did not; the error counts one more of each, is corrected for skewness, and the interval is cut at its
    bounds. A measure that is NaN is left out of the answer: the caller knows the reason.
    """
    if not len(columns):
        return {}
    total = columns.sum(axis=0)[None, :]
    values = {name: float(value[0]) for name, value in measures(total).items()}
    result = {n: Estimate(value, units=clusters.units) for n, value in values.items() if np.isfinite(value)}
    if clusters.units < 2:
        return {name: replace(estimate, note=ONE_UNIT) for name, estimate in result.items()}
    freedom = [effective_units(np.bincount(codes)) - 1 for codes in clusters.codes]
    kinds = clusters.codes if len(clusters.codes) == 1 else (*clusters.codes, clusters.cells)
    left_out = [measures(total - _summed(codes, columns)) for codes in kinds]
    steps = [measures(total + row) for row in unseen]
    estimates = {}
    for name, estimate in result.items():
        assert estimate.value is not None
        without = [entry[name] for entry in left_out]
        variances = [jackknife(estimate.value, entry) ** 2 for entry in without]
        parts = list(zip(variances, freedom, strict=False))
        made = of_kinds(estimate, parts, sum(variances[2:]), (bounds or {}).get(name))
        further = [float(step[name][0]) - estimate.value for step in steps]
        if further and made.method in (BY_T, BY_T_CROSSED):
            made = _with_unseen(made, without, further, parts, (bounds or {})[name])
        estimates[name] = made
    return estimates


def _with_unseen(
    made: Estimate, without: Sequence[Numbers], further: Sequence[float], parts: Sequence[tuple[float, float]],
    bounds: Bounds,
) -> Estimate:  # fmt: skip
    """Return the interval of *made* on the plain scale, its error larger by the *further* steps and skewed as they are.

    *without*: the values without one unit of each kind, the cells of two kinds last, which count against the others.
    """
    assert made.value is not None and made.se is not None
    moments = [third_moment(made.value, entry) for entry in without]
    third = sum(moments[:2]) - sum(moments[2:]) + sum(step**3 for step in further)
    se = float(np.sqrt(made.se**2 + sum(step**2 for step in further)))
    freedom = max(min(df for _, df in parts), satterthwaite(made.se**2, parts))
    wider = by_t(made, se, made.units, None, freedom, made.method, third / se**3)
    assert wider.low is not None and wider.high is not None
    return replace(wider, low=max(bounds[0], wider.low), high=min(bounds[1], wider.high))


def of_kinds(
    estimate: Estimate, parts: Sequence[tuple[float, float]], both: float = 0.0, bounds: Bounds | None = None
) -> Estimate:
    """Return *estimate* with t over units of one kind, or of two crossed kinds.

    *parts*: the variance of the jackknife over each kind, and its degrees of freedom; *both*: that over cells, which
    each of two kinds counts. The variance of two kinds is what they say together less *both* (Cameron, Gelbach and
    Miller 2011), never less than either alone; its degrees are Satterthwaite's, at least those of the scarcer kind.
    """
    variances, df = [variance for variance, _ in parts], min(freedom for _, freedom in parts)
    variance = max([sum(variances) - both, *variances])
    if df < 1 or not np.isfinite(variance):
        return replace(estimate, note=UNEQUAL if df < 1 else Note(HANGS_ON_ONE, {"units": estimate.units}))
    if variance > STILL**2:
        df = max(df, satterthwaite(variance, parts))
    if len(parts) > 1 and bounds == (0.0, 1.0) and estimate.units < FEWEST_CROSSED and variance > STILL**2:
        assert estimate.value is not None
        if min(estimate.value, 1 - estimate.value) < NEAR_AN_END:
            return replace(estimate, note=Note(CLOSE_TO_AN_END, {"units": estimate.units}))
    method = BY_T if len(parts) == 1 else BY_T_CROSSED
    return by_t(estimate, float(np.sqrt(variance)), estimate.units, bounds, df, method)


def _summed(codes: NDArray[np.int64], columns: Numbers) -> Numbers:
    return np.stack([np.bincount(codes, weights=column) for column in columns.T], axis=1)


FEWEST_PEOPLE = 5  # of a group that is shown: fewer could be recognised, and say nothing of others like them
MOST_TABLES = 200_000  # that the exact test goes through

Places = NDArray[np.int64] | NDArray[np.int32]

NO_LABELS_OF_GROUP = Note(N_("One of the groups has no labels here."))


def difference_of_shares(
    chosen: NDArray[np.bool_], second: NDArray[np.bool_], annotator: Places, item: Places
) -> Estimate:
    """Return the share *chosen* among labels of the first group minus that of the second, -1 to 1; one entry a label.

    The interval is for further annotators and further items: labels of one annotator resemble each other, and so do
    labels of one item.

    *second*: of the second group. An annotator is in one group. t on the jackknife over annotators, who are drawn
    group by group, and over items, which both groups share; `units` counts items, `clusters` annotators.
    """
    parts = [~second, second]
    people, who = np.unique(annotator, return_inverse=True)
    items, where = np.unique(item, return_inverse=True)
    if not all(part.any() for part in parts):
        return Estimate.undefined(NO_LABELS_OF_GROUP, len(items))
    shares = [float(chosen[part].mean()) for part in parts]
    estimate = Estimate(shares[0] - shares[1], units=len(items), clusters=len(people))
    sizes = [len(np.unique(who[part])) for part in parts]
    if min(*sizes, len(items)) < 2:
        return replace(estimate, note=ONE_UNIT)
    by_people = [
        (jackknife(share, _without(chosen[part], np.unique(who[part], return_inverse=True)[1], size)) ** 2, size - 1)
        for share, part, size in zip(shares, parts, sizes, strict=True)
    ]
    of_people = sum(variance for variance, _ in by_people)
    least = min(freedom for _, freedom in by_people)
    freedom = max(least, satterthwaite(of_people, by_people)) if of_people > 0 else least
    first, other = (_without(chosen[part], where[part], len(items)) for part in parts)
    of_items = jackknife(shares[0] - shares[1], first - other) ** 2
    both = sum(
        share * (1 - share) / (part.sum() - 1) for share, part in zip(shares, parts, strict=True) if part.sum() > 1
    )
    return of_kinds(estimate, [(of_people, freedom), (of_items, len(items) - 1)], both, (-1.0, 1.0))


def _without(chosen: NDArray[np.bool_], unit: Places, units: int) -> Numbers:
    """Return the share without each of *units* units."""
    labels, yes = np.bincount(unit, minlength=units).astype(float), np.bincount(unit, chosen, units)
    return ratio(yes.sum() - yes, labels.sum() - labels)


@lru_cache(maxsize=10_000)
def exact_p(first: tuple[int, ...], second: tuple[int, ...]) -> float | None:
    """Test by Fisher's exact test (Freeman, Halton) if two rows of counts of the same categories have one distribution.

    Return the chance, 0 to 1, of a table with these margins that is at most as likely as this one. 1 where a row is
    empty; None where more than 200,000 tables would have to be computed.
    """
    both = tuple(a + b for a, b in zip(first, second, strict=True))
    if prod(total + 1 for total in both) > MOST_TABLES:
        return None
    of_first, ways = sum(first), comb(sum(both), sum(first))
    seen = prod(comb(total, a) for total, a in zip(both, first, strict=True))
    rest = [range(total + 1) for total in both[1:]]
    result = 0
    for others in product(*rest):
        own = of_first - sum(others)
        if 0 <= own <= both[0]:
            times = prod(comb(total, a) for total, a in zip(both, (own, *others), strict=True))
            result += times if times <= seen else 0
    return result / ways
