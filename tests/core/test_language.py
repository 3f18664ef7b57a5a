"""Numbers and nouns in messages; English sentences that were stored whole."""

import re

import pytest
from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.language import (
    Count,
    catalogue,
    message_of,
    p_value,
    share_ends,
    share_text,
    significant,
    translate,
    translate_stored,
    visitor_language,
)
from evenhand.core.resources import ROOT


def test_a_noun_agrees_with_its_number() -> None:
    message = "{n} {n:text is|texts are} excluded."
    assert [message.format(n=Count(n)) for n in (0, 1, 2, 1234)] == [
        "0 texts are excluded.",
        "1 text is excluded.",
        "2 texts are excluded.",
        "1,234 texts are excluded.",
    ]
    assert f"{Count(1234)}" == "1,234" and f"{Count(7):03d}" == "007"


@pytest.mark.parametrize(
    ("named", "chosen", "preferred", "language"),
    [
        ("zh", "en", "en", "zh"),
        (None, "zh", "en", "zh"),
        (None, None, "fr-FR,zh-CN;q=0.9,en;q=0.8", "zh"),
        ("xx", "xx", "zh-TW", "zh"),
        (None, None, "fr", "en"),
        (None, None, None, "en"),
    ],
)
def test_the_language_of_a_visitor_is_chosen(
    named: str | None, chosen: str | None, preferred: str | None, language: str
) -> None:
    assert visitor_language(named, chosen, preferred) == language


def messages_with_nouns() -> list[tuple[str, str]]:
    rows = []
    for path in sorted((ROOT / "locale" / "zh").glob("*.po")):
        with path.open("rb") as file:
            rows += [(str(entry.id), str(entry.string)) for entry in read_po(file, locale="zh")]
    return [row for row in rows if re.search(r"\{\w+:[^}]*\|", row[0])]


@pytest.mark.parametrize(("english", "chinese"), messages_with_nouns())
def test_every_message_with_a_plural_can_be_formatted(english: str, chinese: str) -> None:
    class Values(dict[str, Count]):
        def __missing__(self, _: str) -> Count:
            return Count(1)

    written = english.format_map(Values())
    assert "|" not in written and "1 texts" not in written
    assert chinese.format_map(Values())


@pytest.mark.parametrize(
    ("number", "text"),
    [(1220, "1,220"), (0.0452, "0.0452"), (4.2e-9, "4.2 × 10⁻⁹"), (0, "0"), (-3.456, "-3.46"), (99_950, "100,000")],
)
def test_significant_formats_three_digits(number: float, text: str) -> None:
    assert significant(number) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.431, "43%"), (0.075, "7.5%"), (0.0996, "10%"), (0.0025, "0.25%"), (4.2e-9, "4.2 × 10⁻⁹"), (0.996, "99.6%"),
        (0.999999, "> 99.99%"), (0.0, "0%"), (1.0, "100%"), (None, "—"), (float("nan"), "—"),
    ],
)  # fmt: skip
def test_a_share_has_two_significant_digits(share: float | None, text: str) -> None:
    assert share_text(share) == text


@given(st.floats(0, 1))
def test_only_0_and_1_are_written_as_none_and_all(share: float) -> None:
    assert (share_text(share) == "0%") == (share <= 1e-12)
    assert (share_text(share) == "100%") == (share == 1)


def test_the_ends_of_an_interval_have_the_digits_of_the_share() -> None:
    assert share_ends(0.43, 0.377, 0.4912) == "38% – 49%"
    assert share_ends(0.075, 0.031, 0.124) == "3.1% – 12.4%"
    assert share_ends(0.0, 0.0, 0.0374) == "0% – 4%"
    assert share_ends(0.43, None, None) == ""


def chinese(text: str) -> str:
    return translate(text, "zh")


def test_a_stored_sentence_is_translated_with_its_values() -> None:
    stored = "Only 5 independent units: no interval and no test, because even if all leaned the same way, p would be at"
    message, values = message_of(f"{stored} least 0.062.")
    assert message.startswith("Only {units} independent units") and values == {"units": "5", "p": "0.062"}
    assert translate_stored(f"{stored} least 0.062.", chinese).startswith("只有 5 个独立单位")


@pytest.mark.parametrize("text", ["A reason of the model.", "ok", "", "{names} of nothing"])
def test_unknown_stored_texts_stay_unchanged(text: str) -> None:
    assert message_of(text) == (text, {}) and translate_stored(text, chinese) == text


@given(st.sampled_from(sorted(catalogue("zh"))))
def test_a_message_without_values_is_unchanged(message: str) -> None:
    assert message_of(message) == (message, {})
    assert translate_stored(message, chinese) == translate(message, "zh")


@pytest.mark.parametrize(
    ("p", "text"), [(0.0, "< 0.0001"), (0.00009, "< 0.0001"), (0.0001, "0.0001"), (0.5, "0.5000"), (None, "—")]
)
def test_a_small_p_is_not_printed_as_0(p: float | None, text: str) -> None:
    assert p_value(p) == text
    assert p_value(p, "= ") == (f"= {text}" if text.startswith("0") else text)
