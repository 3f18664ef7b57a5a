"""Instance variation: population deviation, fixed levels, missing templates (docs/misgendering.md#the-numbers)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.core.misgendering.metrics import LEVELS, failure_rate, level_counts, sigmas, variation
from evenhand.core.statistics.units import Clusters

NAN = math.nan
# [R]: verdicts of templates, some missing; run through the reference code.
MISSING = np.array([[1, 0, NAN, 1, 1], [NAN] * 5, [1] * 5, [0, NAN, NAN, NAN, NAN], [0, 1, 0, 1, NAN]])
VERDICTS = arrays(float, st.tuples(st.integers(1, 12), st.just(5)), elements=st.sampled_from([0.0, 1.0]))


def alone(rows: int) -> Clusters:
    return Clusters(("instance",), (np.arange(rows),))


@pytest.mark.parametrize(("right", "expected"), [(0, 0), (1, 0.4), (2, 0.4898979), (3, 0.4898979), (4, 0.4), (5, 0)])
def test_sigma_of_five_verdicts_is_the_population_deviation(right: int, expected: float) -> None:
    """ddof 0: with ddof 1 one of five would give 0.447."""
    row = np.array([[1.0] * right + [0.0] * (5 - right)])
    assert sigmas(row)[0] == pytest.approx(expected, abs=1e-7)


def test_variation_with_missing_templates_equals_golden_numbers() -> None:
    assert sigmas(MISSING) == pytest.approx([0.4330127, NAN, 0, 0, 0.5], nan_ok=True)
    result = variation(MISSING, alone(5))
    assert result.mean.value == pytest.approx(0.2332532, abs=1e-7)
    assert result.std == pytest.approx(0.2344525, abs=1e-7)
    assert (result.n, result.dropped, result.complete) == (4, 1, 1)
    assert result.levels == {"0": 1.0, "0.4": 0.0, "0.49": 0.0}
    failed = failure_rate(MISSING)
    assert (failed.value, failed.se) == pytest.approx((0.44, 0.1939072), abs=1e-7)


def test_an_absent_level_has_share_0() -> None:
    """The published code counts what occurs and breaks when a level is absent."""
    result = variation(np.ones((3, 5)), alone(3))
    assert result.levels == {"0": 1.0, "0.4": 0.0, "0.49": 0.0}
    assert result.mean.value == 0


def test_without_five_verdicts_there_are_no_levels() -> None:
    result = variation(np.array([[1.0, 0.0, 1.0]]), alone(1))
    assert result.levels is None and result.complete == 0 and result.n == 1


def test_variation_without_verdicts_is_undefined() -> None:
    for empty in (np.empty((0, 5)), np.full((4, 5), NAN), np.empty((3, 0))):
        result = variation(empty, alone(len(empty)))
        assert result.mean.value is None and result.mean.reason and result.std is None and result.n == 0
    assert failure_rate(np.empty((0, 5))).value is None
    assert failure_rate(np.array([[1.0, NAN]])).se is None


@given(VERDICTS)
def test_sigmas_equal_numpy(verdicts: np.ndarray) -> None:
    assert sigmas(verdicts) == pytest.approx(verdicts.std(axis=1), abs=1e-12)


@given(VERDICTS)
def test_exchanging_wrong_and_right_keeps_sigma(verdicts: np.ndarray) -> None:
    assert level_counts(verdicts).tolist() == level_counts(1 - verdicts).tolist()
    varied, turned = variation(verdicts, alone(len(verdicts))), variation(1 - verdicts, alone(len(verdicts)))
    assert varied.mean.value == pytest.approx(turned.mean.value)
    assert varied.levels is not None and sum(varied.levels.values()) == pytest.approx(1)
    assert tuple(varied.levels) == LEVELS


@given(VERDICTS, st.randoms())
def test_the_order_of_generations_does_not_matter(verdicts: np.ndarray, random: object) -> None:
    mixed = verdicts[:, np.argsort([random.random() for _ in range(5)])]  # type: ignore[attr-defined]
    assert sigmas(mixed) == pytest.approx(sigmas(verdicts))
