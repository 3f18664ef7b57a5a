"""The means of Bias_c for any weights of the units: what leaving out a unit and drawing units both ask for."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenhand.core.model_bias.mixing import SideOrder
from evenhand.core.model_bias.score_files import finite_bias
from evenhand.core.sentence_bias.bias import Denominator
from evenhand.core.statistics.intervals import Measures
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.statistics.units import Units

MEASURES = ("bias_man", "bias_woman", "model_bias", "signed_mean", "mean_abs")
BOUNDS = {
    "bias_man": (0.0, np.inf),
    "bias_woman": (0.0, np.inf),
    "model_bias": (0.0, np.inf),
    "mean_abs": (0.0, np.inf),
    "side_auc": (0.0, 1.0),
}


def weighted(rows: pd.DataFrame, units: Units, denominator: Denominator) -> Measures:
    """The five means and the side AUC of *rows* (finite Bias_c) as functions of the weights of their units.

    Side sums and counts are additive, so a draw costs one product with the sums per unit; the AUC needs the rows.
    """
    values = finite_bias(rows).to_numpy(float)
    sums = side_sums(values, units)
    auc = SideOrder(rows).auc(units.codes)

    def measures(weights: Numbers) -> dict[str, Numbers]:
        return {**of_sums(weights @ sums, denominator), "side_auc": auc(weights)}

    return measures


def sizes(rows: pd.DataFrame, units: Units) -> dict[str, list[Numbers]]:
    """How many rows of each unit a measure rests on, for each side that it needs (`core.statistics.over_units`)."""
    _, ups, _, downs, every = side_sums(finite_bias(rows).to_numpy(float), units).T
    sides = rows["side"].to_numpy()
    sources = [units.sums((sides == side).astype(float))[:, 0] for side in ("male", "female")]
    return {
        "bias_man": [ups],
        "bias_woman": [downs],
        "model_bias": [ups, downs],
        "signed_mean": [every],
        "mean_abs": [every],
        "side_auc": sources,
    }


def side_sums(values: Numbers, units: Units) -> Numbers:
    """Per unit: sum and count of the positive values, sum (as positive) and count of the negative, count of all."""
    up, down = values > 0, values < 0
    return units.sums(
        np.where(up, values, 0.0),
        up.astype(float),
        np.where(down, -values, 0.0),
        down.astype(float),
        np.ones(len(values)),
    )


def of_sums(totals: Numbers, denominator: Denominator) -> dict[str, Numbers]:
    """The five means, one per draw, from totals of `side_sums` (draws x 5); NaN where a side is empty."""
    up, ups, down, downs, n = totals.T
    man = _ratio(up, n if denominator == "all" else ups, ups > 0)
    woman = _ratio(down, n if denominator == "all" else downs, downs > 0)
    return {
        "bias_man": man,
        "bias_woman": woman,
        "model_bias": (man + woman) / 2,
        "signed_mean": _ratio(up - down, n, n > 0),
        "mean_abs": _ratio(up + down, n, n > 0),
    }


def _ratio(above: Numbers, below: Numbers, where: NDArray[np.bool_]) -> Numbers:
    found: Numbers = np.divide(above, below, out=np.full(above.shape, np.nan), where=where)
    return found
