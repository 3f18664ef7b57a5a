"""Which scorer answers for a model, a method and a device."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BertLMHeadModel, LlamaConfig, LlamaForCausalLM

from evenhand.core.errors import ModelUnavailable, Refused
from evenhand.core.models import open_scorer
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.models.whole_sentences import PairSumScorer, PllScorer
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.types import MaskedSentence
from tests.support import tiny_models


def masked(folder: Path) -> None:
    tiny_models.bert(folder)


def llama(folder: Path) -> None:
    tiny_models.save(LlamaForCausalLM(LlamaConfig(**tiny_models.SIZES)), folder)


def decoder(folder: Path) -> None:
    tiny_models.save(BertLMHeadModel(tiny_models.config(is_decoder=True)), folder)


METHODS: list[tuple[Callable[[Path], None], str, type]] = [
    (masked, "auto", MaskedScorer),
    (masked, "masked", MaskedScorer),
    (masked, "pll", PllScorer),
    (llama, "auto", PairSumScorer),
    (llama, "pair-sum", PairSumScorer),
    (decoder, "auto", PairSumScorer),
]


@pytest.mark.parametrize(("make", "method", "kind"), METHODS)
def test_the_method_fits_the_model(make: Callable[[Path], None], method: Any, kind: type, tmp_path: Path) -> None:
    make(tmp_path / "model")
    assert type(open_scorer(str(tmp_path / "model"), method=method, device="cpu")) is kind


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"method": "guess"}, "guess is not a scoring method; choose one of auto, masked, pair-sum, pll"),
        (
            {"method": "pll", "joint": "sequential"},
            "sequential combines the tokens of a masked word, but pll sums over whole sentences. Omit sequential.",
        ),
        ({"joint": "mean"}, "mean is not a method of combining the tokens of a word; choose one of"),
    ],
    ids=["method", "method and joint", "joint"],
)
def test_unknown_and_unsuitable_settings_are_refused(settings: Any, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        open_scorer("known", **settings)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has the device that should be missing")
def test_a_missing_device_is_refused() -> None:
    with pytest.raises(ModelUnavailable, match=r"torch finds no device cuda on this machine\. Available: .*cpu"):
        open_scorer("known", device="cuda")
    with pytest.raises(ModelUnavailable, match="no device tpu"):
        open_scorer("known", device="tpu")


@pytest.mark.skipif(torch.cuda.is_available() or torch.backends.mps.is_available(), reason="an accelerator is here")
def test_the_cpu_is_the_last_resort() -> None:
    for device in ("auto", "cpu"):
        scorer = open_scorer("known", device=device)
        assert scorer.loaded.model.device == torch.device("cpu")


@pytest.mark.parametrize(
    "device",
    ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no accelerator"))],
)
def test_bf16_differs_from_fp32_by_rounding_and_is_signed(device: str, tmp_path: Path) -> None:
    tiny_models.bert(tmp_path, hidden_size=32, intermediate_size=64)
    exact = open_scorer(str(tmp_path), device="cpu")
    rough = open_scorer(str(tmp_path), device=device, precision="bf16")
    assert rough.signature == exact.signature.replace("|fp32|", "|bf16|")
    rng = random.Random(3)
    texts = ["".join(rng.choices(tiny_models.CHARACTERS, k=rng.randint(5, 30))) for _ in range(300)]
    probes = [MaskedSentence(text, at := rng.randrange(len(text)), at + 1, ("他", "她")) for text in texts]
    pairs = [(bias_of(a), bias_of(b)) for a, b in zip(exact.score(probes), rough.score(probes), strict=True)]
    differences = [abs(a - b) for a, b in pairs if a is not None and b is not None]
    assert len(differences) == 300 and 1e-4 < max(differences) < 1.0


@pytest.mark.parametrize(("make", "method"), [(llama, "masked"), (llama, "pll"), (masked, "pair-sum")])
def test_an_unsuitable_method_is_refused(make: Callable[[Path], None], method: Any, tmp_path: Path) -> None:
    make(tmp_path / "model")
    with pytest.raises(ModelUnavailable, match=r"is not a masked language model|is not a left-to-right model"):
        open_scorer(str(tmp_path / "model"), method=method)


def test_a_planted_model_works_with_every_masked_method() -> None:
    for method, kind in (("auto", MaskedScorer), ("pll", PllScorer)):
        assert type(open_scorer("planted:0", method=method)) is kind  # type: ignore[arg-type]
    with pytest.raises(ModelUnavailable, match=r"planted:0.*is not a left-to-right model"):
        open_scorer("planted:0", method="pair-sum")
