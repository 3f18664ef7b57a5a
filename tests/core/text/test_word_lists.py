"""The expressions of the word lists: written with a plain character first, they find what they found before."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.text.containing_words import alternatives, beside_listed, inside_words, joined, touching

PATTERNS = [
    "(?:每个人|某人|(?:一|两)个人)[^。]{0,3}他",
    "(?<![个数])月经(?!手)",
    "(?:如果|[只但]要)一?人|他",
    "(?:他|人)?月",
    "[个数]人(?:他|月){1,2}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text("每个人某一两他如果只但要月经手数。", max_size=30))
def test_rewritten_expressions_match_equally(pattern: str, text: str) -> None:
    plain = re.compile(pattern)
    assert [hit.span() for hit in joined([pattern]).finditer(text)] == [hit.span() for hit in plain.finditer(text)]


def test_a_list_is_split_outside_brackets() -> None:
    assert alternatives("a|(?:b|c)d|[e|]f") == ["a", "(?:b|c)d", "[e|]f"]
    assert joined(["(?:每|任何)人"]).pattern == "每人|任何人"


@pytest.mark.parametrize("keyword", ["他", "她", "男", "女", "女儿", "妈妈", "老公"])
@given(data=st.data())
def test_a_listed_word_has_a_listed_character_next_to_the_keyword(keyword: str, data: st.DataObject) -> None:
    lists = inside_words(keyword, sure=False), inside_words(keyword, sure=True)
    pieces = sorted({*re.findall("[一-龥]", lists[0].pattern + lists[1].pattern), "，"})
    around = st.lists(st.sampled_from(pieces), max_size=3).map("".join)
    before, behind = data.draw(around), data.draw(around)
    text, start, end = before + keyword + behind, len(before), len(before + keyword)
    beside = beside_listed(keyword)
    assert beside is not None
    if text[end : end + 1] not in beside[1] and (not start or text[start - 1] not in beside[0]):
        assert not any(list(touching(words, text, start, end)) for words in lists)


def test_characters_next_to_a_keyword_in_listed_words() -> None:
    beside = beside_listed("丈夫")
    assert beside is not None and beside[0] == frozenset("大不小伟女帼一二三四五六七八九十百千万数几")
    assert beside[1] == frozenset("气志")
    assert beside_listed("外公") is None  # a list has 外公 itself, before 积金
    assert beside_listed("no keyword of a list") == (frozenset(), frozenset())
