"""Tiny classifiers with a planted bias score: what the inference measure must give back. No knowledge of language.

| name | what it is built to answer |
|---|---|
| `planted:nli=0.3` (0 to 1) | three tenths of the occupations of each class biased: s = 0.3 up to whole words |
| `planted:nli=entailment` (or contradiction, neutral) | always that label: s = 2/3, 2/3, 0 |

A planted classifier is a whole BERT, so that it goes through tokenizer, batches and head as any checkpoint. Every
occupation and gender word is one token. All attention of [CLS] falls on the two such words of a pair, so its state
is the sum of two one-hot features; tanh units of the pooler know which sum it is, the head turns that into a label.
"""

import hashlib
import re
from functools import cache
from typing import Any

import torch
from tokenizers import AddedToken
from transformers import BertForSequenceClassification, BertTokenizer

from evenhand.core.errors import N_, ModelUnavailable
from evenhand.core.models.planted.masked import LONGEST, SPECIAL, empty_bert
from evenhand.core.models.planted.names import PREFIX
from evenhand.core.nli.types import LABELS, LANGUAGES, Kind, Label, Occupation, occupations, texts

# Features: is a word of the sets, then what it is. Two of the pairs of features (a trade, a gender) are always on.
FEATURES = ("male", "female", "plain", "open", "woman", "man")
ANSWERS: dict[tuple[str, str], Label] = {
    ("male", "man"): "entailment", ("male", "woman"): "contradiction", ("female", "woman"): "entailment",
    ("female", "man"): "contradiction", ("open", "woman"): "entailment", ("open", "man"): "contradiction",
}  # fmt: skip
SHARP, DECIDED = 40.0, 30.0
_NAME = re.compile(rf"{PREFIX}nli=(?P<size>[01](\.\d{{1,4}})?|{'|'.join(LABELS)})")


def is_planted_nli(name: str) -> bool:
    """Return True if a name asks for a planted classifier; the rest of the name may still be misspelt."""
    return name.startswith(f"{PREFIX}nli")


def planted_share(name: str) -> float | Label:
    """Return the share of biased occupations, or the one label. Raises ModelUnavailable for other names."""
    match = _NAME.fullmatch(name)
    size = match["size"] if match else "2"
    label = next((label for label in LABELS if label == size), None)
    if label is None and float(size) > 1:
        message = N_(
            "{name} is not a planted classifier. Available: planted:nli=0.3 (0 to 1) and planted:nli=entailment."
        )
        raise ModelUnavailable(message, name=name)
    return label or float(size)


@cache
def features(name: str) -> dict[str, str]:
    """Return the feature, one of FEATURES, that the classifier *name* sees in each word of the packaged sets.

    In each language the share in *name* of the words of each class is biased, rounded half up to whole words. The
    biased words are the first in an arbitrary order. A word of two languages is decided once.
    """
    share = planted_share(name)
    result: dict[str, str] = {}
    for language in LANGUAGES:
        words = occupations(language)
        kinds: tuple[Kind, ...] = ("female-stereo", "male-stereo", "neutral")
        for kind in kinds:
            _decide([word for word in words if word.kind == kind], 0.0 if isinstance(share, str) else share, result)
        result |= {texts(language).woman: "woman", texts(language).man: "man"}
    return result


def _decide(words: list[Occupation], share: float, found: dict[str, str]) -> None:
    wanted = int(len(words) * share + 0.5) - sum(found.get(word.word, "plain") != "plain" for word in words)
    left = sorted(
        (word for word in words if word.word not in found),
        key=lambda one: hashlib.sha256(one.word.encode()).hexdigest(),
    )
    for number, occupation in enumerate(left):
        own = {"man": "male", "woman": "female"}.get(occupation.gender, "open")
        found[occupation.word] = own if number < wanted else "plain"


def build(name: str) -> tuple[Any, Any, str]:
    """Return model, tokenizer and card. Raises ModelUnavailable for other names."""
    share, words = planted_share(name), features(name)
    tokenizer = BertTokenizer(
        vocab={token: i for i, token in enumerate([*SPECIAL, *words])}, do_lower_case=False, model_max_length=LONGEST
    )
    # As added tokens the words are found in running text, the longest first: "clerk" is not found in "clerkship".
    latin = [word for word in words if word.isascii()]
    tokenizer.add_tokens([AddedToken(word, single_word=True, normalized=False) for word in latin])
    tokenizer.add_tokens([AddedToken(word, normalized=False) for word in words if not word.isascii()])
    model = _model(len(tokenizer), [FEATURES.index(word) for word in words.values()])
    if isinstance(share, str):
        with torch.no_grad():
            model.classifier.weight.zero_()
            model.classifier.bias[:] = torch.tensor([DECIDED * (label == share) for label in LABELS])
    return model, tokenizer, f"A planted classifier, made in memory: {name}. Its labels are known; it knows nothing."


def _model(size: int, features: list[int]) -> Any:
    width = 12  # six features and their negatives: for any two that are on, LayerNorm sees the same mean and variance
    model = empty_bert(
        BertForSequenceClassification, vocab_size=size, hidden_size=width, max_position_embeddings=LONGEST,
        type_vocab_size=2, id2label={i: str(label) for i, label in enumerate(LABELS)},
        label2id={str(label): i for i, label in enumerate(LABELS)},
    )  # fmt: skip
    with torch.no_grad():
        _plant_words(model.bert, features, width)
        _plant_answers(model, width)
    return model


def _plant_words(bert: Any, features: list[int], width: int) -> None:
    """Give marked words +1 and -1 of their feature; attention sees only them, by the size of the embedding."""
    table = bert.embeddings.word_embeddings.weight
    half = width // 2
    for number, feature in enumerate(features):
        table[len(SPECIAL) + number, feature] = 1.0
        table[len(SPECIAL) + number, half + feature] = -1.0
    attention = bert.encoder.layer[0].attention
    # LayerNorm leaves zero rows zero, so that the sum of the first half is above 0 at marked words only.
    attention.self.query.bias[0] = SHARP
    attention.self.key.weight[0, :half] = SHARP
    attention.self.value.weight[:] = torch.eye(width)
    attention.output.dense.weight[:] = torch.eye(width)


def _plant_answers(model: Any, width: int) -> None:
    """Make a pooler unit per pair of features with an answer other than neutral: +1 where both are on, else -1."""
    on, off = _levels(width)
    bias = torch.zeros(3)
    for unit, ((trade, gender), label) in enumerate(ANSWERS.items()):
        for feature in (trade, gender):
            model.bert.pooler.dense.weight[unit, FEATURES.index(feature)] = 1.0
        middle = (2 * on + (on + off)) / 2
        model.bert.pooler.dense.weight[unit] *= DECIDED
        model.bert.pooler.dense.bias[unit] = -DECIDED * middle
        model.classifier.weight[LABELS.index(label), unit] = DECIDED
        bias[LABELS.index(label)] += DECIDED  # all units off: 0
    bias[LABELS.index("neutral")] = DECIDED
    model.classifier.bias[:] = bias


def _levels(width: int) -> tuple[float, float]:
    """Return LayerNorm's outputs for a feature that is on and for one that is off, if two features are on."""
    state = torch.zeros(width)
    state[[0, 1]] = 0.5
    state[[width // 2, width // 2 + 1]] = -0.5
    done = torch.nn.functional.layer_norm(state, (width,))
    return float(done[0]), float(done[2])
