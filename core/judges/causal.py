"""A causal model as a judge: the probability that it gives to the letter of each choice after the prompt.

So its answers are constrained by construction, and need no reading; it marks no words.
"""

import time
from collections.abc import Sequence

from core.errors import N_, Refused
from core.judges.answers import shares_of
from core.judges.labels import Fail, JudgedText, JudgeLabel, Keep
from core.judges.prompts import FLAG, LETTERS, Prompt
from core.types import MaskedSentence, Score, Scorer

AT_ONCE = 32  # texts that are asked together
VERSION = 1  # of the method: raise it when a label may change
NO_ANSWER = N_("The model has no probability for the choices after this text: {why}")


class CausalJudge:
    """A judge that asks a scorer of whole sentences; obeys `core.judges.labels.Labeller`."""

    def __init__(self, scorer: Scorer, prompt: Prompt) -> None:
        """*scorer*: a causal model. Raises Refused where *prompt* does not ask for letters."""
        if prompt.way != "letter":
            raise Refused(N_("A model on this machine answers with the letter of a choice."))
        self.scorer, self.prompt = scorer, prompt

    def label(self, texts: Sequence[JudgedText], keep: Keep, fail: Fail) -> None:
        """See `Labeller`."""
        for place in range(0, len(texts), AT_ONCE):
            some = texts[place : place + AT_ONCE]
            began = time.monotonic()
            choices = self.scorer.score([_probe(self._whole_prompt(text), len(self.prompt.codes)) for text in some])
            flags: Sequence[Score | None] = [None] * len(some)
            if self.prompt.flag:
                flags = self.scorer.score([_probe(self.prompt.for_text(text, FLAG), 2) for text in some])
            each = (time.monotonic() - began) / len(some)
            for text, found, flag in zip(some, choices, flags, strict=True):
                try:
                    keep(self._label(text, found, flag, each))
                except Refused as error:
                    fail(text.item, error)

    def _whole_prompt(self, text: JudgedText) -> str:
        system = f"{self.prompt.system.strip()}\n\n" if self.prompt.system.strip() else ""
        return system + self.prompt.for_text(text)

    def _label(self, text: JudgedText, found: Score, flag: Score | None, seconds: float) -> JudgeLabel:
        shares = _shares(found, self.prompt.codes)
        said = _shares(flag, ("no", "yes")) if flag is not None else None
        choice = max(shares, key=shares.__getitem__)
        extraneous = None if said is None else said["yes"] > said["no"]
        return JudgeLabel(text.item, choice, extraneous, shares=shares, answered=found.signature, seconds=seconds)


def _probe(prompt: str, choices: int) -> MaskedSentence:
    # The letter stands behind a space, as such models write: "Answer: A".
    text = prompt.rstrip() + " "
    return MaskedSentence(f"{text}A", len(text), len(text) + 1, tuple(LETTERS[:choices]))


def _shares(found: Score, codes: Sequence[str]) -> dict[str, float]:
    known = {letter: value for letter, value in zip(LETTERS, found.logprobs, strict=False) if value is not None}
    if len(known) < len(codes):
        raise Refused(NO_ANSWER, why=found.reason or "-")
    return shares_of(known, codes)
