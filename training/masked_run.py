"""A training run of a small masked language model: plan, model, where it starts, text as token ids, masks, accuracy.

It starts as a network that already looks at its neighbours and knows how frequent each token is. From a plain random
start a BERT of this size spends its first millions of tokens on a plateau at the token frequencies, until some head has
learned from absolute positions what "next to" means. Setting that by hand skips the plateau; everything stays free to
change, and the architecture is plain BERT.
"""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForMaskedLM

from training import corpora, run
from training.corpora import POSITIONS


@dataclass(frozen=True)
class Plan(run.Plan):
    """Numbers of a run of a masked model."""

    budget: int = 2048  # padded tokens a batch; small batches, because a processor gains nothing from large ones
    rate: float = 0.30  # share of tokens masked in training; more labels for the same pass than the usual 15 %
    pair_share: float = 0.25  # of the rows are masked two neighbours at a time


def build(plan: run.Plan, size: int) -> Any:
    """Return an untrained model of the plan's shape for a vocabulary of *size* tokens."""
    config = BertConfig(
        vocab_size=size, hidden_size=plan.width, num_hidden_layers=plan.layers, num_attention_heads=plan.width // 32,
        intermediate_size=4 * plan.width, max_position_embeddings=POSITIONS, type_vocab_size=1,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, tie_word_embeddings=True,
    )  # fmt: skip
    torch.manual_seed(plan.seed)
    made: Any = BertForMaskedLM
    return made._from_config(config, attn_implementation="sdpa", dtype=torch.float32)


class MaskedText:
    """Paragraphs and single sentences as token ids, and named pieces that are held out."""

    def __init__(self, tokenizer: Any, paragraphs: Sequence[str], sentences: Sequence[str], card: str) -> None:
        self.tokenizer, self.layout = tokenizer, Layout(tokenizer)
        self.paragraphs, self.sentences = (corpora.encode(tokenizer, part) for part in (paragraphs, sentences))
        self.card = (Path(__file__).parent / card).read_text(encoding="utf-8")
        self.held: dict[str, list[list[int]]] = {}

    def start(self, plan: Plan) -> Any:
        """Return a model that looks at its neighbours and knows how frequent each token is."""
        model = build(plan, len(self.tokenizer))
        look_at_neighbours(model)
        know_frequencies(model, self.paragraphs + self.sentences)
        return model

    def optimizers(self, model: Any, plan: Plan) -> list[torch.optim.Optimizer]:
        """Return Muon and AdamW."""
        return run.muon_and_adam(model, plan, 0.05)

    def batches(self, plan: Plan) -> Iterator[list[list[int]]]:
        """Yield batches without end, epoch after epoch, the same for the same seed."""
        rng = random.Random(plan.seed)
        while True:
            yield from batches(corpora.epoch(self.paragraphs, self.sentences, rng), plan.budget, rng)

    def loss(self, model: Any, batch: list[list[int]], plan: Plan, step: int) -> tuple[Tensor, int]:
        """Return nats per masked token; the masks depend on the seed and the step alone."""
        ids = self.layout.pad(batch)
        bits = torch.Generator().manual_seed(plan.seed + step)
        masked, where = mask(ids, plan.rate, plan.pair_share, self.layout, bits)
        return cross_entropy(logits_at(model, masked, where, self.layout.padding), ids[where]), ids.numel()

    def held_out(self, model: Any) -> dict[str, dict[str, float]]:
        """Return the masked accuracy on each part that was held out, and of all where there are several."""
        result = {name: accuracy(model, pieces, self.layout) for name, pieces in self.held.items()}
        if len(result) > 1:
            right, tokens = map(sum, zip(*result.values(), strict=True))
            result["pooled"] = right, tokens
        return {name: {"accuracy": round(right / n, 4), "tokens": n} for name, (right, n) in result.items()}


def batches(pieces: Sequence[list[int]], budget: int, rng: random.Random | None) -> Iterator[list[list[int]]]:
    """Pieces of like length together, at most *budget* padded tokens a batch; batches in random order if *rng*."""
    groups: list[list[list[int]]] = [[]]
    for piece in sorted(pieces, key=len):
        if groups[-1] and (len(groups[-1]) + 1) * (len(piece) + 2) > budget:
            groups.append([])
        groups[-1].append(piece)
    if rng:
        rng.shuffle(groups)
    yield from groups


def mask(ids: Tensor, rate: float, pair_share: float, layout: "Layout", bits: torch.Generator) -> tuple[Tensor, Tensor]:
    """Replace tokens by [MASK]; returns the masked ids and where (a boolean matrix).

    *rate* of all tokens that are not special get masked. In a *pair_share* of
    the rows the token after a chosen one is masked with it, because a probe of
    爸爸/妈妈 hides two characters in a row.
    """
    draws = torch.rand(ids.shape, generator=bits)
    in_pairs = torch.rand(ids.shape[0], 1, generator=bits) < pair_share
    chosen = draws < torch.where(in_pairs, rate / 2, rate)
    following = torch.zeros_like(chosen)
    following[:, 1:] = chosen[:, :-1]
    chosen = (chosen | (following & in_pairs)) & (ids > layout.last_special)
    return ids.masked_fill(chosen, layout.mask_id), chosen


