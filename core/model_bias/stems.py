"""Inference over stems: what sentences of a few word pairs can say about models (SPEC 6, 6.1, 9.1).

All sentences of a pair share the lean of its words, and pairs with one stem (男/女 is that of seven) share it too. So a
mean over sentences holds as many independent leans as there are stems, some twelve, and not thousands: on untrained
models a test sentence by sentence finds a lean in most of them (docs/nulls.md). Whatever is said of a model on the
whole is therefore tested over stems. What sentences or articles vary by is said of *these pairs* only.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evenhand.core.errors import N_
from evenhand.core.model_bias.means import of_sums, side_sums
from evenhand.core.model_bias.mixing import SideOrder
from evenhand.core.model_bias.score_files import finite_bias
from evenhand.core.resources import stem_of
from evenhand.core.sentence_bias.bias import Denominator
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.statistics.subsets import over_subsets
from evenhand.core.statistics.units import Units, codes_of

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
