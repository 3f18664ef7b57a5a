"""Causal models: how likely whole texts are that differ in one place, each read with the beginning they share once.

SPEC 4.2: the sum of the negative log-probabilities over the T - 1 predicted tokens of the *whole* text, template
included, with what the tokenizer puts around a text (a beginning-of-text token only where it adds one, Llama yes,
GPT-2 no). Perplexity is exp(sum / (T - 1)), so the least mean is the least perplexity, as HF's `loss` has it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from evenhand.core.errors import N_
from evenhand.core.models import Precision
from evenhand.core.models.continuations import Continuations, Passage, passage, shared_tokens
from evenhand.core.models.forward import padded_batches
from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.loading import load_causal
from evenhand.core.models.probe_tokens import BAD_SPAN, NO_OPTIONS, TOO_LONG, TextReader, longest_input, outside_spans
from evenhand.core.models.signature import Signed
from evenhand.core.types import Filler, MaskedSentence, Score

UNKNOWN_FORM = N_(
    "A word of these texts is not in the vocabulary of the model's tokenizer, so they cannot be compared."
)
TOO_SHORT = N_("The text is a single token in this model, so there is nothing to predict.")
NOBODY = -1  # owner of the terms that all texts share

Texts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model cuts the texts of a probe, per option.

    `tokens`: predicted tokens, T - 1; `pieces`: tokens that the option itself takes. Empty where the probe is
    undefined; `reason` says why.
    """

    ids: Texts
    tokens: tuple[int, ...]
    pieces: tuple[int, ...]
    reason: str | None = None


class PerplexityScorer(Signed):
    """Log-probabilities of whole texts from one loaded causal model; obeys `core.types.Scorer`. One thread at a time.

    `fed` counts the tokens that went through the model, `alone` those of the same texts one by one.
    """

    method, version, joining = "perplexity", 1, "whole-text"

    def __init__(self, loaded: LoadedModel, *, shared: bool | None = None) -> None:
        """*shared*: read the common beginning of a probe's texts once; None tries out whether the model can."""
        self.loaded = loaded
        self.reader = _Reader(loaded.tokenizer, longest_input(loaded.tokenizer, loaded.model.config))
        self.continuations = Continuations(loaded, self.reader.padding_id, shared=shared)
        self.fed = self.alone = 0

    def read(self, probes: Sequence[MaskedSentence]) -> list[Reading]:
        """How the model cuts the text of each probe with each option in the slot; asks the model nothing."""
        return self.reader.read_all(probes)

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """Per probe and option the natural-log probability of the whole text (a sum, at most 0), in order.

        All options of a probe are undefined where one is, since they are there to be compared.
        """
        read = self.read(probes)
        asked = list(dict.fromkeys(one.ids for one in read if one.ids))
        sums = dict(zip(asked, self._sums(asked), strict=True))
        nothing = [self._nothing(probe) for probe in probes]
        return [
            self._signed(sums[one.ids] if one.ids else empty, one.reason)
            for one, empty in zip(read, nothing, strict=True)
        ]

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Nothing: a model that reads from left to right does not fill a slot inside a sentence."""
        del probe, top, words
        return []

    @staticmethod
    def _nothing(probe: MaskedSentence) -> list[None]:
        return [None] * len(probe.options)

    def _sums(self, asked: Sequence[Texts]) -> list[list[float]]:
        """Per set of texts, the log-probability of each."""
        make = in_one_pass if self.continuations.shared else one_by_one
        made = [(number, one) for number, texts in enumerate(asked) for one in make(texts)]
        sums = [[0.0] * len(texts) for texts in asked]
        self.alone += sum(len(ids) - 1 for texts in asked for ids in texts)
        self.fed += sum(len(one.ids) for _, one in made)
        for batch in padded_batches([len(one.ids) for _, one in made], self.continuations.budget(len(made))):
            group = [made[i] for i in batch]
            terms = iter(self.continuations.token_logprobs([one for _, one in group]))
            for number, one in group:
                for owner in one.owners:
                    _add(sums[number], owner, next(terms))
        return sums


def open_perplexity(
    name: str,
    *,
    precision: Precision = "fp32",
    threads: int | None = None,
    device: str = "auto",
    patience: float | None = None,
) -> PerplexityScorer:
    """The scorer of a causal model: built in, from a folder, or from the Hugging Face hub.

    Raises ModelUnavailable with one sentence for a model that cannot be had or does not read from left to right.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    return PerplexityScorer(load_causal(name, precision=precision, patience=patience, device=device))


