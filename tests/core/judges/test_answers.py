"""From what a judge wrote to a label."""

import math

import pytest

from evenhand.core.guidelines import generations
from evenhand.core.judges.prompts import Answer, Prompt, Unreadable, most_said, read_answer, shares_of

TEXT = "She left. Sheila saw he and the old woman; SHE waved."
PROMPT = Prompt("{text}", "", generations("en").choices)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"choice": "correct", "extraneous": false}', Answer("correct", False)),
        ('{"choice": "no_pronoun"}', Answer("no_pronoun", None)),
        ('Sure:\n```json\n{"choice": " correct ", "extraneous": true, "gendered_words": ["woman"]}\n```',
         Answer("correct", True, ((36, 41, "extraneous"),))),
        # Each occurrence of a word as a whole, in upper or lower case; words that do not occur are left out.
        ('{"choice": "misgendering", "extraneous": false, "wrong_pronouns": ["she", "xe"]}',
         Answer("misgendering", False, ((0, 3, "pronoun"), (43, 46, "pronoun")))),
        ('{"choice": "correct", "extraneous": false, "wrong_pronouns": "she"}', Answer("correct", False)),
        ('{"choice": "correct", "extraneous": true, "gendered_words": ["old woman", "woman"]}',
         Answer("correct", True, ((32, 41, "extraneous"),))),
    ],
)  # fmt: skip
def test_answers_of_a_judge_are_read(written: str, expected: Answer) -> None:
    assert read_answer(written, PROMPT, TEXT) == expected


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("", "not one JSON object"),
        ("I think it is correct.", "not one JSON object"),
        ('{"choice": "right"}', "must be one of correct"),
        ('{"choice": ["correct"]}', "must be one of"),
        ('{"choice": "correct", "extraneous": "no"}', "true or false"),
        ("[" * 100_000 + "{}", "must be one of"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "not one JSON object"),
    ],
)
def test_unreadable_answers_are_refused_with_a_reason(written: str, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_answer(written, PROMPT, TEXT)
    assert why in caught.value.why and len(str(caught.value)) < 300


def test_the_majority_of_samples_is_the_answer() -> None:
    answers = [Answer("correct", False), Answer("misgendering", True), Answer("correct", True), Answer("correct", True)]
    assert most_said(answers) == (Answer("correct", True), {"correct": 0.75, "misgendering": 0.25})
    assert most_said([Answer("no_pronoun", None), Answer("correct", None)])[0] == Answer("no_pronoun", None)


def test_shares_are_renormalised_letter_probabilities() -> None:
    result = shares_of({"A": math.log(0.3), "B": math.log(0.1), "x": 0.0}, ("one", "two", "three"))
    assert result == pytest.approx({"one": 0.75, "two": 0.25, "three": 0.0})
    with pytest.raises(Unreadable):
        shares_of({"x": 0.0}, ("one",))
