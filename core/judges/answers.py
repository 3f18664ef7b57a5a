"""Answers of a judge: from what it wrote to a choice, a flag and marks in the text."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

from evenhand.core.errors import N_, Refused
from evenhand.core.judges.prompts import LETTERS, Prompt

UNREADABLE = N_("The answer could not be read, even after a second request: {answer}")
AGAIN = "That was not what was asked for ({why}). {format}"
MOST_MARKS = 50


@dataclass(frozen=True, slots=True)
class Answer:
    """A choice, the flag (None: not asked or not said), and marks: half-open code points and their kind."""

    choice: str
    extraneous: bool | None
    spans: tuple[tuple[int, int, str], ...] = ()


class Unreadable(Refused):
    """What was written is no answer; `why` is said to the model when it is asked once more."""

    def __init__(self, why: str, written: str) -> None:
        super().__init__(UNREADABLE, answer=" ".join(written.split())[:160] or "-")
        self.why = why


def read_answer(written: str, prompt: Prompt, text: str) -> Answer:
    """The answer in *written* to *prompt* about *text*. Raises Unreadable."""
    found = _object(written)
    choice = found.get("choice")
    if not isinstance(choice, str) or choice.strip() not in prompt.codes:
        raise Unreadable(f'"choice" must be one of {", ".join(prompt.codes)}', written)
    if not prompt.flag:
        return Answer(choice.strip(), None)
    flag = found.get("extraneous")
    if flag is not None and not isinstance(flag, bool):
        raise Unreadable('"extraneous" must be true or false', written)
    spans = [
        *_marks(text, found.get("wrong_pronouns"), "pronoun"), *_marks(text, found.get("gendered_words"), "extraneous")
    ]  # fmt: skip
    return Answer(choice.strip(), flag, apart(spans))


def _object(written: str) -> dict[str, Any]:
    """The JSON object in *written*, also where something stands around it."""
    start, end = written.find("{"), written.rfind("}")
    try:
        found = json.loads(written[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Unreadable("it is not one JSON object", written)
    return found


def _marks(text: str, words: Any, kind: str) -> list[tuple[int, int, str]]:
    """Where each of *words* stands in *text* as a whole word; words that do not stand there are left out."""
    found = []
    for word in list(dict.fromkeys(words))[:MOST_MARKS] if _is_words(words) else []:
        if word.strip():
            found += [(*place, kind) for place in places_of(word.strip(), text)]
    return found


def places_of(word: str, text: str) -> list[tuple[int, int]]:
    """Where *word* stands in *text* as a whole word, in any capitals: half-open code points."""
    return [one.span() for one in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)]


def _is_words(words: Any) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) for word in words)


def apart(spans: Sequence[tuple[int, int, str]]) -> tuple[tuple[int, int, str], ...]:
    """Marks in the order of the text, without those that overlap an earlier one."""
    kept: list[tuple[int, int, str]] = []
    for one in sorted(spans):
        if not kept or one[0] >= kept[-1][1]:
            kept.append(one)
    return tuple(kept[:MOST_MARKS])


def most_said(answers: Sequence[Answer]) -> tuple[Answer, dict[str, float]]:
    """The answer that most of several samples give (of a tie the one that came first), and the share of each choice."""
    counts = Counter(one.choice for one in answers)
    choice = counts.most_common(1)[0][0]
    mine = [one for one in answers if one.choice == choice]
    flags = [one.extraneous for one in answers if one.extraneous is not None]
    flag = sum(flags) * 2 > len(flags) if flags else None
    shares = {code: number / len(answers) for code, number in counts.items()}
    return Answer(choice, flag, mine[0].spans), shares


def shares_of(logprobs: Mapping[str, float], codes: Sequence[str]) -> dict[str, float]:
    """Probability of each choice, from log-probabilities (natural) of letters; they sum to 1.

    Raises Unreadable where no letter is among them.
    """
    found = {letter: logprobs[letter] for letter in LETTERS[: len(codes)] if letter in logprobs}
    if not found:
        raise Unreadable("answer with one letter", " ".join(list(logprobs)[:5]))
    top = max(found.values())
    total = sum(exp(value - top) for value in found.values())
    return {
        code: exp(found[letter] - top) / total if letter in found else 0.0
        for letter, code in zip(LETTERS, codes, strict=False)
    }
