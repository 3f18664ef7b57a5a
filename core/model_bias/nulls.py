"""The values of each quantity under chance alone: the nulls of docs/ruler.md#nulls-and-their-quantities.

Exchanging the two words, or the two sides of the source, leaves every |Bias_c| as it is. It is therefore a null of the
signed mean, of Bias_man - Bias_woman and of the side AUC, never of Model_bias or of mean |Bias_c|: for their size the
reference is a pair of words that differ in nothing gendered, scored in the same contexts. All sentences of a stem turn
together, because they share its lean: turned one by one they find a lean in nine of ten untrained models.

Many intervals at once: how many exclude the neutral value by chance alone, and which stay after Holm
(docs/methods.md#intervals).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from evenhand.core.errors import N_
from evenhand.core.language import Count, significant
from evenhand.core.model_bias.means import BY_SENTENCE, NO_VALUE, auc_sums, of_sums, side_sums, stems_of
from evenhand.core.model_bias.score_files import finite_bias
from evenhand.core.model_bias.summary import NO_SIDE, NO_TWO_SIDES
from evenhand.core.statistics import RESAMPLES, Estimate, Note, holm
from evenhand.core.statistics.resampling import LEAST_UNITS, Numbers, too_few, turned
from evenhand.core.statistics.units import UnitChoice

NULL_OF = {
    "signed_mean": N_(
        "Null hypothesis for the signed mean: the two words are swapped, stem by stem. It does not apply to Model_bias."
    ),
    "side_difference": N_(
        "Null hypothesis for Bias_man − Bias_woman: the two words are swapped, stem by stem. It does not"
        " apply to Model_bias."
    ),
    "side_auc": N_(
        "Null hypothesis for the side AUC: the source words are swapped, stem by stem. It does not apply to Model_bias."
    ),
}


@dataclass(frozen=True, slots=True)
class Null:
    """An observed value with the null of shuffled sides: its middle 95%, and a two-sided p.

    `of` names the measure (a key of NULL_OF, which has the sentence to show). `stems`: the number of turned stems.
    Values are None with `reason` where undefined or not testable.
    """

    of: str
    observed: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    reason: Note | None = None
    stems: int = 0
    explained_by: ClassVar = "reason"
    also_in_json: ClassVar[tuple[str, ...]] = ("says",)

    @property
    def says(self) -> str:
        """The sentence on the quantity that it is the null of."""
        return NULL_OF[self.of]


def shuffled_sides(
    rows: pd.DataFrame, *, unit: UnitChoice = "auto", shuffles: int = RESAMPLES, seed: int = 0
) -> dict[str, Null]:
    """Return the nulls of the signed mean, of Bias_man - Bias_woman (both log10) and of the side AUC, for one model.

    All ways to turn whole stems are computed (for more than 14 stems, 8,191 are drawn with *seed*; *shuffles* has no
    effect). p is the share of them at least as far from the middle as the observed value. Fewer than 6 stems are not
    tested. *unit* "sentence" or "source" does not give a valid test; the result has the reason.
    """
    rows = rows[np.isfinite(rows["bias_log10"])]
    stems = stems_of(rows)
    sums, sides = side_sums(finite_bias(rows).to_numpy(float), stems), auc_sums(rows, stems)
    sides = sides[sides[:, 1] > 0]
    nulls = {
        **_turned_words(sums, seed),
        "side_auc": _turned_sources(sides, seed),
    }
    if unit == "auto":
        return nulls
    return {name: Null(name, null.observed, reason=null.reason or BY_SENTENCE) for name, null in nulls.items()}


def _turned_words(sums: Numbers, seed: int) -> dict[str, Null]:
    if not len(sums):
        return {name: Null(name, None, reason=NO_VALUE) for name in ("signed_mean", "side_difference")}
    keep = turned(len(sums), seed) > 0
    exchanged = sums[:, [2, 3, 0, 1, 4]]
    drawn = _both(keep @ (sums - exchanged) + exchanged.sum(axis=0))
    return {name: _null(name, values, len(sums), NO_SIDE) for name, values in drawn.items()}


def _turned_sources(sides: Numbers, seed: int) -> Null:
    """Return the null for turned sources: the excess of wins over one half changes its sign, stem by stem."""
    if not len(sides):
        return Null("side_auc", None, reason=NO_TWO_SIDES)
    wins, twos = sides.T
    return _null("side_auc", 0.5 + turned(len(sides), seed) @ (wins - twos / 2) / twos.sum(), len(sides), middle=0.5)


def _both(totals: Numbers) -> dict[str, Numbers]:
    means = of_sums(totals, "side")
    return {"signed_mean": means["signed_mean"], "side_difference": means["bias_man"] - means["bias_woman"]}


def _null(name: str, values: Numbers, units: int, undefined: Note = NO_VALUE, middle: float = 0.0) -> Null:
    """Return the null of *values*: the observed one, then one for each way to turn the units (the first turns none)."""
    observed = float(values[0])
    if not math.isfinite(observed):
        return Null(name, None, reason=undefined)
    if units < LEAST_UNITS:
        return Null(name, observed, reason=too_few(units), stems=units)
    known = values[np.isfinite(values)]
    low, high = (float(end) for end in np.percentile(known, [2.5, 97.5]))
    p = float((np.abs(known - middle) >= abs(observed - middle) - 1e-12).mean())
    return Null(name, observed, low, high, p, stems=units)


@dataclass(frozen=True, slots=True)
class ManyIntervals:
    """A table of intervals: `intervals` of them, `by_chance` expected to exclude the neutral value if all were neutral.

    `exclude[i]`: interval i excludes it. `stays[i]`: it does so after Holm's adjustment; False without an interval.
    """

    intervals: int
    by_chance: float
    exclude: tuple[bool, ...]
    stays: tuple[bool, ...]
    neutral: float

    @property
    def sentence(self) -> Note:
        """The sentence below a table."""
        values = {
            "intervals": Count(self.intervals),
            "chance": significant(self.by_chance),
            "neutral": f"{self.neutral:g}",
            "exclude": Count(sum(self.exclude)),
            "stays": Count(sum(self.stays)),
        }
        message = N_(
            "Of {intervals} {intervals:interval|intervals}, about {chance} would exclude {neutral} by chance; here"
            " {exclude} {exclude:does|do}, and {stays} {stays:remains|remain} after the Holm correction."
        )
        return Note(message, values)

    def to_json(self) -> dict[str, float]:
        """Return how many there are, how many exclude the neutral value, and how many would by chance."""
        exclude, stays = sum(self.exclude), sum(self.stays)
        return {"intervals": self.intervals, "by_chance": self.by_chance, "exclude_0": exclude, "after_holm": stays}


def many_intervals(estimates: Sequence[Estimate], *, neutral: float = 0.0) -> ManyIntervals:
    """Return a joint summary of the intervals of a table, a heatmap or a list; *neutral* is 0.5 for an AUC."""
    moved = [e if e.value is None else replace(e, value=e.value - neutral) for e in estimates]
    exclude = tuple(e.low is not None and e.high is not None and not e.low <= neutral <= e.high for e in estimates)
    intervals = sum(e.low is not None for e in estimates)
    return ManyIntervals(intervals, 0.05 * intervals, exclude, tuple(holm(moved)), neutral)
