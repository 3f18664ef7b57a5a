"""Tiny BERTs with planted answers, which a measuring chain must give back; the models know nothing of language.

A planted model is a whole BERT (one layer, width 2, a few thousand numbers), so that it goes through the same
tokenizer, batches, head and joining of masks as any checkpoint. It knows one thing: if the character 雨 occurs in the
sentence. The steps, with c = -1 without 雨 and +1 with it:

1. every token is embedded as (1, -1), 雨 as (-1, 1); a LayerNorm over two numbers keeps just that sign;
2. attention gives all the weight to 雨 if it occurs, else every token the same weight: the mean of the values is c;
3. the residual makes (-c, c) of the masked place, LayerNorm and the head's gelu keep the sign: t = -c;
4. the head gives token v the logit b_v + w_v t.

The b and w of the stems are solved (least norm) so that log10 p(male word)/p(female word) is the number in the name
(see names.py), for every pair of the released table at once, with one mask or two.

Another kind has planted associations, which the measuring chain of `association` must give back.
`planted:association=0.8` knows the English set. With a female profession every female word is e^0.8 times as likely as
with the profession hidden, and every male word e^-0.8 times. With a male profession it is the other way round; with a
balanced profession nothing changes. Each word of a gender also has a lean of its own (their mean is 0), so that an
interval over person words has a width. Each class has words that occur in no other class and in no template. Attention
goes to these words only, so the masked place knows the class, or that the text shows no class. The head's weights are
solved from these four states.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from evenhand.core.association.corpus import sentences
from evenhand.core.association.sets import Person, association_set
from evenhand.core.models import Precision
from evenhand.core.models.loaded import DTYPES, LoadedModel, Task, digest
from evenhand.core.models.planted.names import RAIN, PlantedModel, plant_of
from evenhand.core.resources import keyword_pairs, table
from evenhand.core.types import KeywordPair

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SIGNS = "，。？！：；、“”"
NEVER = -12.0  # logit of a special token: none is ever an answer
STEM = 3.0  # logit of a stem before its lean: e^3 = 20 times as likely as another character
SHARP = 8.0  # of query and key: the scores differ by 2 * 8 * 8 / sqrt 2 = 90, so the weights by e^90: all or nothing
LONGEST = 512


def build(name: str, precision: Precision = "fp32") -> LoadedModel:
    """Return the planted model of that name, in memory. Raises ModelUnavailable for other names."""
    plant = plant_of(name)
    tokens = vocabulary()
    return finished(name, _model(tokens, plant), _tokenizer(tokens, LONGEST), precision, card(plant))


def finished(
    name: str, model: Any, tokenizer: Any, precision: Precision, card: str, task: Task = "masked"
) -> LoadedModel:
    """Return a planted model, ready to be asked."""
    weights = digest(model, tokenizer, task)
    return LoadedModel(
        name, model.to(DTYPES[precision]).eval().requires_grad_(False), tokenizer, weights, precision, card
    )


def _tokenizer(tokens: Sequence[str], longest: int) -> BertTokenizer:
    ids = {token: i for i, token in enumerate(tokens)}
    return BertTokenizer(vocab=ids, do_lower_case=True, model_max_length=longest)


def save(name: str, folder: Path) -> Path:
    """Write the planted model of that name to *folder* as any checkpoint: config, safetensors, tokenizer, card."""
    loaded = build(name)
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)
    (folder / "README.md").write_text(loaded.card, encoding="utf-8")
    return folder


def card(plant: PlantedModel) -> str:
    """Return the model card, which says what was planted."""
    pairs = {pair.name: (plant.bias(pair, False), plant.bias(pair, True)) for pair in keyword_pairs()}
    rows = "\n".join(f"| {name} | {without:+.4g} | {with_:+.4g} |" for name, (without, with_) in pairs.items())
    return (
        f"# {plant.name}\n\nA ruler's mark: its answers were planted, it knows nothing of any language.\n\n"
        f"| pair | Bias_c without {RAIN} | with {RAIN} |\n|---|---|---|\n{rows}\n"
    )


def vocabulary() -> list[str]:
    """Return the special tokens, then every character of keyword pairs, neutral contexts and neutral words."""
    words = [word for pair in keyword_pairs() for word in (pair.male, pair.female)]
    words += [row["context"].replace("{word}", "") for row in table("neutral_contexts")]
    words += [row["first"] + row["second"] for row in table("neutral_words")]
    characters = dict.fromkeys("".join([*words, RAIN, SIGNS]))
    return [*SPECIAL, *characters]


def _model(tokens: list[str], plant: PlantedModel) -> Any:
    model = empty_bert(
        BertForMaskedLM, vocab_size=len(tokens), hidden_size=2, max_position_embeddings=LONGEST, type_vocab_size=1,
        hidden_act="gelu", tie_word_embeddings=False,
    )  # fmt: skip
    with torch.no_grad():
        _plant_rain(model, tokens.index(RAIN), sees=plant.kind == "context")
        _plant_answers(model.cls.predictions, tokens, plant)
    return model


def empty_bert(maker: Any, **shape: object) -> Any:
    """Return a model of one layer that *maker* makes, without dropout; all its weights are 0, those of norms 1."""
    settings: Any = BertConfig
    config = settings(
        num_hidden_layers=1, num_attention_heads=1, intermediate_size=2, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, **shape,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        model = maker(config)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            parameter.fill_(1.0 if key.endswith("LayerNorm.weight") else 0.0)
    return model


def _plant_rain(model: Any, rain: int, *, sees: bool) -> None:
    """Do steps 1 to 3: t = -1 at every place of a sentence with 雨, else +1; always +1 where *sees* is False."""
    embeddings = model.bert.embeddings.word_embeddings.weight
    embeddings[:] = torch.tensor([1.0, -1.0])
    if sees:
        embeddings[rain] = torch.tensor([-1.0, 1.0])
    attention = model.bert.encoder.layer[0].attention
    attention.self.query.bias[0] = SHARP
    attention.self.key.weight[0, 0] = -SHARP
    attention.self.value.weight[0, 0] = -1.0
    attention.output.dense.weight[:, 0] = torch.tensor([-1.0, 1.0])
    attention.output.dense.bias[:] = torch.tensor([-1.0, 1.0])
    model.cls.predictions.transform.dense.weight[:] = 3.0 * torch.eye(2)


def _plant_answers(head: Any, tokens: list[str], plant: PlantedModel) -> None:
    """Write the head's weights (step 4), so that token v has the logit b_v + w_v t."""
    dry, rainy = (_leans(partial(plant.bias, rain=rain)) for rain in (False, True))
    stems = {character for pair in keyword_pairs() for character in "".join(pair.stems)}
    bias = torch.zeros(len(tokens))
    for i, token in enumerate(tokens):
        without, with_ = dry.get(token, 0.0), rainy.get(token, 0.0)
        lean, push = (without + with_) / 2, (without - with_) / 2
        if plant.kind == "offset":  # t is always +1
            lean, push = 0.0, lean
        bias[i] = NEVER if token in SPECIAL else (STEM if token in stems else 0.0) + lean * math.log(10)
        head.decoder.weight[i] = push * math.log(10) / 2 * torch.tensor([1.0, -1.0])
    head.bias[:] = bias
    head.decoder.bias[:] = bias


