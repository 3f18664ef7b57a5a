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


# ppi_mean_pointestimate and ppi_mean_ci of ppi-python 0.2.3 at the k of the result, which it does not cross-fit; its
# interval is normal, with variances of ddof 0.
@pytest.mark.parametrize(
    ("counts", "ones", "further", "weight", "value", "low", "high"),
    [
        ((33, 1, 10, 56), 336, 1000, 0.7224756711709823, 0.2720872869099277, 0.2106061055910037, 0.33356846822885167),
        ((7, 0, 11, 32), 127, 400, 0.3447781391203321, 0.12534692908738584, 0.04255209750808646, 0.20814176066668522),
        ((145, 6, 6, 143), 2526, 5000, 0.8638523711212144, 0.5049458577594264, 0.47954677727564343, 0.5303449382432093),
    ],
)
def test_rates_equal_another_program(
    counts: Counts, ones: int, further: int, weight: float, value: float, low: float, high: float
) -> None:
    result = prediction_powered(labels(counts, ones, further))
    n = sum(counts)
    assert result.weight == pytest.approx(weight, abs=1e-6)
    assert result.both.value == pytest.approx(value, abs=0.1 / n)
    assert result.both.se is not None and result.weight is not None
    without = (result.both.se**2 - (result.weight / n) ** 2) ** 0.5  # the difference that it adds
    assert without == pytest.approx((high - low) / 2 / 1.959964, rel=1.5 / n)


def test_the_rate_equals_its_formula() -> None:
    """20 items in ten folds: k of a fold is cov(Y, f) / n over var(f) (1/n + 1/N) + 1/n^2, of the other 18 items."""
    people, judge, rest = np.array([1, 1, 0, 0, 0] * 4), np.array([1, 0, 0, 0, 0, 1, 1, 0, 1, 0] * 2), [1, 0, 0, 0] * 9
    weights = np.zeros(20)
    for fold in range(10):
        others = np.arange(20) % 10 != fold
        y, f = people[others], judge[others]
        spread = np.var([*f, *rest], ddof=1) * (1 / 36 + 1 / 18) + 1 / 18**2
        weights[~others] = np.cov(y, f)[0, 1] / 18 / spread
    corrected = people - weights * (judge - np.mean(rest))
    k = weights.mean()
    variance = corrected.var(ddof=1) / 20 + k**2 * np.var(rest, ddof=1) / 36 + (k / 20) ** 2
    result = prediction_powered(Labels(people.tolist(), judge.tolist(), rest))
    assert (result.weight, result.both.value) == (pytest.approx(k), pytest.approx(corrected.mean()))
    assert result.both.se == pytest.approx(variance**0.5)
    assert result.worth == pytest.approx(people.var(ddof=1) / variance)


def test_labels_given_as_arrays_stay_as_they_are() -> None:
    given_labels = Labels(np.array([1.0, 0.0] * 10), np.array([1.0, 0.0] * 10), np.array([1.0, 0.0, 0.0] * 20))
    first, second = prediction_powered(given_labels), prediction_powered(given_labels)
    assert first == second and given_labels.people[0] == 1.0


def test_a_positive_of_great_weight_does_not_choose_k() -> None:
    """40 samples by disagreement of three judges that are right in 97%, rate .05: docs/sampling.md has the coverage."""
    held = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = rng.random(6000) < 0.05
        votes = np.where(rng.random((6000, 3)) < 0.97, truth[:, None], ~truth[:, None])
        differ = votes.any(axis=1) & ~votes.all(axis=1)
        chances = np.where(differ, 40 / differ.sum(), 20 / (~differ).sum())
        drawn = rng.random(6000) < chances
        result = prediction_powered(
            Labels(
                truth[drawn].astype(float).tolist(), votes[drawn, 0].astype(float).tolist(),
                votes[~drawn, 0].astype(float).tolist(), inclusion=chances[drawn].tolist(),
            )
        )  # fmt: skip
        held += result.both.low is not None and result.both.low <= 0.05 <= (result.both.high or 0)
    assert held >= 36


def test_a_perfect_judge_is_worth_nearly_all_its_labels() -> None:
    result = prediction_powered(labels((30, 0, 0, 70), 3_000, 10_000))
    # cov / n over var(f) (1/n + 1/N) + 1/n^2, with the 90 items of nine folds
    assert result.weight == pytest.approx(0.21 / 89 / (0.21 * (1 / 90 + 1 / 10_000) + 1 / 90**2), rel=5e-3)
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
