"""Tiny BERTs whose answers are planted: what a measuring chain must give back, and no knowledge of language.

A planted model is a whole BERT (one layer, width 2, a few thousand numbers), so that it goes through the same
tokenizer, batches, head and joining of masks as any checkpoint. It knows one thing: whether the character 雨 stands
somewhere in the sentence. The steps, with c = -1 without 雨 and +1 with it:

1. every token is embedded as (1, -1), 雨 as (-1, 1); a LayerNorm over two numbers keeps just that sign;
2. attention gives 雨, where it stands, all the weight, else every token the same: the mean of the values is c;
3. the residual makes (-c, c) of the masked place, LayerNorm and the head's gelu keep the sign: t = -c;
4. the head gives token v the logit b_v + w_v t.

The b and w of the stems are solved (least norm) so that log10 p(male word)/p(female word) is what the name says (see
names.py), for every pair of the released table at once, whether it takes one mask or two.
"""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from evenhand.core.models import Precision
from evenhand.core.models.loaded import DTYPES, LoadedModel, digest
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
    """The planted model of that name, in memory. Raises ModelUnavailable for a name that is none."""
    plant = plant_of(name)
    tokens = vocabulary()
    tokenizer = BertTokenizer(
        vocab={token: i for i, token in enumerate(tokens)}, do_lower_case=True, model_max_length=LONGEST
    )
    model = _model(tokens, plant)
    weights = digest(model, tokenizer)
    model = model.to(DTYPES[precision]).eval().requires_grad_(False)
    return LoadedModel(name, model, tokenizer, weights, precision, card(plant))


def save(name: str, folder: Path) -> Path:
    """Write the planted model of that name to *folder* as any checkpoint: config, safetensors, tokenizer, card."""
    loaded = build(name)
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)
    (folder / "README.md").write_text(loaded.card, encoding="utf-8")
    return folder


def card(plant: PlantedModel) -> str:
    """The model card: what was planted."""
    pairs = {pair.name: (plant.bias(pair, False), plant.bias(pair, True)) for pair in keyword_pairs()}
    rows = "\n".join(f"| {name} | {without:+.4g} | {with_:+.4g} |" for name, (without, with_) in pairs.items())
    return (
        f"# {plant.name}\n\nA ruler's mark: its answers were planted, it knows nothing of any language.\n\n"
        f"| pair | Bias_c without {RAIN} | with {RAIN} |\n|---|---|---|\n{rows}\n"
    )


def vocabulary() -> list[str]:
    """Every character of the keyword pairs, the neutral contexts and the neutral words, after the special tokens."""
    words = [word for pair in keyword_pairs() for word in (pair.male, pair.female)]
    words += [row["context"].replace("{word}", "") for row in table("neutral_contexts")]
    words += [row["first"] + row["second"] for row in table("neutral_words")]
    characters = dict.fromkeys("".join([*words, RAIN, SIGNS]))
    return [*SPECIAL, *characters]


def _model(tokens: list[str], plant: PlantedModel) -> Any:
    config = BertConfig(
        vocab_size=len(tokens), hidden_size=2, num_hidden_layers=1, num_attention_heads=1, intermediate_size=2,
        max_position_embeddings=LONGEST, type_vocab_size=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        hidden_act="gelu", tie_word_embeddings=False,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        model: Any = BertForMaskedLM(config)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            parameter.fill_(1.0 if key.endswith("LayerNorm.weight") else 0.0)
        _plant_rain(model, tokens.index(RAIN), sees=plant.kind == "context")
        _plant_answers(model.cls.predictions, tokens, plant)
    return model


def _plant_rain(model: Any, rain: int, *, sees: bool) -> None:
    """Steps 1 to 3: t = -1 at every place of a sentence with 雨, else +1; always +1 where the model *sees* nothing."""
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
    """Step 4: logit b_v + w_v t."""
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
    """A log10 lean per character, so that the leans of every pair's stems differ by what is *wanted* of the pair."""
    pairs = keyword_pairs()
    characters = sorted({character for pair in pairs for character in "".join(pair.stems)})
    rows = np.array([[pair.stems[0].count(c) - pair.stems[1].count(c) for c in characters] for pair in pairs], float)
    target = np.array([wanted(pair) for pair in pairs])
    solved = np.linalg.lstsq(rows, target, rcond=None)[0]
    assert np.allclose(rows @ solved, target, atol=1e-9), "these leans contradict each other"
    return dict(zip(characters, solved.tolist(), strict=True))
