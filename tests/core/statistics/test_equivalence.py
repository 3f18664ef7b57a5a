"""Equivalence: two one-sided tests against another library's, the three answers, the smallest difference shown."""

import numpy as np
import pytest
from statsmodels.stats.weightstats import DescrStatsW

from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import equivalence, one_sided_tests, smallest_shown
from evenhand.core.statistics.intervals import TOO_WIDE
from evenhand.core.statistics.resampling import over_subsets


@pytest.mark.parametrize("values", [[0.02, -0.01, 0.05, 0.03, -0.02, 0.0, 0.04], [0.3, 0.5, 0.2, 0.4], [-0.2, 0.1]])
@pytest.mark.parametrize("margin", [0.05, 0.2])
def test_equivalence_equals_statsmodels(values, margin):
    x = np.array(values)
    theirs = DescrStatsW(x).ttost_mean(-margin, margin)[0]
    se = x.std(ddof=1) / len(x) ** 0.5
    assert one_sided_tests(float(x.mean()), se, margin, len(x) - 1) == pytest.approx(theirs)


def test_without_a_margin_equivalence_is_undecided():
    result = equivalence(Estimate(0.0, -0.196, 0.196, 99, se=0.1), None)
    assert (result.answer, result.margin) == ("undecided", None) and "Set a margin" in str(result.remark)
    assert result.smallest == pytest.approx(0.1 * (1.96 + 0.8416), rel=1e-3)
    assert equivalence(Estimate(0.2), 0.1).answer == "undecided"


def test_a_withheld_interval_decides_nothing():
    withheld = Estimate(0.0, units=3, se=0.01, note=TOO_WIDE)
    result = equivalence(withheld, 0.1)
    assert (result.answer, result.p, result.remark) == ("undecided", None, TOO_WIDE)


@pytest.mark.parametrize(("shift", "margin", "answer"), [(0.0, 1.0, "yes"), (0.0, 0.1, "undecided"), (3.0, 0.5, "no")])
def test_an_interval_over_subsets_has_its_own_90_percent_interval(shift, margin, answer):
    x = np.array([-0.6, 0.5, -0.3, 0.2, 0.1, -0.1, 0.4, -0.2]) + shift
    one = over_subsets(lambda chosen: {"m": chosen @ x / chosen.sum(axis=1)}, len(x))["m"]
    result = equivalence(one, margin)
    assert result.answer == answer and result.p is None
    assert one.low < result.low < result.high < one.high


def test_the_smallest_difference_has_a_power_of_80_percent():
    random = np.random.default_rng(2)
    draws = random.normal(0, 1, (300, 12))

    def interval(x):
        return over_subsets(lambda chosen: {"m": chosen @ x / chosen.sum(axis=1)}, 12)["m"]

    smallest = np.mean([smallest_shown(interval(x)) for x in draws[:100]])
    shown = np.mean([interval(x + smallest).low > 0 for x in draws])
    assert 0.7 < shown < 0.92


def test_differences_of_shares_are_printed_in_points():
    result = equivalence(Estimate(0.025, -0.07, 0.12, 24, se=0.0478), 0.05)
    assert result.in_points == ("margin 5 points: inconclusive; minimum detectable difference 13.6 points (80% power)")
    assert result.text == "margin 0.05: inconclusive; minimum detectable difference 0.1358 (80% power)"
    assert equivalence(Estimate(0.025), None).in_points == "margin: inconclusive"
