"""A causal model as a judge: the probability that it gives to the letter of each choice after the prompt.

So its answers are constrained by construction, and need no reading. Words are marked the same way: where it calls a
text misgendering, it is asked of each pronoun that is not the person's own, and where it finds extraneous gendered
language, of each gendered word (`MayBear`), one question a word.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from evenhand.core.errors import N_, Refused
from evenhand.core.judges.prompts import (
    FLAG,
    LETTERS,
    MARKS,
    Fail,
    JudgedText,
    JudgeLabel,
    Keep,
    Prompt,
    apart,
    places_of,
    shares_of,
)
from evenhand.core.types import MaskedSentence, Score, Scorer

AT_ONCE = 32  # texts that are asked together
VERSION = 2  # of the method: raise it when a label may change
MayBear = Callable[[JudgedText, str], Iterable[str]]  # a text and a kind of mark -> words of it that may bear the mark
NO_ANSWER = N_("The model has no probability for the choices after this text: {why}")


class CausalJudge:
    """A judge that asks a scorer of whole sentences; obeys `core.judges.prompts.Labeller`."""

    def __init__(self, scorer: Scorer, prompt: Prompt, may_bear: MayBear | None = None) -> None:
        """*scorer*: a causal model; *may_bear*: None: no word is marked. Raises Refused where *prompt* does not ask for
        letters."""
        if prompt.way != "letter":
            raise Refused(N_("A model on this machine answers with the letter of a choice."))
        self.scorer, self.prompt, self.may_bear = scorer, prompt, may_bear

    def label(self, texts: Sequence[JudgedText], keep: Keep, fail: Fail) -> None:
        """See `Labeller`."""
        for place in range(0, len(texts), AT_ONCE):
            some = texts[place : place + AT_ONCE]
            began = time.monotonic()
            choices = self.scorer.score([_probe(self._whole_prompt(text), len(self.prompt.codes)) for text in some])
            flags: Sequence[Score | None] = [None] * len(some)
            if self.prompt.flag:
                flags = self.scorer.score([_probe(self.prompt.for_text(text, FLAG), 2) for text in some])
            found: list[JudgeLabel | None] = []
            for text, choice, flag in zip(some, choices, flags, strict=True):
                try:
                    found.append(self._label(text, choice, flag))
                except Refused as error:
                    found.append(None)
                    fail(text.item, error)
            marks = self._marks([(text, one) for text, one in zip(some, found, strict=True) if one is not None])
            each = (time.monotonic() - began) / len(some)
            for one in found:
                if one is not None:
                    keep(replace(one, spans=apart(marks.get(one.item, ())), seconds=each))

    def _marks(self, judged: Sequence[tuple[JudgedText, JudgeLabel]]) -> dict[int, list[tuple[int, int, str]]]:
        """The marked words by item: every place of a word for which "yes" is likelier than "no"."""
        if self.may_bear is None or not self.prompt.flag:
            return {}
        asked = [
            (text, kind, word)
            for text, one in judged
            for kind, wanted in (("pronoun", one.choice == "misgendering"), ("extraneous", one.extraneous))
            if wanted
            for word in self.may_bear(text, kind)
        ]
        questions = [self.prompt.for_text(text, MARKS[kind].replace("{word}", word)) for text, kind, word in asked]
        found: dict[int, list[tuple[int, int, str]]] = {}
        for (text, kind, word), score in zip(
            asked, self.scorer.score([_probe(one, 2) for one in questions]), strict=True
        ):
            no, yes = (*score.logprobs, None, None)[:2]
            if no is not None and yes is not None and yes > no:
                found.setdefault(text.item, []).extend((*place, kind) for place in places_of(word, text.text))
        return found

    def _whole_prompt(self, text: JudgedText) -> str:
        system = f"{self.prompt.system.strip()}\n\n" if self.prompt.system.strip() else ""
        return system + self.prompt.for_text(text)

    def _label(self, text: JudgedText, found: Score, flag: Score | None) -> JudgeLabel:
        shares = _shares(found, self.prompt.codes)
        said = _shares(flag, ("no", "yes")) if flag is not None else None
        choice = max(shares, key=shares.__getitem__)
        extraneous = None if said is None else said["yes"] > said["no"]
        return JudgeLabel(text.item, choice, extraneous, shares=shares, answered=found.signature)


def _probe(prompt: str, choices: int) -> MaskedSentence:
    # The letter stands behind a space, as such models write: "Answer: A".
    text = prompt.rstrip() + " "
    return MaskedSentence(f"{text}A", len(text), len(text) + 1, tuple(LETTERS[:choices]))


def _shares(found: Score, codes: Sequence[str]) -> dict[str, float]:
    known = {letter: value for letter, value in zip(LETTERS, found.logprobs, strict=False) if value is not None}
    if len(known) < len(codes):
        raise Refused(NO_ANSWER, why=found.reason or "-")
    return shares_of(known, codes)
