"""Words of one sentence: a list of them, one after another in the same place; and which words push the lean which way,
what changes when a word is hidden too. That is not a cause.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.sentence_bias.bias import bias, bias_of, why_undefined, word_mass
from evenhand.core.sentence_bias.keyword_packs import PackWord
from evenhand.core.sentence_bias.slot import Slot, find_slot
from evenhand.core.text.dictionary import cut
from evenhand.core.types import Scorer, Span

PLACE = "__"  # how the place for the words is typed
ANY_PLACE = re.compile(r"_{2,}|＿+|\{\}")


@dataclass(frozen=True, slots=True)
class WordReading:
    """One word in the place, one model: Bias_c in log10 (positive leans male) and how it came about.

    `reason` is an error with a message to translate, where the value is undefined.
    """

    word: str
    model: str
    sentence: str
    bias_log10: float | None
    logp_male: float | None
    logp_female: float | None
    pair_mass: float | None
    signature: str
    reason: EvenhandError | None = None


def fill(template: str, word: str) -> str:
    """Return *template* with *word* in its one place, marked by __ (also ＿＿ or {}). Raises Refused otherwise."""
    count = len(ANY_PLACE.findall(template))
    if count != 1:
        message = N_("The sentence needs exactly one place for the words, written as {place}; there are {count}.")
        raise Refused(message, place=PLACE, count=count)
    return ANY_PLACE.sub(lambda _: word, template)


def compare_words(
    template: str,
    words: Iterable[str],
    scorers: Mapping[str, Scorer],
    *,
    options: tuple[str, str] | None = None,
    language: str | None = None,
    own: Sequence[PackWord] = (),
) -> list[WordReading]:
    """Return Bias_c for each word in the place of *template*, by each model; models in order, words in order.

    *template* holds a keyword (or [MASK], with *options*) and one place `__`. Empty words and repetitions are
    left out. A word that makes the sentence ambiguous gives an undefined value with the reason, not an error.
    Raises Refused where the template has no place, or no word is left.
    """
    wanted = list(dict.fromkeys(word for word in (raw.strip() for raw in words) if word))
    if not wanted:
        raise Refused(N_("Give at least one word to compare."))
    slots = [_slot(fill(template, word), options, language, own) for word in wanted]
    word_readings: list[WordReading] = []
    for model, scorer in scorers.items():
        good = [slot for slot in slots if isinstance(slot, Slot)]
        scores = iter(scorer.score([slot.probe for slot in good]) if good else [])
        for word, slot in zip(wanted, slots, strict=True):
            if not isinstance(slot, Slot):
                sentence = fill(template, word)
                word_readings.append(WordReading(word, model, sentence, None, None, None, None, scorer.signature, slot))
                continue
            score = next(scores)
            male, female = score.logprobs[:2]
            why = score.reason or why_undefined(male, female)
            mass = word_mass(male, female, score.signature, len(slot.probe.options[0]))
            reason = Refused(why.replace("{", "{{").replace("}", "}}")) if why else None
            ratio = bias(male, female)
            word_readings.append(
                WordReading(word, model, slot.text, ratio, male, female, mass, score.signature, reason)
            )
    return word_readings


def _slot(
    sentence: str, options: tuple[str, str] | None, language: str | None, own: Sequence[PackWord]
) -> Slot | Refused:
    try:
        return find_slot(sentence, options, language=language, own=own)
    except Refused as refusal:
        return refusal


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
    """Return the words (or characters) around the keyword, in order, as half-open code-point spans.

    Punctuation and spaces do not count as words. The keyword and the words that agree with it are left out.
    """
    taken = sorted([slot.word, *((place.start, place.end) for place in slot.probe.agreeing)])
    starts, ends = [0, *(end for _, end in taken)], [*(start for start, _ in taken), len(slot.text)]
    result: list[Span] = []
    for offset, stop in zip(starts, ends, strict=True):
        at = offset
        for piece in _pieces(slot.text[offset:stop], unit, slot.language):
            if any(character.isalnum() for character in piece):
                result.append((at, at + len(piece)))
            at += len(piece)
    return result


def _pieces(text: str, unit: Unit, language: str) -> list[str]:
    if unit == "character" and language in WITHOUT_SPACES:
        return CHARACTER.findall(text)
    if language == "zh":
        return cut(text)
    return (JAPANESE_RUN if language in WITHOUT_SPACES else SPACED_WORD).findall(text)


def pushes(slot: Slot, scorer: Scorer, *, unit: Unit = "word") -> list[Push]:
    """Return the push of every word around the slot, in the order of the sentence, from one call of the model."""
    spans = words_around(slot, unit)
    start, end = slot.word
    nearest = sorted(spans, key=lambda span: max(start - span[1], span[0] - end))[:MOST]
    probe, asked = slot.probe, sorted(nearest)
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
        return Push(span, word, None, N_("The ratio is not finite with or without this word."))
    return Push(span, word, whole - rest)
