"""Classifiers: what is refused and how, labels by config and by hand, planted scores, batches, further training."""

from collections import Counter

import pytest
import torch
from transformers import BertForMaskedLM, BertForSequenceClassification

from evenhand.core.errors import ModelUnavailable, Refused
from evenhand.core.models import open_classifier
from evenhand.core.models.classifier import Classifier, FineTuning, fine_tuned, load_classifier, places_of
from evenhand.core.models.planted.nli import ANSWERS, features
from evenhand.core.nli.measure import measured
from evenhand.core.nli.run import argmax, obvious, run, sanity
from evenhand.core.nli.sets import packaged
from evenhand.core.nli.settings import AskSettings
from evenhand.core.nli.types import LABELS, LANGUAGES, Prediction, SentencePair
from evenhand.core.runs.kinds import Place
from tests.support import tiny_models

PAIRS = [SentencePair("医生很好", "他是医生"), SentencePair("他", "她"), SentencePair("今天老师在看书", "老师在看书")]


def saved(folder, labels: dict[int, str] | None = None, number: int = 3):
    torch.manual_seed(0)
    extra = {"id2label": labels, "label2id": {v: k for k, v in labels.items()}} if labels else {"num_labels": number}
    model = BertForSequenceClassification(tiny_models.config(**extra))
    return str(tiny_models.save(model.eval(), folder))


NAMED = {0: "contradiction", 1: "ENTAILMENT", 2: "neutral"}


@pytest.mark.parametrize(
    ("told", "places"),
    [
        pytest.param({0: "contradiction", 1: "entailment", 2: "neutral"}, (1, 0, 2), id="names"),
        pytest.param({0: "ENTAILMENT", 1: "NEUTRAL", 2: "CONTRADICTION"}, (0, 2, 1), id="capitals"),
        pytest.param({"0": "矛盾", "1": "中立", "2": "蕴含"}, (2, 0, 1), id="Chinese"),
        pytest.param({0: "c", 1: "e", 2: "n"}, (1, 0, 2), id="letters"),
    ],
)
def test_labels_are_read_from_the_config(told, places) -> None:
    assert places_of("m", told) == places


