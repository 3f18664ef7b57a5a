"""What one model says about one sentence."""

import math
from dataclasses import dataclass

from core.errors import N_
from core.sentence_bias.bias import (
    NO_SLOT,
    SMALL_MASS,
    as_ln,
    bias,
    corrected,
    masks_in,
    whole_sentences,
    why_undefined,
    word_mass,
)
from core.sentence_bias.prior import Prior, prior
from core.sentence_bias.slot import Slot, find_slot
from core.types import Filler, Scorer

OTHER_FORMS = ("它", "ta", "祂", "妳")  # always shown, so that he and she are not the only forms on the page
TOP = 10


@dataclass(frozen=True, slots=True)
class Reading:
    """A model's answer for the slot of a sentence.

    `logp_male`, `logp_female` are natural logs as the joint made them; `p_*` and `pair_mass` are in [0, 1] and
    always of the whole word: the product over its masks, also where the ratio is of geometric means (SPEC 6.1).
    `bias_log10` is positive
    where the model leans to the male word, may be infinite, and is None with `reason` where undefined.
    `corrected_log10` = bias_log10 - prior.value. `fillers` holds, per mask of the slot, the likeliest tokens;
    `others` the fixed row of other forms (probability None where a form is not one token of the model).
    """

    slot: Slot
    logp_male: float | None
    logp_female: float | None
    prior: Prior
    fillers: tuple[tuple[Filler, ...], ...]
    others: tuple[tuple[Filler, ...], ...]
    signature: str
    reason: str | None = None

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
        """Why there is no pair mass; None where there is one."""
        if self.pair_mass is not None:
            return None
        return NO_SLOT if whole_sentences(self.signature) else self.reason

    @property
    def _factor(self) -> int:
        return masks_in(self.signature, len(self.fillers))

    @property
    def small_mass(self) -> bool:
        """Whether both words together stay under 1 %: then the ratio is to be read with care."""
        return self.pair_mass is not None and self.pair_mass < SMALL_MASS

    @property
    def corrected_log10(self) -> float | None:
        """Bias_c in log10 minus the pair's mean over neutral contexts."""
        return corrected(self.bias_log10, self.prior.value)

    @property
    def corrected_reason(self) -> str | None:
        """Why there is no corrected value; None where there is one."""
        if self.corrected_log10 is not None:
            return None
        if self.bias_log10 is None:
            return self.reason
        if math.isinf(self.bias_log10):
            return N_("Nothing can be subtracted from an infinite ratio.")
        return self.prior.reason


def read(
    text: str, scorer: Scorer, *, options: tuple[str, str] | None = None, known_prior: Prior | None = None
) -> Reading:
    """Ask *scorer* about the one slot of *text*.

    `known_prior` spares the neutral contexts where the pair's prior in this model is known already.
    Raises Refused where the sentence has no slot or more than one (`find_slot` says which).
    """
    slot = find_slot(text, options)
    score = scorer.score([slot.probe])[0]
    logp_male, logp_female = score.logprobs[:2]
    reason = score.reason or why_undefined(logp_male, logp_female)
    rows: list[list[Filler]] = []
    if score.reason is None:
        rows = scorer.fillers(slot.probe, top=TOP, words=OTHER_FORMS)
    split = len(OTHER_FORMS)
    return Reading(
        slot=slot,
        logp_male=logp_male,
        logp_female=logp_female,
        prior=known_prior or prior(slot.pair, scorer),
        fillers=tuple(tuple(row[:-split]) for row in rows),
        others=tuple(tuple(row[-split:]) for row in rows),
        signature=score.signature,
        reason=reason,
    )
