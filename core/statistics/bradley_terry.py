"""Strengths of models from comparisons of two texts: Bradley and Terry (1952), with ties (Davidson 1970) and the
advantage of a side (Davidson and Beaver 1977); maximum likelihood.

The first of two models is preferred with a chance in proportion to r, the second to 1/r, neither to nu, where
log r = (strength of the first - strength of the second + advantage of its side) / 2. Strengths are natural logarithms
and sum to 0: a difference of 1 is odds of 2.7 to 1 among comparisons without ties. nu has one value for all pairs.

The estimates are not shrunk. Where the likelihood has no maximum, as for a model that won every comparison, the result
has no strengths, but the reason with the names of the models.

Intervals: t on the robust error over contexts, whose texts and labels resemble each other (Liang and Zeger 1986, with
the correction of Kauermann and Carroll 2001); with five annotators and more over annotators as well (`of_kinds`). With
fewer annotators the intervals hold for these annotators only. See docs/coverage.md for the coverage of the intervals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics.estimate import ALL_ALIKE, BY_SANDWICH, ONE_UNIT, Estimate, Note, holm, two_sided
from evenhand.core.statistics.intervals import (
    FEWEST_SKEWED,
    HANGS_ON_ONE,
    MOST_LEFT_OUT,
    STILL,
    UNEQUAL,
    by_t,
    of_kinds,
)
from evenhand.core.statistics.paired_likelihood import (
    FIRST,
    SECOND,
    TIE,
    Maximum,
    corrected,
    derivatives,
    maximised,
    scores,
)
from evenhand.core.statistics.units import effective_units

VERSION = 1  # of the method: raise it when a number may change
FEWEST_ANNOTATORS = 5  # over whom an interval can be drawn
MOST_PAIRS = 200  # that the test of fit takes, in a few seconds
ROOM_OF_CONTEXTS = 10  # contexts beyond the degrees of freedom that the test of fit needs

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]

NO_COMPARISON = Note(N_("There are no comparisons yet."))
ALL_TIES = Note(N_("All comparisons are ties, so no model is stronger."))
APART = N_("No chain of comparisons connects these groups: {groups}. Their strengths cannot be compared.")
NEVER_LOST = N_("Never behind the others: {models}. Their strength cannot be estimated; exclude them.")
UNDETERMINED = Note(N_("These comparisons do not determine the strengths."))
NO_SIDES = Note(N_("The left text was not recorded."))
ONE_SIDE = Note(
    N_("The first text was always on the same side, so a position effect cannot be separated from strength.")
)
SIDE_DECIDES = Note(
    N_("With a left-side effect no finite estimate exists (complete separation), so the effect was left out.")
)
NO_TIE = Note(N_("There are no ties."))
TWO_MODELS = Note(N_("Checking transitivity needs at least three models, each compared with the others."))
MANY_PAIRS = N_("Too many pairs of models ({pairs}) to check whether one strength per model is enough.")
FEW_CONTEXTS = N_("Too few contexts ({contexts}) to check whether one strength per model is enough.")


@dataclass(frozen=True, slots=True)
class Comparisons:
    """One entry a label: places in `models` of both texts, which was preferred (FIRST, SECOND or TIE), the side of the
    first (1 left, -1 right, 0 not known), and codes of the context and of the annotator, from 0 without gaps."""

    models: tuple[str, ...]
    first: Places
    second: Places
    preferred: Places
    side: Places
    context: Places
    annotator: Places

    def only(self, keep: NDArray[np.bool_]) -> "Comparisons":
        """Return a selection of the labels; models without labels are left out, and all codes are numbered again."""
        pair, used = _codes(np.stack([self.first[keep], self.second[keep]]))
        return Comparisons(
            tuple(self.models[place] for place in used), pair[0], pair[1], self.preferred[keep], self.side[keep],
            _codes(self.context[keep])[0], _codes(self.annotator[keep])[0],
        )  # fmt: skip

    def without(self, models: Sequence[str]) -> "Comparisons":
        """Return the comparisons in which none of *models* took part."""
        out = [place for place, name in enumerate(self.models) if name in models]
        return self.only(~(np.isin(self.first, out) | np.isin(self.second, out)))

    def wins(self) -> tuple[Places, Places]:
        """Return how often the row's model was preferred to the column's, and how often neither was preferred."""
        size = len(self.models)
        won, tied = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=np.int64)
        for outcome, ahead, behind in ((FIRST, self.first, self.second), (SECOND, self.second, self.first)):
            np.add.at(won, (ahead[self.preferred == outcome], behind[self.preferred == outcome]), 1)
        ties = self.preferred == TIE
        np.add.at(tied, (self.first[ties], self.second[ties]), 1)
        return won, tied + tied.T


@dataclass(frozen=True, slots=True)
class Difference:
    """Strength of `one` minus that of `other` (places in the models), and whether it stays after Holm's adjustment."""

    one: int
    other: int
    estimate: Estimate
    stays: bool

    @property
    def chance(self) -> Estimate:
        """The chance that `one` is preferred in a comparison without a tie, 0 to 1."""
        return chance_of(self.estimate)


