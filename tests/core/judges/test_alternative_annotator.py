"""The alternative annotator test: by hand, and planted judges."""

import numpy as np
import pytest
from scipy import stats

from evenhand.core.judges.alternative_annotator import NOBODY, alternative_annotator_test

Labels = list[tuple[object, str, object]]


def three(patterns: dict[str, int]) -> tuple[Labels, dict[object, object]]:
    """Return labels by Ada, Bo and Cy and by the judge, from "aab/a" times 10."""
    people: Labels = []
    judge: dict[object, object] = {}
    for pattern, times in patterns.items():
        given, machine = pattern.split("/")
        for _ in range(times):
            item = len(judge)
            people += [
                (item, who, label) for who, label in zip(("Ada", "Bo", "Cy"), given, strict=True) if label != "-"
            ]
            judge[item] = machine
    return people, judge


def test_the_winning_rate_equals_hand_computation() -> None:
    """Ada against Bo and Cy. aaa/a: 1, 1. aab/b: judge agrees with Cy, Ada with Bo: 1, 1. aaa/b: 0, 1. baa/a: 1, 0."""
    result = alternative_annotator_test(*three({"aaa/a": 30, "aab/b": 4, "aaa/b": 5, "baa/a": 1}), 0.1)
    ada = result.annotators[0]
    assert (ada.annotator, ada.items) == ("Ada", 40)
    assert (ada.judge_share, ada.own_share) == (35 / 40, 39 / 40)
    differences = np.array([0.0] * 34 + [1.0] * 5 + [-1.0]) - 0.1
    t = differences.mean() / (differences.std(ddof=1) / 40**0.5)
    assert ada.p == pytest.approx(stats.t.cdf(t, 39))


def test_rejections_follow_benjamini_and_yekutieli() -> None:
    """p .0026, .0245, .038 of three: .05 / (3 * 11/6) = .0091 for the least, .0182 and .0273 for the others."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 400)
    people = [(i, who, int(t ^ (rng.random() < err))) for i, t in enumerate(truth)
              for who, err in (("Ada", 0.2), ("Bo", 0.1), ("Cy", 0.02))]  # fmt: skip
    judge = {i: int(t ^ (rng.random() < 0.1)) for i, t in enumerate(truth)}
    result = alternative_annotator_test(people, judge, 0.05)
    p = sorted(annotator.p for annotator in result.annotators if annotator.p is not None)
    bounds = [0.05 * rank / (3 * (1 + 1 / 2 + 1 / 3)) for rank in (1, 2, 3)]
    reached = [rank for rank, (value, bound) in enumerate(zip(p, bounds, strict=True), 1) if value <= bound]
    assert sum(bool(annotator.won) for annotator in result.annotators) == max(reached, default=0)
    assert result.winning_rate == max(reached, default=0) / 3


@pytest.mark.parametrize(("error", "passes"), [(0.0, True), (0.05, True), (0.5, False)])
def test_a_good_judge_passes_and_a_coin_does_not(error: float, passes: bool) -> None:
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 2, 200)
    people = [(i, who, int(t ^ (rng.random() < 0.1))) for i, t in enumerate(truth) for who in ("Ada", "Bo", "Cy")]
    judge = {i: int(t ^ (rng.random() < error)) for i, t in enumerate(truth)}
    assert alternative_annotator_test(people, judge, 0.15).passes is passes


def test_p_is_0_or_1_without_variance() -> None:
    same = alternative_annotator_test(*three({"aaa/a": 30}), 0.1)
    assert [annotator.p for annotator in same.annotators] == [0.0] * 3
    assert (same.winning_rate, same.advantage) == (1.0, 1.0)
    worse = alternative_annotator_test(*three({"aaa/b": 30}), 0.1)
    assert (worse.winning_rate, worse.advantage) == (0.0, 0.0)


def test_too_few_items_have_no_test() -> None:
    result = alternative_annotator_test(*three({"aaa/a": 29, "a--/a": 100}), 0.1)
    assert (result.winning_rate, result.passes, result.reason) == (None, None, NOBODY)
    assert "Only 29 items" in str(result.annotators[0].reason)
    people, judge = three({"aaa/a": 31})
    assert alternative_annotator_test(people, {item: judge[item] for item in range(30)}, 0.1).winning_rate == 1.0
    assert alternative_annotator_test(people, {item: judge[item] for item in range(29)}, 0.1).winning_rate is None


@pytest.mark.parametrize(("names", "warned"), [("Ada Bo", True), ("Ada Bo Cy", False)])
def test_fewer_than_three_annotators_give_a_warning(names: str, warned: bool) -> None:
    people = [(item, who, "a") for item in range(40) for who in names.split()]
    result = alternative_annotator_test(people, dict.fromkeys(range(40), "a"), 0.1)
    assert result.passes is True and (result.note is not None) is warned
    assert "at least three" in str(result.note) or not warned
