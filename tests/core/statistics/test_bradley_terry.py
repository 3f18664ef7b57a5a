"""Strengths: Agresti's baseball, Davidson's puddings, statsmodels, what has no maximum, other names."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from benchmarks.coverage_loop import coverage
from benchmarks.designs.annotators import PREFERENCES as DESIGN
from evenhand.core.statistics.bradley_terry import (
    ALL_TIES,
    NO_COMPARISON,
    NO_SIDES,
    NO_TIE,
    ONE_SIDE,
    SIDE_DECIDES,
    Comparisons,
    bradley_terry,
)
from evenhand.core.statistics.estimate import ALL_ALIKE

# Home and away team, games won by either: Agresti (2002), Categorical Data Analysis, table 10.10.
BASEBALL = """Milwaukee Detroit 4 3|Milwaukee Toronto 4 2|Milwaukee York 4 3|Milwaukee Boston 6 1
|Milwaukee Cleveland 4 2|Milwaukee Baltimore 6 0|Detroit Milwaukee 3 3|Detroit Toronto 4 2|Detroit York 4 3
|Detroit Boston 6 0|Detroit Cleveland 6 1|Detroit Baltimore 4 3|Toronto Milwaukee 2 5|Toronto Detroit 4 3
|Toronto York 2 4
|Toronto Boston 4 3|Toronto Cleveland 4 2|Toronto Baltimore 6 0|York Milwaukee 3 3|York Detroit 5 1|York Toronto 2 5
|York Boston 4 3|York Cleveland 4 2|York Baltimore 6 1|Boston Milwaukee 5 1|Boston Detroit 2 5|Boston Toronto 3 3
|Boston York 4 2|Boston Cleveland 5 2|Boston Baltimore 6 0|Cleveland Milwaukee 2 5|Cleveland Detroit 3 3
|Cleveland Toronto 3 4|Cleveland York 4 3|Cleveland Boston 4 2|Cleveland Baltimore 2 4|Baltimore Milwaukee 2 5
|Baltimore Detroit 1 5|Baltimore Toronto 1 6|Baltimore York 2 4|Baltimore Boston 1 6|Baltimore Cleveland 3 4"""
# Two brands, preferred first, preferred second, no preference: Davidson (1970), example 2.
PUDDINGS = """1 2 19 22 16|1 3 16 19 12|2 3 19 19 10|1 4 18 23 13|2 4 23 19 9|3 4 19 20 15|1 5 13 19 18|2 5 16 20 12
|3 5 16 15 17|4 5 17 14 16|1 6 18 21 12|2 6 22 20 12|3 6 13 18 10|4 6 14 19 18|5 6 11 21 12"""


def compared(text: str, *, sides: bool = False) -> Comparisons:
    """Return comparisons, each in its own context; with *sides* the first was left, and every second is turned."""
    rows = [line.split() for line in text.replace("\n", "").split("|")]
    models = tuple(dict.fromkeys(name for row in rows for name in row[:2]))
    gradients = [
        (models.index(row[0]), models.index(row[1]), outcome)
        for row in rows for outcome, number in enumerate(row[2:]) for _ in range(int(number))
    ]  # fmt: skip
    first, second, preferred = np.array(gradients, dtype=np.int64).reshape(-1, 3).T
    where = np.arange(len(first))
    comparisons = Comparisons(
        models, first, second, preferred, np.full(len(first), int(sides)), where, np.zeros_like(where)
    )
    return swapped(comparisons, where % 2 == 0) if sides else comparisons


def swapped(found: Comparisons, which: np.ndarray) -> Comparisons:
    """Return the comparisons with some of them given in the opposite order."""
    first, second = np.where(which, found.second, found.first), np.where(which, found.first, found.second)
    other = np.array([1, 0, 2])[found.preferred]
    return replace(
        found, first=first, second=second, preferred=np.where(which, other, found.preferred),
        side=np.where(which, -found.side, found.side),
    )  # fmt: skip


def values(found: Comparisons) -> np.ndarray:
    return np.array([strength.value for strength in bradley_terry(found).strengths], dtype=float)


def test_baseball_strengths_equal_agresti() -> None:
    model = bradley_terry(compared(BASEBALL))
    strengths = np.array([strength.value for strength in model.strengths])
    assert sorted(np.round(strengths - strengths[-1], 2)) == [0, 0.68, 1.11, 1.25, 1.29, 1.44, 1.58]  # table 10.11
    # "About 0.3"; ours do not trust the model, but the spread of the games.
    assert [model.difference(at, 6).se for at in range(6)] == pytest.approx([0.33] * 6, abs=0.04)
    assert strengths.sum() == pytest.approx(0)
    assert (round(model.fit.ratio or 0, 1), model.fit.df) == (15.7, 15)  # the deviance of the model
    assert model.tie.reason == NO_TIE and model.left.reason == NO_SIDES


def test_each_missing_side_has_its_own_reason() -> None:
    """Not known; always the same; known, but the left text always wins where the models do not decide."""
    result = compared(BASEBALL)
    assert bradley_terry(result).left.reason == NO_SIDES
    assert bradley_terry(replace(result, side=np.ones_like(result.side))).left.reason == ONE_SIDE
    left_wins = compared("a b 6 6|b c 6 6|a c 6 6", sides=True)
    left_wins = replace(left_wins, side=np.where(left_wins.preferred == 0, 1, -1))
    dropped = bradley_terry(left_wins)
    assert dropped.reason is None and dropped.left.reason == SIDE_DECIDES and "side:separated" in dropped.signature
    assert [strength.value for strength in dropped.strengths] == pytest.approx([0, 0, 0], abs=1e-9)


def test_the_home_advantage_equals_agresti() -> None:
    model = bradley_terry(compared(BASEBALL, sides=True))
    worth = np.exp([strength.value for strength in model.strengths])
    assert sorted(np.round(worth / worth.sum(), 3)) == [0.044, 0.088, 0.137, 0.157, 0.164, 0.190, 0.220]
    assert model.left.value is not None and model.left.low is not None
    assert round(np.log(model.left.value / (1 - model.left.value)), 3) == 0.302
    assert model.left.low > 0.5  # significant, as there


def test_puddings_equal_plackett_luce() -> None:
    """Vignette of the R package PlackettLuce 0.4.3, which stops at Davidson's seventh round: four digits."""
    model = bradley_terry(compared(PUDDINGS))
    worth = np.exp([strength.value for strength in model.strengths])
    printed = [0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855]
    assert worth / worth.sum() == pytest.approx(printed, abs=5e-5)
    assert model.tie.value is not None
    assert 2 * model.tie.value / (1 - model.tie.value) == pytest.approx(0.7468147, abs=5e-5)
    # Each comparison alone in its context: the robust errors are near those of the model.
    assert [strength.se for strength in model.strengths] == pytest.approx(
        [0.121949, 0.121818, 0.126823, 0.122003, 0.127054, 0.126594], rel=0.06
    )
    assert model.ranks == ((1, 6),) * 6  # "none of the Z tests": one of fifteen differences is near 1.96


