"""A model compared with nulls and references: planted models with known answers, and scores made by hand."""

import math

import pandas as pd
import pytest

from evenhand.core.errors import ModelUnavailable, NotFound
from evenhand.core.models import open_scorer
from evenhand.core.models.catalogue import RANDOM
from evenhand.core.resources import keyword_pairs
from evenhand.core.ruler.own_model import (
    fitting,
    in_contexts,
    in_sentences,
    mean_corrected,
    neutral_words,
    nulls,
    on_built_in,
    on_scores,
)
from evenhand.core.ruler.planted import ruler_items, scored
from tests.support.audits import scores

PAIRS = {pair.name: pair for pair in keyword_pairs()}


def planted(name: str):
    """Serve a planted model under its name, and in place of the untrained one, which takes a second to load."""
    return open_scorer("planted:pairs" if name == RANDOM else name)


@pytest.fixture(scope="module")
def contextual():
    return on_built_in("planted:context", planted)


def test_context_effects_of_gendered_words_differ_from_neutral_ones(contextual) -> None:
    size = contextual.neutral_words
    # 5 of the 50 contexts mention rain; in them Bias_c is 1 higher. By pair, with k contexts of which one rains, the
    # mean of |value - mean| is 2 (k - 1) / k^2.
    counts = [len(list(items)) for _, items in _contexts_by_pair()]
    rainy = [sum("雨" in text for text in items) for _, items in _contexts_by_pair()]
    expected = sum(2 * r * (k - r) / k for k, r in zip(counts, rainy, strict=True)) / sum(counts)
    assert size.keyword_pairs.value == pytest.approx(expected, abs=1e-6)
    assert contextual.context_effect.value == pytest.approx(expected, abs=1e-6)
    assert size.neutral_words.value == pytest.approx(0, abs=1e-6)
    assert size.difference.low is not None and size.difference.low > 0
    assert "甲/乙" in size.words and len(size.pairs) == 19


def _contexts_by_pair():
    from evenhand.core.sentence_bias.model_answer import neutral_contexts

    return [(pair.name, neutral_contexts(pair.name)) for pair in keyword_pairs()]


def test_a_model_of_pair_leans_has_size_and_no_context_effect() -> None:
    result = on_built_in("planted:pairs", planted)
    assert result.summary.model_bias.value == pytest.approx(0.475, abs=1e-5)
    assert result.context_effect.value == pytest.approx(0, abs=1e-6)
    assert result.neutral_words.keyword_pairs.value == pytest.approx(0, abs=1e-6)
    assert result.untrained.model_bias.value == pytest.approx(0.475, abs=1e-5)
    by = {(null.of, null.shuffled): null for null in result.nulls}
    assert by["signed_mean", "pair"].inside is True
    assert by["side_auc", "source"].observed is None and by["side_auc", "source"].reason is not None


def test_measures_of_size_have_no_null(contextual) -> None:
    assert {null.of for null in contextual.nulls} == {"signed_mean", "side_difference", "side_auc"}


def test_nulls_of_a_constant_model() -> None:
    frame = scored(ruler_items(), open_scorer("planted:+0.3"), "planted:+0.3")
    by = {(null.of, null.shuffled): null for null in nulls(frame)}
    sentence, pair = by["signed_mean", "sentence"], by["signed_mean", "pair"]
    assert sentence.p is None and (
        "Not tested over sentences or articles, because sentences of a word pair share its preference. "
        "See the test over stems."
    ) in str(sentence.reason)
    # random signs of 12 stems of 7, 2 and ten times 1 of the 19 pairs: sd 0.3 * sqrt(49 + 4 + 10) / 19
    assert pair.high == pytest.approx(1.96 * 0.3 * math.sqrt(63) / 19, rel=0.2)
    assert pair.inside is False  # all 12 stems lean to one side, more than by chance
    assert (pair.p, pair.stems) == (2 / 4096, 12)
    assert by["side_difference", "pair"].observed is None  # nothing leans female
    assert by["side_auc", "source"].observed == 0.5 and by["side_auc", "source"].p == 1.0


def test_rounding_noise_does_not_count_as_a_direction() -> None:
    frame = scores({"他": [0.5 + 1e-8] * 6 + [-0.5] * 6, "她": [0.5] * 6 + [-0.5 - 1e-8] * 6})
    by = {(null.of, null.shuffled): null for null in nulls(frame)}
    assert by["side_difference", "pair"].observed == pytest.approx(0, abs=1e-12)


def run_of(name: str) -> pd.DataFrame:
    return scored(ruler_items(), open_scorer(name), name)


