"""The Beta distribution of disagreement: the reference's numbers, where it is undefined, what it keeps.

See docs/misgendering.md#the-numbers.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenhand.core.misgendering.agreement import disagreement, fit_beta
from evenhand.core.statistics.units import Clusters

PROB = np.array([float(c) for c in "1111001011"])
GEN = np.array([1, 0.8, 0.6, 1, 0.2, 0.4, 1, 0, 0.8, 0.6])
D = [0, 0.2, 0.4, 0, 0.2, 0.4, 0, 0, 0.2, 0.4]
VALUES = st.lists(st.sampled_from([0, 0.2, 0.4, 0.6, 0.8, 1.0]), min_size=2, max_size=40)


def test_disagreement_equals_golden_numbers() -> None:
    assert disagreement(PROB, GEN) == pytest.approx(D)


# [R]
@pytest.mark.parametrize(
    ("values", "alpha", "beta"),
    [
        (D, 0.686348, 3.126696),
        ([0, 0.2, 0.4, 0.6, 0.8, 1], 0.392857, 0.392857),
        ([0, 0, 0, 0.2, 0.2, 0.4, 1, 0, 0, 0], 0.081039, 0.369179),
    ],
)
def test_fits_equal_golden_numbers(values: list[float], alpha: float, beta: float) -> None:
    result = fit_beta(values)
    assert (result.alpha.value, result.beta.value) == pytest.approx((alpha, beta), abs=1e-6)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([], "verdicts by both methods"),
        ([0.4], "Only one instance"),
        ([0.2, 0.2, 0.2], "same on every instance"),
        ([0, 0, 0], "same on every instance"),
        ([0, 0, 1, 1], "varies too much"),
        ([math.nan, 0.2], "Only one instance"),
    ],
)
def test_an_impossible_fit_has_a_reason(values: list[float], why: str) -> None:
    result = fit_beta(values)
    assert result.alpha.value is None and result.beta.value is None
    assert why in str(result.reason)


@given(VALUES)
def test_the_fit_has_the_moments_of_the_data(values: list[float]) -> None:
    result = fit_beta(values)
    assume(result.alpha.value is not None)
    a, b = result.alpha.value or 0, result.beta.value or 0
    assert a > 0 and b > 0
    assert a / (a + b) == pytest.approx(np.mean(values))
    assert a * b / ((a + b) ** 2 * (a + b + 1)) == pytest.approx(np.var(values, ddof=1))


@given(VALUES)
def test_exchanging_agreement_and_disagreement_swaps_alpha_and_beta(values: list[float]) -> None:
    fitted, turned = fit_beta(values), fit_beta([1 - value for value in values])
    assume(fitted.alpha.value is not None and turned.alpha.value is not None)
    assert (fitted.alpha.value, fitted.beta.value) == pytest.approx((turned.beta.value, turned.alpha.value), rel=1e-6)


@given(st.floats(0, 1), st.floats(0, 1))
def test_disagreement_is_symmetric_and_within_bounds(prob: float, gen: float) -> None:
    first, second = (disagreement(np.array([a]), np.array([b]))[0] for a, b in ((prob, gen), (gen, prob)))
    assert first == pytest.approx(second, abs=1e-12)
    assert -1e-12 <= first <= 1 + 1e-12


def test_intervals_contain_the_fit() -> None:
    random = np.random.default_rng(0)
    values = random.choice([0, 0.2, 0.4, 1.0], size=200, p=[0.6, 0.2, 0.1, 0.1])
    result = fit_beta(values, Clusters(("template",), (np.arange(200) % 40,)))
    for estimate in (result.alpha, result.beta):
        assert estimate.low is not None and estimate.value is not None and estimate.high is not None
        assert 0 < estimate.low < estimate.value < estimate.high


def test_a_planted_beta_is_recovered() -> None:
    """2,000 draws of Beta(0.5, 2): within 15% of what was planted."""
    values = np.random.default_rng(11).beta(0.5, 2, size=2000)
    result = fit_beta(values)
    assert (result.alpha.value, result.beta.value) == pytest.approx((0.5, 2), rel=0.15)