def test_robust_errors_equal_a_clustered_logistic_regression() -> None:
    """statsmodels, GLM with cov_type="cluster": the error without the correction for pulling the maximum."""
    import statsmodels.api as sm

    random = np.random.default_rng(3)
    context = np.repeat(np.arange(60), 4)
    first, second = np.array([(0, 1), (1, 2), (0, 2)])[random.integers(0, 3, 240)].T
    won = random.random(240) < 1 / (1 + np.exp(-(np.array([0.5, 0, -0.5])[first] - np.array([0.5, 0, -0.5])[second])))
    where = np.arange(240)
    model = bradley_terry(Comparisons(
        ("a", "b", "c"), first, second, np.where(won, 0, 1), np.zeros_like(where), context, np.zeros_like(where)
    ))  # fmt: skip
    design = np.zeros((240, 3))
    design[where, first], design[where, second] = 1, -1
    fitted = sm.GLM(won * 1.0, design[:, 1:], family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": context}
    )
    apart = model.difference(1, 0)
    assert apart.value == pytest.approx(fitted.params[0], abs=1e-6)
    assert apart.se == pytest.approx(fitted.bse[0], rel=0.03)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a b 3 0 0|b c 2 1 0|c b 1 1 0", "Never behind the others: a."),
        ("a b 0 3 0|c b 0 1 0|a c 1 1 0", "Never behind the others: b."),
        ("a b 2 1 0|c d 1 2 0|c d 1 0 1", "No chain of comparisons connects these groups: a, b | c, d."),
        ("a b 5 0 5", "Never behind the others: a."),  # as many ties as wins: both grow without end
        ("a b 0 0 4|b c 0 0 2", str(ALL_TIES)),
        ("a b 2 2 1|c b 0 0 0|c a 0 2 0", "Never behind the others: a, b."),
    ],
)
def test_strengths_without_a_maximum_have_a_reason(text: str, says: str) -> None:
    model = bradley_terry(compared(text))
    assert str(model.reason).startswith(says)
    assert (
        {strength.value for strength in model.strengths} == {None} and model.tie.value is None and model.fit.p is None
    )
    assert set(model.ranks) == {(1, len(model.models))}


