"""Sentences of a line with their place, and the keywords that stand in them."""

import re
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from evenhand.core.text.sentences import CLOSERS, MARKS, QUOTES, split
from evenhand.core.types import Candidate, KeywordPair, Side, Span

QUOTATION = "".join(chain(*QUOTES.items()))

_new = tuple.__new__

# After these a full stop ends no sentence.
_SHORT = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sr|Jr|Sra|Srta|No|vs|etc|e\.g|i\.e)|\b[A-Z])\.$")
_REACH = 8  # characters that tell whether such a word stands there
# Tried once for each run of marks: 100 kB of dots are read once, not 100,000 times.
_SPACED_END = re.compile(r"((?<![.!?…。？！])[.!?…。？！]++[\"'”’»)\]]*+)\s++(?=[\"'“‘«¿¡(\[]*+[^\W_a-z])")


class Word(NamedTuple):
    """A word that is looked for: of which pair and side, where its stem begins and ends in it."""

    pair: KeywordPair
    side: Side
    cell: tuple[str, Side]  # name of the pair, side
    length: int
    stem: Span

    @classmethod
    def of(cls, pair: KeywordPair, side: Side) -> "Word":
        """The word of one side of *pair*."""
        return cls(pair, side, (pair.name, side), len(pair.word(side)), pair.stem_span(side))

    def at(self, start: int, sentence: str) -> Candidate:
        """The candidate whose word begins at *start* of *sentence*."""
        pair, side, _, length, (first, last) = self
        # Half of the time of Candidate(...), which mining asks for each sentence with a keyword.
        return _new(Candidate, (sentence, start, start + length, start + first, start + last, pair, side, "", ()))


class Finder:
    """Looks for the words of *pairs*: at each place the longest one, and words never overlap.

    With spaces between words a word must stand alone, and capitals do not matter.
    """

    def __init__(self, pairs: Iterable[KeywordPair], spaced: bool) -> None:
        self.words: dict[str, Word] = {}
        for pair in pairs:
            self.words.setdefault(_key(pair.male, spaced), Word.of(pair, "male"))
            self.words.setdefault(_key(pair.female, spaced), Word.of(pair, "female"))
        longest_first = sorted((re.escape(word) for word in self.words), key=len, reverse=True)
        inner = "|".join(longest_first)
        self.spaced = spaced
        self.pattern = re.compile(rf"(?<!\w)(?:{inner})(?!\w)", re.IGNORECASE) if spaced else re.compile(inner)
        self.search = self.pattern.search
        # Where a keyword may stand once orphan quotation marks are gone: they can only part its characters.
        parted = (f"[{QUOTATION}]*".join(map(re.escape, word)) for word in sorted(self.words, key=len, reverse=True))
        self.may_stand = re.compile("|".join(parted), self.pattern.flags)
        # Whether no end of a sentence can stand in a word.
        self.whole = not any(character in MARKS + CLOSERS or character.isspace() for character in inner)

    def hits(self, sentence: str) -> list[tuple[int, Word]]:
        """Where each keyword begins, and whose it is."""
        words = self.words
        if self.spaced:
            return [(found.start(), words[found[0].lower()]) for found in self.pattern.finditer(sentence)]
        return [(found.start(), words[found[0]]) for found in self.pattern.finditer(sentence)]

    def split(self, line: str) -> list[str]:
        """The sentences of a cleaned line; together they are the line."""
        return split_spaced(line) if self.spaced else split(line)


def _key(word: str, spaced: bool) -> str:
    return word.lower() if spaced else word


def split_spaced(line: str) -> list[str]:
    """A line of a language with spaces, cut after . ? ! where the next word begins with a capital or a digit."""
    parts, start = [], 0
    for found in _SPACED_END.finditer(line):
        if _SHORT.search(line[max(start, found.end(1) - _REACH) : found.end(1)]) is None:
            parts.append(line[start : found.end()])
            start = found.end()
    return [*parts, line[start:]] if start < len(line) else parts


def counterpart(found: Candidate) -> str:
    """The word of the other side, with the capitals of the word that stands there: He -> She."""
    word, other = found.keyword, found.counterpart
    if word == found.pair.word(found.side):
        return other
    return other.upper() if word.isupper() and len(word) > 1 else other.capitalize()
