"""The forecast of labels, hours and candidates: exact where it can be, and its intervals against simulation."""

import itertools
import math
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from evenhand.core.forecast.work_model import Cell, forecast_work, labels_to_first_reject, rejects_among

PILOT = {(3, 0): 30, (3, 1): 20, (3, 2): 20, (3, 3): 30}


@given(st.integers(1, 6), st.data())
def test_labels_to_the_first_reject_equal_a_count_of_all_orders(labels: int, data: st.DataObject) -> None:
    rejects = data.draw(st.integers(0, labels))
    orders = list(itertools.permutations([1] * rejects + [0] * (labels - rejects)))
    taken = [order.index(1) + 1 if 1 in order else labels for order in orders]
    expected, square = labels_to_first_reject(labels, rejects)
    assert expected == pytest.approx(mean(taken)) and square == pytest.approx(mean(count**2 for count in taken))
    assert expected == pytest.approx((labels + 1) / (rejects + 1) if rejects else labels)


@pytest.mark.parametrize(
    ("per_item", "patterns", "expected"),
    [
        (3, {(3, 1): 4}, [0, 4, 0, 0]),
        (2, {(3, 1): 3}, [1, 2, 0]),  # of three with one reject, one subset of two has none
        (2, {(4, 2): 6}, [1, 4, 1]),
        (3, {(2, 0): 5}, [0, 0, 0, 0]),  # too few labels to know
        (1, {(3, 2): 9}, [3, 6]),
    ],
)
def test_items_with_more_labels_count_by_their_subsets(
    per_item: int, patterns: dict[tuple[int, int], int], expected: list[float]
) -> None:
    assert rejects_among(per_item, patterns) == pytest.approx(expected)


def test_both_plans_equal_hand_computation() -> None:
    result = forecast_work([Cell("他/她", "male", 1000, patterns=PILOT)], 3, 0.1, seconds={1: [5, 7], 2: [2000]})
    cost = 0.1 * 3 + 0.9 * (0.3 * 3 + 0.2 * 2 + 0.2 * 4 / 3 + 0.3 * 1)
    assert result.all.judgements.value == result.all.judgements.low == result.all.judgements.high == 3000
    assert result.stop.judgements.value == pytest.approx(1000 * cost)
    assert result.stop.each.value == pytest.approx(cost)
    assert result.saved.value == pytest.approx(1 - cost / 3)
    # 5, 7 and 2,000 seconds, capped at 300: (5 + 7 + 300) / 3
    assert result.seconds.value == 104 and result.all.hours.value == pytest.approx(3000 * 104 / 3600)
    low, high = proportion_confint(30, 100, method="wilson")
    assert result.rate.low == pytest.approx(low) and result.rate.high == pytest.approx(high)


def test_stop_with_a_share_of_one_equals_plan_all() -> None:
    result = forecast_work([Cell("他/她", "male", 500, patterns=PILOT)], 3, 1.0)
    assert result.stop.judgements.value == pytest.approx(1500) and result.saved.value == pytest.approx(0)
    assert result.stop.judgements.low == pytest.approx(1500)


def test_candidates_for_a_quota_have_an_interval() -> None:
    cells = [Cell("他/她", "male", 900, 60, 5, PILOT), Cell("他/她", "female", 50, 100, 0, {(3, 0): 2, (3, 1): 2})]
    result = forecast_work(cells, 3, 0.1)
    own, pooled = result.cells
    assert own.own and not pooled.own
    assert own.needed.value == pytest.approx(60 / 0.3)
    assert own.rate.low is not None and own.rate.high is not None
    assert own.needed.low == pytest.approx(60 / own.rate.high)
    assert own.needed.high == pytest.approx(60 / own.rate.low)
    assert pooled.rate.units == 104 and pooled.needed.value == pytest.approx(100 / (32 / 104))
    assert result.candidates.value == pytest.approx(200 + 50)  # the second cell has no more than 50
    assert result.needed.value == pytest.approx((own.needed.value or 0) + (pooled.needed.value or 0))


