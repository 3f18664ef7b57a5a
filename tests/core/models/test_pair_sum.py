"""Causal models: the sum from the first token that differs, equal to the plain pass, undefined in words."""

import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    BertLMHeadModel,
    BloomConfig,
    BloomForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    OPTConfig,
    OPTForCausalLM,
)

from evenhand.core.models.continuations import passage, passages
from evenhand.core.models.loading import load_causal
from evenhand.core.models.probe_tokens import BAD_SPAN, EMPTY_OPTION, LITERAL_MASK, NO_OPTIONS, TOO_LONG, UNKNOWN_OPTION
from evenhand.core.models.whole_sentences import HIDDEN, NO_BEGINNING, SAME_TOKENS, PairSumScorer
from evenhand.core.types import MaskedSentence
from tests.support import tiny_models

SIZE = len(tiny_models.VOCABULARY)
SIZES = tiny_models.SIZES
GPT2: dict[str, Any] = {
    "vocab_size": SIZE, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "initializer_range": 0.6,
    "bos_token_id": 2, "eos_token_id": 3,
}  # fmt: skip
OPT: dict[str, Any] = {
    "vocab_size": SIZE, "hidden_size": 16, "num_hidden_layers": 2, "ffn_dim": 32, "num_attention_heads": 2,
    "max_position_embeddings": 64, "word_embed_proj_dim": 16, "init_std": 0.6,
}  # fmt: skip
# Architecture, how it is made, whether it takes the mask that lets options share their beginning.
FAMILIES: dict[str, tuple[Callable[[], Any], bool]] = {
    "gpt2": (lambda: GPT2LMHeadModel(GPT2Config(**GPT2)), True),
    "llama": (lambda: LlamaForCausalLM(LlamaConfig(**SIZES)), True),
    "mistral": (lambda: MistralForCausalLM(MistralConfig(**SIZES, num_key_value_heads=1)), True),
    "gemma2": (lambda: Gemma2ForCausalLM(Gemma2Config(**SIZES, num_key_value_heads=1, head_dim=8)), True),
    "opt": (lambda: OPTForCausalLM(OPTConfig(**OPT)), True),
    "bert as a decoder": (lambda: BertLMHeadModel(tiny_models.config(is_decoder=True)), True),
    "bloom": (
        lambda: BloomForCausalLM(
            BloomConfig(vocab_size=SIZE, hidden_size=16, n_layer=2, n_head=2, initializer_range=0.6)
        ),
        False,
    ),
    "mamba": (
        lambda: MambaForCausalLM(MambaConfig(vocab_size=SIZE, hidden_size=16, num_hidden_layers=2, state_size=4)),
        False,
    ),
}

PROBES = [
    MaskedSentence("今天他说很好。", 2, 3, ("他", "她")),
    MaskedSentence("今天她说很好。", 2, 3, ("他", "她")),  # its twin
    MaskedSentence("爸爸去看山和水了，今天很高兴。", 0, 2, ("爸爸", "妈妈")),
    MaskedSentence("女老师", 0, 1, ("男", "女")),
    MaskedSentence("早上好，她", 4, 5, ("他", "她")),
    MaskedSentence("今天他在", 2, 3, ("他", "爸爸", "妈")),  # words may differ in number of tokens here
]


def saved(model: Any, folder: Path) -> str:
    return str(tiny_models.save(model.eval(), folder))


def plain(scorer: PairSumScorer, probe: MaskedSentence) -> list[float]:
    """Score the textbook way: the whole sentence, every token's probability, from the first that differs."""
    tokenizer, model = scorer.loaded.tokenizer, scorer.loaded.model
    rows = []
    for option in probe.options:
        text = probe.text[: probe.start] + option + probe.text[probe.end :]
        rows.append(tokenizer(text).input_ids[:-1])  # [CLS] before it; the [SEP] after it does not belong to the text
    first = next(i for i, column in enumerate(zip(*rows, strict=False)) if len(set(column)) > 1)
    sums = []
    for row in rows:
        with torch.inference_mode():
            logprobs = model(input_ids=torch.tensor([row])).logits[0].double().log_softmax(-1)
        sums.append(sum(float(logprobs[i - 1, row[i]]) for i in range(first, len(row))))
    return sums


