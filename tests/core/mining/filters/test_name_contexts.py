"""Words next to a personal name count for a name, words next to other words count against one."""

import pytest

from evenhand.core.mining.filters.name_frames import by_context
from evenhand.core.mining.filters.name_marks import Cut, Word, context

# Words before and behind a place, with their tags, from typical places of names to places without any.
BESIDE = [("总统", "n", "率军", "v"), ("与", "p", "发表", "v"), ("。", "x", "。", "x"), ("一种", "m", "了", "ul")]


def between(before: str, tag_before: str, behind: str, tag_behind: str) -> float:
    return context([Word(before, tag_before), Word("某", "n"), Word(behind, tag_behind)], 1, 2)


def test_contexts_are_ranked() -> None:
    results = [between(*words) for words in BESIDE]
    assert results == sorted(results, reverse=True)
    assert results[0] > 3 > 0 > results[-1]


def test_the_end_of_a_text_counts_like_a_clause_end() -> None:
    alone = [Word("某", "n")]
    assert context(alone, 0, 1) == between("。", "x", "。", "x")


@pytest.mark.parametrize(("text", "name"), [("他与王有才发表公告。", "王有才"), ("他与国王瞿能率兵前去。", "瞿能")])
def test_a_name_is_found_by_its_context(text: str, name: str) -> None:
    result = by_context(Cut(text, (0, 1)))
    assert result is not None and text[slice(*result)] == name


def test_the_keyword_is_not_taken_for_a_name() -> None:
    text = "他与王有才发表公告。"
    assert by_context(Cut(text, (2, 5))) is None


def test_a_place_is_not_taken_for_a_name() -> None:
    assert by_context(Cut("她来自木华黎，后来走了。", (0, 1))) is None