@dataclass(frozen=True, slots=True)
class Fit:
    """Is one strength a model enough, or do preferences run in circles? `ratio`: twice the log-likelihood that is
    gained by a parameter of its own for each pair, `df` how many these are more. `p`: of a score test that is robust
    to labels of a context that go together; None with a `reason`."""

    ratio: float | None
    df: int
    p: float | None
    reason: Note | None = None
    json_names: ClassVar = {"ratio": "likelihood_ratio"}
    written_with: ClassVar = {Note: str}


@dataclass(frozen=True, slots=True)
class Preferences:
    """The result of comparisons. `reason`: why strengths are missing, else None.

    `ranks`: per model the best and the worst rank that the differences allow (1: the strongest); all ranks together
    are right in 95 of 100 samples. `tie`: the chance that two equal models tie, 0 to 1. `left`: the chance that the
    left of two equal models is preferred when they do not tie, 0 to 1. `signature`: how the numbers were made.
    """

    models: tuple[str, ...]
    strengths: tuple[Estimate, ...]
    ranks: tuple[tuple[int, int], ...]
    differences: tuple[Difference, ...]
    tie: Estimate
    left: Estimate
    fit: Fit
    reason: Note | None
    signature: str

    def difference(self, one: int, other: int) -> Estimate:
        """Return the strength of *one* minus the strength of *other*, in either order of the two."""
        for each in self.differences:
            if (each.one, each.other) == (one, other):
                return each.estimate
            if (each.one, each.other) == (other, one):
                return _turned(each.estimate)
        raise KeyError((one, other))


def bradley_terry(comparisons: Comparisons) -> Preferences:
    """Return strengths, differences, ranks, ties, sides and fit of *comparisons*."""
    reason = _without_strengths(comparisons)
    no_side = _without_sides(comparisons)
    model = None if reason else _Model.of(comparisons, no_side)
    if model is not None and not model.settled and no_side is None:
        model = _Model.of(comparisons, SIDE_DECIDES)
    if model is None or not model.settled:
        return _undefined(comparisons, reason or _why_undefined(comparisons))
    pairs = list(combinations(range(len(comparisons.models)), 2))
    contrasts = np.concatenate(
        [np.eye(len(comparisons.models)), *(_contrast(pair, len(comparisons.models)) for pair in pairs)]
    )
    made = model.estimates(contrasts)
    strengths, apart = made[: len(comparisons.models)], made[len(comparisons.models) : -2]
    stays = holm(apart)
    differences = [Difference(*pair, *both) for pair, both in zip(pairs, zip(apart, stays, strict=True), strict=True)]
    return Preferences(
        comparisons.models, tuple(strengths), _ranks(len(comparisons.models), differences), tuple(differences),
        _tie_chance(made[-2]), chance_of(made[-1]), model.fit(), None, model.signature,
    )  # fmt: skip


def _without_sides(comparisons: Comparisons) -> Note | None:
    """Return why the advantage of the left side cannot be estimated; None where it may be."""
    if not comparisons.side.any():
        return NO_SIDES
    return None if (comparisons.side == 1).any() and (comparisons.side == -1).any() else ONE_SIDE


def chance_of(log_odds: Estimate) -> Estimate:
    """Convert log-odds and their interval to a chance, 0 to 1; `p` is the p value against even odds."""
    return _moved(log_odds, lambda value: 1 / (1 + np.exp(-value)))


def _tie_chance(log_nu: Estimate) -> Estimate:
    """Return the chance of a tie between two equal models, 0 to 1; without `p`, as a neutral nu has no meaning."""
    return replace(_moved(log_nu, lambda value: 1 / (1 + 2 * np.exp(-value))), p=None)


def _moved(estimate: Estimate, scale: Callable[[float], float]) -> Estimate:
    if estimate.value is None:
        return estimate
    value, low, high = (
        None if one is None else float(scale(one)) for one in (estimate.value, estimate.low, estimate.high)
    )
    p = two_sided(estimate) if estimate.se and estimate.low is not None else None
    return replace(estimate, value=value, low=low, high=high, se=None, df=None, p=p)


