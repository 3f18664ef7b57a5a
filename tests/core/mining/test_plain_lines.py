"""Reading whole blocks gives each line the result of cleaning and splitting it alone."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from evenhand.core.mining.cleaning import Cleaner
from evenhand.core.mining.find_keywords import Finder, Line, Words, lines_of
from evenhand.core.resources import keyword_pairs
from evenhand.core.text.sentences import EDGES, split

KEYWORD = re.compile("他|男[“”]*孩")
WORDS = Words(["他", "男孩"], KEYWORD)
FINDER = Finder(keyword_pairs("released"), spaced=False)
PIECES = [*'他男孩山。？！?!”’」』）)》“"\n\n <&;１Ａａ，\u200b\ufeff\t\U00020000\x00', "&nbsp;", "<b>", "a. b"]


@example(["他", "。", "”", "\n", "”", "他", "。"])
@example(["山", "\U00020000", "\n", "他", "。", "。"])
@example(["男", "”", "孩", "！", "”", "）", "他", "\n"])
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_lines_of_a_block_equal_lines_read_one_by_one(pieces: list[str]) -> None:
    text, cleaner = "".join(pieces), Cleaner("text", False)
    lines = lines_of(text, WORDS)
    careful = {entry.start: entry.end for entry in lines.found if isinstance(entry, Line)}
    parts = [part for part in lines.found if not isinstance(part, Line)]
    at = sentences = 0
    for line in text.split("\n"):
        end = at + len(line)
        inside = [part for part in parts if at <= part.start and part.end <= end]
        if line and careful.pop(at, None) != end:
            assert cleaner.clean(line) == line
            pieces = split(line)
            assert pieces[0].strip(EDGES)
            sentences += len(pieces)
            results = [text[part.start : part.end] for part in inside]
            assert results == [piece for piece in pieces if KEYWORD.search(piece)]
            assert all((part.line_start, part.line_end) == (at, end) for part in inside)
            parts = parts[len(inside) :]
        at = end + 1
    assert sentences == lines.sentences and not careful and not parts
    assert lines.found == sorted(lines.found)


@given(st.lists(st.sampled_from([*PIECES, "é", "「", "\U00020001"]), max_size=40))
def test_sentences_of_a_block_have_their_properties(pieces: list[str]) -> None:
    text = "".join(pieces)
    lines = lines_of(text, WORDS)
    for entry in lines.found:
        if not isinstance(entry, Line):
            part = text[entry.start : entry.end]
            hits = [(hit.start() + entry.start, hit[0]) for hit in KEYWORD.finditer(part)]
            assert lines.hits[entry.low : entry.high] == hits
            assert entry.byte == len(text[: entry.start].encode("utf-8", "surrogatepass"))
            assert entry.quoted == any(mark in part for mark in "“”「」『』")


@example("女儿子女儿女爸爸爸男“”孩“男”。\n姥爷爷")
@given(st.text("女儿子爸男孩“”姥爷爷妈他山。\n", max_size=40))
def test_keywords_of_a_block_equal_matches_of_the_expression(text: str) -> None:
    hits = lines_of(text, Words(FINDER.words, FINDER.may_stand)).hits
    assert hits == [(hit.start(), hit[0]) for hit in FINDER.may_stand.finditer(text)]
