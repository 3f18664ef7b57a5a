"""English tokens: what spaCy 3.8.18's blank English tokenizer gave for the same texts (own sentences)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.text.repetition import tokens

CASES = [
    ("", []),
    ("   ", ["   "]),
    ("one two", ["one", "two"]),
    ("one  two\n\nthree \n four ", ["one", " ", "two", "\n\n", "three", "\n ", "four"]),
    ("He went home. She slept.", ["He", "went", "home", ".", "She", "slept", "."]),
    ("they're here, aren't they?", ["they", "'re", "here", ",", "are", "n't", "they", "?"]),
    ("xe's late; she'd've called", ["xe", "'s", "late", ";", "she", "'d", "'ve", "called"]),
    ("I cannot and don’t", ["I", "can", "not", "and", "do", "n’t"]),
    ("him/her and/or them", ["him", "/", "her", "and/or", "them"]),
    (
        "Dr. Lee (a co-op nurse) said “hi”...",
        ["Dr.", "Lee", "(", "a", "co", "-", "op", "nurse", ")", "said", "“", "hi", "”", "..."],
    ),
    ("the U.S.-based firm's 10km run", ["the", "U.S.-based", "firm", "'s", "10", "km", "run"]),
    ("golf.He left", ["golf", ".", "He", "left"]),
    ("see example.org/a?b now", ["see", "example.org/a?b", "now"]),
    (
        "at 10am, 3.5% of $5 — or 7+?!",
        ["at", "10", "am", ",", "3.5", "%", "of", "$", "5", "—", "or", "7", "+", "?", "!"],
    ),
    ("i.e. this, e.g. that :)", ["i.e.", "this", ",", "e.g.", "that", ":)"]),
    ("its hes well hell", ["its", "he", "s", "well", "hell"]),
    ('"Themself," ze/zir wrote.', ['"', "Themself", ",", '"', "ze", "/", "zir", "wrote", "."]),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=range(len(CASES)))
def test_tokens_equal_spacy(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@given(st.text(st.sampled_from("ab'’.,;:!?()-—/ \n\t3$AB\"…n't🙂他"), max_size=60))
def test_tokens_join_to_the_text(text: str) -> None:
    """Joined again the tokens are the text; at most single spaces are gone."""
    rest = text
    for token in tokens(text):
        if not rest.startswith(token):
            assert rest.startswith(" ")
            rest = rest[1:]
        assert rest.startswith(token)
        rest = rest[len(token) :]
    assert rest in ("", " ")
