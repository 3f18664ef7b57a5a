"""From token ids to logits at the places that are asked about: the one step that costs time.

Two ways, equal within rounding (tests/core/models/test_forward.py): `HeadAtPlaces` runs any
architecture as its authors wrote it and keeps the head to the asked places;
`core.models.fused_bert` computes BERT and its relatives without padding.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

# Tokens a batch. Large enough that the matrix products dominate, small enough to stay in the processor's caches;
# a padded handful of sentences would waste a third of a large batch. A graphics card wants more work at once.
BUDGET, BUDGET_SMALL, SMALL, BUDGET_CUDA = 2048, 512, 128, 16_384

Rows = Sequence[Sequence[int]]


class Forward(Protocol):
    """A model that can be asked for logits at places. Not for several threads at once."""

    def __call__(self, rows: Rows, places: Rows) -> Tensor:
        """Logits [places of all rows, vocabulary] of token ids *rows*, in the order of rows and their *places*."""
        ...

    def batches(self, lengths: Sequence[int], widths: Sequence[int]) -> Iterator[list[int]]:
        """Indices of rows that go well together, of rows with *lengths* tokens and *widths* asked places."""
        ...


def budget_on(device: torch.device) -> int:
    """How many tokens a batch may have where the model computes on *device*."""
    return BUDGET_CUDA if device.type == "cuda" else BUDGET


class HeadAtPlaces:
    """Any architecture: rows of like lengths padded together, the encoder on everything, the head on the places."""

    def __init__(self, model: Any, padding_id: int) -> None:
        self.model, self.padding_id = model, padding_id

    @torch.inference_mode()
    def __call__(self, rows: Rows, places: Rows) -> Tensor:
        """See `Forward`."""
        longest = max(map(len, rows))
        device = self.model.device
        ids = torch.tensor([[*row, *[self.padding_id] * (longest - len(row))] for row in rows], device=device)
        seen = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=device)
        uneven = any(len(row) < longest for row in rows)
        return logits_at(self.model, places, input_ids=ids, attention_mask=seen if uneven else None)

    def batches(self, lengths: Sequence[int], widths: Sequence[int]) -> Iterator[list[int]]:
        """See `Forward`; the budget counts padding."""
        del widths
        return padded_batches(lengths, budget_on(self.model.device) if len(lengths) > SMALL else BUDGET_SMALL)


def logits_at(model: Any, places: Rows, **inputs: Any) -> Tensor:
    """Logits [places of all rows, vocabulary] of one pass of any Hugging Face language model.

    The head works on each place by itself, so the encoder's output can be
    reduced to those places on its way to the head, for any architecture.
    """
    row_of = torch.tensor([i for i, there in enumerate(places) for _ in there], device=model.device)
    place_of = torch.tensor([place for there in places for place in there], device=model.device)

    kept = False

    def keep_places(_module: Any, _inputs: Any, output: Any) -> Any:
        nonlocal kept
        kept = True
        output["last_hidden_state"] = output["last_hidden_state"][row_of, place_of].unsqueeze(0)
        return output

    hook = model.base_model.register_forward_hook(keep_places)
    try:
        logits: Tensor = model(**inputs).logits
    finally:
        hook.remove()
    return logits[0] if kept else logits[row_of, place_of]  # OPT goes past its base model


def padded_batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices of like lengths together, at most *budget* padded tokens a batch (one longer row is its own batch)."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[i] > budget:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
