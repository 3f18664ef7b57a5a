"""Sampling designs: laws of probabilities and draws, and allocations by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import Refused
from evenhand.core.sampling.designs import (
    LEAST_SHARE,
    deviations,
    disagreement,
    draw,
    equal_strata,
    probabilities,
    random_place,
    rates_of,
    to_close_quotas,
)

SIZES = st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 1e6)), min_size=1, max_size=40)


@given(SIZES, st.integers(1, 50), st.floats(LEAST_SHARE, 1))
def test_probabilities_sum_to_the_sample_and_none_is_0(sizes: list[float], number: int, share: float) -> None:
    result = probabilities(sizes, number, share)
    assert result.sum() == pytest.approx(min(number, len(sizes)))
    assert (result <= 1).all()
    assert result.min() >= min(1.0, share * number / len(sizes)) * (1 - 1e-9)
    order = np.argsort(sizes)
    assert (np.diff(result[order]) >= -1e-9).all(), "a larger size has no smaller probability"


@given(SIZES, st.integers(1, 50), st.integers(0, 1000), st.floats(0, 1, exclude_max=True), st.integers(1, 4))
def test_draws_have_the_requested_size_and_group_shares(
    sizes: list[float], number: int, seed: int, start: float, groups: int
) -> None:
    result = probabilities(sizes, number, 0.2)
    places = np.array([random_place(seed, str(i)) for i in range(len(sizes))])
    names = [i % groups for i in range(len(sizes))]
    drawn = draw(result, names, places, start)
    assert drawn.sum() == min(number, len(sizes))
    assert drawn[result >= 1].all()
    for group in set(names):
        mine = np.array(names) == group
        assert abs(drawn[mine].sum() - result[mine].sum()) < 2


def test_items_are_drawn_with_their_probability() -> None:
    result = probabilities([1, 2, 3, 10, 0, 4], 3, 0.1)
    places, starts = np.arange(6), 4_000
    often = sum(draw(result, None, places, (i + 0.5) / starts).astype(float) for i in range(starts)) / starts
    assert often == pytest.approx(result, abs=2 / starts)


def test_allocations_equal_a_textbook() -> None:
    """Four supermarkets of 100, 200, 300 and 1,000 square metres, one drawn in proportion to its size (Lohr 2010,
    Sampling: Design and Analysis, table 6.2): sales of 11, 20, 24 and 245 are estimated by 176, 160, 128 and 392."""
    sizes, sales = np.array([100, 200, 300, 1000]), np.array([11, 20, 24, 245])
    pure = (probabilities(sizes, 1, 0.2) - 0.2 / 4) / 0.8  # without the random share
    assert sales / pure == pytest.approx([176, 160, 128, 392])
    assert float(pure @ (sales / pure)) == pytest.approx(300)
    assert float(pure @ (sales / pure - 300) ** 2) == pytest.approx(14_248)


def test_equal_strata_get_equal_numbers() -> None:
    strata = ["a"] * 90 + ["b"] * 10
    result = probabilities(equal_strata(strata), 10, LEAST_SHARE)
    assert result[:90].sum() == pytest.approx(0.05 * 9 + 0.95 * 5)
    assert result[90:].sum() == pytest.approx(0.05 * 1 + 0.95 * 5)


def test_disagreement_is_four_times_the_variance_of_the_labels() -> None:
    nan = float("nan")
    votes = np.array([[0, 0], [1, 1], [1, 0], [0.5, nan], [nan, nan]])
    assert disagreement(votes) == pytest.approx([0, 0, 1, 1, 0.5])
    assert disagreement(np.full((2, 1), nan)) == pytest.approx([1, 1])


def test_deviations_combine_observed_and_expected_errors() -> None:
    """Stratum a: 4 expected labels with 10% errors and 6 seen ones with 3 errors: (0.4 + 3) / 10. Stratum b: none."""
    nan = float("nan")
    seen = np.array([1, 1, 1, 0, 0, 0, nan, nan])
    result = deviations(["a"] * 7 + ["b"], np.full(8, 0.1), seen)
    assert result[:7] == pytest.approx([0.34**0.5] * 7)
    assert result[7] == pytest.approx(0.1**0.5)
    assert deviations(["a"], np.zeros(1), np.array([nan]))[0] > 0


@pytest.mark.parametrize(
    ("sizes", "number", "share"), [([], 1, 0.2), ([1.0], 0, 0.2), ([1.0], 1, 0.0), ([1.0], 1, 1.1)]
)
def test_invalid_sample_sizes_are_refused(sizes: list[float], number: int, share: float) -> None:
    with pytest.raises(Refused):
        probabilities(sizes, number, share)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0.05, 0.3, 0.6, 0.9])), min_size=1, max_size=60),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 12)),
    st.floats(LEAST_SHARE, 1),
)
def test_quotas_are_expected_to_close_with_the_fewest_items(
    items: list[tuple[str, float]], missing: dict[str, int], share: float
) -> None:
    cells, rates = [cell for cell, _ in items], np.array([rate for _, rate in items])
    result = to_close_quotas(rates, cells, missing, share)  # type: ignore[arg-type]
    at_random = to_close_quotas(rates, cells, missing, 1.0)  # type: ignore[arg-type]
    for cell in set(cells):
        rows = np.array(cells) == cell
        mine, lacks = result[rows], missing.get(cell, 0)
        assert mine.sum() == pytest.approx(round(mine.sum())) and mine.sum() <= at_random[rows].sum() + 1e-9
        assert (mine > 0).all() == (lacks > 0) and (mine <= 1 + 1e-9).all()
        if lacks:
            assert float(mine @ rates[rows]) >= min(lacks, rates[rows].sum()) - 1e-9
            assert mine.min() >= share * mine.sum() / rows.sum() - 1e-9


def test_quota_probabilities_equal_hand_computation() -> None:
    """Ten of each rate, 6 missing, a fifth at random: 8 items are expected to keep .2 x 8 x .5 + .8 x 8 x .9 = 6.56,
    7 only 5.74. Of 8 the random fifth is .08 for all, and .8 of the likely ones are drawn besides with .64."""
    result = to_close_quotas(np.array([0.9] * 10 + [0.1] * 10), ["x"] * 20, {"x": 6}, 0.2)
    assert result == pytest.approx([0.08 + 0.64] * 10 + [0.08] * 10)
    assert to_close_quotas(np.array([0.9] * 10 + [0.1] * 10), ["x"] * 20, {"x": 6}, 1.0).sum() == pytest.approx(12)


def test_rates_of_no_items_are_empty() -> None:
    assert rates_of([], np.array([]), np.array([])).tolist() == []
