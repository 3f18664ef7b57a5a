"""The parts of a Bias_c: the word pair, the width of its masks, the context (docs/model_bias.md#what-bias_c-mixes).

Bias_c = lean of the word pair itself + lean of the context. Every mean of Bias_c is shown with these parts, because a
mean alone can be mere word frequency.

The means of Bias_c accept any weights of the units, as the jackknife and the bootstrap need them.

Inference over stems accounts for the small number of word pairs (docs/model_bias.md#intervals).

All sentences of a pair share the lean of its words, and pairs with one stem (seven have 男/女) share it too. So a mean
over sentences has only as many independent leans as there are stems, some twelve, and not thousands: on untrained
models a test sentence by sentence finds a lean in most of them (docs/nulls.md). Claims about a model as a whole are
therefore tested over stems. Variation over sentences or articles supports claims about *these pairs* only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.model_bias.score_files import finite_bias
from evenhand.core.resources import stem_of
from evenhand.core.sentence_bias.bias import NO_SLOT, SMALL_MASS, Denominator, whole_sentences
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.intervals import Measures
from evenhand.core.statistics.resampling import Numbers, over_subsets
from evenhand.core.statistics.units import Units, codes_of

Places = NDArray[np.intp]

NO_MASS = Note(N_("No row has the probabilities of both words, so the pair mass is undefined."))
NO_VALUE = Note(N_("No sentence has a finite Bias_c."))
ALL_EQUAL = Note(N_("All values of Bias_c are equal: there is no variance to decompose."))
STILL = 1e-6  # log10; a standard deviation below this is the noise of fp32, not variance


@dataclass(frozen=True, slots=True)
class Mass:
    """p_male + p_female of a set of sentences: `median`, 0 to 1, and `under_1_percent`, the share below 1%.

    `n` rows have one; None with `reason` where none has (scores of whole sentences have no slot).
    """

    median: float | None
    under_1_percent: float | None
    n: int
    reason: Note | None = None
    explained_by: ClassVar = "reason"


def mass_of(rows: pd.DataFrame) -> Mass:
    """Return the pair mass of *rows*."""
    known = rows["pair_mass"].dropna()
    if known.empty:
        whole = bool(rows["signature"].map(whole_sentences).any())
        return Mass(None, None, 0, Note(NO_SLOT) if whole else NO_MASS)
    return Mass(float(known.median()), float((known < SMALL_MASS).mean()), len(known))


@dataclass(frozen=True, slots=True)
class VarianceShares:
    """The shares of the variance of Bias_c, nested: mask widths, pairs within a width, contexts within a pair.

    `widths + pairs + contexts` is 1; each is a share of the total sum of squares, 0 to 1. `between_pairs` is
    widths + pairs: the share that the word pair alone explains. `total_sd`, `context_sd` are standard deviations in
    log10 (divided by n). None with `reason` where all values are equal or there is none.
    """

    widths: float | None
    pairs: float | None
    contexts: float | None
    n: int
    total_sd: float | None = None
    context_sd: float | None = None
    reason: Note | None = None
    explained_by: ClassVar = "reason"

    @property
    def between_pairs(self) -> float | None:
        """The share of variance between word pairs of any width."""
        return None if self.widths is None or self.pairs is None else self.widths + self.pairs


def variance_shares(rows: pd.DataFrame) -> VarianceShares:
    """Return the shares of *rows* (one model) by an analysis of variance with pairs nested in mask widths."""
    values = finite_bias(rows).dropna()
    if values.empty:
        return VarianceShares(None, None, None, 0, reason=NO_VALUE)
    kept = rows.loc[values.index]
    by_width = values.groupby(kept["masks"]).transform("mean")
    by_pair = values.groupby([kept["masks"], kept["pair"]]).transform("mean")
    total = float(((values - values.mean()) ** 2).mean())
    within = float(((values - by_pair) ** 2).mean())
    spread = {"total_sd": total**0.5, "context_sd": within**0.5}
    if total**0.5 < STILL:
        return VarianceShares(None, None, None, len(values), **spread, reason=ALL_EQUAL)
    widths = float(((by_width - values.mean()) ** 2).mean()) / total
    contexts = within / total
    return VarianceShares(widths, max(0.0, 1 - widths - contexts), contexts, len(values), **spread)


def prior_corrected(frame: pd.DataFrame) -> pd.Series:
    """Return Bias_c minus the mean Bias_c of its pair in the same model and data, in log10, aligned with *frame*.

    See docs/model_bias.md#what-bias_c-mixes.

    Positive: the context leans more to the male word than the other contexts of this pair do. NaN where Bias_c is
    undefined or infinite, and where it is the only value of its pair (the difference would be 0 by construction).
    """
    values = finite_bias(frame)
    groups = values.groupby([frame["model"], frame["pair"]])
    corrected: pd.Series = (values - groups.transform("mean")).where(groups.transform("count") > 1)
    return corrected.rename("corrected_log10")


class SideOrder:
    """The order of Bias_c within each pair, ready to give the pooled side AUC for any weights of the rows.

    AUC = P(Bias_c of a sentence whose source had the male word > Bias_c of one that had the female word), ties
    counting half, over all such two sentences of the same pair, pairs pooled by their number of twos. 0 to 1; 0.5: the
    context tells the model nothing of which word was there; above: it leans to the word that was there; below: away.
    """

    def __init__(self, rows: pd.DataFrame) -> None:
        values = finite_bias(rows).to_numpy()
        sides, pairs = rows["side"].to_numpy(), pd.factorize(rows["pair"])[0]
        usable = np.isfinite(values) & ((sides == "male") | (sides == "female"))
        self.parts: list[tuple[Places, Places]] = []  # male and female rows of a pair, the females by their value
        self._below: list[Places] = []  # per male row how many females of all parts before it, and up to it
        self._upto: list[Places] = []
        before = 0
        for pair in range(int(pairs.max(initial=-1)) + 1):
            here = usable & (pairs == pair)
            male = np.flatnonzero(here & (sides == "male"))
            female = np.flatnonzero(here & (sides == "female"))
            if len(male) and len(female):
                female = female[np.argsort(values[female], kind="stable")]
                self.parts.append((male, female))
                self._below.append(before + np.searchsorted(values[female], values[male], "left"))
                self._upto.append(before + np.searchsorted(values[female], values[male], "right"))
                before += len(female)

    @property
    def twos(self) -> int:
        """The number of twos of a male-source and a female-source sentence of one pair."""
        return sum(len(part[0]) * len(part[1]) for part in self.parts)

    def wins(self) -> list[float]:
        """Return for each part how many comparisons the male-source sentence wins (larger Bias_c); ties count half."""
        result, before = [], 0
        for (male, female), below, upto in zip(self.parts, self._below, self._upto, strict=True):
            result.append(float((below + upto).sum()) / 2 - before * len(male))
            before += len(female)
        return result

    def auc(self, codes: Places | None = None) -> Callable[[Numbers], Numbers]:
        """Return the AUC for weights, draws x rows: one per draw, NaN where no pair has both sides.

        With *codes* the weights are draws x units, and `codes[i]` is the unit of row i.
        """
        if not self.parts:
            return lambda weights: np.full(len(weights), np.nan)
        male, female = (np.concatenate(places) for places in zip(*self.parts, strict=True))
        if codes is not None:
            male, female = codes[male], codes[female]
        below, upto = np.concatenate(self._below), np.concatenate(self._upto)
        tied = bool((below != upto).any())
        males, females = ([0, *np.cumsum([len(part[side]) for part in self.parts])] for side in (0, 1))

        def auc(weights: Numbers) -> Numbers:
            of_male = weights.take(male, axis=1)
            sums = np.zeros((len(weights), len(female) + 1))
            np.cumsum(weights.take(female, axis=1), axis=1, out=sums[:, 1:])
            won = sums.take(below, axis=1)
            if tied:
                won += sums.take(upto, axis=1)
                won /= 2
            # The sums continue from pair to pair; wins before a pair do not count within it.
            here, ends = np.add.reduceat(of_male, males[:-1], axis=1), sums[:, females]
            above = np.einsum("ij,ij->i", of_male, won) - (here * ends[:, :-1]).sum(axis=1)
            twos = (here * np.diff(ends, axis=1)).sum(axis=1)
            found: Numbers = np.divide(above, twos, out=np.full(len(weights), np.nan), where=twos > 0)
            return found

        return auc


MEASURES = ("bias_man", "bias_woman", "model_bias", "signed_mean", "mean_abs")
BOUNDS = {
    "bias_man": (0.0, np.inf),
    "bias_woman": (0.0, np.inf),
    "model_bias": (0.0, np.inf),
    "mean_abs": (0.0, np.inf),
    "side_auc": (0.0, 1.0),
}


def weighted(rows: pd.DataFrame, units: Units, denominator: Denominator) -> Measures:
    """Return the five means and the side AUC of *rows* (finite Bias_c) as functions of the weights of their units.

    Side sums and counts are additive, so a draw costs one product with the sums per unit; the AUC needs the rows.
    """
    values = finite_bias(rows).to_numpy(float)
    sums = side_sums(values, units)
    auc = SideOrder(rows).auc(units.codes)

    def measures(weights: Numbers) -> dict[str, Numbers]:
        return {**of_sums(weights @ sums, denominator), "side_auc": auc(weights)}

    return measures


def sizes(rows: pd.DataFrame, units: Units) -> dict[str, list[Numbers]]:
    """Return the number of rows per unit for each measure and each side it needs (`core.statistics.over_units`)."""
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
    """Return for each unit: sum and count of positive values, magnitude and count of negative values, count of all."""
    up, down = values > 0, values < 0
    return units.sums(
        np.where(up, values, 0.0),
        up.astype(float),
        np.where(down, -values, 0.0),
        down.astype(float),
        np.ones(len(values)),
    )


def of_sums(totals: Numbers, denominator: Denominator) -> dict[str, Numbers]:
    """Return the five means, one per draw, from totals of `side_sums` (draws x 5); NaN where a side is empty."""
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
    ratio: Numbers = np.divide(above, below, out=np.full(above.shape, np.nan), where=where)
    return ratio


STEM_MEASURES = ("signed_mean", "side_auc")  # of one model: what a turn of the two words, or of the sides, turns
NEUTRAL = {"side_auc": 0.5}
BY_SENTENCE = Note(
    N_(
        "Not tested over sentences or articles, because sentences of a word pair share its preference. See"
        " the test over stems."
    )
)


def stems_of(rows: pd.DataFrame) -> Units:
    """Return units of rows: the stem of each row's word pair."""
    return Units("stem", *codes_of(rows["pair"].map(stem_of)))