def test_strengths_without_comparisons_or_with_one_context() -> None:
    empty = np.zeros(0, dtype=np.int64)
    assert bradley_terry(Comparisons((), *[empty] * 6)).reason == NO_COMPARISON
    rows = compared("a b 2 1 1")
    model = bradley_terry(replace(rows, context=np.zeros_like(rows.context)))
    assert model.strengths[0].value == pytest.approx(np.log(2) / 2) and model.strengths[0].low is None
    without = bradley_terry(compared("a b 3 0 0|b c 2 1 0|c d 1 1 0|b d 2 1 0").without(["a"]))
    assert without.models == ("b", "c", "d") and without.reason is None


def test_a_model_compared_in_one_context_has_no_interval() -> None:
    """a was compared in one context only, so its strength in another one is unknown."""
    result = compared("b c 8 9 2|a b 1 1 1")
    made = bradley_terry(replace(result, context=np.minimum(result.context, 19)))
    of_a = made.strengths[made.models.index("a")]
    assert of_a.value is not None and of_a.low is None and "without one of them" in str(of_a.note)
    assert made.difference(0, 1).low is not None, "b and c are compared in many"
    assert made.ranks[2] == (1, 3)


def test_identical_contexts_show_no_difference() -> None:
    """All contexts have the same four labels, so another context could be anything and no difference is sure."""
    result = compared("a b 40 20 0|b c 40 20 0|c a 20 20 0")
    where = np.concatenate([np.arange(60) % 20, np.arange(60) % 20, np.arange(40) % 20])
    made = bradley_terry(replace(result, context=where))
    assert made.difference(0, 2).value is not None and made.difference(0, 2).low is None
    assert not any(difference.stays for difference in made.differences) and set(made.ranks) == {(1, 3)}
    assert made.fit.p is None and made.fit.reason == ALL_ALIKE


labels = st.lists(
    st.tuples(st.sampled_from([(0, 1), (1, 2), (0, 2), (2, 3)]), st.integers(0, 2), st.sampled_from([-1, 1])),
    min_size=12, max_size=40,
)  # fmt: skip


def of_labels(rows: list[tuple[tuple[int, int], int, int]]) -> Comparisons:
    pairs, preferred, side = zip(*rows, strict=True)
    first, second = np.array(pairs).T
    where = np.arange(len(rows))
    comparisons = Comparisons(
        ("k", "l", "m", "n"), first, second, np.array(preferred), np.array(side), where // 2, where % 6
    )
    return comparisons.only(np.ones(len(rows), dtype=bool))


