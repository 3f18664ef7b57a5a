"""Which word becomes which: packaged pairs, a user's own, names."""

import pytest

from evenhand.core.errors import BadFile, Refused
from evenhand.core.resources import keyword_pairs, table
from evenhand.core.swap.word_tables import read_word_pairs, word_pairs_of, word_table


def test_the_default_table_has_only_the_released_pairs() -> None:
    result = word_table("zh")
    assert len(result.counterparts) == 2 * len(keyword_pairs()) == 38
    assert result.counterparts["姥姥"] == "姥爷" and "他们" not in result.counterparts
    assert word_table("zh", words="wide").counterparts["他们"] == "她们"


def test_packaged_words_have_one_counterpart_each() -> None:
    for language in ("zh", "en"):
        rows = [row for row in table("swap_words") if row["language"] == language]
        words = [row[side] for row in rows for side in ("male", "female")]
        assert rows and len(set(words)) == len(words)


def test_own_words_override_packaged_ones() -> None:
    result = word_table("en", own=[("dad", "mum")])
    assert result.counterparts["dad"] == "mum" and result.counterparts["mom"] == "dad"
    assert (result.side("dad"), result.side("Mum"), result.side("Hers"), result.side("HIM")) == (
        "male",
        "female",
        "female",
        "male",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("male\tfemale\n小王\t小王\n", "both words are 小王"),
        ("male\tfemale\n甲\t乙\n丙\t甲\n", ": 甲 is already in line 2; a word has only one counterpart."),
        ("male\tfemale\nhe\tzie\n", "he is a pronoun"),
        ("male\tfemale\n\t乙\n", "line 2: a word is empty"),
        ("man\twoman\n", "column names male and female"),
    ],
)
def test_a_table_with_a_mistake_is_refused_with_its_line(text: str, says: str) -> None:
    with pytest.raises(BadFile, match=says):
        word_pairs_of(text, "own.tsv", "en")


def test_a_missing_file_is_refused(tmp_path) -> None:
    with pytest.raises(BadFile, match="cannot be read"):
        read_word_pairs(tmp_path / "none.tsv", "zh")


def test_names_equal_to_words_and_other_languages_are_refused() -> None:
    with pytest.raises(BadFile, match="他 is in both the list of names and the list of words"):
        word_table("zh", names=[("他", "小红")])
    with pytest.raises(Refused, match="zh and en"):
        word_table("eu")
