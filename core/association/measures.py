"""A table of associations and its measures: groups as in the thesis, differences, professions, shares of women.

Means are of ln(P_T / P_prior). The difference is M - W: mean association of male words minus that of female words;
positive leans male. The thesis prints W - M and calls it P(f)-P(m), but it is a difference of logarithms.

Intervals of mean associations treat professions and person words as two samples (docs/methods.md#intervals).

The squared error is the jackknife variance over professions plus the one over person words, minus the one over cells,
which both include (Cameron, Gelbach and Miller 2011). Where every male and female word has its counterpart, the
jackknife leaves out pairs, so that a difference is paired; else the words of each gender are separate samples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from evenhand.core.association.run import COLUMNS, OK, Associated
from evenhand.core.association.sets import GENDERS
from evenhand.core.errors import N_, BadFile
from evenhand.core.files.csv_out import is_guarded, restored
from evenhand.core.statistics import Estimate, Note, holm
from evenhand.core.statistics.intervals import BY_JACKKNIFE, jackknife, of_kinds, satterthwaite
from evenhand.core.statistics.resampling import ratio

NUMBERS = ("women", "logp_target", "logp_prior", "association")
NEEDED = ("template", "person", "person_key", "pair", "person_gender", "profession_key", "class", "association")
TEXTS = tuple(name for name in COLUMNS if name not in (*NUMBERS, "row", "p_target", "p_prior", "pieces", "masks"))


def frame_of(found: Sequence[Associated]) -> pd.DataFrame:
    """Return the rows of a run as a table with the columns of COLUMNS; undefined is NaN."""
    return _typed(pd.DataFrame([associated.values() for associated in found], columns=list(COLUMNS)))


def read_associations(path: Path | str) -> pd.DataFrame:
    """Read a table that `association --out` wrote (CSV, or TSV by its ending). Raises BadFile with what is missing."""
    file = Path(path)
    try:
        with file.open("rb") as opened:
            tabs = b"\t" in opened.readline()
        frame = pd.read_csv(file, sep="\t" if tabs else ",", dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except OSError as error:
        message = N_("{file} cannot be read: {why}.")
        raise BadFile(message, file=file.name, why=error.strerror or error) from None
    except (ValueError, pd.errors.ParserError):
        raise BadFile(N_("{file} is not a table of associations. Create one with: {command}"), file=file.name,
                      command="python cli.py association --out FILE") from None  # fmt: skip
    missing = [name for name in NEEDED if name not in frame.columns]
    if missing:
        message = N_("{file} lacks the columns {missing}; the command association did not write it.")
        raise BadFile(message, file=file.name, missing=", ".join(missing))
    for name in (name for name in COLUMNS if name not in frame.columns):
        frame[name] = ""
    texts = frame[list(TEXTS)]
    frame[list(TEXTS)] = texts.map(restored) if is_guarded(texts.to_numpy().ravel()) else texts
    return _checked(_typed(frame), file.name)


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    for name in (*NUMBERS, "p_target", "p_prior", "pieces", "masks"):
        frame[name] = pd.to_numeric(frame[name], errors="coerce").astype(float)
    frame.loc[~np.isfinite(frame["association"]), "association"] = np.nan
    return frame


def _checked(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    wrong = ~frame["person_gender"].isin(["male", "female", "neutral"])
    if wrong.any():
        line = int(np.flatnonzero(wrong)[0]) + 2
        message = N_("{file}, line {line}: gender is {found}; it must be male, female or neutral.")
        raise BadFile(message, file=file, line=line, found=repr(str(frame.loc[line - 2, "person_gender"])))
    if frame.empty:
        raise BadFile(N_("{file} contains no rows."), file=file)
    return frame


def models_of(frame: pd.DataFrame) -> list[str]:
    """Return the models in the order of the table."""
    return [str(name) for name in dict.fromkeys(frame["model"])]


def rows_of(frame: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return the rows of one model."""
    return frame[frame["model"] == model].reset_index(drop=True)


def undefined_of(frame: pd.DataFrame) -> dict[str, int]:
    """Count the sentences without an association, by reason."""
    lost = frame[frame["association"].isna()]
    return {str(reason) or OK: int(count) for reason, count in lost["status"].value_counts().items()}


