"""A model's answer for one sentence: its ratio, what else it would write there, and the lean of the word pair itself,
its mean Bias_c over contexts that say nothing about gender (docs/methods.md#pair-and-context).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from evenhand.core.errors import N_
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.resources import table
from evenhand.core.sentence_bias.bias import (
    NO_SLOT,
    SMALL_MASS,
    as_ln,
    bias,
    bias_of,
    corrected,
    masks_in,
    whole_sentences,
    why_undefined,
    word_mass,
)
from evenhand.core.sentence_bias.find_words import FoundWord, agreeing
from evenhand.core.sentence_bias.keyword_packs import Pack, PackWord, pack
from evenhand.core.sentence_bias.slot import Slot, find_slot
from evenhand.core.types import Filler, MaskedSentence, Score, Scorer


@dataclass(frozen=True, slots=True)
class Prior:
    """Mean Bias_c of a pair in log10 over `n` neutral contexts; None, with a reason, where there is none."""

    value: float | None
    n: int
    reason: str | None = None


@cache
def neutral_contexts(pair_name: str) -> tuple[str, ...]:
    """Return the built-in contexts of a Chinese pair, with {word} where its words go; empty for an unknown pair."""
    kinds = {row["pair"]: row["kind"] for row in table("pair_kinds")}
    kind = kinds.get(pair_name)
    return tuple(row["context"] for row in table("neutral_contexts") if row["kind"] == kind)


def neutral_probes(entry: PackWord) -> list[MaskedSentence]:
    """Return the pair in each of its neutral contexts, masked as in any sentence: in Chinese the stem only."""
    pair = entry.pair
    alone = Pack(pair.language, (entry,), pack(pair.language).forms)
    probes = []
    for context in entry.contexts:
        start = context.index("{word}")
        before, after = context[:start], context[start + len("{word}") :]
        if pair.language in WITHOUT_SPACES:
            first, last = (start + offset for offset in pair.male_stem)
            probes.append(MaskedSentence(before + pair.male + after, first, last, pair.stems))
            continue
        both = tuple(word if before else word[:1].upper() + word[1:] for word in (pair.male, pair.female))
        text, end = before + both[0] + after, start + len(both[0])
        found_word = FoundWord(start, end, entry, "male")
        forms = agreeing(text, found_word, alone) if pair.language == "es" else ()
        probes.append(MaskedSentence(text, start, end, both, agreeing=forms))
    return probes


def prior(entry: PackWord | None, scorer: Scorer) -> Prior:
    """Return the pair's mean Bias_c (log10) over its neutral contexts, asked of the same model.

    Undefined for two words that are in no keyword pack, and where no context has a finite value.
    """
    probes = [] if entry is None else neutral_probes(entry)
    if not probes:
        return Prior(
            None, 0, N_("There are no neutral contexts for these two words, so no baseline can be subtracted.")
        )
    values = [bias_of(score) for score in scorer.score(probes)]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite:
        return Prior(None, 0, N_("The model gives no finite value in the neutral contexts."))
    return Prior(math.fsum(finite) / len(finite), len(finite))


TOP = 10
NOT_ONE_TOKEN = N_("This form is not a single token in the model.")


@dataclass(frozen=True, slots=True)
class WordForm:
    """One form for the slot: natural log-probability, made as those of the two words; None with a `reason`.

    `share` is its part of all forms that have a probability, in [0, 1]; None where the others have none.
    """

    word: str
    logp: float | None
    share: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer for the slot of a sentence.

    `logp_male`, `logp_female` are natural logs as the joint made them; `p_*` and `pair_mass` are in [0, 1] and always
    of the whole word: the product over its masks, also where the ratio is of geometric means
    (docs/methods.md#pair-and-context). `bias_log10` is positive where the model leans to the male word, may be
    infinite, and is None with `reason` where undefined. `corrected_log10` = bias_log10 - prior.value. `fillers`: the
    most likely tokens of each mask of the slot; `others` the row of other forms (probability None where a form is not
    one token of the model). `forms`: the two words and the other forms side by side; empty where a word takes several
    masks, so that forms do not compare.
    """

    slot: Slot
    logp_male: float | None
    logp_female: float | None
    prior: Prior
    fillers: tuple[tuple[Filler, ...], ...]
    others: tuple[tuple[Filler, ...], ...]
    signature: str
    reason: str | None = None
    forms: tuple[WordForm, ...] = ()

    @property
    def p_male(self) -> float | None:
        """Probability of the male word at the slot."""
        return None if self.logp_male is None else math.exp(self.logp_male * self._factor)

    @property
    def p_female(self) -> float | None:
        """Probability of the female word at the slot."""
        return None if self.logp_female is None else math.exp(self.logp_female * self._factor)

    @property
    def bias_log10(self) -> float | None:
        """Bias_c in log10."""
        return bias(self.logp_male, self.logp_female)

    @property
    def bias_ln(self) -> float | None:
        """Bias_c in natural log."""
        return as_ln(self.bias_log10)

    @property
    def pair_mass(self) -> float | None:
        """Both probabilities together; None where whole sentences were scored: `mass_reason` says so."""
        return word_mass(self.logp_male, self.logp_female, self.signature, len(self.fillers))

    @property
    def mass_reason(self) -> str | None:
        """The reason for which the pair mass is missing; None where it is defined."""
        if self.pair_mass is not None:
            return None
        return NO_SLOT if whole_sentences(self.signature) else self.reason

    @property
    def _factor(self) -> int:
        return masks_in(self.signature, len(self.fillers))

    @property
    def small_mass(self) -> bool:
        """True if both words together have less than 1%, so that the ratio needs care."""
        return self.pair_mass is not None and self.pair_mass < SMALL_MASS

    @property
    def corrected_log10(self) -> float | None:
        """Bias_c in log10 minus the pair's mean over neutral contexts."""
        return corrected(self.bias_log10, self.prior.value)

    @property
    def corrected_reason(self) -> str | None:
        """The reason for which the corrected value is missing; None where it is defined."""
        if self.corrected_log10 is not None:
            return None
        if self.bias_log10 is None:
            return self.reason
        if math.isinf(self.bias_log10):
            return N_("The ratio is infinite, so no baseline can be subtracted.")
        return self.prior.reason