def _leans(wanted: Callable[[KeywordPair], float]) -> dict[str, float]:
    """Return a log10 lean per character, such that the leans of the stems of a pair differ by *wanted* of the pair."""
    pairs = keyword_pairs()
    characters = sorted({character for pair in pairs for character in "".join(pair.stems)})
    rows = np.array([[pair.stems[0].count(c) - pair.stems[1].count(c) for c in characters] for pair in pairs], float)
    target = np.array([wanted(pair) for pair in pairs])
    solved = np.linalg.lstsq(rows, target, rcond=None)[0]
    assert np.allclose(rows @ solved, target, atol=1e-9), "these leans contradict each other"
    return dict(zip(characters, solved.tolist(), strict=True))


CLASSES = ("male", "female", "balanced")
WIDTH, SHORT = 8, 64
PERSON = 1e-3  # probability of each person word where no profession is seen
SPREAD = 0.2  # ln; the own leans of the words of a gender run from -SPREAD to SPREAD
SURE = 40.0  # of attention: e^40 times the weight for a word that tells the class


def planted_association(size: float, kind: str, gender: str) -> float:
    """Return the mean association (ln) that is planted for a class and a gender."""
    if kind == "balanced":
        return 0.0
    return size if kind == gender else -size


def build_association(name: str, size: float, precision: Precision = "fp32") -> LoadedModel:
    """Return the planted model of that name in memory; *size* in ln."""
    tokens, telling = _association_words()
    vocabulary = [*SPECIAL, *tokens]
    tokenizer = _tokenizer(vocabulary, SHORT)
    model = _association_model(vocabulary, telling, size)
    text = f"# {name}\n\nIts associations with the English professions were planted; it knows no language.\n"
    return finished(name, model, tokenizer, precision, text)