def test_undefined_forecasts_have_a_reason() -> None:
    nothing = forecast_work([Cell("他/她", "male", 100)], 3, 0.1)
    assert nothing.all.judgements.value == 300  # no pilot is needed to count to three
    assert nothing.stop.judgements.value is None and "pilot" in str(nothing.stop.judgements.reason)
    assert nothing.all.hours.value is None and "No label has a recorded time" in str(nothing.all.hours.reason)
    quota = forecast_work([Cell("他/她", "male", 100, 10)], 3, 0.1)
    assert quota.all.judgements.value is None and quota.needed.value is None
    empty = forecast_work([], 3, 0.1)
    assert empty.all.judgements.value is None and "no items" in str(empty.all.judgements.reason)
    none = forecast_work([Cell("他/她", "male", 100, 10, 0, {(3, 3): 40})], 3, 0.1)
    assert none.cells[0].needed.value is None and none.cells[0].needed.low is not None
    assert none.candidates.value == 100 and "40" in str(none.needed.reason)


def test_a_quota_of_zero_needs_no_labels() -> None:
    result = forecast_work([Cell("他/她", "male", 100, 0, 0, PILOT)], 3, 0.1)
    assert result.candidates.value == 0 and result.stop.judgements.value == 0


def test_the_interval_has_its_coverage() -> None:
    # 200 pilots of 60, each followed by 2,000 items of the same kind: the total should be inside 95% of the time.
    draw = np.random.default_rng(5)
    shares, costs = np.array([0.3, 0.25, 0.25, 0.2]), []
    for rejects in range(4):
        orders = list(itertools.permutations([1] * rejects + [0] * (3 - rejects)))
        costs.append([order.index(1) + 1 if 1 in order else 3 for order in orders])
    hits, in_time = 0, 0
    for _ in range(200):
        pilot = draw.multinomial(60, shares)
        patterns = {(3, r): int(n) for r, n in enumerate(pilot)}
        times = dict(enumerate(draw.lognormal(2, 0.8, (60, 3))))  # a few take long: the median is 28% short
        work = forecast_work([Cell("a", "", 2000, patterns=patterns)], 3, 0.0, seconds=times, draws=400).stop
        later = draw.multinomial(2000, shares)
        total = sum(draw.choice(costs[r], size=int(n)).sum() for r, n in enumerate(later))
        hits += (work.judgements.low or 0) <= total <= (work.judgements.high or 0)
        hours = np.minimum(draw.lognormal(2, 0.8, total), 300).sum() / 3600
        in_time += (work.hours.low or 0) <= hours <= (work.hours.high or 0)
    assert min(hits, in_time) >= 200 * 0.95 - 4 * math.sqrt(200 * 0.95 * 0.05)


def test_forecasts_are_reproducible_by_seed() -> None:
    cells = [Cell("他/她", "male", 500, 40, 0, PILOT)]
    assert forecast_work(cells, 3, 0.1, seed=3) == forecast_work(cells, 3, 0.1, seed=3)
    assert forecast_work(cells, 3, 0.1, seed=3) != forecast_work(cells, 3, 0.1, seed=4)


@given(st.integers(0, 60), st.integers(0, 60), st.floats(0, 1), st.integers(1, 4))
def test_stop_never_costs_more(accepts: int, rejects: int, share: float, per_item: int) -> None:
    patterns = {(per_item, 0): accepts, (per_item, per_item): rejects}
    result = forecast_work([Cell("a", "", 100, patterns=patterns)], per_item, share, draws=50)
    if result.stop.judgements.value is not None:
        assert 100 - 1e-6 <= result.stop.judgements.value <= 100 * per_item + 1e-6
        low, high = result.stop.judgements.low or 0, result.stop.judgements.high or 0
        assert 100 - 1e-6 <= low <= result.stop.judgements.value <= high <= 100 * per_item + 1e-6
