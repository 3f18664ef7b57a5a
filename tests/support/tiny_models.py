"""Tiny checkpoints for the tests: real architectures with a few dozen random weights, written as files."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertTokenizerFast,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    Olmo2Config,
    Olmo2ForCausalLM,
    PreTrainedTokenizerFast,
)

CHARACTERS = "他她男女爸妈父母它是说医生护士老师很好高兴的了在来去看书画山水今天早上，。！？ab"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = [*SPECIAL, *CHARACTERS, "##a", "##b"]
SIZES: dict[str, Any] = {
    "vocab_size": len(VOCABULARY), "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 32, "max_position_embeddings": 64, "initializer_range": 0.6,
}  # fmt: skip


def tokenizer_files(folder: Path, *, without: str = "", extra: tuple[str, ...] = ()) -> None:
    """Save a character tokenizer of BERT; without one of the special tokens, or with words too many."""
    vocabulary = {token: i for i, token in enumerate([*(t for t in VOCABULARY if t != without), *extra])}
    settings = {"mask_token": None} if without == "[MASK]" else {}
    BertTokenizerFast(vocab=vocabulary, **settings).save_pretrained(folder)


def config(**changes: Any) -> BertConfig:
    """Return the shape of the tiny BERT."""
    return BertConfig(**(SIZES | changes))


def bert(folder: Path, *, seed: int = 0, **changes: Any) -> BertForMaskedLM:
    """Save a whole tiny BERT with its tokenizer to *folder*."""
    torch.manual_seed(seed)
    model = BertForMaskedLM(config(**changes)).eval()
    model.save_pretrained(folder)
    tokenizer_files(folder)
    return model


def save(model: Any, folder: Path) -> Path:
    """Save any model with the tiny tokenizer."""
    model.save_pretrained(folder)
    tokenizer_files(folder)
    return folder


def byte_level_tokenizer(folder: Path) -> int:
    """Save a tokenizer like RoBERTa's: words carry the space before them, <mask> swallows it. Return its size."""
    words = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        "<mask>",
        "he",
        "Ġhe",
        "Ġshe",
        "Ġis",
        "is",
        "Ġa",
        "Ġdoctor",
        ".",
        "Ġ",
        "a",
    ]
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    vocabulary = {
        word: i for i, word in enumerate(dict.fromkeys(words + letters + ["Ġd", "Ġi", "Ġs", "Ġh", "sh", "Ġsh"]))
    }
    pairs = "s h,Ġ sh,Ġsh e,h e,Ġ he,i s,Ġ is,Ġ a"
    merges = [(left, right) for left, right in (pair.split(" ") for pair in pairs.split(","))]
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>",
        pad_token="<pad>", unk_token="<unk>", mask_token=AddedToken("<mask>", lstrip=True, special=True),
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    return len(tokenizer)


def sentence_piece_tokenizer(folder: Path, *, pieces: tuple[str, ...] = ()) -> int:
    """Save a tokenizer like XLM-RoBERTa's: a mark before every text, the characters and *pieces*. Return its size."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    learnt = [("▁", -2.0), *((piece, -3.0) for piece in pieces), *((character, -9.0) for character in CHARACTERS)]
    backend = Tokenizer(models.Unigram([*((name, 0.0) for name in special), *learnt], unk_id=3))
    backend.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    backend.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    ends = [("<s>", 0), ("</s>", 2)]
    backend.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>",
        pad_token="<pad>", unk_token="<unk>", mask_token=AddedToken("<mask>", lstrip=True, special=True),
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    return len(tokenizer)


def bare_tokenizer(folder: Path, *, bos: str | None) -> None:
    """Save a character tokenizer that adds nothing around a text, like GPT-2's; with or without a begin token."""
    vocabulary = {token: i for i, token in enumerate(["<s>", "<unk>", *CHARACTERS])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    PreTrainedTokenizerFast(tokenizer_object=backend, bos_token=bos, unk_token="<unk>").save_pretrained(folder)


SHAPE: dict[str, Any] = {
    "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
    "max_position_embeddings": 64, "bos_token_id": 0, "eos_token_id": 2, "initializer_range": 0.5,
}  # fmt: skip


def tiny_causal(folder: Path, kind: str, **changes: Any) -> Path:
    """Save a causal model of a few dozen weights in *folder*: gpt2, olmo2 or llama."""
    size = byte_level_tokenizer(folder)
    torch.manual_seed(1)
    model: Any
    if kind == "gpt2":
        config = GPT2Config(
            vocab_size=size,
            n_embd=24,
            n_layer=2,
            n_head=2,
            n_positions=64,
            bos_token_id=0,
            eos_token_id=2,
            initializer_range=0.5,
        )
        model = GPT2LMHeadModel(config)
    elif kind == "olmo2":
        model = Olmo2ForCausalLM(Olmo2Config(**(SHAPE | {"vocab_size": size, "pad_token_id": 1} | changes)))
    else:
        model = LlamaForCausalLM(LlamaConfig(**(SHAPE | {"vocab_size": size} | changes)))
    model.eval().save_pretrained(folder)
    return folder