def has_equal_pairs(frame: pd.DataFrame) -> bool:
    """Tell if some pair has the same word for both genders (Basque bera)."""
    return bool(_equal(frame))


def without_equal_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows without pairs whose two words are the same: their difference is 0 by construction."""
    return frame[~frame["pair"].isin(_equal(frame))].reset_index(drop=True)


def _equal(frame: pd.DataFrame) -> list[str]:
    words = (
        frame[frame["pair"] != ""]
        .groupby("pair")
        .agg(genders=("person_gender", "nunique"), keys=("person_key", "nunique"))
    )
    return [str(pair) for pair, row in words.iterrows() if row["genders"] == 2 and row["keys"] == 1]


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
        """Make the crossing from rows with profession_key, person_key, pair, person_gender, association.

        Rows with an undefined association are left out.
        """
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
        """The number of professions."""
        return next(iter(self.sums.values())).shape[0] if self.sums else 0

    def words(self, *genders: str) -> int:
        """Return the number of units of person words with data for the genders (of several genders, the smallest)."""
        return min((int((self.counts[g].sum(axis=0) > 0).sum()) for g in genders if g in self.counts), default=0)

    def without(self, axis: int | None) -> Means:
        """Return the mean of each gender without one profession (axis 0), one unit of words (1), or one cell (None).

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
        """True for the cells (professions x units of words) that have a sentence."""
        cells: NDArray[np.bool_] = np.any([count > 0 for count in self.counts.values()], axis=0)
        return cells

    def once(self) -> Means:
        """Return the means of the data themselves."""
        return {gender: np.array([sum_.sum() / self.counts[gender].sum()]) for gender, sum_ in self.sums.items()}


def signature(kind: str) -> str:
    """Return the signature of intervals, `unit:profession×<pair or word>|jackknife-t`."""
    return f"unit:profession×{kind}|{BY_JACKKNIFE}"


def interval(crossing: Crossing, measure: Measure, *genders: str) -> Estimate:
    """Return *measure* of the means of *genders* with its 95% interval.

    t over both kinds (`core.statistics.intervals.of_kinds`). The units are professions or person
    words, of which there are fewer; if there is only one of these, the interval is over the other kind.
    """
    return joint_interval([crossing], lambda means: measure(means[0]), *genders)


def joint_interval(crossings: list[Crossing], measure: Callable[[list[Means]], Numbers], *genders: str) -> Estimate:
    """Return `interval` for several crossings of the same professions and words, which are left out together."""
    first = crossings[0]
    if any(gender not in crossing.sums for crossing in crossings for gender in genders):
        return Estimate.undefined(NOTHING)
    value = float(measure([crossing.once() for crossing in crossings])[0])
    if not np.isfinite(value):
        return Estimate.undefined(NOTHING)
    sizes = [size for size in (first.professions, first.words(*genders)) if size > 1]
    estimate = Estimate(value, units=min(sizes, default=1))
    if not sizes:
        return replace(estimate, note=ONE_OF_EACH)
    professions, words, cells = (measure([crossing.without(axis) for crossing in crossings]) for axis in (0, 1, None))
    used = np.any([first.counts[gender].sum(axis=0) > 0 for gender in genders], axis=0)
    pots = [np.flatnonzero(used & (first.strata == pot)) for pot in np.unique(first.strata[used])]
    parts = []
    if first.professions > 1:
        parts.append((jackknife(value, professions) ** 2, first.professions - 1.0))
    if first.words(*genders) > 1:
        of_pots = [(jackknife(value, words[pot]) ** 2, len(pot) - 1.0) for pot in pots if len(pot) > 1]
        variance = sum(part for part, _ in of_pots)
        parts.append((variance, satterthwaite(variance, of_pots) if variance else float(estimate.units - 1)))
    both = jackknife(value, cells[used[np.nonzero(first.cells)[1]]]) ** 2 if len(parts) > 1 else 0.0
    return of_kinds(estimate, parts, both)


Z = 1.959963984540054
LEAST = 3  # two points always lie on a line
STILL = 1e-12

NO_SHARES = Note(N_("The set gives the share of women for fewer than three professions."))
STILL_SHARES = Note(N_("All professions have the same share of women, or the same difference."))
ONE_GENDER = Note(N_("The set has person words of one gender only, so there is no difference."))


