"""Training and testing of a masked language model: batches, masks, loss, accuracy, Muon."""

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor


def batches(pieces: Sequence[list[int]], budget: int, rng: random.Random | None) -> Iterator[list[list[int]]]:
    """Pieces of like length together, at most *budget* padded tokens a batch; batches in random order if *rng*."""
    ordered = sorted(pieces, key=len)
    groups: list[list[list[int]]] = [[]]
    for piece in ordered:
        if groups[-1] and (len(groups[-1]) + 1) * (len(piece) + 2) > budget:
            groups.append([])
        groups[-1].append(piece)
    if rng:
        rng.shuffle(groups)
    yield from groups


def pad(pieces: Sequence[list[int]], cls: int, sep: int, padding: int) -> Tensor:
    """A matrix of token ids, each row [CLS] piece [SEP] and padding."""
    longest = max(map(len, pieces)) + 2
    rows = [[cls, *piece, sep, *[padding] * (longest - len(piece) - 2)] for piece in pieces]
    return torch.tensor(rows)


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
    """How many of 15 % randomly masked tokens are the model's first guess: (right, all)."""
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
        """As `pad`, with this tokenizer's ids."""
        return pad(pieces, self.cls, self.sep, self.padding)


class Muon(torch.optim.Optimizer):
    """Momentum whose update matrix is made orthogonal by five Newton-Schulz steps (Jordan et al. 2024), in fp32.

    torch.optim.Muon does the same in bfloat16, which this kind of processor
    emulates slowly. The update is scaled to the size of an Adam update
    (0.2 * sqrt(larger side), Liu et al. 2025), so one learning rate serves both.
    """

    def __init__(
        self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.95, weight_decay: float = 0.05
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One update of every matrix that has a gradient."""
        for group in self.param_groups:
            for weight in group["params"]:
                buffer = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
                buffer.lerp_(weight.grad, 1 - group["momentum"])
                update = orthogonal(weight.grad.lerp(buffer, group["momentum"]))
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update, alpha=-group["lr"] * 0.2 * max(weight.shape) ** 0.5)


def orthogonal(matrix: Tensor) -> Tensor:
    """The nearest matrix with singular values about 1, by five steps of the quintic iteration."""
    tall = matrix.shape[0] > matrix.shape[1]
    x: Tensor = matrix.T if tall else matrix
    x = x / (x.norm() + 1e-7)
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x + torch.addmm(gram, gram, gram, beta=-4.7750, alpha=2.0315) @ x
    return x.T if tall else x
