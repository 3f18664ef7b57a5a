"""Comparing leaks among extremes and controls; golden intervals from the papers that introduced them."""

import re

import numpy as np
import pytest

from evenhand.core.audit.leak_rates import (
    Judged,
    compare_labels,
    compare_sentences,
    difference,
    is_leak,
    verdict,
    with_and_without,
)
from evenhand.core.sentence_bias.bias import side_means
from evenhand.core.statistics.equivalence import equivalence


@pytest.mark.parametrize(
    ("extreme", "control", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17:873, Table II, method 10.
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
    ],
)
def test_the_interval_of_a_difference_equals_the_published_one(extreme, control, low, high) -> None:
    result = difference(extreme, control)
    assert result.value == pytest.approx(extreme[0] / extreme[1] - control[0] / control[1])
    assert (result.low, result.high) == pytest.approx((low, high), abs=6e-5)


def test_equal_shares_of_many_sentences_are_equivalent_and_of_few_not_decided() -> None:
    many, few = difference((100, 1000), (100, 1000)), difference((1, 10), (1, 10))
    assert equivalence(many, 0.05).answer == "yes" and many.inner is not None and many.low < many.inner[0]
    assert equivalence(few, 0.05).answer == "undecided"
    assert equivalence(difference((900, 1000), (100, 1000)), 0.05).answer == "no"


def test_without_judged_sentences_the_difference_is_undefined() -> None:
    result = difference((0, 0), (1, 2))
    assert result.value is None and "None of these sentences is fully labelled yet." in str(result.reason)


@pytest.mark.parametrize(
    ("leaks", "labels", "unanimous", "any_"),
    [(0, 3, False, False), (1, 3, False, True), (3, 3, True, True), (0, 0, False, False), (1, 1, True, True)],
)
def test_a_sentence_is_a_leak_by_each_rule(leaks, labels, unanimous, any_) -> None:
    assert (is_leak(leaks, labels, "unanimous"), is_leak(leaks, labels, "any")) == (unanimous, any_)


def judged(extreme: list[int], control: list[int], labels: int = 3, toward="male") -> list[Judged]:
    return [Judged("extreme", toward, n, labels) for n in extreme] + [
        Judged("control", toward, n, labels) for n in control
    ]


def test_sentences_are_counted_by_rule_and_end() -> None:
    labels = judged([3, 2, 0], [0, 1, 0]) + judged([3, 3], [0, 3], toward="female")
    both, male, female = compare_sentences(labels, "unanimous")
    assert (both.counts, male.counts, female.counts) == (((3, 5), (1, 5)), ((1, 3), (0, 3)), ((2, 2), (1, 2)))
    assert compare_sentences(labels, "any")[0].counts == ((4, 5), (2, 5))
    # Wilson 1927 for 3 of 5: 0.2307 to 0.8824 (R: binom::binom.confint(3, 5, methods = "wilson"))
    assert (both.extreme.low, both.extreme.high) == pytest.approx((0.2307, 0.8824), abs=5e-5)


def test_labels_are_counted_over_sentences() -> None:
    result = judged([3, 3, 0, 0] * 10, [1, 0, 0, 0] * 10)
    both = compare_labels(result)[0]
    assert both.counts == ((60, 120), (10, 120))
    assert both.extreme.value == pytest.approx(0.5)
    assert both.difference.value == pytest.approx(0.5 - 1 / 12)
    # Sentences of 0 or 3 leaks: the error is that of 40 sentences, sqrt(.25 / 40) = 0.079, not of 120 labels (0.046).
    assert both.extreme.se == pytest.approx(0.079, abs=0.006)
    assert both.extreme.low is not None and both.extreme.low < both.extreme.value
    assert both == compare_labels(result)[0]


def test_few_sentences_get_a_t_interval() -> None:
    both = compare_labels(judged([3, 0, 3, 0], [0, 0, 3, 0]))[0]
    # t(0.975, 3) = 3.1824; sd of (1, 0, 1, 0) = 0.57735; on the log-odds 3.1824 * 0.57735 / 2 / 0.25 = 3.6748
    assert (both.extreme.low, both.extreme.high) == pytest.approx((0.024728, 1 - 0.024728), abs=1e-5)
    assert "Few units (4)" in str(both.extreme.note)
    assert both.difference.low is None and "to estimate skewness: no 95% interval for the difference." in str(
        both.difference.note
    )
    # Welch: variances 3/11 of 12 and 2/7 of 8, se = sqrt(1/44 + 1/28) = 0.24175, 14.90 degrees of freedom, t = 2.1327
    apart = compare_labels(judged([3, 0] * 6, [3, 0] * 4))[0].difference
    assert apart.low == pytest.approx(-2.1327 * 0.24175, abs=1e-3)


def test_zero_or_one_sentence_has_no_interval() -> None:
    comparison = compare_labels(judged([3], [0]))[0]
    assert comparison.extreme.value == 1.0 and comparison.extreme.low is None and comparison.difference.low is None
    none = compare_labels([])[0]
    assert none.extreme.value is none.control.value is none.difference.value is None


@pytest.mark.parametrize(
    ("extreme", "control", "words"),
    [
        (30, 5, "more often than comparable sentences \\(75% against 12%\\)"),
        (5, 30, "less often"),
        (10, 9, ": this audit gives no evidence that leaks cause the strongest values."),
    ],
)
def test_the_verdict_follows_from_the_interval(extreme, control, words) -> None:
    result = judged([3] * extreme + [0] * (40 - extreme), [3] * control + [0] * (40 - control))
    assert re.search(words, str(verdict(compare_sentences(result, "unanimous")[0])))


def test_the_verdict_before_any_label() -> None:
    assert "None of these sentences is fully labelled yet." in str(verdict(compare_sentences([], "any")[0]))


def test_measures_are_computed_without_the_leaks() -> None:
    values = {"a": 3.0, "b": 0.5, "c": -0.25, "d": -2.0, "e": -0.75}
    result = with_and_without(values, {"a", "d", "not there"})
    assert (result.sentences, result.leaks) == (5, 2)
    assert (result.all.bias_man, result.all.bias_woman, result.all.model_bias) == (1.75, 1.0, 1.375)
    assert (result.kept.bias_man, result.kept.bias_woman, result.kept.model_bias) == (0.5, 0.5, 0.5)


def test_without_leaks_nothing_changes() -> None:
    values = {str(n): float(x) for n, x in enumerate(np.linspace(-1, 1.5, 20))}
    result = with_and_without(values, set())
    assert result.all == result.kept == side_means(values.values())