@pytest.mark.parametrize("family", FAMILIES)
def test_scores_equal_the_plain_pass(family: str, tmp_path: Path) -> None:
    make, shares = FAMILIES[family]
    torch.manual_seed(5)
    scorer = PairSumScorer(load_causal(saved(make(), tmp_path)))
    assert scorer.continuations.shared == shares
    for shared in (scorer.continuations.shared, False):
        scorer.continuations.shared = shared
        for probe, score in zip(PROBES, scorer.score(PROBES), strict=True):
            assert score.reason is None
            assert score.logprobs == pytest.approx(plain(scorer, probe), abs=1e-4)


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> PairSumScorer:
    torch.manual_seed(6)
    folder = tmp_path_factory.mktemp("gpt2")
    return PairSumScorer(load_causal(saved(GPT2LMHeadModel(GPT2Config(**GPT2)), folder)))


def test_probabilities_of_all_continuations_add_up_to_one(gpt2: PairSumScorer) -> None:
    """One token before the end, every word of the vocabulary as an option: the sums are a distribution."""
    probe = MaskedSentence("今天他", 2, 3, tuple(tiny_models.CHARACTERS))
    listed = sum(math.exp(p or 0.0) for p in gpt2.score([probe])[0].logprobs)
    ids = torch.tensor([gpt2.loaded.tokenizer("今天").input_ids[:-1]])
    with torch.inference_mode():
        after = gpt2.loaded.model(input_ids=ids).logits[0, -1].softmax(-1)
    rest = set(range(SIZE)) - set(gpt2.loaded.tokenizer.convert_tokens_to_ids(list(tiny_models.CHARACTERS)))
    assert listed + sum(float(after[i]) for i in rest) == pytest.approx(1, abs=1e-5)


def test_the_signature_contains_the_method(gpt2: PairSumScorer) -> None:
    signature = gpt2.score(PROBES[:1])[0].signature
    assert signature == gpt2.signature
    assert signature.startswith("pair-sum|") and signature.endswith("|sum|fp32|v1")
    assert gpt2.loaded.weights in gpt2.cache_key


UNDEFINED = [
    (MaskedSentence("今天他", 2, 3, ("他", "囧")), UNKNOWN_OPTION),
    (MaskedSentence("今天他", 2, 3, ("他", "")), EMPTY_OPTION),
    (MaskedSentence("今天他", 2, 3, ("他", " ")), EMPTY_OPTION),
    (MaskedSentence("今天他", 2, 3, ()), NO_OPTIONS),
    (MaskedSentence("今天他", 2, 2, ("他", "她")), BAD_SPAN),
    (MaskedSentence("今天他", 2, 9, ("他", "她")), BAD_SPAN),
    (MaskedSentence("他[MASK]", 0, 1, ("他", "她")), LITERAL_MASK),
    (MaskedSentence("今天他在", 2, 3, ("他", "她"), hidden=((0, 2),)), HIDDEN),
    (MaskedSentence("今天他", 2, 3, ("他", "他")), SAME_TOKENS),
    (MaskedSentence("今" * 63 + "他", 63, 64, ("他", "她")), TOO_LONG),
]


@pytest.mark.parametrize(("probe", "reason"), UNDEFINED)
def test_undefined_scores_have_a_reason(gpt2: PairSumScorer, probe: MaskedSentence, reason: str) -> None:
    before, score, after = gpt2.score([PROBES[0], probe, PROBES[0]])
    assert score.reason == reason and score.logprobs == (None,) * len(probe.options)
    assert before == after and before.reason is None


def test_the_longest_sentence_that_fits_is_scored(gpt2: PairSumScorer) -> None:
    assert gpt2.score([MaskedSentence("今" * 62 + "他", 62, 63, ("他", "她"))])[0].reason is None


