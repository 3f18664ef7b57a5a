"""The ruler: what is expected is right by hand, the measures give it back, and a measure that errs is caught."""

import math

import pytest

from evenhand.core.models import open_scorer
from evenhand.core.models.planted.names import RAIN, plant_of
from evenhand.core.ruler import planted as ruler
from evenhand.core.ruler.planted import (
    MARKS,
    QUANTITIES,
    Mark,
    expected,
    in_words,
    measure_marks,
    ruler_items,
    ruler_sentences,
)
from evenhand.core.statistics import Estimate
from evenhand.core.text.keywords import find
from evenhand.core.types import Score


@pytest.fixture(scope="module")
def marks() -> list[Mark]:
    return measure_marks(open_scorer)


def test_every_planted_quantity_is_recovered(marks) -> None:
    assert len(marks) == len(MARKS) * len(QUANTITIES) == 96
    assert not [mark for mark in marks if not mark.passed]


def test_a_constant_model_has_an_offset_and_no_context_effect(marks) -> None:
    results = {mark.quantity: mark.measured for mark in marks if mark.model == "planted:offset+0.3"}
    assert results["offset"].value == pytest.approx(0.3, abs=1e-6)
    assert results["contexts_share"].value == pytest.approx(0, abs=1e-6)
    assert results["side_auc"].value == 0.5
    assert results["bias_woman"].value is None and results["bias_woman"].reason is not None


# Worked out on paper: 304 sentences, 12 pairs of one mask, 7 of two; 3/4 of the male word's and 1/4 of the female
# word's sentences speak of rain. AUC: 3/4 * 3/4 both apart, 2 * 3/16 ties that count half -> 0.75.
BY_HAND = [
    ("planted:0", {"offset": 0, "bias_man": None, "model_bias": None, "side_auc": 0.5, "contexts_share": None}),
    ("planted:-1", {"offset": -1, "bias_man": None, "bias_woman": 1, "model_bias": None, "one_mask": -1}),
    ("planted:offset+0.3", {"offset": 0.3, "contexts_share": 0, "pairs_share": 0, "two_masks": 0.3, "bias_man": 0.3}),
    ("planted:pairs", {"offset": 0, "bias_man": 0.35, "bias_woman": 0.6, "model_bias": 0.475, "pairs_share": 1}),
    ("planted:pairs", {"one_mask": 0.35, "two_masks": -0.6, "contexts_share": 0, "side_auc": 0.5, "male_source": 0}),
    ("planted:context", {"offset": 0, "model_bias": 0.5, "contexts_share": 1, "pairs_share": 0, "side_auc": 0.75}),
    ("planted:context", {"male_source": 0.25, "female_source": -0.25, "one_mask": 0, "bias_man": 0.5}),
    ("planted:context1", {"model_bias": 1, "male_source": 0.5, "side_auc": 0.75}),
]


@pytest.mark.parametrize(("name", "numbers"), BY_HAND)
def test_expected_quantities_equal_hand_computation(name, numbers) -> None:
    result = expected(plant_of(name))
    assert {quantity: result[quantity] for quantity in numbers} == pytest.approx(numbers)


def test_ruler_sentences_are_unique_and_match_their_items() -> None:
    sentences = ruler_sentences()
    assert len(sentences) == len({s.text for s in sentences}) == 304
    for sentence in sentences:
        hits = find(sentence.text)
        assert [(hit.start, hit.pair, hit.side) for hit in hits] == [(sentence.start, sentence.pair, sentence.side)]
    for side, share in (("male", 0.75), ("female", 0.25)):
        own = [s.rain for s in sentences if s.side == side]
        assert sum(own) / len(own) == share
    assert all((RAIN in item.sentence) == s.rain for item, s in zip(ruler_items(), sentences, strict=True))


class Skewed:
    """A planted model behind a scorer with a fault."""

    def __init__(self, name: str, fault) -> None:
        self.inner, self.fault = open_scorer(name), fault
        self.signature = self.inner.signature

    def score(self, probes):
        return [
            Score(self.fault(probe, score.logprobs), score.signature)
            for probe, score in zip(probes, self.inner.score(probes), strict=True)
        ]

    def fillers(self, probe, *, top=10, words=()):
        return self.inner.fillers(probe, top=top, words=words)


FAULTS = {
    "sides swapped": lambda probe, p: p[::-1],
    "mean over masks instead of the sum": lambda probe, p: tuple(x / len(probe.options[0]) for x in p),
    "log2 instead of ln": lambda probe, p: tuple(x / math.log(2) for x in p),
    "one sentence off": lambda probe, p: (p[0] + (0.001 if probe.text.startswith("表格") else 0), p[1]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_measure_is_detected(fault) -> None:
    marks = measure_marks(lambda name: Skewed(name, FAULTS[fault]), ["planted:+1"])
    failed = {mark.quantity for mark in marks if not mark.passed}
    assert "worst_sentence" in failed
    assert all("not recovered" in str(in_words(m)) or "should" in str(in_words(m)) for m in marks if not m.passed)


@pytest.mark.parametrize(
    ("planted", "measured", "passed", "words"),
    [
        (0.3, 0.30005, True, "recovered"),
        (0.3, 0.3002, False, "not recovered"),
        (None, None, True, "undefined, as expected"),
        (None, 0.0, False, "should be undefined"),
        (0.0, None, False, "should have a value"),
    ],
)
def test_a_mark_passes_within_its_tolerance(planted, measured, passed, words) -> None:
    mark = Mark("planted:0", "offset", planted, Estimate(measured))
    assert mark.passed == passed
    assert words in str(in_words(mark))


def test_every_quantity_has_a_name() -> None:
    assert set(ruler.QUANTITIES) == set(expected(plant_of("planted:0")))