@settings(max_examples=12, deadline=None)
@given(labels)
def test_the_order_within_comparisons_does_not_matter(rows: list[tuple[tuple[int, int], int, int]]) -> None:
    model = bradley_terry(of_labels(rows))
    other = bradley_terry(swapped(of_labels(rows), np.arange(len(rows)) % 3 == 0))
    assert model.ranks == other.ranks and str(model.reason) == str(other.reason)
    for this, that in zip(
        (*model.strengths, model.left, model.tie), (*other.strengths, other.left, other.tie), strict=True
    ):
        assert [this.value, this.low, this.high] == pytest.approx([that.value, that.low, that.high], abs=1e-6)


@settings(max_examples=12, deadline=None)
@given(labels)
def test_strengths_exist_by_the_exact_condition(
    rows: list[tuple[tuple[int, int], int, int]],
) -> None:
    """The exact condition, by a linear programme: a direction in which no label loses and some label gains."""
    result = of_labels(rows)
    result = replace(result, side=np.zeros_like(result.side))
    size, ties = len(result.models), bool((result.preferred == 2).any())
    gains = []
    for first, second, preferred in zip(result.first, result.second, result.preferred, strict=True):
        apart = np.zeros(size + 1)
        apart[first], apart[second] = 0.5, -0.5
        tie = np.eye(size + 1)[-1]
        of = [apart, -apart, *([tie] if ties else [])]
        gains += [of[preferred] - other for at, other in enumerate(of) if at != preferred]
    gained = np.array(gains)
    best = linprog(-gained.sum(axis=0), -gained, np.zeros(len(gained)), bounds=[(-1, 1)] * (size + 1))
    free = np.linalg.matrix_rank(gained) < size - 1 + ties
    exists = -best.fun < 1e-7 and not free
    assert (bradley_terry(result).reason is None) == exists


def test_strengths_do_not_depend_on_names_and_order() -> None:
    result = compared(PUDDINGS)
    order = np.array([3, 0, 5, 1, 4, 2])
    models = tuple(result.models[at] for at in np.argsort(order))
    other = replace(result, models=models, first=order[result.first], second=order[result.second])
    assert values(other)[order] == pytest.approx(values(result))


def test_cycles_are_found_and_labels_of_a_context_count_once() -> None:
    """a > b > c > a, each by three to one: no strengths fit this. Ten repeats in each context add no certainty."""
    circle = compared("a b 30 10 0|b c 30 10 0|c a 30 10 0")
    fit = bradley_terry(circle).fit
    assert fit.p is not None and fit.p < 1e-6 and fit.df == 1
    assert fit.ratio == pytest.approx(2 * 120 * (np.log(2) + 0.75 * np.log(0.75) + 0.25 * np.log(0.25)))  # by hand
    comparisons = compared("a b 6 4 0|b c 6 4 0|c a 6 4 0")
    ten = [
        np.repeat(getattr(comparisons, name), 10)
        for name in ("first", "second", "preferred", "side", "context", "annotator")
    ]
    assert bradley_terry(Comparisons(comparisons.models, *ten)).fit.p == pytest.approx(bradley_terry(comparisons).fit.p)


def test_many_models_are_not_checked_for_cycles() -> None:
    random = np.random.default_rng(1)
    first = random.integers(0, 25, 3000)
    second = (first + random.integers(1, 25, 3000)) % 25
    where = np.arange(3000)
    model = bradley_terry(Comparisons(
        tuple(map(str, range(25))), first, second, random.integers(0, 3, 3000), random.choice([-1, 1], 3000),
        where // 6, np.zeros_like(where),
    ))  # fmt: skip
    assert model.reason is None and "Too many pairs of models (300)" in str(model.fit.reason)
    assert sum(strength.low is None for strength in model.strengths) == 0


def test_intervals_of_a_simulated_cell_have_their_coverage() -> None:
    cell = {"models": 3, "contexts": 30, "annotators": 12, "labels": 3, "ties": 0.25, "leaning": 1}
    results = {entry.measure: entry for entry in coverage(DESIGN, cell, 20)}
    assert min(entry.share for entry in results.values()) >= 0.8
