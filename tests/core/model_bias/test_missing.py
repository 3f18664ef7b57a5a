"""Bounds of the mean for sentences without a value."""

import math

import pandas as pd
import pytest

from evenhand.core.model_bias.summary import NO_ROWS, NO_SIZE, missing_values


def frame(*values: float, mass: float = 0.5) -> pd.DataFrame:
    return pd.DataFrame({"bias_log10": values, "pair_mass": mass})


def test_bounds_equal_hand_computation() -> None:
    result = missing_values(frame(1.0, -0.5, math.nan, math.nan, math.inf))
    # Size 1; known: 1 - 0.5 + 1 (infinite, to the male word) = 1.5; two missing; five sentences.
    assert (result.rows, result.missing, result.infinite, result.size, result.size_is) == (5, 2, 1, 1.0, "largest")
    assert (result.signed_mean_if_female, result.signed_mean_if_male) == pytest.approx(((1.5 - 2) / 5, (1.5 + 2) / 5))
    assert (result.male_share_if_female, result.male_share_if_male) == pytest.approx((2 / 5, 4 / 5))


def test_bounds_use_the_given_size() -> None:
    result = missing_values(frame(0.2, math.nan), size=3.0)
    assert (result.size, result.size_is) == (3.0, "asked")
    assert (result.signed_mean_if_female, result.signed_mean_if_male) == pytest.approx(((0.2 - 3) / 2, (0.2 + 3) / 2))


def test_sentences_under_the_chosen_pair_mass_are_missing() -> None:
    rows = pd.concat([frame(0.4), frame(-0.2, mass=0.001)])
    result = missing_values(rows, least_mass=0.01)
    assert (result.missing, result.size) == (1, 0.4)
    assert (result.signed_mean_if_female, result.signed_mean_if_male) == pytest.approx((0.0, 0.4))


def test_bounds_without_missing_values_equal_the_mean() -> None:
    result = missing_values(frame(0.4, -0.2))
    assert (result.signed_mean_if_female, result.signed_mean_if_male) == pytest.approx((0.1, 0.1))


def test_zeros_give_no_size_for_missing_values() -> None:
    result = missing_values(frame(0.0, 0.0, math.inf))
    assert result.signed_mean_if_female is None and result.reason == NO_SIZE and result.size is None
    assert missing_values(frame(0.0, 0.0)).signed_mean_if_male == 0.0


def test_without_a_finite_value_there_is_no_size() -> None:
    result = missing_values(frame(math.nan, math.inf))
    assert result.signed_mean_if_female is None and result.reason == NO_SIZE
    assert (result.male_share_if_female, result.male_share_if_male) == (0.5, 1.0)
    assert missing_values(frame()).reason == NO_ROWS
