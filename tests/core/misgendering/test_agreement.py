"""MCC, kappa and raw agreement: the reference's numbers, edge cases, and laws for every table.

See docs/misgendering.md#the-numbers.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenhand.core.misgendering.agreement import Cells, by_units, cells, kappa, mcc, raw_agreement
from evenhand.core.statistics.units import Clusters

# [R]: worked out with the reference code; kappa, half-width, MCC, low, high, raw agreement, standard error.
GOLDEN = [
    ((20, 30, 60, 640), (0.245810, 0.107915, 0.253966, 0.185755, 0.319742, 0.880000, 0.011874)),
    ((10, 40, 90, 610), (0.048780, 0.077738, 0.052414, -0.019247, 0.123539, 0.826667, 0.013831)),
    ((200, 50, 100, 1450), (0.678571, 0.047755, 0.682500, 0.657016, 0.706427, 0.916667, 0.006516)),
    ((5, 0, 0, 5), (1, 0, 1, 1, 1, 1, 0)),
    ((0, 5, 5, 0), (-1, 0, -1, -1, -1, 0, 0)),
    ((2, 1, 2, 5), (0.347826, 0.588856, 0.356348, -0.352329, 0.805294, 0.7, 0.152753)),
]
TABLES = st.tuples(*[st.integers(0, 60)] * 4)


@pytest.mark.parametrize(("counts", "expected"), GOLDEN)
def test_agreement_equals_golden_numbers(counts: tuple[int, int, int, int], expected: tuple[float, ...]) -> None:
    result = Cells(*counts)
    k, r, p = kappa(result), mcc(result), raw_agreement(result)
    assert k.value is not None and k.high is not None
    numbers = (k.value, k.high - k.value, r.value, r.low, r.high, p.value, p.se)
    assert numbers == pytest.approx(expected, abs=1e-6)


def test_intervals_over_units_reach_further_where_nothing_is_wrong_by_both_ways() -> None:
    """20 templates x 15 names, 9 wrong by each way and none by both: kappa of .17 is usual with such tables."""
    prob, gen = np.ones(300), np.ones(300)
    prob[np.arange(9) * 33], gen[np.arange(9) * 33 + 7] = 0, 0
    units = Clusters(("template", "name"), (np.arange(300) % 20, np.arange(300) // 20))
    made = by_units(prob, gen, units)
    for name in ("mcc", "kappa"):
        value, low, high = made[name].value, made[name].low, made[name].high
        assert value is not None and low is not None and high is not None
        assert value < 0 and -1 <= low < value and 0.17 < high < 0.7
    assert "skewness" in made["kappa"].method


def test_vectors_give_the_golden_row() -> None:
    prob, gen = ([int(c) for c in text] for text in ("1111001011", "1101011010"))
    assert cells(prob, gen) == Cells(2, 1, 2, 5)
    assert kappa(Cells(2, 1, 2, 5)).se == pytest.approx(0.300442, abs=1e-6)


# [P]: printed intervals of the paper; the printed r is rounded.
@pytest.mark.parametrize(
    ("r", "n", "low", "high"), [(-0.031, 750, -0.102, 0.041), (0.177, 750, 0.107, 0.246), (0.240, 1800, 0.196, 0.283)]
)
def test_intervals_of_mcc_equal_published_ones(r: float, n: int, low: float, high: float) -> None:
    """A table with both margins even has r = 1 - 4 b / n for b instances in each off cell."""
    off = round(n * (1 - r) / 4)
    result = mcc(Cells(n // 2 - off, off, off, n // 2 - off))
    assert result.value == pytest.approx(r, abs=2e-3)
    assert (result.low, result.high) == pytest.approx((low, high), abs=3e-3)


@pytest.mark.parametrize(("first", "second"), [(130, 620), (106, 644)])
def test_a_constant_vector_has_kappa_0_without_an_interval(first: int, second: int) -> None:
    """The published ±0.185 and ±0.180 (Table 4) come from a table of one row; ours always has both labels."""
    result = kappa(Cells(0, 0, first, second))
    assert (result.value, result.low, result.high, result.se) == (0, None, None, None)
    assert "no interval" in str(result.note)
    prob, gen = np.zeros(first + second), np.repeat([0.0, 1.0], [first, second])
    by_unit = by_units(prob, gen, Clusters(("instance",), (np.arange(first + second),)))["kappa"]
    assert (by_unit.value, by_unit.low, by_unit.note) == (0, None, result.note)
    correlation = mcc(Cells(0, 0, first, second))
    assert correlation.value is None and "same verdict for every instance" in str(correlation.reason)


@pytest.mark.parametrize("counts", [(8, 0, 0, 0), (0, 0, 0, 8)])
def test_agreement_of_constant_equal_vectors(counts: tuple[int, int, int, int]) -> None:
    result = Cells(*counts)
    assert kappa(result).value is None and kappa(result).reason
    assert mcc(result).value is None
    assert raw_agreement(result).value == 1


@pytest.mark.parametrize("counts", [(0, 8, 0, 0), (0, 0, 8, 0)])
def test_agreement_of_constant_opposite_vectors(counts: tuple[int, int, int, int]) -> None:
    result = Cells(*counts)
    assert (raw_agreement(result).value, kappa(result).value) == (0, 0)
    assert mcc(result).value is None


def test_few_instances_have_no_interval() -> None:
    three = mcc(Cells(1, 0, 1, 1))
    assert three.value == pytest.approx(0.5) and three.low is None and "Fewer than 4" in str(three.note)
    agreement = raw_agreement(Cells(1, 0, 0, 0))
    assert (agreement.value, agreement.se) == (1, None)
    for nothing in (mcc(Cells(0, 0, 0, 0)), kappa(Cells(0, 0, 0, 0)), raw_agreement(Cells(0, 0, 0, 0))):
        assert nothing.value is None and nothing.reason


def test_a_missing_first_template_drops_the_pair() -> None:
    assert cells([1, math.nan, 0, 1], [1, 1, math.nan, 0]) == Cells(0, 0, 1, 1)


@given(TABLES)
def test_agreement_is_symmetric(counts: tuple[int, int, int, int]) -> None:
    a, b, c, d = counts
    first, second = Cells(a, b, c, d), Cells(a, c, b, d)
    for measure in (mcc, kappa, raw_agreement):
        left, right = measure(first).value, measure(second).value
        assert (left is None) == (right is None)
        assert left is None or left == pytest.approx(right, abs=1e-12)


@given(TABLES)
def test_inverting_one_vector_flips_the_sign_of_mcc(counts: tuple[int, int, int, int]) -> None:
    a, b, c, d = counts
    value, turned = mcc(Cells(a, b, c, d)), mcc(Cells(b, a, d, c))
    assume(value.value is not None)
    assert value.value == pytest.approx(-(turned.value or 0), abs=1e-12)
    assert (value.low is None) == (turned.low is None)
    assert value.low is None or (value.low, value.high) == pytest.approx(
        (-(turned.high or 0), -(turned.low or 0)), abs=1e-9
    )


@given(TABLES)
def test_by_units_gives_equal_values(counts: tuple[int, int, int, int]) -> None:
    result = Cells(*counts)
    assume(result.n > 1)
    prob = np.repeat([0.0, 0.0, 1.0, 1.0], counts)
    gen = np.repeat([0.0, 1.0, 0.0, 1.0], counts)
    units = Clusters(("instance",), (np.arange(result.n),))
    drawn = by_units(prob, gen, units)
    for name, measure in {"mcc": mcc, "kappa": kappa, "agreement": raw_agreement}.items():
        expected = measure(result).value
        assert (drawn[name].value is None) == (expected is None)
        assert expected is None or drawn[name].value == pytest.approx(expected, abs=1e-12)
        assert expected is not None or drawn[name].reason
    assert drawn["disagreement"].value == pytest.approx(1 - (drawn["agreement"].value or 0))
    assert drawn["difference"].value == pytest.approx(prob.mean() - gen.mean(), abs=1e-12)
    low, high = drawn["agreement"].low, drawn["agreement"].high
    assert low is not None and high is not None and 0 <= low <= high <= 1


def test_intervals_count_equal_instances_of_a_template_once() -> None:
    """Ten templates with ten equal instances each: the interval is that of ten, not of a hundred."""
    prob, gen = np.ones(100), np.repeat([1.0, 1, 1, 0, 1, 1, 0, 1, 1, 1], 10)
    templates = Clusters(("template",), (np.repeat(np.arange(10), 10),))
    alone = Clusters(("instance",), (np.arange(100),))
    result = by_units(prob, gen, templates)["agreement"]
    means = gen.reshape(10, 10).mean(axis=1)
    assert result.se == pytest.approx(means.std(ddof=1) / math.sqrt(10))
    assert result.df == 9 and "Few units (10)" in str(result.note)
    assert result.se > 2 * (by_units(prob, gen, alone)["agreement"].se or 1)