def _turned(estimate: Estimate) -> Estimate:
    value, low, high = (None if one is None else -one for one in (estimate.value, estimate.high, estimate.low))
    return replace(estimate, value=value, low=low, high=high)


def _contrast(pair: tuple[int, int], models: int) -> Numbers:
    values = np.zeros((1, models))
    values[0, pair] = 1, -1
    return values


def _ranks(models: int, differences: Sequence[Difference]) -> tuple[tuple[int, int], ...]:
    """Rank models by the differences that stay: each is behind those surely above it, ahead of those surely below."""
    above, below = [0] * models, [0] * models
    for difference in differences:
        if difference.stays and difference.estimate.value is not None:
            ahead, behind = (
                (difference.one, difference.other)
                if difference.estimate.value > 0
                else (difference.other, difference.one)
            )
            above[behind] += 1
            below[ahead] += 1
    return tuple((1 + up, models - down) for up, down in zip(above, below, strict=True))


def _undefined(comparisons: Comparisons, reason: Note) -> Preferences:
    nothing = Estimate.undefined(reason, int(comparisons.context.max(initial=-1)) + 1)
    pairs = combinations(range(len(comparisons.models)), 2)
    return Preferences(
        comparisons.models, (nothing,) * len(comparisons.models), ((1, len(comparisons.models)),
        ) * len(comparisons.models),
        tuple(Difference(*pair, nothing, False) for pair in pairs), nothing, nothing, Fit(None, 0, None, reason),
        reason, f"bradley-terry|v{VERSION}",
    )  # fmt: skip


def _without_strengths(comparisons: Comparisons) -> Note | None:
    """Return the reason for which strengths cannot exist, or None where they may."""
    if not len(comparisons.first):
        return NO_COMPARISON
    groups = _groups(comparisons)
    if len(groups) > 1:
        return Note(APART, {"groups": " | ".join(", ".join(group) for group in groups)})
    return ALL_TIES if (comparisons.preferred == TIE).all() else None


def _why_undefined(comparisons: Comparisons) -> Note:
    """Return a note with the models that never lose to the others: by wins and ties, else by wins alone."""
    won, tied = comparisons.wins()
    for reached in (won + tied > 0, won > 0):
        ahead = [strong_group for strong_group in _strong_groups(comparisons.models, reached) if strong_group]
        if ahead:
            return Note(NEVER_LOST, {"models": " | ".join(", ".join(group) for group in ahead)})
    return UNDETERMINED


def _strong_groups(models: Sequence[str], reached: NDArray[np.bool_]) -> list[list[str]]:
    """Return groups, smaller than all, to which no model outside was ever preferred."""
    from scipy.sparse.csgraph import connected_components  # scipy takes a while to import

    count, group = connected_components(reached, connection="strong")
    if count < 2:
        return []
    strong_groups = []
    for number in range(count):
        inside = group == number
        if not reached[np.ix_(~inside, inside)].any():
            strong_groups.append([name for name, here in zip(models, inside, strict=True) if here])
    return strong_groups


def _groups(comparisons: Comparisons) -> list[list[str]]:
    """Return groups of models that a chain of comparisons connects."""
    from scipy.sparse.csgraph import connected_components

    won, tied = comparisons.wins()
    count, group = connected_components(won + tied > 0, directed=False)
    return [
        [name for name, of in zip(comparisons.models, group, strict=True) if of == number] for number in range(count)
    ]


def _codes(values: Places) -> tuple[Places, Places]:
    used, codes = np.unique(values, return_inverse=True)
    return codes.reshape(values.shape).astype(np.int64), used