class _Reader(TextReader):
    """Cuts whole texts as the model's tokenizer does, with what it puts around them."""

    def read_all(self, probes: Sequence[MaskedSentence]) -> list[Reading]:
        reasons = [_unsound(probe) for probe in probes]
        sound = [probe for probe, reason in zip(probes, reasons, strict=True) if reason is None]
        texts = [
            probe.text[: probe.start] + form + probe.text[probe.end :] for probe in sound for form in probe.options
        ]
        encodings = iter(self._backend.encode_batch(texts, add_special_tokens=False))
        found = iter([self._reading(probe, [next(encodings) for _ in probe.options]) for probe in sound])
        return [next(found) if reason is None else Reading((), (), (), reason) for reason in reasons]

    def _reading(self, probe: MaskedSentence, encodings: list[Any]) -> Reading:
        texts = tuple((*self._before, *encoding.ids, *self._after) for encoding in encodings)
        pieces = tuple(
            sum(first < probe.start + len(option) and last > probe.start for first, last in encoding.offsets)
            for option, encoding in zip(probe.options, encodings, strict=True)
        )
        reason = None
        if any(self._is_unknown(probe, *pair) for pair in zip(probe.options, encodings, strict=True)):
            reason = UNKNOWN_FORM
        elif any(len(ids) > self.longest for ids in texts):
            reason = TOO_LONG
        elif any(len(ids) < 2 for ids in texts):
            reason = TOO_SHORT
        return Reading((), (), (), reason) if reason else Reading(texts, tuple(len(ids) - 1 for ids in texts), pieces)

    def _is_unknown(self, probe: MaskedSentence, option: str, encoding: Any) -> bool:
        """Whether a token of the option is unknown; elsewhere in the text it is the same for all options."""
        if self.unknown_id is None or self.unknown_id not in encoding.ids:
            return False
        places = zip(encoding.ids, encoding.offsets, strict=True)
        start, end = probe.start, probe.start + len(option)
        return any(i == self.unknown_id and first < end and last > start for i, (first, last) in places)


def _unsound(probe: MaskedSentence) -> str | None:
    if outside_spans(probe.text, [(probe.start, probe.end)]) is None or probe.hidden:
        return BAD_SPAN
    return None if probe.options else NO_OPTIONS


def _add(sums: list[float], owner: int, term: float) -> None:
    if owner == NOBODY:
        sums[:] = [value + term for value in sums]
    else:
        sums[owner] += term


def in_one_pass(texts: Texts) -> list[Passage]:
    """All texts in one row, every token but the first wanted; texts that begin apart get a row each."""
    shared = shared_tokens(texts)
    if not shared or len(texts) == 1:
        return one_by_one(texts)
    (rest,) = passage(texts)
    first = range(shared - 1)  # place k tells token k + 1
    return [
        Passage(
            rest.ids,
            rest.positions,
            rest.parts,
            (*first, *rest.places),
            (*rest.ids[1:shared], *rest.wanted),
            (*(NOBODY for _ in first), *rest.owners),
        )
    ]


def one_by_one(texts: Texts) -> list[Passage]:
    """One row per text, every token but the first wanted."""
    made = []
    for owner, ids in enumerate(texts):
        size = len(ids) - 1
        made.append(Passage(ids[:-1], tuple(range(size)), (0,) * size, tuple(range(size)), ids[1:], (owner,) * size))
    return made
