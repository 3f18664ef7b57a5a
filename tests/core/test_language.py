"""Numbers and nouns in messages."""

import re

import pytest
from babel.messages.pofile import read_po

from core.language import Count, significant, visitor_language
from core.resources import ROOT


def test_a_noun_goes_with_its_number() -> None:
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
def test_the_language_of_a_visitor(named: str | None, chosen: str | None, preferred: str | None, language: str) -> None:
    assert visitor_language(named, chosen, preferred) == language


def messages_with_nouns() -> list[tuple[str, str]]:
    rows = []
    for path in sorted((ROOT / "locale" / "zh").glob("*.po")):
        with path.open("rb") as file:
            rows += [(str(one.id), str(one.string)) for one in read_po(file, locale="zh")]
    return [row for row in rows if re.search(r"\{\w+:[^}]*\|", row[0])]


@pytest.mark.parametrize(("english", "chinese"), messages_with_nouns())
def test_every_message_with_a_noun_for_one_can_be_written(english: str, chinese: str) -> None:
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
def test_significant_digits(number: float, text: str) -> None:
    assert significant(number) == text
