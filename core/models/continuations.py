"""Texts that begin alike, read by a causal model in one row: the beginning once, then each continuation.

Every continuation sees the beginning and itself. A model that does not take such a mask (tried out when it is opened)
gets one row per text. Passages say what to read: the places, the token wanted at each, and its text.

`PerplexityScorer`: how likely whole texts are that differ in one place. docs/misgendering.md#the-verdict: the sum of
the negative log-probabilities over the T - 1 predicted tokens of the *whole* text, template included, with what the
tokenizer puts around a text (a beginning-of-text token only where it adds one, Llama yes, GPT-2 no). Perplexity is
exp(sum / (T - 1)), so the least mean is the least perplexity, as HF's `loss` has it.
"""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import torch
from torch import Tensor

from evenhand.core.errors import N_
from evenhand.core.models import Precision
from evenhand.core.models.forward import BUDGET_SMALL, SMALL, budget_on, logits_at, padded, padded_batches
from evenhand.core.models.loaded import LoadedModel, Signed, use_threads
from evenhand.core.models.loading import load_causal
from evenhand.core.models.probe_tokens import BAD_SPAN, NO_OPTIONS, TOO_LONG, TextReader, longest_input, outside_spans
from evenhand.core.types import Filler, MaskedSentence, Score

LOGITS = 2**25  # numbers in the logits of one batch: 128 MB, also for a vocabulary of 150,000
ALIKE = {"fp32": 1e-4, "bf16": 0.1}  # natural log; what a wrong mask does is far above

EVERYBODY = -1  # owner of the terms that all texts share

log = logging.getLogger(__name__)
Texts = tuple[tuple[int, ...], ...]


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
    """Asks one loaded causal model for the log-probabilities of wanted tokens. Not for several threads at once.

    `fed` counts the tokens that went through the model.
    """

    def __init__(self, loaded: LoadedModel, padding_id: int, *, shared: bool | None = None) -> None:
        """Prepare to read texts with a model.

        *shared*: read a common beginning once; None tests whether the model can.
        """
        self.loaded, self.padding_id, self.fed = loaded, padding_id, 0
        self.shared = self._takes_masks() if shared is None else shared

    def budget(self, count: int) -> int:
        """Return how many tokens go into one batch if *count* passages are waiting."""
        room = LOGITS // int(self.loaded.model.config.vocab_size)
        return max(1, min(room, budget_on(self.loaded.model.device) if count > SMALL else BUDGET_SMALL))

    def sums(self, asked: Sequence[Texts], make: Callable[[Texts], list[Passage]]) -> list[list[float]]:
        """Return for each set of texts the sum of each text, over the terms in the passages that *make* gives."""
        made = [(number, one) for number, texts in enumerate(asked) for one in make(texts)]
        sums = [[0.0] * len(texts) for texts in asked]
        self.fed += sum(len(one.ids) for _, one in made)
        for batch in padded_batches([len(one.ids) for _, one in made], self.budget(len(made))):
            group = [made[i] for i in batch]
            terms = iter(self.token_logprobs([one for _, one in group]))
            for number, one in group:
                for owner in one.owners:
                    term = next(terms)
                    if owner == EVERYBODY:
                        sums[number] = [value + term for value in sums[number]]
                    else:
                        sums[number][owner] += term
        return sums

    @torch.inference_mode()
    def token_logprobs(self, group: Sequence[Passage], *, shared: bool | None = None) -> list[float]:
        """Return the log-probability of every wanted token, passage by passage."""
        device = self.loaded.model.device
        # Later tokens cannot change an earlier one, so padding on the right needs no mask.
        ids = padded([one.ids for one in group], self.padding_id, device)
        inputs: dict[str, object] = {"input_ids": ids, "use_cache": False}
        if self.shared if shared is None else shared:
            parts = padded([one.parts for one in group], -1, device)
            inputs["position_ids"] = padded([one.positions for one in group], 0, device)
            inputs["attention_mask"] = _seeing(parts, self.loaded.model.dtype)
        logits = logits_at(self.loaded.model, [one.places for one in group], **inputs)
        wanted = torch.tensor([[i] for one in group for i in one.wanted], device=device)
        token_logprobs: list[float] = torch.log_softmax(logits.float(), dim=-1).gather(1, wanted)[:, 0].tolist()
        return token_logprobs

    def _takes_masks(self) -> bool:
        """Return True if the model gives the same answers with two continuations in one row; test ids are arbitrary."""
        size = self.loaded.model.config.vocab_size
        first, second = ([(k * k + 3 * k + start) % size for k in range(5)] for start in (7, 11))
        sentences = tuple((*range(min(4, size)), *rest) for rest in (first, second))
        try:
            together = self.token_logprobs(passage(sentences), shared=True)
            apart = [term for one in passages(sentences) for term in self.token_logprobs([one], shared=False)]
        except Exception as error:  # the authors' code may raise any error for an unknown mask
            log.info("%s does not share beginnings: %s", self.loaded.name, error)
            return False
        limit = ALIKE[self.loaded.precision]
        return all(math.isclose(a, b, rel_tol=limit, abs_tol=limit) for a, b in zip(together, apart, strict=True))


