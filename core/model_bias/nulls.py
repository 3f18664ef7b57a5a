"""Nulls of SPEC 6.1: the values under chance alone, each with the quantity that it is the null of.

Shuffling the two sides leaves every |Bias_c| as it is. It is therefore a null of the signed mean, of
Bias_man - Bias_woman and of the side AUC, never of Model_bias or of mean |Bias_c|: for their size the reference is a
pair of words that differ in nothing gendered, scored in the same contexts.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.errors import N_
from core.model_bias.means import of_sums, side_sums
from core.model_bias.mixing import NO_VALUE, SideOrder
from core.model_bias.score_files import finite_bias
from core.model_bias.summary import NO_SIDE, NO_TWO_SIDES
from core.statistics import RESAMPLES, Note
from core.statistics.resampling import BLOCK
from core.statistics.units import UnitChoice, units_of

Numbers = NDArray[np.float64]

NULL_OF = {
    "signed_mean": N_(
        "Null of the signed mean: in each unit the two words change places at random. It says nothing about Model_bias."
    ),
    "side_difference": N_(
        "Null of Bias_man - Bias_woman: in each unit the two words change places at random. It says nothing about"
        " Model_bias."
    ),
    "side_auc": N_(
        "Null of the side AUC: which word the source had is shuffled within each word pair. It says nothing about"
        " Model_bias."
    ),
}


@dataclass(frozen=True, slots=True)
class Null:
    """An observed value beside what shuffled sides give: the middle 95 % of the null, and a two-sided p.

    `of` names the measure (a key of NULL_OF, which holds the sentence to show). None with `reason` where undefined.
    """

    of: str
    observed: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    reason: Note | None = None


def shuffled_sides(
    rows: pd.DataFrame, *, unit: UnitChoice = "auto", shuffles: int = RESAMPLES, seed: int = 0
) -> dict[str, Null]:
    """The nulls of the signed mean, of Bias_man - Bias_woman (both log10) and of the side AUC, for one model.

    The first two flip the sign of all Bias_c of a unit at random (*shuffles* times; p = (1 + as far from 0) /
    (1 + shuffles)). The AUC's is exact in mean and variance (Mann-Whitney, ties corrected, pairs as strata; van
    Elteren 1960) and taken as normal.
    """
    rows = rows[np.isfinite(rows["bias_log10"])]
    return {**_flipped(rows, unit, shuffles, seed), "side_auc": _auc_null(rows)}


def _flipped(rows: pd.DataFrame, unit: UnitChoice, shuffles: int, seed: int) -> dict[str, Null]:
    if rows.empty:
        return {name: Null(name, None, reason=NO_VALUE) for name in ("signed_mean", "side_difference")}
    units = units_of(rows, unit)
    sums = side_sums(finite_bias(rows).to_numpy(float), units)
    turned = sums[:, [2, 3, 0, 1, 4]]
    random, left, blocks = np.random.default_rng(seed), shuffles, []
    while left > 0:
        now = min(left, max(1, BLOCK // units.count))
        keep = random.integers(0, 2, size=(now, units.count)).astype(float)
        blocks.append(keep @ (sums - turned) + turned.sum(axis=0))
        left -= now
    observed, drawn = _both(sums.sum(axis=0)[None, :]), _both(np.concatenate(blocks))
    return {name: _null(name, float(observed[name][0]), drawn[name]) for name in observed}


def _both(totals: Numbers) -> dict[str, Numbers]:
    means = of_sums(totals, "side")
    return {"signed_mean": means["signed_mean"], "side_difference": means["bias_man"] - means["bias_woman"]}


def _null(name: str, observed: float, drawn: Numbers) -> Null:
    if not math.isfinite(observed):
        return Null(name, None, reason=NO_SIDE)
    drawn = drawn[np.isfinite(drawn)]
    low, high = (float(end) for end in np.percentile(drawn, [2.5, 97.5]))
    p = (1 + int((np.abs(drawn) >= abs(observed) - 1e-12).sum())) / (1 + len(drawn))
    return Null(name, observed, low, high, p)


def _auc_null(rows: pd.DataFrame) -> Null:
    order = SideOrder(rows)
    if not order.parts:
        return Null("side_auc", None, reason=NO_TWO_SIDES)
    observed = float(order.auc()(np.ones((1, len(rows))))[0])
    values, variance = finite_bias(rows).to_numpy(float), 0.0
    for male, female in order.parts:
        n = len(male) + len(female)
        _, ties = np.unique(values[np.concatenate([male, female])], return_counts=True)
        tied = float((ties.astype(float) ** 3 - ties).sum()) / (n * (n - 1))
        variance += len(male) * len(female) / 12 * (n + 1 - tied)
    sd = math.sqrt(variance) / order.twos
    p = math.erfc(abs(observed - 0.5) / sd / math.sqrt(2)) if sd else 1.0
    return Null("side_auc", observed, 0.5 - 1.959964 * sd, 0.5 + 1.959964 * sd, p)
