"""The register of filters, and the lists as they are read."""

import re
from typing import get_args

import pytest

from evenhand.core.language import translate
from evenhand.core.mining.filters import FILTERS, SCARCE, default_mode
from evenhand.core.mining.types import MODES, Code
from evenhand.core.resources import keyword_pairs, table
from evenhand.core.text.containing_words import alternatives, joined, touching
from tests.support.filters import finding_of, sentence_of

TABLES = [
    ("mining_inside", "words"),
    ("mining_accepted", "words"),
    ("mining_gender_terms", "words"),
    ("mining_relatives", "words"),
    ("mining_biological", "words"),
    ("mining_generic", "pattern"),
]


def test_every_code_of_the_contract_has_a_filter() -> None:
    assert set(FILTERS) == set(get_args(Code))
    assert {code for code, filter_ in FILTERS.items() if filter_.check is None} == {"duplicate", "near_duplicate"}


@pytest.mark.parametrize("code", sorted(FILTERS))
def test_filters_are_described_in_both_languages(code: str) -> None:
    rule = FILTERS[code]
    for text in (rule.name, rule.explanation):
        assert translate(text, "zh") != text
    assert rule.default in MODES and rule.rare in MODES


def test_scarce_pairs_are_treated_leniently() -> None:
    names = {pair.name for pair in keyword_pairs()}
    assert names > SCARCE
    assert default_mode("names", "他/她") == "reject"
    assert default_mode("names", "姥爷/姥姥") == "flag"
    assert default_mode("generic", "他/她") == "flag"


@pytest.mark.parametrize(("name", "column"), TABLES)
def test_every_listed_expression_is_valid(name: str, column: str) -> None:
    for row in table(name):
        assert joined([row[column].replace("〇", "他")]).pattern != r"(?!)"


def test_keywords_of_the_lists_are_keywords() -> None:
    known = {word for pair in keyword_pairs() for word in (pair.male, pair.female)}
    for name in ("mining_inside", "mining_accepted", "mining_groups", "mining_generic"):
        for row in table(name):
            assert set(row["keywords"].split()) <= known, row


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("甲|乙", ["甲", "乙"]),
        ("(?:甲|乙)丙|丁", ["(?:甲|乙)丙", "丁"]),
        ("[甲|]乙", ["[甲|]乙"]),
        ("", []),
        ("甲|", ["甲"]),
    ],
)
def test_alternatives_are_split_outside_brackets(words: str, parts: list[str]) -> None:
    assert alternatives(words) == parts


@pytest.mark.parametrize(
    "word",
    [
        "(?<!尤)其他",
        "[男女]友善",
        "(?<![甲乙])丙丁",
        "(?<!甲)(?<!乙丙)丁",
        "甲乙",
        "(?<=甲)乙(?!丙)",
        "[^甲]乙",
        "(?<!尤)[其无]他",
    ],
)
def test_rewritten_expressions_match_equally(word: str) -> None:
    """Lookbehinds are moved behind the first character; what is found stays the same, place by place."""
    texts = "尤其他其他 男友善女友善 甲丙丁乙丙丁丁丙丁 甲丁乙丙丁丁 甲乙丙甲乙 乙乙甲乙 尤其他无他"
    for text in texts.split():
        assert [m.span() for m in joined([word]).finditer(text)] == [m.span() for m in re.finditer(word, text)]


def test_only_words_that_touch_the_keyword_count() -> None:
    pattern = re.compile("其他|他人|人说")
    assert list(touching(pattern, "其他人说他来了", 4, 5)) == []
    assert list(touching(pattern, "他说其他人", 3, 4)) == [(2, 4), (3, 5)]
    assert list(touching(pattern, "他说其他人", 4, 5)) == [(3, 5)]  # the first match ends before the keyword


def test_length_accepts_its_limits() -> None:
    for size, reason in ((8, "short"), (9, None), (119, None), (120, "long")):
        finding = finding_of("length", "他" + "来" * (size - 1))
        assert (finding.reason if finding else None) == reason
    sentence = sentence_of("他来了。")
    sentence.limits = (1, 4)
    check = FILTERS["length"].check
    assert check is not None and check(sentence) is None
