"""A causal model as a judge, by a scorer whose answers are made here; the built-in one is asked in the rehearsal."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from core.errors import EvenhandError, Refused
from core.guidelines import generations
from core.judges.causal import CausalJudge
from core.judges.labels import JudgedText, JudgeLabel
from core.judges.prompts import Prompt, default_template
from core.types import MaskedSentence, Score


class Planted:
    """Prefers the second letter where the text holds "he"; reads no text that is longer than 400 signs."""

    signature = "planted"

    def __init__(self) -> None:
        self.probes: list[MaskedSentence] = []

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        self.probes += probes
        return [self._score(one) for one in probes]

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


def test_the_likeliest_letter_with_its_share() -> None:
    planted = Planted()
    found: list[JudgeLabel] = []
    failed: dict[int, EvenhandError] = {}
    texts = [JudgedText(1, " then he left."), JudgedText(2, " Kim left."), JudgedText(3, "x" * 400)]
    CausalJudge(planted, prompt()).label(texts, found.append, failed.__setitem__)
    assert [(one.item, one.choice, one.extraneous) for one in found] == [
        (1, "misgendering", True),
        (2, "correct", False),
    ]
    assert found[0].shares == pytest.approx(
        {"correct": 0.1, "misgendering": 0.7, "no_pronoun": 0.1, "plural_they": 0.1}
    )
    assert list(failed) == [3] and "too long" in str(failed[3])
    probe = planted.probes[0]
    assert probe.text.endswith("Answer: A") and probe.start == len(probe.text) - 1
    assert probe.options == ("A", "B", "C", "D")


def test_it_answers_by_letters_only() -> None:
    with pytest.raises(Refused, match="letter of a choice"):
        CausalJudge(Planted(), prompt("json"))