@dataclass(frozen=True, slots=True)
class Described:
    """Count, standard deviation (ddof 1), extremes and quartiles (linear), as `pandas.describe` has them.

    None where undefined: everything of no values, the deviation of one.
    """

    n: int
    std: float | None
    max: float | None
    min: float | None
    q75: float | None
    q50: float | None
    q25: float | None


def describe(values: Sequence[float] | Numbers) -> Described:
    """Return the columns of the thesis's Tables 4.5 to 4.8, except the mean, for values that are all defined.

    See docs/association.md#measures-and-intervals.
    """
    x = np.asarray(values, dtype=float)
    if not len(x):
        return Described(0, *[None] * 6)
    std = float(x.std(ddof=1)) if len(x) > 1 else None
    q25, q50, q75 = (float(q) for q in np.percentile(x, [25, 50, 75]))
    return Described(len(x), std, float(x.max()), float(x.min()), q75, q50, q25)


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
    """Mean association of male words minus that of female words (M - W), ln, within one group of professions.

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
        """The difference in the direction of the thesis, W - M; None where undefined."""
        return None if self.estimate.value is None else -self.estimate.value


def m_minus_w(means: Means) -> Numbers:
    """Return M - W of each draw."""
    return means["male"] - means["female"]


def kinds_of(frame: pd.DataFrame, column: str = "class") -> list[str]:
    """Return the groups of professions: female, balanced, male as in the thesis's tables, then any other."""
    result = [str(name) for name in dict.fromkeys(frame[column])]
    order = {"female": 0, "balanced": 1, "male": 2}
    return sorted(result, key=lambda name: order.get(name, 3)) if column == "class" else result


def groups(frame: pd.DataFrame) -> list[Group]:
    """Return the describe table of one model: a row for each class and gender that the table has."""
    result = []
    for kind in kinds_of(frame):
        rows = frame[frame["class"] == kind]
        crossing = Crossing.of(rows)
        for gender in GENDERS:
            own = rows[rows["person_gender"] == gender]
            if own.empty:
                continue
            known = own["association"].dropna()
            mean = interval(crossing, lambda means, g=gender: means[g], gender)  # type: ignore[misc]
            result.append(Group(kind, gender, describe(known.to_numpy()), len(own) - len(known), mean))
    return result


def difference(frame: pd.DataFrame, name: str = "") -> Difference:
    """Return M - W of all rows of *frame*, with its interval over professions and person words."""
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
    """Return `difference` for each group of *column*: "class", "field", or "profession_key" to rank professions."""
    result = [difference(frame[frame[column] == name], name) for name in kinds_of(frame, column)]
    stay = holm([one.estimate for one in result])
    return [replace(one, stays=stays) for one, stays in zip(result, stay, strict=True)]


def differences_without_equal(frame: pd.DataFrame) -> list[Difference]:
    """Return the differences by class without pairs of one word (Basque bera/bera); [] without such a pair."""
    return differences(without_equal_pairs(frame)) if has_equal_pairs(frame) else []


def ranked(found: Sequence[Difference]) -> list[Difference]:
    """Sort professions by M - W, those that lean most to the male words first; undefined ones are last."""
    return sorted(found, key=lambda one: (one.estimate.value is None, -(one.estimate.value or 0.0)))


def cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Return mean associations per profession and gender: columns profession, class, gender, value (or NaN), n."""
    grouped = frame.groupby(["profession_key", "class", "person_gender"], sort=False)["association"]
    result = grouped.agg(value="mean", n="count").reset_index()
    return result.rename(columns={"profession_key": "profession", "person_gender": "gender"})


def person_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Return for each person word: gender, pair, pieces in this model, mean association by class, undefined ones."""
    by = ["person_key", "person_gender", "pair"]
    grouped = frame.groupby(by, sort=False)
    found = grouped.agg(pieces=("pieces", "max"), n=("association", "count"), rows=("association", "size"))
    means = frame.pivot_table(index=by, columns="class", values="association", aggfunc="mean", sort=False)
    joined = found.join(means[[kind for kind in kinds_of(frame) if kind in means.columns]])
    return joined.assign(undefined=joined["rows"] - joined["n"]).drop(columns="rows").reset_index()


def share_correlation(found: Sequence[Difference], method: str = "pearson") -> Estimate:
    """Return the correlation over professions of the share of women with M - W.

    It is below 0 where the model follows the shares.

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