def _split(text: str) -> list[str]:
    return text.lower().replace("-", " - ").replace(",", " , ").replace(".", " . ").split()


def _association_words() -> tuple[list[str], dict[str, str]]:
    """Return every word of the English set, and the words that tell a class."""
    found = association_set("en")
    every = dict.fromkeys(word for sentence in sentences(found) for word in _split(sentence.text))
    frames = {word for template in found.templates for word in _split(template.text)}
    classes: dict[str, set[str]] = {}
    for profession in found.professions:
        for word in _split(profession.name):
            classes.setdefault(word, set()).add(profession.kind)
    telling = {word: min(kinds) for word, kinds in classes.items() if len(kinds) == 1 and word not in frames}
    assert all(any(word in telling for word in _split(profession.name)) for profession in found.professions)
    return list(every), telling


def _association_model(vocabulary: list[str], telling: dict[str, str], size: float) -> Any:
    model = empty_bert(
        BertForMaskedLM, vocab_size=len(vocabulary), hidden_size=WIDTH, max_position_embeddings=SHORT,
        type_vocab_size=1, tie_word_embeddings=False,
    )  # fmt: skip
    # Rows of a Hadamard matrix: mean 0, variance 1, orthogonal, so that LayerNorm leaves them alone.
    rows = torch.tensor([[(-1.0) ** (i & j).bit_count() for j in range(WIDTH)] for i in range(1, WIDTH)])
    plain, marks = rows[0], dict(zip(CLASSES, rows[1:4], strict=True))
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight[:] = plain
        for word, kind in telling.items():
            model.bert.embeddings.word_embeddings.weight[vocabulary.index(word)] = marks[kind]
        attention = model.bert.encoder.layer[0].attention
        attention.self.query.bias[0] = SURE
        attention.self.key.weight[0] = sum(marks.values()) / WIDTH * math.sqrt(WIDTH)
        attention.self.value.weight[:] = torch.eye(WIDTH)
        attention.output.dense.weight[:] = torch.eye(WIDTH)
        model.cls.predictions.transform.dense.weight[:] = torch.eye(WIDTH)
        _solve(model, vocabulary, telling, size)
    return model


def _solve(model: Any, vocabulary: list[str], telling: dict[str, str], size: float) -> None:
    """Set the head's weights so that each state at the masked place gives the wanted log-probabilities."""
    persons = association_set("en").persons
    mask = vocabulary.index("[MASK]")
    first = {kind: next(word for word, of in telling.items() if of == kind) for kind in CLASSES}
    states, targets = [], []
    for kind in ("", *CLASSES):
        seen = [mask] if not kind else [mask, vocabulary.index(first[kind])]
        hidden = model.bert(torch.tensor([seen])).last_hidden_state[0, 0]
        states.append(model.cls.predictions.transform(hidden))
        targets.append(_logprobs(vocabulary, persons, kind, size))
    solved = torch.linalg.lstsq(torch.stack(states).double(), torch.stack(targets).double(), driver="gelsd").solution
    model.cls.predictions.decoder.weight[:] = solved.T.float()


def _logprobs(vocabulary: list[str], persons: tuple[Person, ...], kind: str, size: float) -> torch.Tensor:
    """Return natural-log probabilities of the vocabulary after a profession of class *kind* ("": none)."""
    chances = torch.zeros(len(vocabulary), dtype=torch.float64)
    for gender, turned in (("male", 1), ("female", -1)):  # turned, so that the differences of pairs spread too
        own = [person.word for person in persons if person.gender == gender]
        for i, word in enumerate(own):
            lean = turned * SPREAD * (2 * i / (len(own) - 1) - 1) if kind else 0.0
            planted = planted_association(size, kind, gender) + lean if kind else 0.0
            chances[vocabulary.index(word)] = PERSON * math.exp(planted)
    rest = chances == 0
    chances[rest] = (1 - chances.sum()) / rest.sum()
    return chances.log().float()
