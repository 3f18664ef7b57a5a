"""Measures of a table of associations: groups as in the thesis, differences, professions, shares of women.

Means are of ln(P_T / P_prior). The difference is M - W: mean association of male words less that of female words;
positive leans male. The thesis prints W - M and calls it P(f)-P(m); it is no difference of probabilities.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from evenhand.core.association.crossing import Crossing, Means, Numbers, interval
from evenhand.core.association.sets import GENDERS
from evenhand.core.association.table import has_equal_pairs, without_equal_pairs
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, holm

Z = 1.959963984540054
LEAST = 3  # two points always lie on a line
STILL = 1e-12

NO_SHARES = Note(N_("The set gives the share of women for fewer than three professions."))
STILL_SHARES = Note(N_("All professions have the same share of women, or the same difference."))
ONE_GENDER = Note(N_("The set has person words of one gender only, so there is no difference."))


@dataclass(frozen=True, slots=True)
class Described:
    """Count, mean, standard deviation (ddof 1), extremes and quartiles (linear), as `pandas.describe` has them.

    None where undefined: everything of no values, the deviation of one.
    """

    n: int
    mean: float | None
    std: float | None
    max: float | None
    min: float | None
    q75: float | None
    q50: float | None
    q25: float | None


def describe(values: Sequence[float] | Numbers) -> Described:
    """The columns of the thesis's Tables 4.5 to 4.8 (SPEC 2.6), of values that are all defined."""
    x = np.asarray(values, dtype=float)
    if not len(x):
        return Described(0, *[None] * 7)
    std = float(x.std(ddof=1)) if len(x) > 1 else None
    q25, q50, q75 = (float(q) for q in np.percentile(x, [25, 50, 75]))
    return Described(len(x), float(x.mean()), std, float(x.max()), float(x.min()), q75, q50, q25)


@dataclass(frozen=True, slots=True)
class Group:
    """One row of the describe table: a class of professions and a gender of person words.

    `mean` has its interval; `undefined` sentences are in nothing.
    """

    kind: str
    gender: str
    numbers: Described
    undefined: int
    mean: Estimate


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean association of male words less that of female words (M - W), ln, within one group of professions.

    `name` is the class, field or profession. `unit` is what the interval draws of the person words: "pair" or
    "word". `stays`: whether it differs from 0 after Holm's adjustment over all rows of its table.
    """

    name: str
    male: float | None
    female: float | None
    estimate: Estimate
    professions: int
    words: int
    unit: str
    women: float | None = None
    stays: bool = False

    @property
    def w_minus_m(self) -> float | None:
        """The same in the thesis's direction."""
        return None if self.estimate.value is None else -self.estimate.value


def m_minus_w(means: Means) -> Numbers:
    """M - W of each draw."""
    return means["male"] - means["female"]


def kinds_of(frame: pd.DataFrame, column: str = "class") -> list[str]:
    """The groups of professions in the order female, balanced, male of the thesis's tables, then any other."""
    found = [str(name) for name in dict.fromkeys(frame[column])]
    order = {"female": 0, "balanced": 1, "male": 2}
    return sorted(found, key=lambda name: order.get(name, 3)) if column == "class" else found


def groups(frame: pd.DataFrame) -> list[Group]:
    """The describe table of one model: a row for each class and gender that the table has."""
    found = []
    for kind in kinds_of(frame):
        rows = frame[frame["class"] == kind]
        crossing = Crossing.of(rows)
        for gender in GENDERS:
            own = rows[rows["person_gender"] == gender]
            if own.empty:
                continue
            known = own["association"].dropna()
            mean = interval(crossing, lambda means, g=gender: means[g], gender)  # type: ignore[misc]
            found.append(Group(kind, gender, describe(known.to_numpy()), len(own) - len(known), mean))
    return found


def difference(frame: pd.DataFrame, name: str = "") -> Difference:
    """M - W of all rows of *frame*, with its interval over professions and person words."""
    crossing = Crossing.of(frame)
    once = crossing.once() if crossing.sums else {}
    male, female = (float(once[g][0]) if g in once else None for g in ("male", "female"))
    if male is None or female is None:
        estimate = Estimate.undefined(ONE_GENDER)
    else:
        estimate = interval(crossing, m_minus_w, "male", "female")
    words = crossing.words("male", "female")
    shares = frame["women"].dropna().unique()
    women = float(shares[0]) if len(shares) == 1 else None
    return Difference(name, male, female, estimate, crossing.professions, words, crossing.kind, women)


def differences(frame: pd.DataFrame, column: str = "class") -> list[Difference]:
    """`difference` of each group of *column*: "class", "field", or "profession_key" for a ranking of professions."""
    found = [difference(frame[frame[column] == name], name) for name in kinds_of(frame, column)]
    stay = holm([one.estimate for one in found])
    return [replace(one, stays=stays) for one, stays in zip(found, stay, strict=True)]


def differences_without_equal(frame: pd.DataFrame) -> list[Difference]:
    """The differences by class without pairs of one word (Basque bera/bera); empty where there is no such pair."""
    return differences(without_equal_pairs(frame)) if has_equal_pairs(frame) else []


def ranked(found: Sequence[Difference]) -> list[Difference]:
    """Professions from the one that leans most to the male words down; undefined ones at the end."""
    return sorted(found, key=lambda one: (one.estimate.value is None, -(one.estimate.value or 0.0)))


def cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean association per profession and gender: columns profession, class, gender, value (NaN undefined), n."""
    grouped = frame.groupby(["profession_key", "class", "person_gender"], sort=False)["association"]
    found = grouped.agg(value="mean", n="count").reset_index()
    return found.rename(columns={"profession_key": "profession", "person_gender": "gender"})


def person_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Per person word: gender, pair, pieces in this model, mean association by class, and how many are undefined."""
    by = ["person_key", "person_gender", "pair"]
    grouped = frame.groupby(by, sort=False)
    found = grouped.agg(pieces=("pieces", "max"), n=("association", "count"), rows=("association", "size"))
    means = frame.pivot_table(index=by, columns="class", values="association", aggfunc="mean", sort=False)
    joined = found.join(means[[kind for kind in kinds_of(frame) if kind in means.columns]])
    return joined.assign(undefined=joined["rows"] - joined["n"]).drop(columns="rows").reset_index()


def share_correlation(found: Sequence[Difference], method: str = "pearson") -> Estimate:
    """Correlation over professions of the share of women with M - W; expected below 0 where the model follows shares.

    *method*: "pearson" or "spearman". Interval: Fisher's z, for Spearman with the variance of Bonett and Wright 2000;
    the unit is the profession. Undefined for fewer than three professions with a share, or where one side is constant.
    """
    both = [(one.women, one.estimate.value) for one in found if one.women is not None]
    known = [(share, value) for share, value in both if value is not None]
    if len(known) < LEAST:
        return Estimate.undefined(NO_SHARES, len(known))
    x, y = np.array(known, dtype=float).T
    if min(x.std(), y.std()) < STILL:
        return Estimate.undefined(STILL_SHARES, len(known))
    if method == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    r, n = float(np.clip(np.corrcoef(x, y)[0, 1], -1.0, 1.0)), len(known)
    if n < 4 or abs(r) >= 1:
        return Estimate(r, units=n, note=Note(N_("There are too few points, or all lie on a line: no interval.")))
    spread = np.sqrt((1 + r * r / 2 if method == "spearman" else 1.0) / (n - 3))
    low, high = np.tanh(np.arctanh(r) + np.array([-1, 1]) * Z * spread)
    return Estimate(r, float(low), float(high), n)