def test_an_unknown_character_elsewhere_is_allowed(gpt2: PairSumScorer) -> None:
    assert gpt2.score([MaskedSentence("囧他囧", 1, 2, ("他", "她"))])[0].reason is None


def test_a_causal_model_has_no_fillers(gpt2: PairSumScorer) -> None:
    assert gpt2.fillers(PROBES[0]) == []


@pytest.mark.parametrize("hostile", ["[SEP]", "[CLS]", "[PAD]", "[UNK]"])
def test_special_tokens_in_a_text_are_plain_text(gpt2: PairSumScorer, hostile: str) -> None:
    read = gpt2.reader.read_all([MaskedSentence(f"{hostile}他", len(hostile), len(hostile) + 1, ("他", "她"))])[0]
    special = set(gpt2.loaded.tokenizer.all_special_ids) - {gpt2.loaded.tokenizer.unk_token_id}
    assert all(ids is not None and not special & set(ids[1:]) for ids in read.ids)


@pytest.mark.parametrize("bos", ["<s>", None])
def test_a_begin_token_is_put_before_the_first_word(bos: str | None, tmp_path: Path) -> None:
    """A tokenizer that adds nothing, as GPT-2's: its beginning-of-text token is put before every sentence."""
    tiny_models.bare_tokenizer(tmp_path, bos=bos)
    torch.manual_seed(7)
    model = GPT2LMHeadModel(GPT2Config(**GPT2 | {"bos_token_id": 0, "eos_token_id": 0})).eval()
    model.save_pretrained(tmp_path)
    scorer = PairSumScorer(load_causal(str(tmp_path)))
    first, later = scorer.score(
        [MaskedSentence("他看书", 0, 1, ("他", "她")), MaskedSentence("今天他看书", 2, 3, ("他", "她"))]
    )
    assert later.reason is None
    if bos is None:
        assert first.reason == NO_BEGINNING and first.logprobs == (None, None)
        return
    ids = [scorer.loaded.tokenizer.convert_tokens_to_ids(token) for token in (bos, *"他看书")]
    with torch.inference_mode():
        logprobs = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    assert first.logprobs[0] == pytest.approx(sum(float(logprobs[i, ids[i + 1]]) for i in range(3)), abs=1e-4)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=6),
    st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=3),
)
def test_a_joined_row_gives_the_terms_of_several_rows(beginning: list[int], rests: Sequence[list[int]]) -> None:
    """The tokens that each term sees, by following the parts, are those before it in its sentence."""
    sentences = [tuple(beginning + rest) for rest in rests]

    def questions(made: Any) -> list[tuple[int, tuple[int, ...], int]]:
        results = []
        for entry in made:
            for place, wanted, owner in zip(entry.places, entry.wanted, entry.owners, strict=True):
                seen = [i for i in range(place + 1) if entry.parts[i] in (0, entry.parts[place])]
                assert [entry.positions[i] for i in seen] == list(range(len(seen)))
                results.append((owner, tuple(entry.ids[i] for i in seen), wanted))
        return sorted(results)

    expected = questions(passages(sentences))
    assert questions(passage(sentences)) == expected
    assert all(sentences[owner][: len(seen) + 1] == (*seen, wanted) for owner, seen, wanted in expected)


def test_answers_do_not_depend_on_the_batch(gpt2: PairSumScorer) -> None:
    rng = random.Random(8)
    texts = ["".join(rng.choices(tiny_models.CHARACTERS, k=rng.randint(2, 40))) for _ in range(150)]
    probes = [MaskedSentence(text, at := rng.randrange(len(text)), at + 1, ("他", "她")) for text in texts]
    together = gpt2.score(probes)
    for probe, score in list(zip(probes, together, strict=True))[::10]:
        assert score.logprobs == pytest.approx(gpt2.score([probe])[0].logprobs, abs=1e-4)
