"""Whole texts through causal models: equal to the plain loss, whether beginnings are shared or not.

See docs/misgendering.md#the-verdict.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from evenhand.core.errors import ModelUnavailable
from evenhand.core.models.continuations import (
    EVERYBODY,
    TOO_SHORT,
    UNKNOWN_FORM,
    PerplexityScorer,
    in_one_pass,
    one_by_one,
    open_perplexity,
)
from evenhand.core.models.probe_tokens import BAD_SPAN, NO_OPTIONS, TOO_LONG
from evenhand.core.scoring.cache import CachedScorer
from evenhand.core.types import MaskedSentence
from tests.support import tiny_models

LETTERS = "abcdefghijklmnopqrstuvwxyz ABHSTX.,'/"
SIZE = len(LETTERS) + 2
SIZES: dict[str, Any] = tiny_models.SIZES | {"vocab_size": SIZE, "max_position_embeddings": 128}
GPT2 = {
    "vocab_size": SIZE, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 128, "initializer_range": 0.6,
    "bos_token_id": 0, "eos_token_id": 0,
}  # fmt: skip
BLOOM = {"vocab_size": SIZE, "hidden_size": 16, "n_layer": 2, "n_head": 2, "initializer_range": 0.6}
# How a model is made, whether its tokenizer puts a beginning before the text, whether it takes shared beginnings.
FAMILIES: dict[str, tuple[Callable[[], Any], bool, bool]] = {
    "llama": (lambda: LlamaForCausalLM(LlamaConfig(**SIZES)), True, True),
    "gpt2": (lambda: GPT2LMHeadModel(GPT2Config(**GPT2)), False, True),
    "bloom": (lambda: BloomForCausalLM(BloomConfig(**BLOOM)), False, False),
}
PROBES = (
    MaskedSentence("Sam is late, so [MASK] runs.", 17, 23, ("he", "she", "they", "xe")),
    MaskedSentence("[MASK] runs.", 0, 6, ("He", "She", "They", "Xe")),  # begins with the slot
    MaskedSentence("A bag of [MASK]", 9, 15, ("his", "hers", "theirs", "xyrs")),  # ends with it
    MaskedSentence("it is _", 6, 7, ("he runs and runs", "they run and run", "h")),  # unequal rests
    MaskedSentence("_", 0, 1, ("his", "his")),  # the same text twice
)


def letters(folder: Path, *, beginning: bool) -> None:
    """Save a tokenizer that splits every pronoun into letters; with or without its own begin token."""
    vocabulary = {token: i for i, token in enumerate(["<s>", "<unk>", *LETTERS])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    if beginning:
        backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", unk_token="<unk>").save_pretrained(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for name, (make, beginning, _) in FAMILIES.items():
        made[name] = tmp_path_factory.mktemp(name)
        torch.manual_seed(3)
        make().eval().save_pretrained(made[name])
        letters(made[name], beginning=beginning)
    return made


def plain(scorer: PerplexityScorer, text: str) -> tuple[float, int]:
    """Return (log-probability, predicted tokens) by the model's own loss on one text, as the tokenizer gives it."""
    ids = scorer.loaded.tokenizer(text, return_tensors="pt").input_ids
    with torch.inference_mode():
        loss = scorer.loaded.model(input_ids=ids, labels=ids).loss
    count = ids.shape[1] - 1
    return -float(loss) * count, count


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("family", list(FAMILIES))
def test_scores_equal_the_loss_of_each_text_alone(folders: dict[str, Path], family: str, shared: bool) -> None:
    scorer = open_perplexity(str(folders[family]))
    assert scorer.continuations.shared == FAMILIES[family][2]
    if not shared:
        scorer.continuations.shared = False
    for probe, score, read in zip(PROBES, scorer.score(PROBES), scorer.read(PROBES), strict=True):
        texts = [probe.text[: probe.start] + option + probe.text[probe.end :] for option in probe.options]
        for text, value, tokens in zip(texts, score.logprobs, read.tokens, strict=True):
            expected, count = plain(scorer, text)
            assert tokens == count
            assert value == pytest.approx(expected, abs=1e-4)
            assert math.exp(-(value or 0) / tokens) == pytest.approx(math.exp(-expected / count), rel=1e-5)


