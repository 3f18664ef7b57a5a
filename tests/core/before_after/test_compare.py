"""Differences of items, shares and losses against the plain definitions; golden p-values from outside."""

import numpy as np
import pandas as pd
import pytest

from evenhand.core.before_after.compare import (
    against_placebos,
    clusters_of_pairs,
    compare,
    cost,
    over_runs,
    shares,
)

PAIRS = pd.Series(
    ["他/她", "男孩/女孩", "爸爸/妈妈", "儿子/女儿", "叔叔/阿姨", "哥哥/姐姐", "弟弟/妹妹", "爷爷/奶奶"] * 5
)
CLUSTERS = clusters_of_pairs(PAIRS)


def values(lean: float, seed: int = 0) -> np.ndarray:
    return lean + 0.2 * np.random.default_rng(seed).normal(size=len(PAIRS))


def test_words_of_one_stem_are_one_cluster() -> None:
    assert clusters_of_pairs(pd.Series(["男/女", "男孩/女孩", "他/她"])).count == 2


def test_size_and_shift_are_means_over_items() -> None:
    before, after = values(1.0), values(-0.5, 1)
    result = compare(before, after, CLUSTERS)
    assert result.before == pytest.approx(np.abs(before).mean()) and result.after == pytest.approx(np.abs(after).mean())
    assert result.size.value == pytest.approx((np.abs(after) - np.abs(before)).mean())
    assert result.shift.value == pytest.approx((after - before).mean())
    assert result.size.low is not None and result.size.high is not None and result.size.high < 0
    assert (result.items, result.lost, result.clusters) == (40, 0, 8)


def test_items_answered_by_one_model_only_are_left_out_and_counted() -> None:
    before, after = values(1.0), values(1.0, 1)
    before[0] = after[1] = after[2] = np.nan
    result = compare(before, after, CLUSTERS)
    assert (result.items, result.lost) == (37, 3)
    nothing = compare(np.full(40, np.nan), after, CLUSTERS)
    assert nothing.size.value is None and "No item" in str(nothing.size.reason)


def test_only_the_change_beyond_a_placebo_counts() -> None:
    before, placebo = values(1.0), values(0.6, 1)
    assert compare(before, placebo, CLUSTERS, less=placebo).size.value == 0
    result = compare(before, values(0.1, 2), CLUSTERS, less=placebo)
    alone = compare(before, values(0.1, 2), CLUSTERS)
    assert alone.size.value is not None and result.size.value is not None and alone.size.value < result.size.value < 0
    assert result.before == alone.before


def test_seeds_are_the_unit_of_several_runs() -> None:
    """Mean and t interval of (-0.3, -0.2, -0.25): 4.3027 is t at 0.975 with 2 degrees of freedom (tables)."""
    result = over_runs([-0.3, -0.2, -0.25])
    reach = 4.302653 * 0.05 / 3**0.5
    assert result.value == pytest.approx(-0.25)
    assert (result.low, result.high) == (pytest.approx(-0.25 - reach, abs=1e-5), pytest.approx(-0.25 + reach, abs=1e-5))
    assert over_runs([-0.3, -0.2]).low is None and over_runs([None, 1.0]).value is None


def test_seeds_against_their_placebos_have_the_interval_of_welch() -> None:
    """(-0.6, -0.4, -0.5) against (-0.2, -0.3, -0.1): both variances 0.01, so 4 degrees of freedom, t 2.776445 (tables).
    As scipy.stats.ttest_ind(equal_var=False).confidence_interval() has it."""
    result = against_placebos([-0.6, -0.4, -0.5], [-0.2, -0.3, -0.1])
    reach = 2.776445 * (2 * 0.01 / 3) ** 0.5
    assert (result.value, result.df) == (pytest.approx(-0.3), 4)
    assert (result.low, result.high) == (pytest.approx(-0.3 - reach, abs=1e-5), pytest.approx(-0.3 + reach, abs=1e-5))
    assert against_placebos([-0.6, -0.4], [-0.2, -0.3]).low is None
    assert against_placebos([-0.6, None, -0.5], [-0.2, -0.3, -0.1]).value is None
    still = against_placebos([-0.6] * 3, [0.0] * 3)
    assert (still.low, still.high) == (-0.6, -0.6)


def test_shares_count_changes_either_way() -> None:
    before = np.array([1] * 20 + [1] * 2 + [0] * 9 + [0] * 5 + [np.nan])
    after = np.array([1] * 20 + [0] * 2 + [1] * 9 + [0] * 5 + [1])
    result = shares(before, after)
    assert (result.both, result.only_before, result.only_after, result.neither) == (20, 2, 9, 5)
    changed = compare(before, after, clusters_of_pairs(pd.Series([str(i) for i in range(37)])))
    assert changed.size.value == pytest.approx(7 / 36)


def test_the_cost_is_per_token() -> None:
    before = [(10.0, 5, 2), (6.0, 3, 1), (4.0, 2, 2)] * 4
    after = [(11.0, 5, 2), (6.0, 3, 0), (5.0, 2, 2)] * 4
    result = cost(before, after)
    assert (result.before_loss, result.after_loss) == (pytest.approx(2.0), pytest.approx(2.2))
    assert result.rise.value == pytest.approx(0.2) and result.guesses.value == pytest.approx(-0.1)
    assert result.rise.low is not None and result.rise.low < 0.2 < (result.rise.high or 0)
    assert result.after_perplexity == pytest.approx(np.exp(2.2))


def test_an_undefined_estimate_has_a_reason_in_a_record() -> None:
    assert over_runs([-1.0]).to_json("units", reasons="note")["low_reason"].startswith("Seeds: 1.")
    assert "value_reason" in over_runs([]).to_json("units", reasons="note")