def shared_tokens(sentences: Sequence[tuple[int, ...]]) -> int:
    """Return the number of tokens with which all sentences begin."""
    columns = zip(*sentences, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def passage(sentences: Sequence[tuple[int, ...]]) -> list[Passage]:
    """Return all sentences in one row: their shared beginning, then each continuation without its last token."""
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


def passages(sentences: Sequence[tuple[int, ...]], first: int | None = None) -> list[Passage]:
    """Return one row per sentence; its tokens from place *first* on are wanted (None: after the shared beginning)."""
    first = shared_tokens(sentences) if first is None else first
    made = []
    for owner, ids in enumerate(sentences):
        size, terms = max(first, len(ids) - 1), len(ids) - first
        places = tuple(range(first - 1, size))[:terms]
        made.append(Passage(ids[:size], tuple(range(size)), (0,) * size, places, ids[first:], (owner,) * terms))
    return made


def _seeing(parts: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the mask to add to attention scores: [rows, 1, tokens, tokens]. A token sees earlier tokens of the
    beginning and of its own continuation.
    """
    own = parts[:, :, None] == parts[:, None, :]
    seen = (own | (parts[:, None, :] == 0)).tril()
    return torch.zeros(seen.shape, dtype=dtype, device=parts.device).masked_fill(~seen, torch.finfo(dtype).min)[:, None]


UNKNOWN_FORM = N_(
    "A word of these texts is not in the vocabulary of the model's tokenizer, so they cannot be compared."
)
TOO_SHORT = N_("The text is a single token in this model, so there is nothing to predict.")


@dataclass(frozen=True, slots=True)
class Reading:
    """The numbers of tokens of a probe's texts in a model, per option.

    `tokens`: predicted tokens, T - 1; `pieces`: tokens that the option itself takes. Empty where the probe is
    undefined; `reason` says why.
    """

    ids: Texts
    tokens: tuple[int, ...]
    pieces: tuple[int, ...]
    reason: str | None = None


class CausalScorer(Signed):
    """Scores whole texts with one loaded causal model; obeys `core.types.Scorer`. Not for several threads at once."""

    def __init__(self, loaded: LoadedModel, reader: TextReader, shared: bool | None) -> None:
        """Prepare to score probes with a model.

        *shared*: read the common beginning of a probe's texts once; None tests whether the model can.
        """
        self.loaded = loaded
        self.continuations = Continuations(loaded, reader.padding_id, shared=shared)

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Return no fillers: a model that reads from left to right does not fill a slot inside a sentence."""
        del probe, top, words
        return []


class PerplexityScorer(CausalScorer):
    """Log-probabilities of whole texts. `alone` counts the tokens of the texts one by one."""

    method, version, joining = "perplexity", 1, "whole-text"

    def __init__(self, loaded: LoadedModel, *, shared: bool | None = None) -> None:
        self.reader = _Reader(loaded.tokenizer, longest_input(loaded.tokenizer, loaded.model.config))
        super().__init__(loaded, self.reader, shared)
        self.alone = 0

    @property
    def fed(self) -> int:
        """The number of tokens that went through the model."""
        return self.continuations.fed

    def read(self, probes: Sequence[MaskedSentence]) -> list[Reading]:
        """Tokenize the text of each probe with each option in the slot, without running the model."""
        return self.reader.read_all(probes)

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """Return for each probe and option the natural-log probability of the whole text (a sum, at most 0), in order.

        All options of a probe are undefined where one is, since they are there to be compared.
        """
        read = self.read(probes)
        asked = list(dict.fromkeys(reading.ids for reading in read if reading.ids))
        self.alone += sum(len(ids) - 1 for texts in asked for ids in texts)
        make = in_one_pass if self.continuations.shared else one_by_one
        sums = dict(zip(asked, self.continuations.sums(asked, make), strict=True))
        return [
            self._signed(sums[reading.ids] if reading.ids else [None] * len(probe.options), reading.reason)
            for reading, probe in zip(read, probes, strict=True)
        ]


def open_perplexity(
    name: str, *, precision: Precision = "fp32", threads: int | None = None, device: str = "auto",
    patience: float | None = None,
) -> PerplexityScorer:  # fmt: skip
    """Return the scorer of a causal model: built in, from a folder, or from the Hugging Face hub.

    Raises ModelUnavailable with one sentence for a model that is not available or does not read from left to right.
    """
    use_threads(threads)
    return PerplexityScorer(load_causal(name, precision=precision, patience=patience, device=device))


class _Reader(TextReader):
    """Cuts whole texts as the model's tokenizer does, with what it puts around them."""

    def read_all(self, probes: Sequence[MaskedSentence]) -> list[Reading]:
        """See `PerplexityScorer.read`."""
        reasons = [_unsound(probe) for probe in probes]
        sound = [probe for probe, reason in zip(probes, reasons, strict=True) if reason is None]
        texts = [
            probe.text[: probe.start] + form + probe.text[probe.end :] for probe in sound for form in probe.options
        ]
        encodings = iter(self._backend.encode_batch(texts, add_special_tokens=False))
        readings = iter([self._reading(probe, [next(encodings) for _ in probe.options]) for probe in sound])
        return [next(readings) if reason is None else Reading((), (), (), reason) for reason in reasons]

    def _reading(self, probe: MaskedSentence, encodings: list[Any]) -> Reading:
        texts = tuple((*self._before, *encoding.ids, *self._after) for encoding in encodings)
        pieces = tuple(
            sum(first < probe.start + len(option) and last > probe.start for first, last in encoding.offsets)
            for option, encoding in zip(probe.options, encodings, strict=True)
        )
        reason = None
        ends = [probe.start + len(option) for option in probe.options]
        # Elsewhere in the text an unknown token is the same for all options.
        if any(self.is_unknown(encoding, probe.start, end) for encoding, end in zip(encodings, ends, strict=True)):
            reason = UNKNOWN_FORM
        elif any(len(ids) > self.longest for ids in texts):
            reason = TOO_LONG
        elif any(len(ids) < 2 for ids in texts):
            reason = TOO_SHORT
        return Reading((), (), (), reason) if reason else Reading(texts, tuple(len(ids) - 1 for ids in texts), pieces)


def _unsound(probe: MaskedSentence) -> str | None:
    if outside_spans(probe.text, [(probe.start, probe.end)]) is None or probe.hidden:
        return BAD_SPAN
    return None if probe.options else NO_OPTIONS


def in_one_pass(texts: Texts) -> list[Passage]:
    """Return all texts in one row, every token but the first wanted; texts with different beginnings get own rows."""
    shared = shared_tokens(texts)
    if not shared or len(texts) == 1:
        return one_by_one(texts)
    (rest,) = passage(texts)
    first = range(shared - 1)  # place k tells token k + 1
    places, wanted = (*first, *rest.places), (*rest.ids[1:shared], *rest.wanted)
    owners = ((EVERYBODY,) * len(first)) + rest.owners
    return [replace(rest, places=places, wanted=wanted, owners=owners)]


def one_by_one(texts: Texts) -> list[Passage]:
    """Return one row per text, every token but the first wanted."""
    return passages(texts, 1)