def read(
    text: str,
    scorer: Scorer,
    *,
    options: tuple[str, str] | None = None,
    known_prior: Prior | None = None,
    language: str | None = None,
    own: Iterable[PackWord] = (),
) -> ModelAnswer:
    """Ask *scorer* about the one slot of *text*.

    `known_prior` spares the neutral contexts where the pair's prior in this model is known already; *language* and
    *own* as for `find_slot`. Raises Refused where the sentence has no slot or more than one (`find_slot` says which).
    """
    slot = find_slot(text, options, language=language, own=own)
    score = scorer.score([slot.probe])[0]
    logp_male, logp_female = score.logprobs[:2]
    reason = score.reason or why_undefined(logp_male, logp_female)
    others = slot.others
    rows: list[list[Filler]] = []
    if score.reason is None:
        rows = scorer.fillers(slot.probe, top=TOP, words=others)
    split = len(rows[0]) - len(others) if rows else 0
    beside = tuple(tuple(row[split:]) for row in rows)
    return ModelAnswer(
        slot=slot,
        logp_male=logp_male,
        logp_female=logp_female,
        prior=known_prior or prior(slot.entry, scorer),
        fillers=tuple(tuple(row[:split]) for row in rows),
        others=beside,
        signature=score.signature,
        reason=reason,
        forms=_side_by_side(slot, (logp_male, logp_female), beside, scorer) if reason is None else (),
    )


def _side_by_side(
    slot: Slot, both: tuple[float | None, float | None], beside: tuple[tuple[Filler, ...], ...], scorer: Scorer
) -> tuple[WordForm, ...]:
    """Return the two words and the other forms of the slot, by the same model.

    With one mask the other forms come from its distribution; a model that reads whole sentences is asked for the
    sentence with each of them. Words of several masks have no others that compare.
    """
    if (slot.probe.start, slot.probe.end) != slot.word:
        return ()  # a part of the word is asked: 它 would make 它孩
    result: list[tuple[str, float | None, str | None]] = [(slot.male, both[0], None), (slot.female, both[1], None)]
    if len(beside) == 1:
        result += [(filler.word, *_log(filler.probability)) for filler in beside[0]]
    elif not beside and slot.others and not slot.probe.agreeing:
        masked_sentences = [replace(slot.probe, options=(*slot.probe.options[:2], form)) for form in slot.others]
        for form, score in zip(slot.others, scorer.score(masked_sentences), strict=True):
            logp = _beside(score, both[0])
            result.append((form, logp, score.reason if logp is None else None))
    if len(result) == 2:
        return ()
    known = [logp for _, logp, _ in result if logp is not None]
    most = max(known, default=-math.inf)
    total = math.fsum(math.exp(logp - most) for logp in known) if math.isfinite(most) else 0.0
    return tuple(
        WordForm(word, logp, None if logp is None or not total else math.exp(logp - most) / total, why)
        for word, logp, why in result
    )


def _beside(score: Score, logp_male: float | None) -> float | None:
    """Return the third option of a score on the scale of the two words.

    With three options, the sum may begin at an earlier token.
    """
    male, _female, form = score.logprobs
    return None if male is None or form is None or logp_male is None else form - male + logp_male


def _log(probability: float | None) -> tuple[float | None, str | None]:
    if probability is None:
        return None, NOT_ONE_TOKEN
    return (math.log(probability) if probability else -math.inf), None
