"""The segmenter and its dictionary, and the characters that are surnames."""

import re
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.resources import table

HALF_PAIR = re.compile("[\ud800-\udfff]")
# A surname with one of these is the permitted form: 王某, 张家, 马总, 李姓 (docs/methods.md#keywords-in-a-sentence:
# keep the surname only).
AFTER_SURNAME = frozenset("某氏姓家总老工父母爷奶叔姨婶嫂哥姐弟妹爸妈伯婆公处局厂队医导")


class Token(NamedTuple):
    """A word as the segmenter cuts it: `tag` as jieba has it (nr = a person's name), a half-open span."""

    word: str
    tag: str
    start: int
    end: int


def cut(text: str) -> list[str]:
    """Return the words of *text*, the same as those of `tagged`, in half of its time."""
    try:
        words: list[str] = dictionary().cut(text)
    except UnicodeEncodeError:
        words = dictionary().cut(HALF_PAIR.sub("\ufffd", text))
    return words


def tagged(text: str) -> tuple[Token, ...]:
    """Return the words of *text* with their tags, by rjieba; the words joined together are *text*."""
    try:
        tags = dictionary().tag(text)
    except UnicodeEncodeError:
        # rjieba reads UTF-8, which cannot hold half of a surrogate pair: it gets another character in its place.
        at, tags = 0, []
        for word, tag in dictionary().tag(HALF_PAIR.sub("\ufffd", text)):
            tags.append((text[at : at + len(word)], tag))
            at += len(word)
    tokens, at, make = [], 0, tuple.__new__  # half of the time of Token(...), which mining asks a million times
    for word, tag in tags:
        end = at + len(word)
        tokens.append(make(Token, (word, tag, at, end)))
        at = end
    return tuple(tokens)


@cache
def dictionary() -> Any:
    """Return the segmenter, whose `has_word` looks into its dictionary; the first call loads it."""
    import rjieba  # 0.1 to 0.25 s: paid by the first sentence that is cut

    return rjieba


def is_word(text: str) -> bool:
    """Return whether *text* is a word of jieba's dictionary (349,046 words)."""
    known: bool = dictionary().has_word(text)
    return known


@cache
def beside(character: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the characters right before and right behind *character* in words of the dictionary.

    They are read in 4 ms from the file of jieba, which has the words of rjieba; rjieba itself cannot list them.
    """
    package = find_spec("jieba")
    assert package is not None and package.origin is not None
    data, wanted = (Path(package.origin).parent / "dict.txt").read_bytes(), character.encode()
    before, behind, at = set[str](), set[str](), data.find(wanted)
    while at >= 0:  # a line is a word, its frequency and its tag
        word = data[data.rfind(b"\n", 0, at) + 1 : data.index(b" ", at)].decode()
        before.update(first for first, second in pairwise(word) if second == character)
        behind.update(second for first, second in pairwise(word) if first == character)
        at = data.find(wanted, at + 1)
    return frozenset(before), frozenset(behind)


@cache
def usual_surnames() -> frozenset[str]:
    """Return the usual Chinese surnames, of one or two characters."""
    return frozenset(name for row in table("mining_surnames") for name in row["surnames"].split())


def is_surname(text: str) -> bool:
    """Return whether *text* is one of the usual Chinese surnames."""
    return text in usual_surnames()
