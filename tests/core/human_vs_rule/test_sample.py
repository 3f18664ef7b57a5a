"""Samples of generations: distinct contexts first, the intra-class correlation, what a design is worth."""

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import Refused
from evenhand.core.human_vs_rule.sample import (
    ALL_EQUAL,
    NO_REPEATS,
    ONE_CONTEXT,
    design,
    designs,
    distinct_first,
    intra_class,
)

Labels = list[list[float]]


def correlation(groups: Labels) -> float | None:
    return intra_class({"all": dict(enumerate(groups))}).value


# Worked by hand from the sums of squares.
# 1: means 0.75, 0.25, 0.5 of 4; MSB = 4 (0.0625 + 0.0625) / 2 = 0.25; MSW = (0.75 + 0.75 + 1) / 9 = 0.277..; k = 4:
#    (0.25 - 0.27778) / (0.25 + 3 x 0.27778) = -0.027778 / 1.083333 = -0.025641
# 2: numbers 1 2 / 3 4 / 5 6: MSB = 2 (4 + 0 + 4) / 2 = 8, MSW = 3 x 0.5 / 3 = 0.5, k = 2: 7.5 / 8.5
# 3: unequal: [1, 1, 1], [0, 0], [1]: N = 6, mean 4/6; SSB = 3/9 + 2 x 4/9 + 1/9 = 12/9, MSB = 0.6667, MSW = 0: 1
# 4: unequal: [1, 0], [1, 1, 1, 0]: mean 4/6; SSB = 2/36 + 4 x (1/12)^2 = 1/12; MSB = 1/12; MSW = (0.5 + 0.75) / 4 =
#    0.3125; k = 6 - 20/6 = 2.6667: (0.083333 - 0.3125) / (0.083333 + 1.6667 x 0.3125) = -0.229167 / 0.604167
@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([[1, 1, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]], -0.0256410256),
        ([[1, 2], [3, 4], [5, 6]], 7.5 / 8.5),
        ([[1, 1, 1], [0, 0], [1]], 1.0),
        ([[1, 0], [1, 1, 1, 0]], -0.3793103448),
        ([[1, 1], [0, 0], [1, 1]], 1.0),
        ([[1, 0], [1, 0], [1, 0]], -1.0),
    ],
)
def test_intra_class_correlation_equals_hand_computation(groups: Labels, expected: float) -> None:
    assert correlation(groups) == pytest.approx(expected, abs=1e-9)


def test_intra_class_correlation_equals_shrout_and_fleiss() -> None:
    """Table 2 of Shrout and Fleiss (1979, Psychological Bulletin 86): 6 targets x 4 judges, ICC(1,1) = 0.17."""
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert correlation([[float(value) for value in row] for row in table]) == pytest.approx(0.17, abs=0.005)


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([[1, 0, 1]], ONE_CONTEXT),
        ([[1], [0], [1]], NO_REPEATS),
        ([[1, 1], [1, 1]], ALL_EQUAL),
        ([], ONE_CONTEXT),
    ],
)
def test_an_undefined_correlation_has_a_reason(groups: Labels, reason: object) -> None:
    result = intra_class({"all": dict(enumerate(groups))})
    assert result.value is None and result.reason == reason


def test_differences_between_strata_do_not_raise_the_correlation() -> None:
    """Two models, one always right and one always wrong but for chance: within each, contexts are alike by chance."""
    alike = {"a": {1: [1.0, 0.0], 2: [1.0, 0.0]}, "b": {3: [5.0, 6.0], 4: [6.0, 5.0]}}
    result = intra_class(alike)
    assert result.value == pytest.approx(-1.0) and (result.contexts, result.labels) == (4, 8)
    together = {"all": {**alike["a"], **alike["b"]}}
    assert (intra_class(together).value or 0) > 0.9


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=5), min_size=1, max_size=8), st.randoms())
def test_intra_class_correlation_is_at_most_one_in_any_order(groups: list[list[int]], rng: random.Random) -> None:
    result = intra_class({"all": dict(enumerate(groups))})
    mixed = [rng.sample(drawn, len(drawn)) for drawn in rng.sample(groups, len(groups))]
    again = intra_class({"all": dict(enumerate(mixed))})
    assert (result.value is None) == (again.value is None)
    if result.value is not None and again.value is not None:
        assert result.value <= 1 + 1e-12
        assert result.value == pytest.approx(again.value, abs=1e-9)


