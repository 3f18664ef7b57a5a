"""Pair files: what is read, and the message of each mistake."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import BadFile
from evenhand.core.mining.keyword_lists import different_spans, pairs_of, read_pairs, typed_pairs
from evenhand.core.resources import DATA, keyword_pairs
from evenhand.core.types import KeywordPair

HEADER = "male\tfemale\n"


def test_the_packaged_file_gives_the_released_pairs() -> None:
    assert read_pairs(DATA / "pairs.tsv") == keyword_pairs("released")


@pytest.mark.parametrize("pair", keyword_pairs("released"), ids=lambda pair: pair.name)
def test_stems_are_derived_from_the_words(pair: KeywordPair) -> None:
    assert different_spans(pair.male, pair.female) == (pair.male_stem, pair.female_stem)


def test_comments_blank_lines_and_a_bom_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("\ufeff# mine\nmale\tfemale\tlanguage\n\n男士\t女士\t\nhe\tshe\ten\n", encoding="utf-8")
    result = read_pairs(file)
    assert [(pair.name, pair.stems, pair.language) for pair in result] == [
        ("男士/女士", ("男", "女"), "zh"),
        ("he/she", ("he", "she"), "en"),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "contains no keyword pairs."),
        (HEADER, "contains no keyword pairs."),
        ("他\t她\n", ", line 1: the first line must contain the column names male and female, separated by tabs."),
        (HEADER + "他\n", ", line 2: 1 columns, but the first line has 2. Separate columns by tabs."),
        (HEADER + "他\t\n", "line 2: the column female is empty"),
        (HEADER + "他\t他\n", "line 2: both words are 他"),
        (HEADER + "他\t她\n男\t她\n", ", line 3: 她 is already in line 2; a word belongs to one pair only."),
        (HEADER + "他 们\t她们\n", ", line 2: 他 们 is not a Chinese word: it contains"),
        (
            HEADER + "he\tshe\n",
            (
                ", line 2: he is not a Chinese word: it contains h. For words of other languages, add a column "
                "language, such as en."
            ),
        ),
        (HEADER + "他" * 41 + "\t她\n", ", line 2: the word has 41 characters; at most"),
        (HEADER + "男孩\t女\n", "line 2: 男孩 and 女 differ in 男孩 and 女"),
        ("male\tfemale\tmale_stem\tfemale_stem\n男孩\t女孩\t0:3\t0:1\n", "line 2: the stem 0:3 of 男孩"),
        ("male\tfemale\tmale_stem\tfemale_stem\n男孩\t女孩\tx\t0:1\n", "line 2: the stem x of 男孩"),
        (
            "male\tfemale\tmale_stem\tfemale_stem\n男孩\t女孩\t1:2\t0:1\n",
            ", line 2: 男孩 and 女孩 differ outside their stems.",
        ),
        (HEADER + "他\u202e\t她\n", "U+202E"),
    ],
)
def test_every_mistake_names_file_and_line(text: str, says: str) -> None:
    with pytest.raises(BadFile) as caught:
        pairs_of(text, "mine.tsv")
    assert says in str(caught.value) and "mine.tsv" in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"none\.tsv cannot be read"):
        read_pairs(tmp_path / "none.tsv")


def test_typed_pairs_are_parsed() -> None:
    assert [pair.name for pair in typed_pairs(["男士/女士", "公公/婆婆"])] == ["男士/女士", "公公/婆婆"]
    for wrong in ("男士", "男士/", "/", "男/女/人", "男\t女"):
        with pytest.raises(
            BadFile, match="A pair is two words separated by /, the male word first, such as 男士/女士, not"
        ):
            typed_pairs(["公公/婆婆", wrong])
    with pytest.raises(BadFile, match="--pair, line 2: both words are 男"):
        typed_pairs(["男/男"])


@given(st.text("男女孩人公婆", min_size=1, max_size=5), st.text("男女孩人公婆", min_size=1, max_size=5))
def test_exchanging_stems_gives_the_other_word(male: str, female: str) -> None:
    if male == female:
        return
    (start, end), (other_start, other_end) = different_spans(male, female)
    assert start == other_start and end > start and other_end > other_start
    assert male[:start] + female[other_start:other_end] + male[end:] == female
