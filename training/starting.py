"""Where training starts: a network that already looks at its neighbours and knows how frequent each token is.

From a plain random start a BERT of this size spends its first millions of
tokens on a plateau at the token frequencies, until some head has learned from
absolute positions what "next to" means. Setting that by hand skips the
plateau; everything stays free to change, and the architecture is plain BERT.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

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
