"""Repetitiveness: golden numbers of docs/human_vs_rule.md#repetition, computed by reference code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.text.repetition import full_text, repetitiveness, signature, summary

GOLDEN = [
    ("the cat sat on the mat .", 0.0),
    ("the cat sat on the mat . the cat sat on the mat .", 0.7690804673),
    ("a a a a a", 1.0),
    ("a b a b a b a b", 1.0),
    ("He likes golf. He likes chess. He likes tennis. He likes golf.", 0.3021375397),
    ("one two three four", 0.0),
]


@pytest.mark.parametrize(("text", "expected"), GOLDEN)
def test_repetitiveness_equals_golden_numbers(text: str, expected: float) -> None:
    value, reason = repetitiveness(text)
    assert value == pytest.approx(expected, abs=5e-11) and reason is None


@pytest.mark.parametrize("text", ["", "one two three", "a\n"])
def test_repetitiveness_of_a_short_text_is_undefined(text: str) -> None:
    value, reason = repetitiveness(text)
    assert value is None and reason is not None and "four tokens" in str(reason)


def test_repetitiveness_ignores_case_but_not_punctuation() -> None:
    assert repetitiveness("She ran. she ran. SHE RAN.")[0] == repetitiveness("she ran. she ran. she ran.")[0]
    assert repetitiveness("a b, c d; a b. c d")[0] != repetitiveness("a b c d a b c d")[0]


def test_repetitiveness_accepts_tokens() -> None:
    assert repetitiveness(["a", "b", "a", "b", "a", "b", "a", "b"])[0] == 1


def test_context_and_completion_are_joined() -> None:
    assert full_text("Kim left.", "He came back.") == "Kim left. He came back."
    assert full_text("Kim left. ", "He came back.") == "Kim left. He came back."
    assert full_text("Kim left", ", and he came back.") == "Kim left, and he came back."
    assert full_text("", "He came.") == "He came."
    assert signature("published") != signature("completion")


def test_the_summary_is_mean_and_population_deviation() -> None:
    result = summary([0.0, 0.5, None, 1.0])
    assert (result.mean, result.texts, result.short) == (0.5, 3, 1)
    assert result.std == pytest.approx((0.5 / 3) ** 0.5)
    nothing = summary([None])
    assert nothing.mean is None and nothing.std is None and nothing.reason is not None and nothing.short == 1


@given(st.lists(st.sampled_from("abc."), min_size=4, max_size=30))
def test_repetitiveness_is_between_0_and_1_and_ignores_names_and_direction(words: list[str]) -> None:
    value = repetitiveness(words)[0]
    assert value is not None and 0 <= value <= 1
    renamed = repetitiveness([{"a": "x", "b": "y", "c": "z", ".": "!"}[word] for word in words])[0]
    backwards = repetitiveness(words[::-1])[0]
    assert value == renamed == backwards  # only which n-grams are equal counts, not what they are