def test_distinct_contexts_improve_the_published_design() -> None:
    """p = 0.8, rho = 0.5: 25 x 1 has sqrt(0.16 / 25) = 0.08; 5 x 5 has the root of 1 + 4 x 0.5 = 3 times that."""
    spread, published = design(25, 1, 0.8, 0.5), design(5, 5, 0.8, 0.5)
    assert spread.se == pytest.approx(0.08) and spread.independent == 25
    assert published.se == pytest.approx(0.08 * math.sqrt(3)) and published.effect == pytest.approx(3)
    assert published.independent == pytest.approx(25 / 3)


def test_equal_contexts_are_worth_one_label_each() -> None:
    """Use the standard error of contexts when all five labels of a context are equal (docs/methods.md#intervals)."""
    assert design(5, 5, 0.6, 1.0).se == pytest.approx(math.sqrt(0.24 / 5))


def test_designs_of_a_budget_are_compared() -> None:
    result = designs(25, 0.7, 0.3)
    assert [(design.contexts, design.per_context) for design in result] == [(25, 1), (5, 5), (1, 25)]
    errors = [design.se or 0 for design in result]
    assert errors == sorted(errors)


def test_a_design_without_a_pilot_has_no_error() -> None:
    assert design(25, 1, None, None).se is None
    assert design(25, 1, 0.5, -0.2).se == pytest.approx(0.1)
    with pytest.raises(Refused):
        design(0, 1, 0.5, 0.1)


Generation = tuple[str, str, int]
GENERATIONS = st.lists(
    st.tuples(st.sampled_from(("llama", "olmo")), st.sampled_from("abcdefgh"), st.integers(0, 6)), unique=True
)


def sample(rows: list[Generation], number: int, seed: int = 0) -> list[Generation]:
    return distinct_first(
        rows, number, cell=lambda row: row[0], context=lambda row: row[1], identity=lambda row: repr(row), seed=seed
    )


@given(GENERATIONS, st.integers(1, 12), st.integers(0, 3))
def test_contexts_are_used_up_evenly(rows: list[Generation], number: int, seed: int) -> None:
    chosen = sample(rows, number, seed)
    assert len(set(chosen)) == len(chosen) and set(chosen) <= set(rows)
    assert chosen == [row for row in rows if row in set(chosen)]
    for model in ("llama", "olmo"):
        there = Counter(row[1] for row in rows if row[0] == model)
        used = Counter(row[1] for row in chosen if row[0] == model)
        assert used.total() == min(number, there.total())
        for context, count in there.items():
            # no group has two more than another that still has texts left
            assert all(used[context] >= min(count, used[other] - 1) for other in used)


@given(GENERATIONS, st.integers(1, 12), st.randoms())
def test_the_order_of_the_file_does_not_matter(rows: list[Generation], number: int, rng: random.Random) -> None:
    assert set(sample(rows, number)) == set(sample(rng.sample(rows, len(rows)), number))


def test_a_sample_of_25_has_25_distinct_contexts() -> None:
    rows = [("llama", str(context), index) for context in range(25) for index in range(5)]
    assert len({row[1] for row in sample(rows, 25)}) == 25
    assert Counter(Counter(row[1] for row in sample(rows, 30)).values()) == {1: 20, 2: 5}
    assert sample(rows, 25, 1) != sample(rows, 25, 2)


def test_every_generation_is_drawn_equally_often() -> None:
    rows = [("llama", str(context), index) for context in range(4) for index in range(3)]
    drawn = Counter(row for seed in range(600) for row in sample(rows, 2, seed))
    # each with 600 x 2 / 12 = 100; five standard deviations
    assert all(abs(drawn[row] - 100) < 5 * math.sqrt(600 * (1 / 6) * (5 / 6)) for row in rows)


def test_a_sample_of_zero_is_refused() -> None:
    with pytest.raises(Refused):
        sample([("llama", "a", 0)], 0)