def test_a_begin_token_is_counted_only_if_the_tokenizer_adds_one(folders: dict[str, Path]) -> None:
    probe = MaskedSentence("_", 0, 1, ("ab", "cd"))
    assert open_perplexity(str(folders["llama"])).read([probe])[0].tokens == (2, 2)
    assert open_perplexity(str(folders["gpt2"])).read([probe])[0].tokens == (1, 1)


def test_a_split_pronoun_is_counted_in_pieces(folders: dict[str, Path]) -> None:
    """A tokenizer that splits every pronoun: the numbers are there, and how many tokens each form takes."""
    scorer = open_perplexity(str(folders["llama"]))
    read = scorer.read([PROBES[0]])[0]
    assert read.pieces == (2, 3, 4, 2)
    assert None not in scorer.score([PROBES[0]])[0].logprobs


def test_shared_prefixes_feed_fewer_tokens(folders: dict[str, Path]) -> None:
    scorer = open_perplexity(str(folders["llama"]))
    scorer.score([PROBES[2]])
    long, rests = len("<A bag of "), [3, 4, 6, 4]  # one token stands for the beginning
    assert scorer.alone == sum(long + rest - 1 for rest in rests)
    assert scorer.fed == long + sum(rest - 1 for rest in rests) - 0
    assert scorer.fed < scorer.alone


@pytest.mark.parametrize(
    "probe, reason",
    [
        (MaskedSentence("A _ b", 2, 3, ("he", "5")), UNKNOWN_FORM),
        (MaskedSentence("A " * 80 + "_", 160, 161, ("he", "she")), TOO_LONG),
        (MaskedSentence("A _", 2, 9, ("he", "she")), BAD_SPAN),
        (MaskedSentence("A _", 2, 3, ()), NO_OPTIONS),
    ],
    ids=["unknown form", "too long", "bad span", "no options"],
)
def test_undefined_scores_have_a_reason(folders: dict[str, Path], probe: MaskedSentence, reason: str) -> None:
    score = open_perplexity(str(folders["llama"])).score([probe])[0]
    assert score.logprobs == (None,) * len(probe.options)
    assert score.reason == reason


def test_a_single_token_without_a_begin_token_is_undefined(folders: dict[str, Path]) -> None:
    score = open_perplexity(str(folders["gpt2"])).score([MaskedSentence("_", 0, 1, ("a", "ab"))])[0]
    assert (score.logprobs, score.reason) == ((None, None), TOO_SHORT)


def test_a_masked_model_is_refused_in_one_sentence(known_model: Path) -> None:
    with pytest.raises(
        ModelUnavailable, match=r"is not a left-to-right model, so the probability of a sentence is not defined\."
    ):
        open_perplexity(str(known_model))


def test_answers_have_a_signature_and_are_cached(folders: dict[str, Path], tmp_path: Path) -> None:
    scorer = open_perplexity(str(folders["gpt2"]))
    assert scorer.signature.startswith("perplexity|")
    assert scorer.signature.endswith("|whole-text|fp32|v1")
    assert scorer.loaded.weights in scorer.cache_key
    with CachedScorer(scorer, tmp_path / "scores.db") as cached:
        first = cached.score(PROBES)
    fed = scorer.fed
    with CachedScorer(scorer, tmp_path / "scores.db") as cached:
        assert cached.score(PROBES) == first
    assert scorer.fed == fed
    assert scorer.fillers(PROBES[0]) == []


_texts = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=6).map(tuple), min_size=1, max_size=4).map(tuple)


@given(_texts)
def test_every_token_except_the_first_is_scored_once_per_text(texts: tuple[tuple[int, ...], ...]) -> None:
    for made in (in_one_pass(texts), one_by_one(texts)):
        wanted: list[list[int]] = [[] for _ in texts]
        for entry in made:
            for token, owner in zip(entry.wanted, entry.owners, strict=True):
                for number in range(len(texts)) if owner == EVERYBODY else (owner,):
                    wanted[number].append(token)
            assert max(entry.places, default=0) < len(entry.ids)
        assert [tuple(some) for some in wanted] == [ids[1:] for ids in texts]
