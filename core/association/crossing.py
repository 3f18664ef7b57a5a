"""Intervals of mean associations: professions and person words are drawn together (SPEC 6).

A draw picks professions with replacement and person words with replacement; the mean is over the sentences where both
were picked, as often as both were (the pigeonhole bootstrap of Owen 2007). Where every male and female word has its
counterpart, pairs are drawn, so that a difference is paired; else the words of each gender by themselves.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.errors import N_
from core.statistics import Estimate, Note, Resampling
from core.statistics.intervals import from_draws
from core.statistics.resampling import ones, ratio

Numbers = NDArray[np.float64]
Means = dict[str, Numbers]  # gender -> one mean a draw
Measure = Callable[[Means], Numbers]

NOTHING = Note(N_("No sentence of this group has a number."))
ONE_OF_EACH = Note(N_("One profession and one person word: no interval."))


@dataclass(frozen=True, slots=True)
class Crossing:
    """Sums and counts of associations per profession and unit of person words, for each gender.

    `kind`: "pair" or "word". `strata[u]` says which units are drawn from one pot.
    """

    kind: Literal["pair", "word"]
    sums: dict[str, Numbers]
    counts: dict[str, Numbers]
    strata: NDArray[np.int64]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> "Crossing":
        """From rows with profession_key, person_key, pair, person_gender, association; undefined ones are left out."""
        rows = frame[frame["association"].notna()]
        sided = rows[rows["person_gender"] != "neutral"]
        paired = len(sided) > 0 and bool((sided["pair"] != "").all())
        neutral = rows["person_gender"] == "neutral"
        names = rows["pair"].where(~neutral, "~" + rows["person_key"]) if paired else rows["person_gender"].str.cat(
            rows["person_key"], sep="~"
        )  # fmt: skip
        professions, first = pd.factorize(rows["profession_key"])
        units, labels = pd.factorize(names)
        pots = {str(label): gender for label, gender in zip(names, rows["person_gender"], strict=True)}
        if paired:
            pots = {label: "neutral" if gender == "neutral" else "pair" for label, gender in pots.items()}
        strata = pd.factorize(pd.Series([pots[str(label)] for label in labels], dtype=object))[0]
        shape = (len(first), len(labels))
        sums: dict[str, Numbers] = {}
        counts: dict[str, Numbers] = {}
        for gender in dict.fromkeys(rows["person_gender"]):
            of = (rows["person_gender"] == gender).to_numpy()
            at = professions[of] * shape[1] + units[of]
            values = rows["association"].to_numpy()[of]
            sums[gender] = np.bincount(at, values, shape[0] * shape[1]).astype(float).reshape(shape)
            counts[gender] = np.bincount(at, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
        return cls("pair" if paired else "word", sums, counts, np.asarray(strata, dtype=np.int64))

    @property
    def professions(self) -> int:
        """How many professions."""
        return next(iter(self.sums.values())).shape[0] if self.sums else 0

    def words(self, *genders: str) -> int:
        """How many units of person words the genders rest on (the fewer, of several)."""
        return min((int((self.counts[g].sum(axis=0) > 0).sum()) for g in genders if g in self.counts), default=0)

    def means(self, professions: Numbers, units: Numbers) -> Means:
        """The mean of each gender under weights (draws x professions, draws x units); NaN where nothing was drawn."""
        found = {}
        for gender, sums in self.sums.items():
            total = np.einsum("dp,pu,du->d", professions, sums, units, optimize=True)
            count = np.einsum("dp,pu,du->d", professions, self.counts[gender], units, optimize=True)
            found[gender] = ratio(total, count)
        return found

    def once(self) -> Means:
        """The means of the data themselves."""
        return self.means(np.ones((1, self.professions)), np.ones((1, len(self.strata))))


def signature(resampling: Resampling, kind: str) -> str:
    """`unit:profession×<pair or word>|bootstrap:<resamples>|seed:<seed>`."""
    return resampling.signature(f"profession×{kind}")


def interval(resampling: Resampling, crossing: Crossing, measure: Measure, *genders: str) -> Estimate:
    """*measure* of the means of *genders* with its 95 % interval.

    The fewer of professions and person words are the units. Fewer than 15: t with one less degree of freedom on
    the standard error of the draws, which is widened by the root of k / (k - 1) and marked.
    """
    return joint_interval(resampling, [crossing], lambda means: measure(means[0]), *genders)


def joint_interval(
    resampling: Resampling, crossings: list[Crossing], measure: Callable[[list[Means]], Numbers], *genders: str
) -> Estimate:
    """As `interval`, of several crossings over the same professions and words, drawn alike."""
    first = crossings[0]
    if any(gender not in one.sums for one in crossings for gender in genders):
        return Estimate.undefined(NOTHING)
    value = float(measure([one.once() for one in crossings])[0])
    if not np.isfinite(value):
        return Estimate.undefined(NOTHING)
    sizes = [size for size in (first.professions, first.words(*genders)) if size > 1]
    found = Estimate(value, units=min(sizes, default=1))
    if not sizes:
        return replace(found, note=ONE_OF_EACH)
    draws = [measure([one.means(*weights) for one in crossings]) for weights in _weights(resampling, first)]
    return from_draws(np.concatenate(draws), found, found.units)


def _weights(resampling: Resampling, crossing: Crossing) -> Iterator[tuple[Numbers, Numbers]]:
    """How often each profession and each unit of words was picked."""
    pots = [np.flatnonzero(crossing.strata == pot) for pot in np.unique(crossing.strata)]
    for professions, *words in resampling.picks(ones(crossing.professions), *(ones(len(pot)) for pot in pots)):
        units = np.zeros((len(professions), len(crossing.strata)))
        for pot, weights in zip(pots, words, strict=True):
            units[:, pot] = weights
        yield professions, units
