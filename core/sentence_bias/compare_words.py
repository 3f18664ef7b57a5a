"""A list of words, one after another in the same place of a sentence."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.sentence_bias.bias import bias, why_undefined, word_mass
from evenhand.core.sentence_bias.keyword_packs import PackWord
from evenhand.core.sentence_bias.slot import Slot, find_slot
from evenhand.core.types import Scorer

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
    """*template* with *word* in its one place, marked by __ (also ＿＿ or {}). Raises Refused otherwise."""
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
    """Bias_c for each word in the place of *template*, by each model; models in order, words in order.

    *template* holds a keyword (or [MASK], with *options*) and one place `__`. Empty words and repetitions are
    left out. A word that makes the sentence ambiguous gives an undefined value with the reason, not an error.
    Raises Refused where the template has no place, or no word is left.
    """
    wanted = list(dict.fromkeys(word for word in (raw.strip() for raw in words) if word))
    if not wanted:
        raise Refused(N_("Give at least one word to compare."))
    slots = [_slot(template, word, options, language, own) for word in wanted]
    found: list[WordReading] = []
    for model, scorer in scorers.items():
        good = [slot for slot in slots if isinstance(slot, Slot)]
        scores = iter(scorer.score([slot.probe for slot in good]) if good else [])
        for word, slot in zip(wanted, slots, strict=True):
            if not isinstance(slot, Slot):
                sentence = fill(template, word)
                found.append(WordReading(word, model, sentence, None, None, None, None, scorer.signature, slot))
                continue
            score = next(scores)
            male, female = score.logprobs[:2]
            why = score.reason or why_undefined(male, female)
            found.append(
                WordReading(
                    word,
                    model,
                    slot.text,
                    bias(male, female),
                    male,
                    female,
                    word_mass(male, female, score.signature, len(slot.probe.options[0])),
                    score.signature,
                    Refused(why.replace("{", "{{").replace("}", "}}")) if why else None,
                )
            )
    return found


def _slot(
    template: str, word: str, options: tuple[str, str] | None, language: str | None, own: Sequence[PackWord]
) -> Slot | Refused:
    sentence = fill(template, word)
    try:
        return find_slot(sentence, options, language=language, own=own)
    except Refused as refusal:
        return refusal
