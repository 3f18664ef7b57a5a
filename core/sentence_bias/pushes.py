"""Which words of a sentence push the lean which way: what changes when a word is hidden too. Not a cause."""

import math
import re
from dataclasses import dataclass, replace
from typing import Literal

from evenhand.core.errors import N_
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.sentence_bias.slot import Slot
from evenhand.core.text.dictionary import cut
from evenhand.core.types import Scorer, Span

Unit = Literal["word", "character"]
MOST = 80  # words that are hidden in turn; of a longer sentence the nearest to the slot
CHARACTER = re.compile(r"[A-Za-z0-9]+|.", re.DOTALL)
SPACED_WORD = re.compile(r"\w+(?:['’-]\w+)*|.", re.DOTALL)
# Japanese has no segmenter here: a run of one script is a word, so 先生が is two and 走った two.
JAPANESE_RUN = re.compile(r"[一-龥々]+|[ァ-ヶー]+|[ぁ-ん]+|\w+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Push:
    """One word and what it does to Bias_c.

    `change` = Bias_c of the sentence as it is, minus Bias_c with the word hidden too, in log10: positive where
    the word pushes towards the male word. None, with `reason`, where it could not be measured.
    """

    span: Span
    word: str
    change: float | None
    reason: str | None = None


def words_around(slot: Slot, unit: Unit = "word") -> list[Span]:
    """The words (or characters) around the keyword, in order, as half-open code-point spans.

    Punctuation and spaces are no words. The keyword and what agrees with it are never a piece.
    """
    taken = sorted([slot.word, *((place.start, place.end) for place in slot.probe.agreeing)])
    starts, ends = [0, *(end for _, end in taken)], [*(start for start, _ in taken), len(slot.text)]
    found: list[Span] = []
    for offset, stop in zip(starts, ends, strict=True):
        at = offset
        for piece in _pieces(slot.text[offset:stop], unit, slot.language):
            if any(character.isalnum() for character in piece):
                found.append((at, at + len(piece)))
            at += len(piece)
    return found


def _pieces(text: str, unit: Unit, language: str) -> list[str]:
    if unit == "character" and language in WITHOUT_SPACES:
        return CHARACTER.findall(text)
    if language == "zh":
        return cut(text)
    return (JAPANESE_RUN if language in WITHOUT_SPACES else SPACED_WORD).findall(text)


def _nearest(spans: list[Span], slot: Slot) -> set[Span]:
    start, end = slot.word
    return set(sorted(spans, key=lambda span: max(start - span[1], span[0] - end))[:MOST])


def pushes(slot: Slot, scorer: Scorer, *, unit: Unit = "word") -> list[Push]:
    """The push of every word around the slot, in the order of the sentence, asked in one call."""
    spans = words_around(slot, unit)
    measured = _nearest(spans, slot)
    probe = slot.probe
    asked = [span for span in spans if span in measured]
    hidden = [replace(probe, hidden=(span,)) for span in asked]
    scores = scorer.score([probe, *hidden])
    whole = bias_of(scores[0])
    without = {span: bias_of(score) for span, score in zip(asked, scores[1:], strict=True)}
    return [_push(slot, span, whole, without) for span in spans]


def _push(slot: Slot, span: Span, whole: float | None, without: dict[Span, float | None]) -> Push:
    word = slot.text[slice(*span)]
    if span not in without:
        return Push(span, word, None, N_("Not measured: the sentence has too many words."))
    rest = without[span]
    if whole is None or rest is None or not math.isfinite(whole) or not math.isfinite(rest):
        return Push(span, word, None, N_("No finite ratio with this word or without it."))
    return Push(span, word, whole - rest)
