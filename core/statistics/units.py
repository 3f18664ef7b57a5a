"""Intervals of misgendering figures rest on templates, crossed with names where names are told (SPEC 6).

Every measure here is a function of sums over instances, so a draw of templates and names gives every instance a
weight (how often its template was picked times how often its name was), and one matrix product gives the sums.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.statistics import RESAMPLES, Estimate, Note
from core.statistics.intervals import HANGS_ON_ONE, by_percentiles, by_t
from core.statistics.label_bootstrap import FEW
from core.statistics.unit_bootstrap import ONE_UNIT, Draws

Numbers = NDArray[np.float64]
Measures = Callable[[Numbers], Mapping[str, Numbers]]  # sums (draws x columns) -> one number per measure and draw
Bounds = Mapping[str, tuple[float, float]]

KINDS = ("template", "name")
BLOCK = 2_000_000  # weights held at a time


@dataclass(frozen=True)
class Clusters:
    """What instances have in common: per kind the unit of every row, 0 to the number of units - 1."""

    kinds: tuple[str, ...]
    codes: tuple[NDArray[np.int64], ...]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many units of each kind there are."""
        return tuple(int(codes.max()) + 1 if len(codes) else 0 for codes in self.codes)

    @property
    def units(self) -> int:
        """The number of units of the scarcer kind: what decides whether they are few."""
        return min(self.counts)

    def of(self, rows: NDArray[np.bool_]) -> "Clusters":
        """The units of some rows only, numbered from 0 again."""
        return Clusters(self.kinds, tuple(np.unique(codes[rows], return_inverse=True)[1] for codes in self.codes))

    def signature(self, draws: Draws) -> str:
        """`unit:template+name|bootstrap:2000|seed:0`."""
        return draws.signature("+".join(self.kinds))


def clusters_of(rows: pd.DataFrame) -> Clusters:
    """The units of *rows*: template and name where these columns tell at least two apart, else the instance.

    A row without a template (or name) is a unit of its own of that kind.
    """
    told = [kind for kind in KINDS if kind in rows and bool((_texts(rows[kind]) != "").any())]
    kinds = [kind for kind in told if _texts(rows[kind]).nunique() > 1] or told[:1]
    if not kinds:
        return Clusters(("instance",), (np.arange(len(rows), dtype=np.int64),))
    return Clusters(tuple(kinds), tuple(_codes(_texts(rows[kind])) for kind in kinds))


def _texts(column: "pd.Series[str]") -> "pd.Series[str]":
    return column.fillna("").astype(str)


def _codes(texts: "pd.Series[str]") -> NDArray[np.int64]:
    codes, distinct = pd.factorize(texts.where(texts != ""))
    units: NDArray[np.int64] = codes.astype(np.int64)
    alone = units < 0
    units[alone] = len(distinct) + np.arange(alone.sum())
    return units


def intervals(
    clusters: Clusters,
    columns: Numbers,
    measures: Measures,
    *,
    bounds: Bounds | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Each measure of the sums of *columns* (rows x columns) with its 95 % interval over the units of *clusters*.

    One kind: whole units are drawn. Two kinds: units of both are drawn independently and a row counts by the product
    (Owen 2007, the pigeonhole bootstrap). Percentiles; fewer than 15 units of a kind: a t interval from leaving out
    one unit at a time, with both kinds together as in Cameron, Gelbach and Miller 2011. A measure that is NaN is left
    out of the answer: the caller knows the reason.
    """
    draws = Draws(resamples, seed)
    if not len(columns):
        return {}
    if len(clusters.kinds) == 1:
        sums = _summed(clusters.codes[0], clusters.counts[0], columns)
        return draws.intervals(lambda weights: measures(weights @ sums), clusters.counts[0], bounds)
    values = measures(columns.sum(axis=0)[None, :])
    found = {n: Estimate(float(v[0]), units=clusters.units) for n, v in values.items() if np.isfinite(v[0])}
    if clusters.units < FEW:
        return _by_t(clusters, columns, measures, found, bounds or {})
    drawn = [measures(weights @ columns) for weights in _crossed(clusters, resamples, seed)]
    return {n: by_percentiles(np.concatenate([one[n] for one in drawn]), e) for n, e in found.items()}


def _summed(codes: NDArray[np.int64], count: int, columns: Numbers) -> Numbers:
    return np.stack([np.bincount(codes, weights=column, minlength=count) for column in columns.T], axis=1)


def _crossed(clusters: Clusters, resamples: int, seed: int) -> Iterator[Numbers]:
    """The weights of rows, draws x rows, in blocks."""
    random, left = np.random.default_rng(seed), resamples
    while left > 0:
        now = min(left, max(1, BLOCK // len(clusters.codes[0])))
        weights = np.ones((now, len(clusters.codes[0])))
        for codes, count in zip(clusters.codes, clusters.counts, strict=True):
            weights *= random.multinomial(count, np.full(count, 1 / count), size=now)[:, codes]
        yield weights
        left -= now


def _by_t(
    clusters: Clusters, columns: Numbers, measures: Measures, found: dict[str, Estimate], bounds: Bounds
) -> dict[str, Estimate]:
    both = _codes(pd.Series([f"{a} {b}" for a, b in zip(*clusters.codes, strict=True)]))
    spreads = [_spread(codes, columns, measures) for codes in (*clusters.codes, both)]
    df = clusters.units - 1
    made = {}
    for name, estimate in found.items():
        one, other, cells = (spread[name] for spread in spreads)
        # Two kinds: what both say, less what is counted twice; never less than either says alone.
        variance = max(one + other - cells, one, other)
        made[name] = _t(estimate, variance, df, bounds.get(name))
    return made


def _t(found: Estimate, variance: float, df: int, bounds: tuple[float, float] | None) -> Estimate:
    if df < 1:
        return replace(found, note=ONE_UNIT)
    if not np.isfinite(variance):
        return replace(found, note=Note(HANGS_ON_ONE, {"units": df + 1}))
    return by_t(found, float(np.sqrt(variance)), df + 1, bounds)


def _spread(codes: NDArray[np.int64], columns: Numbers, measures: Measures) -> dict[str, float]:
    """The variance of each measure by leaving out one unit at a time (jackknife on pseudo-values)."""
    count = int(codes.max()) + 1
    sums = _summed(codes, count, columns)
    whole, without = measures(sums.sum(axis=0)[None, :]), measures(sums.sum(axis=0)[None, :] - sums)
    if count < 2:
        return dict.fromkeys(whole, float("nan"))
    pseudo = {name: count * whole[name][0] - (count - 1) * without[name] for name in whole}
    return {name: float(values.var(ddof=1) / count) for name, values in pseudo.items()}
