"""How well a model predicts held-out texts: loss and first guesses at the same places whatever the model."""

from collections.abc import Sequence
from typing import Any

import torch

from evenhand.core.models.checks import Task
from evenhand.core.models.tuning.settings import MASKED_SHARE, HeldOut

TOKENS_AT_ONCE = 8192  # padded tokens of a batch
SEED = 20260101  # of the masked places: the same for every model with this tokenizer


@torch.inference_mode()
def held_out(model: Any, tokenizer: Any, rows: Sequence[list[int]], task: Task) -> HeldOut:
    """The figures of *model* on texts as token ids; dropout is off while it is asked. No random state is touched.

    Masked: 15 % of the tokens of a text, at least one, drawn by a fixed seed, all of them become the mask token, so the
    loss is that of a pseudo-perplexity estimated on these places. Causal: every token but the first.
    """
    training = model.training
    model.eval()
    places = torch.Generator().manual_seed(SEED)
    hidden = [_masked_places(row, tokenizer, places) if task == "masked" else [] for row in rows]
    found: dict[int, tuple[float, int, int]] = {}
    for batch in _batches(rows):
        ids = _padded([rows[i] for i in batch], tokenizer)
        wanted = torch.full_like(ids, -100)
        given = ids.clone()
        for line, i in enumerate(batch):
            if task == "masked":
                wanted[line, hidden[i]] = ids[line, hidden[i]]
                given[line, hidden[i]] = tokenizer.mask_token_id
            else:
                wanted[line, : len(rows[i]) - 1] = ids[line, 1 : len(rows[i])]
        attention = torch.tensor([[1] * len(rows[i]) + [0] * (ids.shape[1] - len(rows[i])) for i in batch])
        device = next(model.parameters()).device
        logits = model(input_ids=given.to(device), attention_mask=attention.to(device)).logits.float().cpu()
        found |= {i: _of_text(logits[line], wanted[line]) for line, i in enumerate(batch)}
    model.train(training)
    per_text = tuple(found[i] for i in range(len(rows)))
    total, tokens, right = (sum(column) for column in zip(*per_text, strict=True)) if per_text else (0.0, 0, 0)
    if not tokens:
        return HeldOut(float("nan"), float("nan"), 0, len(rows), per_text)
    return HeldOut(total / tokens, right / tokens, int(tokens), len(rows), per_text)


def _of_text(logits: torch.Tensor, wanted: torch.Tensor) -> tuple[float, int, int]:
    asked = wanted != -100
    terms = torch.nn.functional.cross_entropy(logits[asked], wanted[asked], reduction="sum")
    return float(terms), int(asked.sum()), int((logits[asked].argmax(-1) == wanted[asked]).sum())


def _masked_places(row: list[int], tokenizer: Any, places: torch.Generator) -> list[int]:
    special = set(tokenizer.all_special_ids)
    free = [i for i, token in enumerate(row) if token not in special]
    count = min(len(free), max(1, round(MASKED_SHARE * len(free))))
    order = torch.randperm(len(free), generator=places).tolist()
    return sorted(free[i] for i in order[:count])


def _batches(rows: Sequence[list[int]]) -> list[list[int]]:
    """The numbers of the rows, those of like length together."""
    batches: list[list[int]] = [[]]
    for i in sorted(range(len(rows)), key=lambda i: len(rows[i])):
        if batches[-1] and (len(batches[-1]) + 1) * len(rows[i]) > TOKENS_AT_ONCE:
            batches.append([])
        batches[-1].append(i)
    return [batch for batch in batches if batch]


def _padded(rows: Sequence[list[int]], tokenizer: Any) -> torch.Tensor:
    padding = tokenizer.pad_token_id or 0
    longest = max(map(len, rows))
    return torch.tensor([row + [padding] * (longest - len(row)) for row in rows])
