"""The means of Bias_c for any weights of the units: what leaving out a unit and drawing units both ask for.

Inference over stems: what sentences of a few word pairs can say about models (SPEC 6, 6.1, 9.1).

All sentences of a pair share the lean of its words, and pairs with one stem (男/女 is that of seven) share it too. So a
mean over sentences holds as many independent leans as there are stems, some twelve, and not thousands: on untrained
models a test sentence by sentence finds a lean in most of them (docs/nulls.md). Whatever is said of a model on the
whole is therefore tested over stems. What sentences or articles vary by is said of *these pairs* only.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.model_bias.mixing import SideOrder
from evenhand.core.model_bias.score_files import finite_bias
from evenhand.core.resources import stem_of
from evenhand.core.sentence_bias.bias import Denominator
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.intervals import Measures
from evenhand.core.statistics.resampling import Numbers, over_subsets
from evenhand.core.statistics.units import Units, codes_of

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


STEM_MEASURES = ("signed_mean", "side_auc")  # of one model: what a turn of the two words, or of the sides, turns
NEUTRAL = {"side_auc": 0.5}
BY_SENTENCE = Note(
    N_(
        "Not tested over sentences or articles, because sentences of a word pair share its preference. See"
        " the test over stems."
    )
)


def stems_of(rows: pd.DataFrame) -> Units:
    """The stem of each row's word pair as its unit."""
    return Units("stem", *codes_of(rows["pair"].map(stem_of)))


def auc_sums(rows: pd.DataFrame, stems: Units) -> Numbers:
    """Per stem the wins and the number of twos that the side AUC is made of (`SideOrder`), stems x 2."""
    order, sums = SideOrder(rows), np.zeros((stems.count, 2))
    for (male, female), won in zip(order.parts, order.wins(), strict=True):
        sums[stems.codes[male[0]]] += won, len(male) * len(female)
    return sums


def auc_of(totals: Numbers) -> Numbers:
    """The side AUC, one per draw, of totals of `auc_sums` (draws x 2); NaN where no pair has both sides."""
    wins, twos = totals.T
    found: Numbers = np.divide(wins, twos, out=np.full(wins.shape, np.nan), where=twos > 0)
    return found


def over_stems(
    rows: pd.DataFrame,
    measures: Sequence[str] | None = None,
    *,
    less: pd.DataFrame | None = None,
    denominator: Denominator = "side",
    seed: int = 0,
) -> dict[str, Estimate]:
    """The five means and the side AUC (or some *measures*) with intervals over stems.

    *less*: less those of another model. *rows* and *less* hold finite Bias_c, row by row of the same sentences. A
    measure that is undefined is left out.
    """
    stems = stems_of(rows)
    parts = [rows] if less is None else [rows, less]
    sums = [side_sums(finite_bias(part).to_numpy(float), stems) for part in parts]
    sides = [auc_sums(part, stems) for part in parts]
    both = np.all([side[:, 1] > 0 for side in sides], axis=0)

    def means(chosen: Numbers) -> dict[str, Numbers]:
        found = [of_sums(chosen @ part, denominator) for part in sums]
        return found[0] if less is None else {name: found[0][name] - found[1][name] for name in found[0]}

    def auc(chosen: Numbers) -> dict[str, Numbers]:
        found = [auc_of(chosen @ side[both]) for side in sides]
        return {"side_auc": found[0] if less is None else found[0] - found[1]}

    neutral = NEUTRAL if less is None else {}
    found = over_subsets(means, stems.count, seed=seed) | over_subsets(auc, int(both.sum()), neutral=neutral, seed=seed)
    return {name: one for name, one in found.items() if measures is None or name in measures}
