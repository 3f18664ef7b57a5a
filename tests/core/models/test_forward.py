"""The fused forward pass equals the authors' code; in float64, so that rounding hides nothing."""

import copy
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    BertForMaskedLM,
    CamembertConfig,
    CamembertForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
    ElectraConfig,
    ElectraForMaskedLM,
    RobertaConfig,
    RobertaForMaskedLM,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
)

from evenhand.core.models.forward import BUDGET, BUDGET_CUDA, Fused, HeadAtPlaces, anatomy, budget_on, padded_batches
from evenhand.core.models.loaded import forward_of
from tests.support import tiny_models

SIZES = tiny_models.SIZES
FRAMED = SIZES | {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
DISTIL: dict[str, Any] = {
    "vocab_size": SIZES["vocab_size"], "max_position_embeddings": 64, "initializer_range": 0.6,
    "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32,
}  # fmt: skip
FAMILIES: dict[str, Callable[[], Any]] = {
    "bert": lambda: BertForMaskedLM(tiny_models.config()),
    "bert, one layer": lambda: BertForMaskedLM(tiny_models.config(num_hidden_layers=1)),
    "bert, one head of width 2": lambda: BertForMaskedLM(
        tiny_models.config(hidden_size=2, num_attention_heads=1, intermediate_size=2)
    ),
    "bert, two sentence types": lambda: BertForMaskedLM(tiny_models.config(type_vocab_size=2)),
    "bert, relu": lambda: BertForMaskedLM(tiny_models.config(hidden_act="relu")),
    "bert, another gelu": lambda: BertForMaskedLM(tiny_models.config(hidden_act="gelu_new")),
    "bert, untied head": lambda: BertForMaskedLM(tiny_models.config(tie_word_embeddings=False)),
    "roberta": lambda: RobertaForMaskedLM(RobertaConfig(**FRAMED)),
    "xlm-roberta": lambda: XLMRobertaForMaskedLM(XLMRobertaConfig(**FRAMED)),
    "camembert": lambda: CamembertForMaskedLM(CamembertConfig(**FRAMED)),
    "electra": lambda: ElectraForMaskedLM(ElectraConfig(**SIZES, embedding_size=16)),
    "electra, narrow embeddings": lambda: ElectraForMaskedLM(ElectraConfig(**SIZES, embedding_size=8)),
    "distilbert": lambda: DistilBertForMaskedLM(DistilBertConfig(**DISTIL)),
}


def random_model(family: str) -> Any:
    """Return a small model of random weights, biases and norms too, in float64."""
    torch.manual_seed(4)
    model = FAMILIES[family]()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.double().eval().requires_grad_(False)


def drawn(rng: random.Random, count: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return token ids of unequal lengths, and one to four requested places each."""
    rows = [[rng.randrange(5, SIZES["vocab_size"]) for _ in range(rng.randint(4, 40))] for _ in range(count)]
    return rows, [sorted(rng.sample(range(len(row)), rng.randint(1, 4))) for row in rows]


def plain(model: Any, rows: list[list[int]], places: list[list[int]]) -> torch.Tensor:
    """Compute one sentence at a time, no mask, the head everywhere."""
    logits = []
    with torch.inference_mode():
        for row, there in zip(rows, places, strict=True):
            logits.append(model(input_ids=torch.tensor([row])).logits[0, there])
    return torch.cat(logits)


@pytest.mark.parametrize("family", FAMILIES)
def test_fused_equals_the_plain_pass(family: str) -> None:
    model = random_model(family)
    rows, places = drawn(random.Random(family), 30)
    expected = plain(model, rows, places)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    parts = anatomy(model)
    assert parts is not None, "this family should take the fast way"
    forward = Fused(parts)
    assert torch.allclose(forward(rows, places), expected, rtol=0, atol=1e-9)
    # A second, smaller batch is not disturbed by the contents of the workspace.
    assert torch.allclose(forward(rows[:3], places[:3]), plain(model, rows[:3], places[:3]), rtol=0, atol=1e-9)
    # The model itself still has equal numbers and answers.
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert torch.equal(plain(model, rows, places), expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_padded_batches_equal_the_plain_pass(family: str) -> None:
    model = random_model(family)
    padded = HeadAtPlaces(model, padding_id=1)
    rows, places = drawn(random.Random(family), 12)
    assert torch.allclose(padded(rows, places), plain(model, rows, places), rtol=0, atol=1e-9)
    even = [row[:4] for row in rows]
    ends = [[0, 3] for _ in even]
    assert torch.allclose(padded(even, ends), plain(model, even, ends), rtol=0, atol=1e-9)


def relative() -> Any:
    model = random_model("bert")
    model.config.position_embedding_type = "relative_key"
    return model


class Changed(BertForMaskedLM):
    """A user's own variant of BERT; its code may do anything."""


@pytest.mark.parametrize(
    "make",
    [
        lambda: AlbertForMaskedLM(AlbertConfig(**SIZES, embedding_size=8)),
        relative,
        lambda: Changed(tiny_models.config()),
    ],
    ids=["albert", "relative positions", "own class"],
)
def test_unsupported_models_use_the_general_pass(make: Callable[[], Any]) -> None:
    model = make().eval()
    assert anatomy(model) is None
    assert isinstance(forward_of(model, 0), HeadAtPlaces)


def test_a_copied_model_has_its_own_joined_weights() -> None:
    """The joined weights of one model are not those of its copy."""
    model = random_model("bert")
    rows, places = drawn(random.Random(0), 3)
    expected = forward_of(model, 0)(rows, places)
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.bert.encoder.layer[0].attention.self.query.weight.mul_(2)
    assert torch.equal(forward_of(model, 0)(rows, places), expected)
    assert not torch.allclose(forward_of(other, 0)(rows, places), expected)


@settings(deadline=None)
@given(st.lists(st.integers(3, 300), max_size=60), st.integers(64, 2048))
def test_padded_batches_contain_every_row_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(padded_batches(lengths, budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget


@cache
def one_layer() -> Fused:
    parts = anatomy(random_model("bert, one layer"))
    assert parts is not None
    return Fused(parts)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(3, 3000), st.integers(1, 4)), max_size=200))
def test_fused_batches_contain_every_row_once_within_the_budget(shapes: list[tuple[int, int]]) -> None:
    lengths, widths = [length for length, _ in shapes], [width for _, width in shapes]
    batches = list(one_layer().batches(lengths, widths))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or sum(lengths[i] for i in batch) <= BUDGET
        assert batch == sorted(batch, key=lambda i: (lengths[i], widths[i]))


@pytest.mark.parametrize(
    ("device", "tokens"), [("cpu", BUDGET), ("mps", BUDGET), ("cuda", BUDGET_CUDA), ("cuda:1", BUDGET_CUDA)]
)
def test_a_graphics_card_gets_larger_batches(device: str, tokens: int) -> None:
    assert budget_on(torch.device(device)) == tokens


def logits_in_batches(forward: Fused, rows: list[list[int]], places: list[list[int]]) -> tuple[int, torch.Tensor]:
    """Return the number of batches, and the logits of one place a row in the order of the rows."""
    batches = list(forward.batches([*map(len, rows)], [*map(len, places)]))
    logits: dict[int, torch.Tensor] = {}
    for batch in batches:
        result = forward([rows[i] for i in batch], [places[i] for i in batch]).clone()
        logits |= dict(zip(batch, result, strict=True))
    return len(batches), torch.stack([logits[i] for i in range(len(rows))])


def test_larger_batches_give_equal_logits() -> None:
    small, large = (Fused(one_layer().parts) for _ in range(2))
    large.budget = BUDGET_CUDA
    rows = [[(3 * k + length) % SIZES["vocab_size"] for k in range(length)] for length in range(5, 60)] * 4
    places = [[len(row) // 2] for row in rows]
    several, expected = logits_in_batches(small, rows, places)
    single, batched = logits_in_batches(large, rows, places)
    assert (several > 1, single) == (True, 1)
    torch.testing.assert_close(batched, expected, rtol=1e-9, atol=1e-9)
