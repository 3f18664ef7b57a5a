"""Intervals over few units of unequal size: the planted null, the test by hand, what gives no interval."""

import numpy as np
import pytest

from evenhand.core.statistics.resampling import over_subsets, subsets_of, turned

SIZES = np.array([6000, 8800, 1000, 1000, 800, 400, 400, 400, 400, 200, 400, 200.0])  # of the stems of the released set


def mean_of(leans, sizes=SIZES):
    return over_subsets(lambda chosen: {"mean": chosen @ (sizes * leans) / (chosen @ sizes)}, len(sizes))["mean"]


def test_random_stem_effects_are_significant_in_5_percent():
    """Unequal stems, heavy tails: sentence by sentence nearly all of these would lean."""
    leans = np.random.default_rng(1).standard_t(3, size=(600, 12))
    results = [mean_of(lean) for lean in leans]
    assert 0.02 <= np.mean([entry.p < 0.05 for entry in results]) <= 0.08
    assert all((entry.p > 0.05) == (entry.low <= 0 <= entry.high) for entry in results)
    shifted = [mean_of(lean + 0.7) for lean in leans]
    assert 0.02 <= np.mean([not estimate.low <= 0.7 <= estimate.high for estimate in shifted]) <= 0.08


def test_p_and_interval_equal_sign_flips_of_units():
    leans = np.random.default_rng(3).normal(0.3, 1, 9)
    sizes = np.arange(1, 10.0)
    result = mean_of(leans, sizes)

    def p_at(value):
        sums = turned(9) @ (sizes * (leans - value))
        return (np.abs(sums) >= abs(sums[0]) - 1e-9).mean()

    assert result.p == pytest.approx(p_at(0))
    inside, outside = 1e-6, -1e-6
    for end, way in ((result.low, 1), (result.high, -1)):
        assert p_at(end + way * inside) > 0.05 >= p_at(end + way * outside)
    low, high = result.inner
    assert result.low <= low < high <= result.high and p_at(low + inside) > 0.1 >= p_at(low - inside)


@pytest.mark.parametrize("units", [1, 2, 5])
def test_few_units_have_a_value_and_a_reason(units):
    result = mean_of(np.full(units, 0.4), np.ones(units))
    assert result.value == pytest.approx(0.4) and result.low is None and result.p is None
    assert f"Only {units} independent units: no interval and no test" in str(result.note)


def test_six_units_leaning_one_way_are_just_significant():
    result = mean_of(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), np.ones(6))
    assert result.p == 2 / 64 and (result.low, result.high) == (0.1, 0.6)


def test_a_measure_undefined_in_most_subsets_has_no_interval():
    leans = np.array([1, -1, -1, -1, -1, -1, -1.0])

    def male(chosen):
        ups = chosen[:, 0]
        return {"male": np.divide(ups * leans[0], ups, out=np.full(len(ups), np.nan), where=ups > 0)}

    result = over_subsets(male, 7)["male"]
    assert result.value == 1 and result.low is None and "63 of 127" in str(result.note)


def test_subsets_of_many_units_are_drawn_reproducibly():
    assert len(subsets_of(12)) == 4095 and len(subsets_of(30)) == 8191
    assert (subsets_of(30, 1) == subsets_of(30, 1)).all() and subsets_of(30)[-1].all()
    assert mean_of(np.full(30, 0.4) + np.linspace(-0.1, 0.1, 30), np.ones(30)).p < 0.001


def test_empty_units_and_missing_values_are_left_out():
    assert over_subsets(lambda chosen: {"x": np.full(len(chosen), np.nan)}, 3) == {}
    assert over_subsets(lambda chosen: {"x": np.ones(len(chosen))}, 0) == {}
