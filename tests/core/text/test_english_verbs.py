"""Verbs in both numbers (docs/misgendering.md#tango-by-probability)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.text.pronoun_cases import irregular_pasts, known_verbs, noun_like, plural, singular


@pytest.mark.parametrize(
    "many, one",
    [
        *[("play", "plays"), ("say", "says"), ("enjoy", "enjoys"), ("buy", "buys")],  # wrong in the published code
        *[("use", "uses"), ("house", "houses"), ("die", "dies")],  # as well
        *[("cry", "cries"), ("watch", "watches"), ("fix", "fixes"), ("pass", "passes"), ("are", "is")],
        *[("were", "was"), ("have", "has"), ("do", "does"), ("go", "goes"), ("quiz", "quizzes")],
        *[("focus", "focuses"), ("ache", "aches"), ("lie", "lies"), ("fly", "flies"), ("waltz", "waltzes")],
        *[("freeze", "freezes"), ("Don", "Doesn"), ("ARE", "IS"), ("echo", "echoes"), ("catch", "catches")],
    ],
)
def test_verbs_are_converted_between_numbers(many: str, one: str) -> None:
    """docs/misgendering.md#tango-by-probability: the reference code has the first seven wrong."""
    assert (singular(many), plural(one)) == (one, many)


def test_every_known_verb_survives_both_conversions() -> None:
    assert len(known_verbs()) > 300
    assert noun_like() < known_verbs()
    assert {verb for verb in known_verbs() if plural(singular(verb)) != verb} == set()


@given(st.sampled_from(sorted(irregular_pasts() | {"can", "discuss", "thus", "walked"})))
def test_other_words_are_not_converted(word: str) -> None:
    assert plural(word) == word
