"""Differences between groups of annotators: the exact test by every permutation, the interval by hand."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from benchmarks.coverage_loop import coverage
from benchmarks.designs.annotators import GROUPS as DESIGN
from evenhand.core.statistics.intervals import difference_of_shares, exact_p


@pytest.mark.parametrize(("first", "second"), [((5, 0), (0, 5)), ((3, 2), (1, 4)), ((7, 1), (2, 6)), ((3, 3), (3, 3))])
def test_exact_p_of_two_choices_equals_fisher(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    assert exact_p(first, second) == pytest.approx(stats.fisher_exact([first, second]).pvalue)
    assert exact_p(first[::-1], second[::-1]) == exact_p(second, first) == pytest.approx(exact_p(first, second))


@pytest.mark.parametrize(
    ("first", "second"), [((3, 1, 0), (0, 2, 3)), ((2, 2, 1), (1, 0, 4)), ((4, 0, 0, 1), (0, 2, 2, 0))]
)
def test_exact_p_of_more_choices_enumerates_all_groups(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    labels = [place for place, n in enumerate(np.add(first, second)) for _ in range(n)]
    seen: dict[tuple[int, ...], int] = {}
    for drawn in combinations(range(len(labels)), sum(first)):
        table = tuple(np.bincount([labels[place] for place in drawn], minlength=len(first)).tolist())
        seen[table] = seen.get(table, 0) + 1
    share = sum(times for times in seen.values() if times <= seen[first]) / sum(seen.values())
    assert exact_p(first, second) == pytest.approx(share)


def test_exact_p_of_an_empty_group_and_of_a_huge_item() -> None:
    assert exact_p((0, 0), (3, 4)) == 1
    assert exact_p((500, 500), (500, 500)) is None


def test_a_difference_with_too_few_annotators_has_no_interval() -> None:
    chosen = np.array([1, 1, 0, 1, 0, 0, 1, 0], dtype=bool)
    second = np.repeat([False, True], 4)
    annotator, item = np.array([1, 1, 2, 2, 3, 3, 4, 4]), np.tile([1, 2], 4)
    result = difference_of_shares(chosen, second, annotator, item)
    assert (result.value, result.units, result.clusters) == (0.5, 2, 4)
    assert result.low is not None and result.high is not None and result.low < 0.5 < result.high
    other = difference_of_shares(chosen, ~second, annotator, item)
    assert (other.value, other.low, other.high) == pytest.approx((-0.5, -result.high, -result.low))
    assert difference_of_shares(chosen, np.zeros(8, dtype=bool), annotator, item).value is None
    assert difference_of_shares(chosen, second, np.where(second, 3, 1), item).low is None  # one annotator a group


def test_intervals_of_a_simulated_cell_have_their_coverage() -> None:
    cell = {"people": 5, "items": 20, "accept": 0.5, "annotator": 0.2, "item": 0.4}
    (held,) = coverage(DESIGN, cell, 60)
    assert held.share >= 0.88