def test_a_run_is_compared_with_its_references() -> None:
    result = on_scores(run_of("planted:context"), "planted:context", planted, source="run")
    assert result.source == "run" and result.neutral_words_reason is None
    assert result.context_effect.value == pytest.approx(0.5, abs=1e-6)
    # In the run's own sentences: half of them speak of rain, and neutral words do not care.
    assert result.neutral_words.keyword_pairs.value == pytest.approx(0.5, abs=0.01)
    assert result.neutral_words.neutral_words.value == pytest.approx(0, abs=1e-6)
    assert result.untrained.n == 304
    assert result.summary.side_auc.value == pytest.approx(0.75)


def test_a_run_containing_the_untrained_model_needs_no_reference() -> None:
    frame = pd.concat([run_of("planted:context"), run_of("planted:pairs").assign(model=RANDOM)], ignore_index=True)
    result = on_scores(frame, "planted:context", None, source="run")
    assert result.untrained.model_bias.value == pytest.approx(0.475, abs=1e-5)
    assert result.neutral_words is None and "switched off" in str(result.neutral_words_reason)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModelUnavailable("There is no folder {name}. Check the path.", name="x"), "no folder x"),
        (None, "weights of this model have changed"),
    ],
    ids=["gone", "changed"],
)
def test_unavailable_references_have_a_reason(error, words) -> None:
    def opened(name):
        if error is not None:
            raise error
        return open_scorer("planted:+1")

    result = on_scores(run_of("planted:context"), "planted:context", opened, source="run")
    assert result.neutral_words is None and words in str(result.neutral_words_reason)
    assert result.summary.model_bias.value == pytest.approx(0.5, abs=1e-6)


def test_a_model_missing_from_the_scores_is_not_found() -> None:
    with pytest.raises(NotFound):
        on_scores(run_of("planted:0"), "other", None, source="run")


def test_the_mean_corrected_bias_equals_hand_computation() -> None:
    # 他: mean 0.5, |.| = 0.5 0.5; 爸爸 and 妈妈 are one pair: mean 1, |.| = 1 0 1
    frame = scores({"他": [0.0, 1.0], "爸爸": [0.0, 1.0], "妈妈": [2.0]})
    assert mean_corrected(frame).value == pytest.approx(3 / 5)
    assert mean_corrected(scores({"他": [1.0]})).value is None


def test_neutral_words_fit_a_pair_by_kind_and_width() -> None:
    assert [words.name for words in fitting(PAIRS["他/她"])] == ["甲/乙", "我/你"]
    assert [words.name for words in fitting(PAIRS["男生/女生"])] == ["医生/学生"]
    assert [words.name for words in fitting(PAIRS["爸爸/妈妈"])] == ["老师/同学", "朋友/同事"]
    assert fitting(PAIRS["姥爷/姥姥"]) == ()


def test_neutral_words_differ_only_in_the_masked_part() -> None:
    for kind in ("pronoun", "bare", "person", "relative"):
        for words in neutral_words(kind):
            first, last = words.male_stem
            assert words.male[:first] + words.stems[1] + words.male[last:] == words.female
            assert len(words.stems[0]) == len(words.stems[1])


def test_keyword_and_neutral_words_are_scored_in_equal_contexts() -> None:
    class Heard:
        signature = "s"

        def __init__(self) -> None:
            self.probes = []

        def score(self, probes):
            self.probes += probes
            return open_scorer("planted:0").score(probes)

    heard = Heard()
    frame = scores({"他": [0.1] * 5, "爸爸": [0.1] * 5})
    result = in_sentences(frame, heard, per_pair=3)
    assert result.contexts == 6
    places: dict[str, set] = {}
    for probe in heard.probes:
        places.setdefault(probe.text, set()).add((probe.start, probe.end))
    assert all(len(spans) == 1 for spans in places.values())
    assert len(heard.probes) == 6 * 3  # the keyword pair and two neutral pairs each


def test_sentences_without_fitting_neutral_words_are_undefined() -> None:
    frame = scores({"他": [0.1]}).assign(pair="姥爷/姥姥", side="male")
    result = in_sentences(frame, open_scorer("planted:0"))
    assert result.contexts == 0 and result.neutral_words.value is None
    assert "No neutral words fit" in str(result.neutral_words.reason)


def test_results_are_reproducible_by_seed() -> None:
    assert in_contexts(open_scorer("planted:context"), seed=2) == in_contexts(open_scorer("planted:context"), seed=2)


def test_scores_of_another_method_have_no_reference() -> None:
    frame = scored(ruler_items(), open_scorer("planted:context"), "planted:context")
    whole = frame.assign(signature=frame["signature"].str.replace("masked|", "pll|").str.replace("independent", "sum"))
    result = on_scores(whole, "planted:context", planted, source="run")
    assert (result.neutral_words, result.untrained) == (None, None)
    assert "different scoring methods" in str(result.neutral_words_reason)
    assert "different scoring methods" in str(result.untrained_reason)
