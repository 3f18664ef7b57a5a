"""From a probe to the token ids of whole sentences, one with each option; for methods that sum over a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.errors import N_
from evenhand.core.models.probe_tokens import (
    BAD_SPAN,
    EMPTY_OPTION,
    LITERAL_MASK,
    NO_OPTIONS,
    TOO_LONG,
    UNKNOWN_OPTION,
    TextReader,
    outside_spans,
)
from evenhand.core.types import MASK, MaskedSentence

HIDDEN = N_("This method scores whole sentences and cannot mask other words of the sentence.")
SAME_TOKENS = N_("The words have identical tokens in this model, so there is nothing to compare.")


@dataclass(frozen=True, slots=True)
class Sentences:
    """The token ids of a probe's text with each option in the slot.

    `ids` hold the tokenizer's frame too; the text is `ids[i][before : len(ids[i]) - after]`. None for an option that
    is undefined, for which `reason` says why.
    """

    ids: tuple[tuple[int, ...] | None, ...]
    before: int
    after: int
    reason: str | None = None


class SentenceReader(TextReader):
    """Reads whole sentences with the tokenizer of one model; the model's own way to cut them, not piece by piece.

    *opening*: put only a beginning before the text, and that always: what the tokenizer adds there, else its
    beginning-of-text token (GPT-2 knows one and adds none); nothing after it.
    """

    def __init__(self, tokenizer: Any, longest: int, *, opening: bool = False) -> None:
        super().__init__(tokenizer, longest)
        self._masks = {MASK, tokenizer.mask_token} - {None}
        if opening:
            own = [] if tokenizer.bos_token_id is None else [int(tokenizer.bos_token_id)]
            self._before, self._after = self._before or own, []

    def read_all(self, probes: Sequence[MaskedSentence]) -> list[Sentences]:
        """The sentences of each probe, in order, or why they are undefined for this model."""
        drafts = [self._refusal(probe) for probe in probes]
        sound = [probe for probe, refusal in zip(probes, drafts, strict=True) if refusal is None]
        texts = [probe.with_option(number)[0] for probe in sound for number in range(len(probe.options))]
        encodings = iter(self._backend.encode_batch(texts, add_special_tokens=False))
        found = iter([self._framed(probe, [next(encodings) for _ in probe.options]) for probe in sound])
        return [next(found) if refusal is None else refusal for refusal in drafts]

    def _refusal(self, probe: MaskedSentence) -> Sentences | None:
        """Why a probe is undefined before anything is encoded; None where nothing speaks against it."""
        outside = outside_spans(probe.text, [(place.start, place.end) for place in probe.places()])
        reason = None
        if outside is None or probe.start == probe.end:
            reason = BAD_SPAN
        elif probe.hidden:
            reason = HIDDEN
        elif any(mask in piece for piece in outside for mask in self._masks):
            reason = LITERAL_MASK
        elif not probe.options:
            reason = NO_OPTIONS
        elif not all(option.strip() for option in probe.options):
            reason = EMPTY_OPTION
        return None if reason is None else self._undefined(probe, reason)

    def _undefined(self, probe: MaskedSentence, reason: str) -> Sentences:
        return Sentences((None,) * len(probe.options), len(self._before), len(self._after), reason)

    def _framed(self, probe: MaskedSentence, encodings: list[Any]) -> Sentences:
        """The sentences of a sound probe from the encodings of its texts."""
        ids: list[tuple[int, ...] | None] = []
        for number, encoding in enumerate(encodings):
            unknown = any(self._is_unknown(encoding, *span) for span in probe.with_option(number)[1])
            ids.append(None if unknown else (*self._before, *encoding.ids, *self._after))
        known = [row for row in ids if row]
        if any(len(row) > self.longest for row in known):
            return self._undefined(probe, TOO_LONG)
        if len(known) > 1 and len(set(known)) == 1:
            return self._undefined(probe, SAME_TOKENS)
        reason = None if len(known) == len(ids) else UNKNOWN_OPTION
        return Sentences(tuple(ids), len(self._before), len(self._after), reason)

    def _is_unknown(self, encoding: Any, start: int, end: int) -> bool:
        """Whether a token of the option, which stands at [start, end) of the text, is unknown to the model."""
        if self.unknown_id is None or self.unknown_id not in encoding.ids:
            return False
        places = zip(encoding.ids, encoding.offsets, strict=True)
        return any(i == self.unknown_id and first < end and last > start for i, (first, last) in places)