def auc_sums(rows: pd.DataFrame, stems: Units) -> Numbers:
    """Return for each stem the wins and the number of comparisons of the side AUC (`SideOrder`), stems x 2."""
    order, sums = SideOrder(rows), np.zeros((stems.count, 2))
    for (male, female), won in zip(order.parts, order.wins(), strict=True):
        sums[stems.codes[male[0]]] += won, len(male) * len(female)
    return sums


def auc_of(totals: Numbers) -> Numbers:
    """Return the side AUC, one per draw, of totals of `auc_sums` (draws x 2); NaN where no pair has both sides."""
    wins, twos = totals.T
    auc: Numbers = np.divide(wins, twos, out=np.full(wins.shape, np.nan), where=twos > 0)
    return auc


def over_stems(
    rows: pd.DataFrame,
    measures: Sequence[str] | None = None,
    *,
    less: pd.DataFrame | None = None,
    denominator: Denominator = "side",
    seed: int = 0,
) -> dict[str, Estimate]:
    """Return the five means and the side AUC (or some *measures*) with intervals over stems.

    *less*: rows of another model, whose measures are subtracted. *rows* and *less* have finite Bias_c, row by row for
    the same sentences. Undefined measures are left out.
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
    return {name: estimate for name, estimate in found.items() if measures is None or name in measures}
