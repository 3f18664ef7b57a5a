"""Compare items before and after a change: differences with intervals over clusters, seeds against placebos, shares.

A signed measure (Bias_c, association) has two changes: the fall of its size, which is the meaning of "leans less", and
its move to one side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evenhand.core.errors import N_
from evenhand.core.model_bias.compare_models import LEAST_SEEDS
from evenhand.core.resources import stem_of
from evenhand.core.statistics import Estimate, Note, Resampling
from evenhand.core.statistics.estimate import ACROSS_SEEDS, AGAINST_SEEDS
from evenhand.core.statistics.intervals import over_units, satterthwaite
from evenhand.core.statistics.resampling import Numbers, over_subsets
from evenhand.core.statistics.units import Units, codes_of

if TYPE_CHECKING:
    import pandas as pd

NOTHING = Note(N_("No item has a value from both models."))
FEW_SEEDS = Note(N_("Seeds: {seeds}. An interval over seeds needs at least three."))
MOVED = 10  # items on either end that a record shows


@dataclass(frozen=True, slots=True)
class Comparison:
    """One model against the one before it, on the items that both answered.

    `before`, `after`: the mean size (signed measures) or share. `size`: after - before of these, below 0: leans less.
    `shift`: after - before of the signed values, above 0: towards the male word. `lost`: items that only one answered.
    """

    items: int
    lost: int
    clusters: int
    before: float | None
    after: float | None
    size: Estimate
    shift: Estimate


def clusters_of_pairs(pairs: "pd.Series[str]") -> Units:
    """Return for each item the stem of its word pair as its cluster."""
    return Units("stem", *codes_of(pairs.map(stem_of)))


def compare(before: Numbers, after: Numbers, clusters: Units, *, less: Numbers | None = None) -> Comparison:
    """Compare *before* and *after* item by item, NaN where undefined.

    *less*: the values of a placebo, so that `size` and `shift` are what exceeds the placebo's; `before` and `after`
    stay.
    """
    both = np.isfinite(before) & np.isfinite(after) & (np.isfinite(less) if less is not None else True)
    lost = int((np.isfinite(before) != np.isfinite(after)).sum())
    if not both.any():
        nothing = Estimate.undefined(NOTHING)
        return Comparison(0, lost, 0, None, None, nothing, nothing)
    start = before if less is None else less
    units = Units(clusters.kind, *codes_of([str(code) for code in clusters.codes[both]]))
    size = _mean((np.abs(after) - np.abs(start))[both], units)
    shift = _mean((after - start)[both], units)
    means = float(np.abs(before)[both].mean()), float(np.abs(after)[both].mean())
    return Comparison(int(both.sum()), lost, units.count, *means, size, shift)


def _mean(values: Numbers, clusters: Units) -> Estimate:
    sums = clusters.sums(values, np.ones(len(values)))

    def mean(chosen: Numbers) -> dict[str, Numbers]:
        total = chosen @ sums
        return {"mean": total[:, 0] / total[:, 1]}

    return over_subsets(mean, clusters.count)["mean"]


def over_runs(effects: Sequence[float | None]) -> Estimate:
    """Return the mean of the effects of three or more seeds with a t interval over these."""
    known = [effect for effect in effects if effect is not None]
    if not known or len(known) < len(effects):
        return Estimate.undefined(NOTHING, len(effects))
    mean = Estimate(float(np.mean(known)), units=len(known))
    if len(known) < LEAST_SEEDS:
        return replace(mean, note=Note(FEW_SEEDS.message, {"seeds": len(known)}))
    from scipy import stats

    se, df = float(np.std(known, ddof=1) / np.sqrt(len(known))), len(known) - 1
    assert mean.value is not None
    reach = float(stats.t.ppf(0.975, df)) * se
    return replace(mean, low=mean.value - reach, high=mean.value + reach, se=se, df=df, method=ACROSS_SEEDS)


def against_placebos(effects: Sequence[float | None], placebos: Sequence[float | None]) -> Estimate:
    """Return the mean of *effects*, one a seed, minus that of *placebos*, with Welch's t; three of each at least.

    A seed and the placebo of the same seed are not taken as a pair: on planted models their sizes hardly correlate, and
    pairs have half the degrees of freedom. Where they do correlate the interval is wider than it had to be.
    """
    means = [over_runs(values) for values in (effects, placebos)]
    one, other = means
    if one.value is None or other.value is None:
        return Estimate.undefined(NOTHING, len(effects))
    estimate = Estimate(one.value - other.value, units=min(one.units, other.units))
    if one.se is None or other.se is None:
        return replace(estimate, note=one.note or other.note)
    from scipy import stats

    parts = [(mean.se**2, mean.units - 1) for mean in means if mean.se]
    variance = sum(part for part, _ in parts)
    freedom = satterthwaite(variance, parts) if parts else estimate.units - 1
    reach, value = float(stats.t.ppf(0.975, freedom)) * variance**0.5, one.value - other.value
    ends = {"low": value - reach, "high": value + reach, "se": variance**0.5, "df": max(1, int(freedom))}
    return replace(estimate, **ends, method=AGAINST_SEEDS)


@dataclass(frozen=True, slots=True)
class Shares:
    """Right and wrong of the same items before and after, and how many changed either way."""

    both: int
    only_before: int
    only_after: int
    neither: int


def shares(before: Numbers, after: Numbers) -> Shares:
    """Count the four pairs of answers of items that were both answered with 0 or 1."""
    known = np.isfinite(before) & np.isfinite(after)
    one, other = before[known] > 0.5, after[known] > 0.5
    counts = [int((a & b).sum()) for a, b in ((one, other), (one, ~other), (~one, other), (~one, ~other))]
    return Shares(*counts)


@dataclass(frozen=True, slots=True)
class Cost:
    """Held-out text before and after: the loss (mean -ln p of a token) and the share of right first guesses.

    `rise`: after - before of the loss, above 0: knows less; `guesses`: after - before of the share. Intervals over
    texts.
    """

    before_loss: float
    after_loss: float
    rise: Estimate
    guesses: Estimate
    tokens: int
    texts: int
    also_in_json: ClassVar = ("before_perplexity", "after_perplexity")

    @property
    def before_perplexity(self) -> float:
        """e to the loss before the change."""
        return float(np.exp(self.before_loss))

    @property
    def after_perplexity(self) -> float:
        """e to the loss after the change."""
        return float(np.exp(self.after_loss))


PerText = Sequence[tuple[float, int, int]]  # sum of -ln p, tokens, right guesses


def cost(before: PerText, after: PerText) -> Cost:
    """Return the cost of a change on the same texts, by the figures of each text (`HeldOut.per_text`); both models
    were asked at the same places."""
    one, other = np.asarray(before, float), np.asarray(after, float)
    sums = np.stack([other[:, 0] - one[:, 0], other[:, 2] - one[:, 2], one[:, 1]], axis=1)

    def measures(weights: Numbers) -> dict[str, Numbers]:
        total = weights @ sums
        return {"rise": total[:, 0] / total[:, 2], "guesses": total[:, 1] / total[:, 2]}

    units = over_units(Resampling(), measures, len(sums))
    tokens = int(one[:, 1].sum())
    losses = float(one[:, 0].sum() / tokens), float(other[:, 0].sum() / tokens)
    return Cost(*losses, units["rise"], units["guesses"], tokens, len(sums))
