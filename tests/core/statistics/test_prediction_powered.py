"""A rate from labels of people and of a judge: numbers of another program, laws, and planted truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import Refused
from evenhand.core.statistics.prediction_powered import (
    ALL_THE_SAME,
    NO_FURTHER,
    NO_GAIN,
    NO_PEOPLE,
    Labels,
    paired_difference,
    prediction_powered,
)

Counts = tuple[int, int, int, int]  # of items by (people's label, judge's label): 11, 10, 01, 00


def labels(counts: Counts, ones: int, further: int) -> Labels:
    pairs = [pair for pair, times in zip(((1, 1), (1, 0), (0, 1), (0, 0)), counts, strict=True) for _ in range(times)]
    return Labels([a for a, _ in pairs], [b for _, b in pairs], [1] * ones + [0] * (further - ones))


# ppi_mean_pointestimate and ppi_mean_ci of ppi-python 0.2.3; its interval is normal, with variances of ddof 0.
@pytest.mark.parametrize(
    ("counts", "ones", "further", "value", "low", "high"),
    [
        ((33, 1, 10, 56), 336, 1000, 0.2705141173758229, 0.20891138867906495, 0.3321168460725809),
        ((7, 0, 11, 32), 127, 400, 0.12453551611079706, 0.04171174505169849, 0.20735928716989566),
        ((145, 6, 6, 143), 2526, 5000, 0.5049532433447451, 0.4795552695201578, 0.5303512171693324),
    ],
)
def test_rates_equal_another_program(
    counts: Counts, ones: int, further: int, value: float, low: float, high: float
) -> None:
    result = prediction_powered(labels(counts, ones, further))
    n = sum(counts)
    assert result.both.value == pytest.approx(value, abs=0.1 / n)
    assert result.both.se is not None and result.weight is not None
    without = (result.both.se**2 - (result.weight / n) ** 2) ** 0.5  # the difference that it adds
    assert without == pytest.approx((high - low) / 2 / 1.959964, rel=1.5 / n)


def test_the_rate_equals_hand_computation() -> None:
    """n 4, N 4: var_n(Y) = var_n(f) = 1/3, cov = 1/6; pooled var(f) 2/7; k = (1/6) / ((1 + 1) * 2/7) = 7/24."""
    result = prediction_powered(Labels([1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]))
    variance = 3 / 12  # of f on the labelled items; cov(Y, f) = 1/6, pooled variance of f = (8 * 15/64) / 7
    pooled, gain = 15 / 8 / 7, 1 / 6
    weight = gain / (2 * pooled)
    assert result.weight == pytest.approx(weight)
    assert result.both.value == pytest.approx(0.5 + weight * (0.5 - 0.25))
    expected = weight**2 * (1 / 3) / 4 + (1 / 3 + weight**2 * variance - 2 * weight * gain) / 4 + (weight / 4) ** 2
    assert result.both.se == pytest.approx(expected**0.5)
    assert result.worth == pytest.approx((1 / 3 / 4) / expected * 4)


def test_a_perfect_judge_is_worth_nearly_all_its_labels() -> None:
    result = prediction_powered(labels((30, 0, 0, 70), 3_000, 10_000))
    assert result.weight == pytest.approx(100 / 101, rel=1e-2) or result.weight == pytest.approx(1, rel=2e-2)
    assert result.worth is not None and result.worth > 1_500
    assert result.both.low is not None and result.both.high is not None
    assert result.both.high - result.both.low < 0.05


@pytest.mark.parametrize(
    ("given_labels", "note", "weight"),
    [
        (Labels([1, 0, 1], [1, 0, 0], []), NO_FURTHER, 0.0),
        (Labels([1, 0, 1], [1, 1, 1], [1, 1]), ALL_THE_SAME, 0.0),
        (Labels([1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0]), NO_GAIN, 0.0),  # it gives the opposite
        (Labels([], [], [1, 0, 1]), NO_PEOPLE, None),
    ],
)
def test_without_usable_judge_labels_only_people_count(
    given_labels: Labels, note: object, weight: float | None
) -> None:
    result = prediction_powered(given_labels)
    assert note in (result.both.note, result.both.reason)
    assert result.weight == weight
    assert result.both.value == result.people.value
    assert (result.both.low, result.both.high) == (result.people.low, result.people.high)


def test_clusters_of_one_equal_items_nearly() -> None:
    plain = labels((20, 5, 8, 40), 90, 300)
    own = Labels(plain.people, plain.automatic, plain.further, range(73), range(1000, 1300))
    first, second = prediction_powered(plain), prediction_powered(own)
    assert (first.both.value, first.both.se, first.worth) == pytest.approx(
        (second.both.value, second.both.se, second.worth), rel=0.03
    )


def test_equal_inclusion_probabilities_change_nothing() -> None:
    plain = labels((20, 5, 8, 40), 90, 300)
    drawn = Labels(plain.people, plain.automatic, plain.further, inclusion=[0.2] * 73)
    first, second = prediction_powered(plain), prediction_powered(drawn)
    assert first.people == second.people


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=3), st.lists(st.integers(0, 1), min_size=3))
def test_rates_are_symmetric_and_bounded(pairs: list[tuple[int, int]], further: list[int]) -> None:
    people, automatic = [a for a, _ in pairs], [b for _, b in pairs]
    result = prediction_powered(Labels(people, automatic, further))
    turned = prediction_powered(
        Labels([1 - label for label in people], [1 - label for label in automatic], [1 - label for label in further])
    )
    assert result.weight == pytest.approx(turned.weight)
    assert result.both.value == pytest.approx(1 - turned.both.value)  # type: ignore[operator]
    assert result.both.value is not None and 0 <= result.both.value <= 1
    if result.both.se is not None and result.people.se is not None:
        assert result.both.se <= result.people.se * 1.5


@pytest.mark.parametrize("bias", [0.0, 0.2])
@pytest.mark.parametrize("clustered", [False, True])
def test_the_interval_contains_a_planted_rate(bias: float, clustered: bool) -> None:
    """120 of people, 3,000 of a judge right in 85% or erring to one side: about 95 of 100 intervals contain it."""
    held = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(600), 5)
        lean = rng.beta(3, 7, 600)[groups] if clustered else np.full(3000, 0.3)
        truth = rng.random(3000) < lean
        judge = np.where(rng.random(3000) < 0.85, truth, ~truth) | (rng.random(3000) < bias)
        labelled = rng.permutation(600)[:120] * 5 if clustered else rng.permutation(3000)[:120]
        rest = np.setdiff1d(np.arange(3000), labelled)
        names = (groups[labelled].tolist(), groups[rest].tolist()) if clustered else (None, None)
        result = prediction_powered(Labels(truth[labelled], judge[labelled], judge[rest], *names)).both
        held += result.low <= 0.3 <= result.high  # type: ignore[operator]
    assert 0.90 <= held / 150 <= 0.99


@pytest.mark.parametrize(
    "wrong",
    [Labels([1], [1, 0], []), Labels([1], [1], [0], ["a", "b"]), Labels([1], [1], [0], ["a"], []),
     Labels([1], [1], [0], inclusion=[0.0])],
)  # fmt: skip
def test_lists_of_different_lengths_are_refused(wrong: Labels) -> None:
    with pytest.raises(Refused):
        prediction_powered(wrong)


def of_contexts(people: list[float], contexts: str, further: list[float] | None = None) -> Labels:
    """Return one item a letter; the judge agrees with people, and *further* come from contexts of their own."""
    rest = further or []
    return Labels(people, people, rest, list(contexts), [f"r{n}" for n in range(len(rest))])


def test_a_paired_difference_equals_hand_computation() -> None:
    """Three contexts for both: the error is that of the differences 0, 1, 1 of their means."""
    result = paired_difference(of_contexts([1, 1, 1], "abc"), of_contexts([1, 0, 0], "abc"))
    assert result.people.value == pytest.approx(2 / 3)
    assert result.people.se == pytest.approx((1 / 3 / 3) ** 0.5)  # sd(0, 1, 1)^2 = 1/3
    apart = paired_difference(of_contexts([1, 1, 0, 0], "abcd"), of_contexts([1, 0, 0, 0], "efgh"))
    first, second = (
        prediction_powered(of_contexts(values, "abcd")).people.se for values in ([1, 1, 0, 0], [1, 0, 0, 0])
    )
    assert first is not None and second is not None
    assert apart.people.se == pytest.approx((first**2 + second**2) ** 0.5)  # nothing is shared


def test_shared_variation_does_not_widen_the_difference() -> None:
    rng = np.random.default_rng(3)
    lean = rng.random(80)
    samples = []
    for shift in (0.0, 0.1):
        values = (rng.random(80) < np.clip(lean + shift, 0, 1)).astype(float)
        judge = np.where(rng.random(80) < 0.9, values, 1 - values)
        names = [f"c{n}" for n in range(80)]
        samples.append(Labels(values[:30], judge[:30], judge[30:], names[:30], names[30:]))  # type: ignore[arg-type]
    paired = paired_difference(*samples)
    apart = sum((prediction_powered(sample).both.se or 0) ** 2 for sample in samples) ** 0.5
    assert paired.both.se is not None and paired.people.se is not None and paired.both.se < apart
    assert paired.both.value == pytest.approx(
        (prediction_powered(samples[0]).both.value or 0) - (prediction_powered(samples[1]).both.value or 0)
    )
    assert paired.worth is not None and paired.worth > 60 and paired.both.low is not None


def test_a_paired_difference_needs_clusters_and_two_units() -> None:
    with pytest.raises(Refused, match="needs the clusters"):
        paired_difference(Labels([1], [1], []), Labels([1], [1], []))
    result = paired_difference(of_contexts([1], "a"), of_contexts([1, 0], "ab"))
    assert (result.people.value, result.both.value, result.worth) == (
        None,
        None,
        None,
    ) and result.people.reason is not None
