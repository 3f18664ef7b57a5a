"""Weights of drawn items: unbiased by enumeration, a stratified survey of a textbook, laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.sampling.weights import Drawn, Frame, weights
from evenhand.core.statistics.prediction_powered import Labels, rate_of_people

# A stratified sample of 300 of the 3,078 counties of the United States, acres of farms in 1992 (Lohr 2010, Sampling:
# Design and Analysis, example 3.2): counties, sampled, mean, variance.
COUNTIES = {
    "Northeast": (220, 21, 97_629.8, 7_647_472_708),
    "North Central": (1_054, 103, 300_504.2, 29_618_183_543),
    "South": (1_382, 135, 211_315.0, 53_587_487_856),
    "West": (422, 41, 662_295.5, 396_185_950_266),
}


def test_weights_of_a_stratified_survey_equal_a_textbook() -> None:
    """The mean is 295,560.8 acres; its error 16,379.9 with the factor for finite populations, which these lack."""
    values, strata, drawn = [], [], []
    for number, (region, (counties, sampled, mean, variance)) in enumerate(COUNTIES.items()):
        reach = variance**0.5  # an odd number of counties: one at the mean, the others a deviation away
        values += [mean, *(mean + reach * (1 if i % 2 else -1) for i in range(sampled - 1))]
        strata += [region] * sampled
        drawn += [Drawn(1, 1, sampled / counties, number)] * sampled
    result = weights(drawn, [True] * 300, {(1, 1): Frame(3_078, 300)})
    scale = 1e7
    scaled = [value / scale for value in values]
    rate, _effect = rate_of_people(Labels(scaled, scaled, [], weights=result.tolist(), strata=strata))
    assert rate.value is not None and rate.value * scale == pytest.approx(295_560.8, abs=0.1)
    shares = {region: (n, m, (n / 3_078) ** 2 * variance / m) for region, (n, m, _, variance) in COUNTIES.items()}
    assert sum(part * (1 - m / n) for n, m, part in shares.values()) ** 0.5 == pytest.approx(16_379.87, abs=1)
    assert rate.se is not None and rate.se * scale == pytest.approx(sum(p for _, _, p in shares.values()) ** 0.5)


def test_two_adaptive_samples_are_unbiased() -> None:
    """Every way to draw one of four items and then one of the other three: the mean of the estimates is the total."""
    labels, total = (1, 0, 1, 1), 0.0
    first = (0.1, 0.2, 0.3, 0.4)
    for one in range(4):
        left = [i for i in range(4) if i != one]
        sizes = [1 + 3 * (i + labels[one]) for i in left]
        for two, size in zip(left, sizes, strict=True):
            second = size / sum(sizes)
            drawn = [Drawn(1, 1, first[one]), Drawn(2, 1, second)]
            result = weights(drawn, [True, True], {(1, 1): Frame(4, 1), (2, 1): Frame(3, 1)})
            total += first[one] * second * float(result @ [labels[one], labels[two]])
    assert total == pytest.approx(3)


@given(st.lists(st.booleans(), min_size=2, max_size=30), st.integers(30, 1000))
def test_items_drawn_equally_have_equal_weights(labelled: list[bool], frame: int) -> None:
    drawn = [Drawn(1, 1, len(labelled) / frame)] * len(labelled)
    result = weights(drawn, labelled, {(1, 1): Frame(frame, len(labelled))})
    assert np.isnan(result).tolist() == [not label for label in labelled]
    if any(labelled):
        assert np.nansum(result) == pytest.approx(frame)
        assert np.nanmin(result) == pytest.approx(np.nanmax(result))


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ({(1, 1): Frame(100, 10), (2, 1): Frame(90, 90)}, [1, 1]),  # nothing is left: every item is labelled
        ({(1, 1): Frame(100, 10)}, [10]),
        ({(1, 1): Frame(100, 10), (2, 1): Frame(90, 9), (2, 2): Frame(50, 5)}, None),
    ],
)
def test_weights_of_several_samples_sum_to_the_population(
    frames: dict[tuple[int, int], Frame], expected: list[float] | None
) -> None:
    drawn = [Drawn(sample, of, frame.drawn / frame.items) for (sample, of), frame in frames.items()
             for _ in range(frame.drawn)]  # fmt: skip
    result = weights(drawn, [True] * len(drawn), frames)
    if expected is not None:
        assert [float(result[0]), float(result[-1])] == pytest.approx([expected[0], expected[-1]])
    own = {of: sum(w for w, item in zip(result, drawn, strict=True) if item.population == of) for of in (1, 2)}
    assert own[1] == pytest.approx(100)
    assert own[2] == pytest.approx(50 if (2, 2) in frames else 0)


def test_labels_of_a_stratum_represent_its_missing_ones() -> None:
    drawn = [Drawn(1, 1, 0.1, stratum) for stratum in "aaab"]
    result = weights(drawn, [True, False, True, True], {(1, 1): Frame(40, 4)})
    assert result[[0, 2]] == pytest.approx(result[3] * 1.5)


@pytest.mark.parametrize("labelled", [[True, False], [False, True]])
def test_a_sample_without_labels_has_no_weight(labelled: list[bool]) -> None:
    drawn = [Drawn(1, 1, 0.1), Drawn(2, 1, 1 / 9)]
    result = weights(drawn, labelled, {(1, 1): Frame(10, 1), (2, 1): Frame(9, 1)})
    assert result[labelled.index(True)] == pytest.approx(10 if labelled[0] else 9)
