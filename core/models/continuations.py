"""Texts that begin alike, read by a causal model in one row: the beginning once, then each continuation.

Every continuation sees the beginning and itself. A model that does not take such a mask (tried out when it is opened)
gets one row per text. Passages say what to read off: which places, which token is wanted there, and whose it is.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import torch
from torch import Tensor

from evenhand.core.models.forward import BUDGET_SMALL, SMALL, budget_on, logits_at
from evenhand.core.models.loaded import LoadedModel

LOGITS = 2**25  # numbers in the logits of one batch: 128 MB, also for a vocabulary of 150,000
ALIKE = {"fp32": 1e-4, "bf16": 0.1}  # natural log; what a wrong mask does is far above

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Passage:
    """One row of tokens for the model, and what to read off it.

    `parts`: per token 0 for the shared beginning, else the number of its continuation. Term k of the sum is
    log P(`wanted[k]`) at place `places[k]` and belongs to continuation `owners[k]` (from 0).
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    parts: tuple[int, ...]
    places: tuple[int, ...]
    wanted: tuple[int, ...]
    owners: tuple[int, ...]


class Continuations:
    """Asks one loaded causal model for the log-probabilities of wanted tokens. Not for several threads at once."""

    def __init__(self, loaded: LoadedModel, padding_id: int, *, shared: bool | None = None) -> None:
        """*shared*: read a common beginning once; None tries out whether the model can."""
        self.loaded, self.padding_id = loaded, padding_id
        self.shared = self._takes_masks() if shared is None else shared

    def budget(self, count: int) -> int:
        """How many tokens go into one batch where *count* passages wait."""
        room = LOGITS // int(self.loaded.model.config.vocab_size)
        return max(1, min(room, budget_on(self.loaded.model.device) if count > SMALL else BUDGET_SMALL))

    @torch.inference_mode()
    def token_logprobs(self, group: Sequence[Passage], *, shared: bool | None = None) -> list[float]:
        """The log-probability of every wanted token, passage by passage."""
        device, longest = self.loaded.model.device, max(len(one.ids) for one in group)
        # What stands after a token cannot change it, so padding on the right needs no mask.
        ids = _padded([one.ids for one in group], longest, self.padding_id, device)
        inputs: dict[str, Any] = {"input_ids": ids, "use_cache": False}
        if self.shared if shared is None else shared:
            parts = _padded([one.parts for one in group], longest, -1, device)
            inputs["position_ids"] = _padded([one.positions for one in group], longest, 0, device)
            inputs["attention_mask"] = _seeing(parts, self.loaded.model.dtype)
        logits = logits_at(self.loaded.model, [one.places for one in group], **inputs)
        wanted = torch.tensor([[i] for one in group for i in one.wanted], device=device)
        token_logprobs: list[float] = torch.log_softmax(logits.float(), dim=-1).gather(1, wanted)[:, 0].tolist()
        return token_logprobs

    def _takes_masks(self) -> bool:
        """Whether the model answers the same when two continuations stand in one row, on ids of no meaning."""
        size = self.loaded.model.config.vocab_size
        first, second = ([(k * k + 3 * k + start) % size for k in range(5)] for start in (7, 11))
        sentences = tuple((*range(min(4, size)), *rest) for rest in (first, second))
        try:
            together = self.token_logprobs(passage(sentences), shared=True)
            apart = [term for one in passages(sentences) for term in self.token_logprobs([one], shared=False)]
        except Exception as error:  # whatever the authors' code says to a mask it does not know
            log.info("%s does not share beginnings: %s", self.loaded.name, error)
            return False
        limit = ALIKE[self.loaded.precision]
        return all(math.isclose(a, b, rel_tol=limit, abs_tol=limit) for a, b in zip(together, apart, strict=True))


def shared_tokens(sentences: Sequence[tuple[int, ...]]) -> int:
    """How many tokens all sentences begin with."""
    columns = zip(*sentences, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def passage(sentences: Sequence[tuple[int, ...]]) -> list[Passage]:
    """All sentences in one row: the beginning that they share, then each continuation but its last token."""
    shared = sentences[0][: shared_tokens(sentences)]
    ids, positions, parts = list(shared), list(range(len(shared))), [0] * len(shared)
    places, wanted, owners = list[int](), list[int](), list[int]()
    for owner, sentence in enumerate(sentences):
        rest = sentence[len(shared) :]
        places += [len(shared) - 1, *range(len(ids), len(ids) + len(rest) - 1)][: len(rest)]
        wanted += rest
        owners += [owner] * len(rest)
        ids += rest[:-1]
        positions += range(len(shared), len(sentence) - 1)
        parts += [owner + 1] * max(0, len(rest) - 1)
    return [Passage(*map(tuple, (ids, positions, parts, places, wanted, owners)))]


def passages(sentences: Sequence[tuple[int, ...]]) -> list[Passage]:
    """One row per sentence."""
    first = shared_tokens(sentences)
    made = []
    for owner, ids in enumerate(sentences):
        size, terms = max(first, len(ids) - 1), len(ids) - first
        row = ids[:size]
        made.append(
            Passage(
                row,
                tuple(range(size)),
                (0,) * size,
                tuple(range(first - 1, size))[:terms],
                ids[first:],
                (owner,) * terms,
            )
        )
    return made


def _padded(rows: Sequence[Sequence[int]], longest: int, filler: int, device: Any) -> Tensor:
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows], device=device)


def _seeing(parts: Tensor, dtype: torch.dtype) -> Tensor:
    """Who sees whom, to add to attention scores: [rows, 1, tokens, tokens]; earlier tokens of the beginning and of
    the same continuation.
    """
    own = parts[:, :, None] == parts[:, None, :]
    seen = (own | (parts[:, None, :] == 0)).tril()
    return torch.zeros(seen.shape, dtype=dtype, device=parts.device).masked_fill(~seen, torch.finfo(dtype).min)[:, None]