@dataclass(frozen=True, slots=True)
class _Model:
    """The likelihood of *given*: `design` by the free parameters, of which `basis` makes the strengths; the last is
    the advantage of the left side, unless `no_side` says why not. `cell` of each label, `counts` in the cells."""

    given: Comparisons
    no_side: Note | None
    basis: Numbers
    pairs: Places
    design: Numbers
    cell: Places
    counts: Numbers
    top: Maximum

    @classmethod
    def of(cls, given: Comparisons, no_side: Note | None) -> "_Model":
        """Return the model fitted to all labels."""
        sides = no_side is None
        size = len(given.models)
        basis = np.linalg.svd(np.ones((1, size)))[2][1:].T  # columns that sum to 0, of length 1, at right angles
        side = given.side if sides else np.zeros_like(given.side)
        cells, cell = np.unique(np.stack([given.first, given.second, side]), axis=1, return_inverse=True)
        design = (basis[cells[0]] - basis[cells[1]]) / 2
        if sides:
            design = np.concatenate([design, cells[2][:, None] / 2], axis=1)
        cell = cell.reshape(-1).astype(np.int64)
        counts = _counted(np.zeros_like(cell), cell, given.preferred, 1, len(design))
        return cls(given, no_side, basis, cells, design, cell, counts, maximised(counts, design))

    @property
    def sides(self) -> bool:
        """True if the advantage of the left side is a parameter."""
        return self.no_side is None

    @property
    def settled(self) -> bool:
        """True if the likelihood has a maximum."""
        return bool(self.top.settled[0])

    @property
    def tied(self) -> bool:
        """True if a comparison ended in a tie."""
        return bool((self.given.preferred == TIE).any())

    @property
    def crossed(self) -> bool:
        """True if intervals are over annotators too."""
        return int(self.given.annotator.max()) + 1 >= FEWEST_ANNOTATORS

    @property
    def signature(self) -> str:
        """The parameters that were estimated, and the units that were left out for the intervals."""
        ties = "davidson" if self.tied else "none"
        sides = "left" if self.sides else "separated" if self.no_side == SIDE_DECIDES else "unknown"
        unit = "context+annotator" if self.crossed else "context"
        return f"bradley-terry|ties:{ties}|side:{sides}|unit:{unit}|sandwich-t:{MOST_LEFT_OUT}|v{VERSION}"

    def estimates(self, contrasts: Numbers) -> list[Estimate]:
        """Return each of *contrasts* of the strengths, then ln of nu, then the log-odds of the left side."""
        wanted = np.zeros((len(contrasts) + 2, self.design.shape[1] + 1))
        wanted[: len(contrasts), : self.basis.shape[1]] = contrasts @ self.basis
        wanted[-2, -1] = 1.0
        if self.sides:
            wanted[-1, -2] = 1.0
        kinds = [self.given.context, *([self.given.annotator] if self.crossed else [])]
        moved = [self._moved(codes, wanted) for codes in kinds]
        both = self._both(wanted) if self.crossed else np.zeros(len(wanted))
        values = np.where(np.isfinite(self.top.values[0]), self.top.values[0], 0.0) @ wanted.T
        free = self._freedom(kinds)
        concerns = [np.flatnonzero(np.abs(row) > STILL) for row in contrasts]
        result = []
        for at in range(len(wanted)):
            models = concerns[at] if at < len(concerns) else ()
            freedom = [min([most, *of_models[list(models)]]) for most, of_models in free]
            result.append(self._estimate(values[at], [entry[:, at] for entry in moved], both[at], freedom))
        if not self.tied:
            result[-2] = Estimate.undefined(NO_TIE, result[0].units)
        return result if self.no_side is None else [*result[:-1], Estimate.undefined(self.no_side, result[0].units)]

    @property
    def _used(self) -> slice:
        """The parameters, without nu if no comparison ended in a tie."""
        return slice(None if self.tied else -1)

    def _moved(self, codes: Places, wanted: Numbers) -> Numbers:
        """Return how far each unit moves each of *wanted*, units x wanted; many units are joined into 400 parts. NaN
        where *wanted* would not be determined without the unit."""
        units = int(codes.max()) + 1
        parts = min(units, MOST_LEFT_OUT)
        of = np.random.default_rng(0).permutation(units) % parts if units > parts else np.arange(units)
        own = _counted(of[codes], self.cell, self.given.preferred, parts, len(self.design))
        slopes, shares = derivatives(own, self.design, self.top.values[0])
        used = self._used
        return corrected(self.top.information[0][used, used], slopes[:, used], shares[:, used, used], wanted[:, used])

    def _both(self, wanted: Numbers) -> Numbers:
        """Return the variance over pairs of context and annotator, which both kinds of units contain."""
        annotators = int(self.given.annotator.max()) + 1
        moved = self._moved(_codes(self.given.context * annotators + self.given.annotator)[0], wanted)
        return np.asarray((moved**2).sum(axis=0))

    def _freedom(self, kinds: Sequence[Places]) -> list[tuple[float, Numbers]]:
        """Count degrees of freedom of each kind of units, by their labels, and for each model.

        Those of a model are the number of units with labels of it, minus 1: its estimates have no more.
        """
        models = range(len(self.given.models))
        takes_part = [(self.given.first == model) | (self.given.second == model) for model in models]
        return [
            (
                effective_units(np.bincount(codes)) - 1,
                np.array([len(np.unique(codes[rows])) - 1.0 for rows in takes_part]),
            )
            for codes in kinds
        ]

    def _estimate(self, value: float, moved: list[Numbers], both: float, freedom: list[float]) -> Estimate:
        units = [int(self.given.context.max()) + 1, *([int(self.given.annotator.max()) + 1] if self.crossed else [])]
        estimate = Estimate(float(value), units=units[0], clusters=units[1] if self.crossed else 0)
        if min(units) < 2:
            return replace(estimate, note=ONE_UNIT)
        if not all(np.isfinite(numbers).all() for numbers in moved):
            return replace(estimate, note=Note(HANGS_ON_ONE, {"units": round(min(freedom)) + 1}))
        if min(freedom) < 1:
            return replace(estimate, note=UNEQUAL)
        variances = [float(numbers @ numbers) for numbers in moved]
        if self.crossed:
            return of_kinds(estimate, list(zip(variances, freedom, strict=True)), both)
        se = float(np.sqrt(variances[0]))
        skew = float((moved[0] ** 3).sum()) / se**3 if se > STILL and units[0] >= FEWEST_SKEWED else 0.0
        made = by_t(estimate, se, units[0], None, freedom[0], skew=skew)
        return made if made.low is None else replace(made, method=BY_SANDWICH)

    def fit(self) -> Fit:
        """Test whether a parameter for each pair of models fits better than one strength a model."""
        low, high = np.minimum(*self.pairs[:2]), np.maximum(*self.pairs[:2])
        of, pairs = _codes(low * len(self.given.models) + high)[0], len(np.unique(low * len(self.given.models) + high))
        own = np.zeros((len(of), pairs))
        own[np.arange(len(of)), of] = np.where(self.pairs[0] == low, 0.5, -0.5)
        if self.sides:
            own = np.concatenate([own, self.pairs[2][:, None] / 2], axis=1)
        df = pairs - self.basis.shape[1]
        if df < 1 or pairs > MOST_PAIRS:
            return Fit(None, max(0, df), None, TWO_MODELS if df < 1 else Note(MANY_PAIRS, {"pairs": pairs}))
        ratio = max(0.0, 2 * float(maximised(self.counts, own).height[0] - self.top.height[0]))
        contexts = int(self.given.context.max()) + 1
        if contexts < df + ROOM_OF_CONTEXTS:
            return Fit(ratio, df, None, Note(FEW_CONTEXTS, {"contexts": contexts}))
        p = self._robust_p(own[:, :pairs], df, contexts)
        return Fit(ratio, df, p, ALL_ALIKE if p is None else None)

    def _robust_p(self, pairs: Numbers, df: int, contexts: int) -> float | None:
        """Return p of the score test of parameters for pairs, by the spread of contexts (Boos 1992), F as Hotelling.

        None where the contexts do not differ.
        """
        from scipy import stats  # scipy.stats takes a while to import

        # Directions of the pairs that no strengths make.
        flat = np.linalg.lstsq(pairs, self.design[:, : self.basis.shape[1]], rcond=None)[0]
        free = np.linalg.svd(flat.T)[2][np.linalg.matrix_rank(flat) :].T
        values = self.top.values[0]
        columns = np.concatenate([pairs @ free, self.design], axis=1)
        parameters = np.concatenate([np.zeros(free.shape[1]), values])
        added = scores(self.given.preferred, self.cell, columns, parameters)
        whole = derivatives(self.counts, columns, parameters)[1][0]
        own, rest = slice(0, free.shape[1]), slice(free.shape[1], None if self.tied else -1)
        clean = added[:, own] - added[:, rest] @ np.linalg.solve(whole[rest, rest], whole[rest, own])
        of_contexts = np.stack([np.bincount(self.given.context, weights=entry) for entry in clean.T], axis=1)
        spread = np.cov(of_contexts.T, ddof=1).reshape(df, df) * contexts
        total = of_contexts.sum(axis=0)
        if np.linalg.eigvalsh(spread)[0] <= STILL:
            return None
        statistic = float(total @ np.linalg.solve(spread, total)) * (contexts - df) / (df * (contexts - 1))
        return float(stats.f.sf(statistic, df, contexts - df))


def _counted(unit: Places, cell: Places, preferred: Places, units: int, cells: int) -> Numbers:
    """Count the labels by unit, cell and outcome (first, second, tie): units x cells x 3."""
    flat = np.bincount((unit * cells + cell) * 3 + preferred, minlength=units * cells * 3)
    return flat.reshape(units, cells, 3).astype(float)