def logits_at(model: Any, ids: Tensor, where: Tensor, padding: int) -> Tensor:
    """Logits of the vocabulary at the places *where* is true, in row order; the head runs nowhere else."""
    attention = None if bool((ids != padding).all()) else (ids != padding).long()
    hidden = model.bert(input_ids=ids, attention_mask=attention).last_hidden_state
    result: Tensor = model.cls(hidden[where])
    return result


@torch.inference_mode()
def accuracy(model: Any, pieces: Sequence[list[int]], layout: "Layout", seed: int = 1) -> tuple[int, int]:
    """Return (right, all): how many of 15 % randomly masked tokens are the model's first guess, and their number."""
    model.eval()
    bits = torch.Generator().manual_seed(seed)
    right = total = 0
    for group in batches(pieces, 4096, None):
        ids = layout.pad(group)
        masked, where = mask(ids, 0.15, 0.0, layout, bits)
        guesses = logits_at(model, masked, where, layout.padding).argmax(-1)
        right += int((guesses == ids[where]).sum())
        total += int(where.sum())
    model.train()
    return right, total


class Layout:
    """The special token ids of a tokenizer, by the names that the loops use."""

    def __init__(self, tokenizer: Any) -> None:
        self.cls, self.sep = tokenizer.cls_token_id, tokenizer.sep_token_id
        self.padding, self.mask_id = tokenizer.pad_token_id, tokenizer.mask_token_id
        self.last_special = max(tokenizer.all_special_ids)  # [UNK] is among them and is never a target

    def pad(self, pieces: Sequence[list[int]]) -> Tensor:
        """A matrix of token ids, each row [CLS] piece [SEP] and padding."""
        longest = max(map(len, pieces)) + 2
        return torch.tensor(
            [[self.cls, *piece, self.sep, *[self.padding] * (longest - len(piece) - 2)] for piece in pieces]
        )


OFFSETS = ((-1, 1, -2, 2, -3, 3), (-1, 1, -2, 2, -4, 4))  # per layer and head, in tokens; later layers start at random
SHARPNESS = 5.0


def waves(positions: int, size: int, scale: float) -> tuple[Tensor, Tensor]:
    """Sinusoids of geometric wavelengths 2.5 to 256 as (positions, size), and the angle per position of each pair."""
    pairs = size // 2
    wavelengths = 2.5 * (256 / 2.5) ** (torch.arange(pairs) / (pairs - 1))
    angles = 2 * math.pi / wavelengths
    grid = torch.arange(positions)[:, None] * angles
    return scale * torch.stack([grid.cos(), grid.sin()], dim=-1).reshape(positions, size), angles


def turned(angles: Tensor, offset: int) -> Tensor:
    """The matrix that moves the sinusoids of position i to those of position i + offset."""
    matrix = torch.zeros(2 * len(angles), 2 * len(angles))
    for k, angle in enumerate((angles * offset).tolist()):
        cos, sin = math.cos(angle), math.sin(angle)
        matrix[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = torch.tensor([[cos, -sin], [sin, cos]])
    return matrix


@torch.no_grad()
def look_at_neighbours(model: Any) -> None:
    """Keep the first dimensions for positions and let the heads of the first layers attend at fixed offsets."""
    embeddings, width = model.bert.embeddings, model.config.hidden_size
    size = width // model.config.num_attention_heads
    scale = math.sqrt(2) * model.config.initializer_range
    table, angles = waves(model.config.max_position_embeddings, size, scale)
    embeddings.word_embeddings.weight[:, :size] = 0
    embeddings.position_embeddings.weight.zero_()[:, :size] = table
    for layer, offsets in zip(model.bert.encoder.layer, OFFSETS, strict=False):
        attention = layer.attention.self
        for head, offset in enumerate(offsets[: model.config.num_attention_heads]):
            rows = slice(head * size, (head + 1) * size)
            attention.query.weight[rows] = 0
            attention.key.weight[rows] = 0
            attention.query.weight[rows, :size] = math.sqrt(SHARPNESS) * turned(angles, offset)
            attention.key.weight[rows, :size] = math.sqrt(SHARPNESS) * torch.eye(size)
        for linear in (attention.value, layer.attention.output.dense):
            linear.weight.normal_(0, width**-0.5)


@torch.no_grad()
def know_frequencies(model: Any, texts: Iterable[Sequence[int]]) -> None:
    """Set the output bias to the log of each token's share of the text (add-one)."""
    counts = torch.ones(model.config.vocab_size)
    for ids in texts:
        counts += torch.bincount(torch.tensor(ids), minlength=len(counts))
    model.cls.predictions.bias.copy_((counts / counts.sum()).log())
