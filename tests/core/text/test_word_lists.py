"""The expressions of the word lists: written with a plain character first, they find what they found before."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.word_lists import alternatives, joined

PATTERNS = [
    "(?:每个人|某人|(?:一|两)个人)[^。]{0,3}他",
    "(?<![个数])月经(?!手)",
    "(?:如果|[只但]要)一?人|他",
    "(?:他|人)?月",
    "[个数]人(?:他|月){1,2}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text("每个人某一两他如果只但要月经手数。", max_size=30))
def test_the_same_matches_as_the_expression_itself(pattern: str, text: str) -> None:
    plain = re.compile(pattern)
    assert [hit.span() for hit in joined([pattern]).finditer(text)] == [hit.span() for hit in plain.finditer(text)]


def test_a_list_is_cut_outside_of_brackets() -> None:
    assert alternatives("a|(?:b|c)d|[e|]f") == ["a", "(?:b|c)d", "[e|]f"]
    assert joined(["(?:每|任何)人"]).pattern == "每人|任何人"
