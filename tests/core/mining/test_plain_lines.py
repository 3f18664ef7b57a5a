"""Whole blocks at once say of each line what cleaning and splitting it alone would."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from core.mining.cleaning import Cleaner
from core.mining.plain_lines import lines_of
from core.text.sentences import EDGES, split

KEYWORD = re.compile("他|男[“”]*孩")
PIECES = [*'他男孩山。？！?!”’」』）)》“"\n\n <&;１Ａａ，\u200b\ufeff\t\U00020000\x00', "&nbsp;", "<b>", "a. b"]


@example(["他", "。", "”", "\n", "”", "他", "。"])
@example(["山", "\U00020000", "\n", "他", "。", "。"])
@example(["男", "”", "孩", "！", "”", "）", "他", "\n"])
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_lines_as_one_by_one(pieces: list[str]) -> None:
    text, cleaner = "".join(pieces), Cleaner("text", False)
    found, counted = lines_of(text, KEYWORD)
    told = {line.start: line for line in found}
    at = sentences = 0
    for line in text.split("\n"):
        seen = told.pop(at, None)
        if line and (seen is None or seen.sentences is not None):
            assert cleaner.clean(line) == line
            parts = split(line)
            assert parts[0].strip(EDGES)
            sentences += len(parts)
            spans = [] if seen is None else [text[start:end] for start, end in seen.sentences or ()]
            assert spans == [part for part in parts if KEYWORD.search(part)]
        at += len(line) + 1
    assert sentences == counted and not told
    assert [line.start for line in found] == sorted(line.start for line in found)
