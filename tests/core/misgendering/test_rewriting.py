"""Verbs in both numbers, and generations rewritten for every pronoun set. The sentences are our own.

See docs/misgendering.md#tango-by-probability.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.misgendering.rewriting import rewritten
from evenhand.core.text.pronoun_cases import case_of
from evenhand.core.text.pronouns import forms, set_named, sets


@pytest.mark.parametrize(
    "text, he, they",
    [
        (" sat, so she plays the viola.", " sat, so he plays the viola.", " sat, so they play the viola."),
        (" and she's been there. She", " and he's been there.", " and they've been there."),
        (" she's tired", " he's tired", " they're tired"),
        (" they are happy and have a dog.", " he is happy and has a dog.", " they are happy and have a dog."),
        (" they went home and read his", " he went home and read", " they went home and read"),
        (" She often writes and directs", " He often writes and directs", " They often write and direct"),
        (" he likes cats and dogs.", " he likes cats and dogs.", " they like cats and dogs."),
        (" They don't know; her", " He doesn't know;", " They don't know;"),
        ("Where does she live?", "Where does he live?", "Where do they live?"),
        (" nor has he seen", " nor has he seen", " nor have they seen"),
        ("THEY HAVE won", "HE HAS won", "THEY HAVE won"),
        (" xe lives in Rome and is kind.", " he lives in Rome and is kind.", " they live in Rome and are kind."),
        (" they own a cat and walk a dog.", " he owns a cat and walks a dog.", " they own a cat and walk a dog."),
        (" they could swim", " he could swim", " they could swim"),
        (" they're here", " he's here", " they're here"),
        (" I saw her yesterday", " I saw him yesterday", " I saw them yesterday"),
        (" her dog barks", " his dog barks", " their dog barks"),
        (" the bag is hers.", " the bag is his.", " the bag is theirs."),
        (" the bag was his.", " the bag was his.", " the bag was theirs."),
        (" hurt herself.", " hurt himself.", " hurt themself."),
        (" they couldn't come", " he couldn't come", " they couldn't come"),
        (" they didn't come", " he didn't come", " they didn't come"),
        (" they cannot swim", " he cannot swim", " they cannot swim"),
        (" they rely on trains", " he relies on trains", " they rely on trains"),
        (" they proceed to Rome", " he proceeds to Rome", " they proceed to Rome"),
        ("But does she know?", "But does he know?", "But do they know?"),
        (" her family waits", " his family waits", " their family waits"),
        (" her incredibly large dog", " his incredibly large dog", " their incredibly large dog"),
        (" I saw her quickly turn", " I saw him quickly turn", " I saw them quickly turn"),
        (" his in-laws", " his in-laws", " their in-laws"),
        (" it made her laugh", " it made him laugh", " it made them laugh"),
        (" let xir play", " let him play", " let them play"),
        (" she works, drinks and sleeps.", " he works, drinks and sleeps.", " they work, drink and sleep."),
        (" she is old, has a cat and walks a dog", " he is old, has a cat and walks a dog",
         " they are old, have a cat and walk a dog"),
        (" they're old and have a cat", " he's old and has a cat", " they're old and have a cat"),
        (" she is glad but wants more", " he is glad but wants more", " they are glad but want more"),
        (" they work and often try to win", " he works and often tries to win", " they work and often try to win"),
        (" they are small and open to ideas", " he is small and open to ideas", " they are small and open to ideas"),
        (" My cats, he says, are old", " My cats, he says, are old", " My cats, they say, are old"),
        (" they are, like me, tall", " he is, like me, tall", " they are, like me, tall"),
    ],
)  # fmt: skip
def test_a_text_is_rewritten_for_he_and_they(text: str, he: str, they: str) -> None:
    result = rewritten(text)
    assert result is not None
    assert result.text_with(set_named("he", "tango")) == he
    assert result.text_with(set_named("they", "tango")) == they


def test_xe_is_rewritten_with_tangos_spelling() -> None:
    result = rewritten(" Xir dog saw him")
    assert result is not None
    assert (result.case, result.source, result.written) == ("pos_dep", "xe", "Xir")
    assert [result.text_with(pronouns) for pronouns in sets("tango").values()] == [
        " His dog saw", " Her dog saw", " Their dog saw", " Xir dog saw",
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "case"), [(" it sings", "nom"), (" I saw it there", "acc"), (" its lid", "pos_dep")])
def test_the_case_of_it_depends_on_its_position(text: str, case: str) -> None:
    result = rewritten(text, extra=[set_named("it")])
    assert result is not None
    assert result.case == case


def test_text_between_two_pronouns_is_kept() -> None:
    result = rewritten("So he, tall and slow, found his hat")
    assert result is not None
    assert result.text_with(set_named("he", "tango")) == "So he, tall and slow, found"


@pytest.mark.parametrize("text", ["", "No pronoun.", "a binary choice", "themselves"])
def test_without_a_pronoun_there_is_no_template(text: str) -> None:
    """ "binary" counts as a pronoun in the published code, whose table has it in another column."""
    assert rewritten(text) is None


def test_pronouns_of_a_user_set_become_slots() -> None:
    ze = set_named("ze")
    result = rewritten(" ze sings", extra=[ze])
    assert result is not None
    assert (result.source, result.text_with(set_named("they", "tango")), result.text_with(ze)) == (
        "ze",
        " they sing",
        " ze sings",
    )


@pytest.mark.parametrize(
    "form, name, rest, case",
    [
        *[("her", "she", " slowly", "acc"), ("her", "she", ".", "acc"), ("her", "she", " old coat", "pos_dep")],
        *[("his", "he", " and mine", "pos_ind"), ("his", "he", " hat", "pos_dep"), ("xir", "xe", "", "acc")],
        *[("they", "they", " x", "nom"), ("xirself", "xe", "", "ref")],
    ],
)
def test_the_following_word_determines_the_case(form: str, name: str, rest: str, case: str) -> None:
    assert case_of(form, set_named(name, "tango"), rest) == case


@given(st.text(alphabet="abc .,'", max_size=20), st.sampled_from(sorted(forms("tango"))), st.text(max_size=30))
def test_the_original_form_is_recognised(before: str, form: str, after: str) -> None:
    text = f"{before} {form} {after}"
    result = rewritten(text)
    assert result is not None
    same = result.text_with(set_named(result.source, "tango"))
    assert same.startswith(f"{before} {form}")
    assert result.written == form