@pytest.mark.parametrize("told", [{0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, {0: "entailment", 1: "neutral", 2: "?"}])
def test_meaningless_labels_must_be_given_by_hand(told) -> None:
    with pytest.raises(Refused, match=r"m has the labels .* Give their meaning in this order"):
        places_of("m", told)
    assert places_of("m", told, ["neutral", "entailment", "contradiction"]) == (1, 2, 0)


@pytest.mark.parametrize("hand", [("entailment", "neutral"), ("entailment", "neutral", "neutral"), ("a", "b", "c")])
def test_labels_given_by_hand_must_be_complete(hand) -> None:
    with pytest.raises(Refused, match="once each"):
        places_of("m", NAMED, hand)


def test_two_labels_are_refused_in_one_sentence(tmp_path) -> None:
    with pytest.raises(ModelUnavailable, match="has 2 labels; inference needs three"):
        load_classifier(saved(tmp_path, number=2))


def test_a_model_without_the_head_is_refused(tmp_path) -> None:
    tiny_models.save(BertForMaskedLM(tiny_models.config(num_labels=3)), tmp_path)
    with pytest.raises(
        ModelUnavailable,
        match=r"has no classification head; its labels would be random\. Choose a model trained for inference\.",
    ):
        load_classifier(str(tmp_path), labels=LABELS)


def test_a_checkpoint_that_lost_its_head_is_refused(tmp_path) -> None:
    from safetensors.torch import load_file, save_file

    saved(tmp_path, NAMED)
    path = tmp_path / "model.safetensors"
    save_file({k: v for k, v in load_file(path).items() if "classifier" not in k}, path, metadata={"format": "pt"})
    with pytest.raises(
        ModelUnavailable,
        match=r"has no classification head; its labels would be random\. Choose a model trained for inference\.",
    ):
        load_classifier(str(tmp_path))


def test_probabilities_sum_to_one_and_batching_changes_nothing(tmp_path) -> None:
    scorer = Classifier(load_classifier(saved(tmp_path, NAMED)))
    together = scorer.score([*PAIRS, PAIRS[0]])
    assert together[0] == together[3]
    for pair, score in zip(PAIRS, together, strict=False):
        (alone,) = scorer.score([pair])
        assert score.logprobs == pytest.approx(alone.logprobs, abs=1e-5)
        assert sum(torch.tensor(score.logprobs).exp().tolist()) == pytest.approx(1, abs=1e-5)
    assert scorer.score([]) == []


def test_labels_by_hand_turn_the_answers(tmp_path) -> None:
    folder = saved(tmp_path, NAMED)
    first, second = (
        open_classifier(folder, labels=hand) for hand in (None, ("neutral", "entailment", "contradiction"))
    )
    (a,), (b,) = first.score(PAIRS[:1]), second.score(PAIRS[:1])
    assert (a.logprobs[1], a.logprobs[2]) == (b.logprobs[2], b.logprobs[1])
    assert first.signature != second.signature


def test_a_pair_that_is_too_long_is_undefined(tmp_path) -> None:
    scorer = Classifier(load_classifier(saved(tmp_path, NAMED)))
    long, short = scorer.score([SentencePair("他" * 60, "她" * 60), PAIRS[0]])
    assert long.logprobs == (None,) * 3
    assert "The pair is longer than the model's maximum input." in str(long.reason)
    assert argmax(long) is None
    assert argmax(short) in LABELS


@pytest.mark.parametrize("language", LANGUAGES)
def test_intervals_contain_the_planted_score(language) -> None:
    probes = packaged(language, sample=True)
    for name, s in (
        ("planted:nli=0.3", 0.3),
        ("planted:nli=0", 0.0),
        ("planted:nli=1", 1.0),
        ("planted:nli=0.75", 0.75),
    ):
        scores = open_classifier(name).score([row.pair for row in probes.rows])
        labels = [argmax(score) for score in scores]
        assert labels == [ANSWERS.get((features(name)[row.occupation], row.gender), "neutral") for row in probes.rows]
        rows = [Prediction(row.set, label, row.occupation) for row, label in zip(probes.rows, labels, strict=True)]
        result = measured(rows)["s"]
        if result.low is None:  # ten occupations, and nearly all of them biased
            assert s == 0.75
            assert "Too close to 0 or 1 for a 95% interval over so few units" in str(result.note)
            assert abs(result.value - s) < 0.12
        else:
            assert result.low <= s <= result.high


def test_the_whole_planted_set_is_exact_up_to_whole_words() -> None:
    chosen = features("planted:nli=0.3")
    for language in LANGUAGES:
        for kind, number in (("female-stereo", 13), ("male-stereo", 87)):
            words = {row.occupation for row in packaged(language).rows if row.kind == kind}
            assert len(words) == number
            assert sum(chosen[word] != "plain" for word in words) == int(number * 0.3 + 0.5)


def test_one_constant_label_gives_two_thirds() -> None:
    probes = packaged("en", sample=True)
    scores = open_classifier("planted:nli=contradiction").score([row.pair for row in probes.rows])
    assert Counter(map(argmax, scores)) == {"contradiction": 600}


@pytest.mark.parametrize("name", ["planted:nli", "planted:nli=2", "planted:nli=1.5", "planted:nli=yes"])
def test_misspelt_planted_classifiers_are_refused(name: str) -> None:
    with pytest.raises(ModelUnavailable, match=r"is not a planted classifier\. Available: planted:nli=0\.3"):
        open_classifier(name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_built_in_classifier_passes_the_obvious_pairs(language) -> None:
    result = sanity(open_classifier("demo-nli"), language)
    assert result.verdict == "fits"
    assert result.pairs == len(obvious(language)) == 18


def test_labels_in_a_wrong_order_are_detected(tmp_path) -> None:
    """demo-nli's outputs are entailment, neutral, contradiction."""
    wrong = ("contradiction", "entailment", "neutral")
    result = sanity(open_classifier("demo-nli", labels=wrong), "zh")
    assert result.verdict == "other order"
    assert result.best_right > result.right
    assert result.best == ("neutral", "entailment", "contradiction")
    with pytest.raises(Refused, match="The labels are probably swapped:"):
        run(AskSettings("demo-nli", "zh", sample=True, labels=",".join(wrong)), Place(tmp_path / "none.db"))


def test_further_training_is_reproducible_and_keeps_the_base() -> None:
    loaded = load_classifier("demo-nli")
    before = {key: value.clone() for key, value in loaded.model.state_dict().items()}
    pairs = [(row.pair, "contradiction") for row in packaged("en", sample=True).rows[:48]]
    settings = FineTuning(epochs=2, rate=1e-3, seed=1)
    seen: list[int] = []
    first, second = (fine_tuned(loaded, pairs, settings, seen.append) for _ in range(2))
    assert first.weights == second.weights != loaded.weights
    assert all(torch.equal(before[key], value) for key, value in loaded.model.state_dict().items())
    assert Counter(map(argmax, Classifier(first).score([pair for pair, _ in pairs])))["contradiction"] > 40
    assert seen[:3] == [32, 48, 80]
