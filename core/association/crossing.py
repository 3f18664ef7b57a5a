"""Intervals of mean associations: professions and person words are both samples (SPEC 6).

The error is that of the jackknife over professions and of that over person words, less that over cells, which both
count (Cameron, Gelbach and Miller 2011). Where every male and female word has its counterpart, pairs are left out, so
that a difference is paired; else the words of each gender are samples of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.intervals import BY_JACKKNIFE, jackknife, of_kinds, satterthwaite
from evenhand.core.statistics.resampling import ratio

Numbers = NDArray[np.float64]
Means = dict[str, Numbers]  # gender -> one mean a draw
Measure = Callable[[Means], Numbers]

NOTHING = Note(N_("No sentence of this group has a score."))
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

    def without(self, axis: int | None) -> Means:
        """The mean of each gender without one profession (axis 0), one unit of words (1), or one cell (None).

        NaN where nothing is left.
        """

        def lost(table: Numbers) -> Numbers:
            return table[self.cells] if axis is None else table.sum(axis=1 - axis)

        return {
            gender: ratio(table.sum() - lost(table), self.counts[gender].sum() - lost(self.counts[gender]))
            for gender, table in self.sums.items()
        }

    @property
    def cells(self) -> NDArray[np.bool_]:
        """Which cells, professions x units of words, have a sentence."""
        cells: NDArray[np.bool_] = np.any([count > 0 for count in self.counts.values()], axis=0)
        return cells

    def once(self) -> Means:
        """The means of the data themselves."""
        return {gender: np.array([one.sum() / self.counts[gender].sum()]) for gender, one in self.sums.items()}


def signature(kind: str) -> str:
    """`unit:profession×<pair or word>|jackknife-t`."""
    return f"unit:profession×{kind}|{BY_JACKKNIFE}"


def interval(crossing: Crossing, measure: Measure, *genders: str) -> Estimate:
    """*measure* of the means of *genders* with its 95% interval.

    t over both kinds (`core.statistics.intervals.of_kinds`). The fewer of professions and person words are the units;
    of a single profession or word the interval is over the other kind.
    """
    return joint_interval([crossing], lambda means: measure(means[0]), *genders)


def joint_interval(crossings: list[Crossing], measure: Callable[[list[Means]], Numbers], *genders: str) -> Estimate:
    """As `interval`, of several crossings over the same professions and words, which are left out together."""
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
    professions, words, cells = (measure([one.without(axis) for one in crossings]) for axis in (0, 1, None))
    used = np.any([first.counts[gender].sum(axis=0) > 0 for gender in genders], axis=0)
    pots = [np.flatnonzero(used & (first.strata == pot)) for pot in np.unique(first.strata[used])]
    parts = []
    if first.professions > 1:
        parts.append((jackknife(value, professions) ** 2, first.professions - 1.0))
    if first.words(*genders) > 1:
        of_pots = [(jackknife(value, words[pot]) ** 2, len(pot) - 1.0) for pot in pots if len(pot) > 1]
        variance = sum(part for part, _ in of_pots)
        parts.append((variance, satterthwaite(variance, of_pots) if variance else float(found.units - 1)))
    both = jackknife(value, cells[used[np.nonzero(first.cells)[1]]]) ** 2 if len(parts) > 1 else 0.0
    return of_kinds(found, parts, both)
