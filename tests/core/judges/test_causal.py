"""A causal model as a judge, by a scorer with made-up answers; the built-in model is used in the rehearsal."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from evenhand.core.errors import EvenhandError, Refused
from evenhand.core.guidelines import generations
from evenhand.core.judges.backends import CausalJudge
from evenhand.core.judges.prompts import JudgedText, JudgeLabel, Prompt, default_template
from evenhand.core.types import MaskedSentence, Score


class Planted:
    """Prefers the second letter if the text contains "he"; reads no text that is longer than 400 characters."""

    signature = "planted"

    def __init__(self) -> None:
        self.probes: list[MaskedSentence] = []

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        self.probes += probes
        return [self._score(probe) for probe in probes]

    def _score(self, one: MaskedSentence) -> Score:
        if len(one.text) > 400:
            return Score((None,) * len(one.options), self.signature, "too long")
        best = 1 if " he " in one.text else 0
        shares = [0.7 if n == best else 0.3 / (len(one.options) - 1) for n in range(len(one.options))]
        return Score(tuple(math.log(share / 10) for share in shares), self.signature)

    def fillers(self, probe: MaskedSentence, **_: Any) -> list[Any]:
        return []


def prompt(way: str = "letter") -> Prompt:
    return Prompt(default_template("generations", short=True), "", generations("en").choices, way=way)  # type: ignore[arg-type]


def test_the_most_likely_letter_is_the_choice() -> None:
    planted = Planted()
    results: list[JudgeLabel] = []
    failed: dict[int, EvenhandError] = {}
    texts = [JudgedText(1, " then he left."), JudgedText(2, " Kim left."), JudgedText(3, "x" * 400)]
    CausalJudge(planted, prompt()).label(texts, results.append, failed.__setitem__)
    assert [(entry.item, entry.choice, entry.extraneous) for entry in results] == [
        (1, "misgendering", True),
        (2, "correct", False),
    ]
    assert results[0].shares == pytest.approx(
        {"correct": 0.1, "misgendering": 0.7, "no_pronoun": 0.1, "plural_they": 0.1}
    )
    assert list(failed) == [3] and "too long" in str(failed[3])
    probe = planted.probes[0]
    assert probe.text.endswith("Answer: A") and probe.start == len(probe.text) - 1
    assert probe.options == ("A", "B", "C", "D")


def test_a_causal_judge_needs_letters() -> None:
    with pytest.raises(Refused, match="letter of a choice"):
        CausalJudge(Planted(), prompt("json"))


def test_words_are_marked_if_yes_is_more_likely() -> None:
    """Only words that may be marked are queried, and only if the label requires one."""

    class Marking(Planted):
        def _score(self, one: MaskedSentence) -> Score:
            marks = {"wrong pronoun": '"he"' in one.text, "gendered word": '"lady"' in one.text}
            mark = next((yes for words, yes in marks.items() if f"a {words}" in one.text), None)
            if mark is None:
                return super()._score(one)
            return Score((math.log(0.4), math.log(0.6)) if mark else (math.log(0.6), math.log(0.4)), self.signature)

    model, labels = Marking(), list[JudgeLabel]()
    texts = [JudgedText(1, "So he left. He and him, lady and man."), JudgedText(2, "Kim, a lady.")]

    def may_bear(text: JudgedText, kind: str) -> list[str]:
        return ["he", "him"] if kind == "pronoun" else ["lady", "man"]

    CausalJudge(model, prompt(), may_bear).label(texts, labels.append, lambda item, why: pytest.fail(str(why)))
    assert [(entry.item, entry.choice, entry.extraneous, entry.spans) for entry in labels] == [
        (1, "misgendering", True, ((3, 5, "pronoun"), (12, 14, "pronoun"), (24, 28, "extraneous"))),
        (2, "correct", False, ()),
    ]
    assert sum('"' in probe.text for probe in model.probes) == 4, "nothing is asked of the words of the second text"
    CausalJudge(model, prompt()).label(texts[:1], labels.append, lambda item, why: pytest.fail(str(why)))
    assert labels[-1].spans == (), "nobody says which words may bear a mark"
