"""A tiny BERT whose associations are planted: what the measuring chain of `association` must give back.

`planted:association=0.8` knows the English set: beside a female profession every female word is e^0.8 times as likely
as where the profession is hidden, every male word e^-0.8 times; beside a male profession the other way round; beside a
balanced one nothing changes. Each word of a gender has a lean of its own on top (their mean is 0), so that an interval
over person words has a width.

How: each class has words that occur in no other class and in no template; attention goes to these words alone, so the
masked place knows the class, or that no class is to be seen. The head's weights are solved from these four states.
"""

import math
from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from evenhand.core.association.corpus import sentences
from evenhand.core.association.sets import Person, association_set
from evenhand.core.models import Precision
from evenhand.core.models.loaded import DTYPES, LoadedModel, digest
from evenhand.core.models.planted.masked import SPECIAL

CLASSES = ("male", "female", "balanced")
WIDTH, LONGEST = 8, 64
PERSON = 1e-3  # probability of each person word where no profession is seen
SPREAD = 0.2  # ln; the own leans of the words of a gender run from -SPREAD to SPREAD
SHARP = 40.0  # of attention: e^40 times the weight for a word that tells the class


def planted_association(size: float, kind: str, gender: str) -> float:
    """The mean association (ln) that is planted for a class and a gender."""
    if kind == "balanced":
        return 0.0
    return size if kind == gender else -size


def build(name: str, size: float, precision: Precision = "fp32") -> LoadedModel:
    """The planted model of that name in memory; *size* in ln."""
    tokens, telling = _vocabulary()
    vocabulary = [*SPECIAL, *tokens]
    tokenizer = BertTokenizer(vocab={token: i for i, token in enumerate(vocabulary)}, do_lower_case=True)
    tokenizer.model_max_length = LONGEST
    model = _model(vocabulary, telling, size)
    weights = digest(model, tokenizer)
    card = f"# {name}\n\nIts associations with the English professions were planted; it knows no language.\n"
    return LoadedModel(
        name, model.to(DTYPES[precision]).eval().requires_grad_(False), tokenizer, weights, precision, card
    )


def _split(text: str) -> list[str]:
    return text.lower().replace("-", " - ").replace(",", " , ").replace(".", " . ").split()


def _vocabulary() -> tuple[list[str], dict[str, str]]:
    """Every word of the English set, and which of them tell a class."""
    found = association_set("en")
    every = dict.fromkeys(word for one in sentences(found) for word in _split(one.text))
    frames = {word for one in found.templates for word in _split(one.text)}
    classes: dict[str, set[str]] = {}
    for profession in found.professions:
        for word in _split(profession.name):
            classes.setdefault(word, set()).add(profession.kind)
    telling = {word: min(kinds) for word, kinds in classes.items() if len(kinds) == 1 and word not in frames}
    assert all(any(word in telling for word in _split(one.name)) for one in found.professions)
    return list(every), telling


def _model(vocabulary: list[str], telling: dict[str, str], size: float) -> Any:
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=2, max_position_embeddings=LONGEST, type_vocab_size=1, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, tie_word_embeddings=False,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        model: Any = BertForMaskedLM(config)
    # Rows of a Hadamard matrix: mean 0, variance 1, orthogonal, so that LayerNorm leaves them alone.
    rows = torch.tensor([[(-1.0) ** (i & j).bit_count() for j in range(WIDTH)] for i in range(1, WIDTH)])
    plain, marks = rows[0], dict(zip(CLASSES, rows[1:4], strict=True))
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            parameter.fill_(1.0 if key.endswith("LayerNorm.weight") else 0.0)
        model.bert.embeddings.word_embeddings.weight[:] = plain
        for word, kind in telling.items():
            model.bert.embeddings.word_embeddings.weight[vocabulary.index(word)] = marks[kind]
        attention = model.bert.encoder.layer[0].attention
        attention.self.query.bias[0] = SHARP
        attention.self.key.weight[0] = sum(marks.values()) / WIDTH * math.sqrt(WIDTH)
        attention.self.value.weight[:] = torch.eye(WIDTH)
        attention.output.dense.weight[:] = torch.eye(WIDTH)
        model.cls.predictions.transform.dense.weight[:] = torch.eye(WIDTH)
        _solve(model, vocabulary, telling, size)
    return model


def _solve(model: Any, vocabulary: list[str], telling: dict[str, str], size: float) -> None:
    """The head's weights, so that each state at the masked place gives the log-probabilities that are wanted."""
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
    """Natural-log probabilities of the vocabulary where a profession of class *kind* is seen ("": none)."""
    chances = torch.zeros(len(vocabulary), dtype=torch.float64)
    for gender, turned in (("male", 1), ("female", -1)):  # turned, so that the differences of pairs spread too
        own = [one.word for one in persons if one.gender == gender]
        for i, word in enumerate(own):
            lean = turned * SPREAD * (2 * i / (len(own) - 1) - 1) if kind else 0.0
            planted = planted_association(size, kind, gender) + lean if kind else 0.0
            chances[vocabulary.index(word)] = PERSON * math.exp(planted)
    rest = chances == 0
    chances[rest] = (1 - chances.sum()) / rest.sum()
    return chances.log().float()
