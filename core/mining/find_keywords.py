"""Sentences of a line or of a whole block with their places, and the keywords in them.

Nearly every line of plain text is clean, and nine sentences of ten have no keyword: they are only counted. What
`lines_of` says of a line is what `Cleaner.clean` and `core.text.sentences.split` would do with it.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.text.sentences import CLOSERS, MARKS, QUOTES, split
from evenhand.core.types import Candidate, KeywordPair, Side, Span

QUOTATION = "".join(chain(*QUOTES.items()))

_new = tuple.__new__

# After these a full stop ends no sentence.
_SHORT = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sr|Jr|Sra|Srta|No|vs|etc|e\.g|i\.e)|\b[A-Z])\.$")
_REACH = 8  # characters that tell whether there is such a word
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
        """Return the word of one side of *pair*."""
        return cls(pair, side, (pair.name, side), len(pair.word(side)), pair.stem_span(side))

    def at(self, start: int, sentence: str) -> Candidate:
        """Return the candidate whose word begins at *start* of *sentence*."""
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
        # A keyword may appear once orphan quotation marks are gone: they can only part its characters.
        parted = (f"[{QUOTATION}]*".join(map(re.escape, word)) for word in sorted(self.words, key=len, reverse=True))
        self.may_stand = re.compile("|".join(parted), self.pattern.flags)
        # Whether no word can contain the end of a sentence.
        self.whole = not any(character in MARKS + CLOSERS or character.isspace() for character in inner)

    def hits(self, sentence: str) -> list[tuple[int, Word]]:
        """Return, for each keyword in *sentence*, where it begins and its Word."""
        words = self.words
        if self.spaced:
            return [(match.start(), words[match[0].lower()]) for match in self.pattern.finditer(sentence)]
        return [(match.start(), words[match[0]]) for match in self.pattern.finditer(sentence)]

    def split(self, line: str) -> list[str]:
        """Return the sentences of a cleaned line; together they are the line."""
        return split_spaced(line) if self.spaced else split(line)


def _key(word: str, spaced: bool) -> str:
    return word.lower() if spaced else word


def split_spaced(line: str) -> list[str]:
    """A line of a language with spaces, cut after . ? ! where the next word begins with a capital or a digit."""
    parts, start = [], 0
    for match in _SPACED_END.finditer(line):
        if _SHORT.search(line[max(start, match.end(1) - _REACH) : match.end(1)]) is None:
            parts.append(line[start : match.end()])
            start = match.end()
    return [*parts, line[start:]] if start < len(line) else parts


def counterpart(candidate: Candidate) -> str:
    """Return the word of the other side, with the capitals of the word in the sentence: He -> She."""
    word, other = candidate.keyword, candidate.counterpart
    if word == candidate.pair.word(candidate.side):
        return other
    return other.upper() if word.isupper() and len(word) > 1 else other.capitalize()


Places = NDArray[np.int64]

_MARK, _CLOSER, _OTHER = 1, 2, 4  # kinds of characters; _OTHER: a line with it is read with care
_QUOTE, _BREAK = 8, 16
_FIRST = 32  # with it a keyword begins
_ASCII, _LATIN, _FAR = 64, 128, 192  # one, two and four bytes in UTF-8; all others have three
_MORE = np.repeat(np.array([0, -2, -1, 1]), 64)  # bytes of a character of each kind beyond three
_PLANE = 1 << 16  # characters from here on are _FAR and read with care


class Line(NamedTuple):
    """A line of the block that is to be read with care: its place, the bytes before it in UTF-8."""

    start: int
    end: int
    byte: int


class Part(NamedTuple):
    """A sentence of a clean line that may hold a keyword: its place and the place of its line.

    `low`, `high`: which of the hits are in it; `byte`: bytes before it in UTF-8; `quoted`: whether it has curly or
    corner quotation marks.
    """

    start: int
    end: int
    line_start: int
    line_end: int
    low: int
    high: int
    byte: int
    quoted: bool


class Lines(NamedTuple):
    """What is worth a look, in its order; what may be a keyword there; how many sentences all clean lines have."""

    found: list[Line | Part]
    hits: list[tuple[int, str]]
    sentences: int


@cache
def _kinds() -> NDArray[np.uint8]:
    """Return the kind of each character, without _FIRST."""
    careful = ' "<&;０１２３４５６７８９'  # spaces, straight quotes, tags, entities; full-width digits and letters
    quotes = "".join(chain(*QUOTES.items()))
    values = np.full(sys.maxunicode + 1, _FAR + _OTHER, dtype=np.uint8)
    for code in range(_PLANE):
        character = chr(code)
        wide = 0xFF21 <= code <= 0xFF3A or 0xFF41 <= code <= 0xFF5A
        kind = _QUOTE * (character in quotes) + _ASCII * (code < 0x80) + _LATIN * (0x80 <= code < 0x800)
        if character in MARKS:
            kind += _MARK
        elif character in CLOSERS:
            kind += _CLOSER
        elif character == "\n":
            kind += _BREAK
        elif wide or character in careful or not character.isprintable():
            kind += _OTHER
        values[code] = kind
    return values


class Words:
    """Finds in blocks what may be one of *words*, also with quotation marks inside that are removed (`pattern`)."""

    def __init__(self, words: Iterable[str], pattern: re.Pattern[str]) -> None:
        self.match = pattern.match
        self.kinds = _kinds().copy()
        # Where the first character of a word is not all of it, one of these comes next.
        self.goes_on = np.zeros(sys.maxunicode + 1, dtype=bool)
        self.goes_on[[ord(text) for text in chain(*QUOTES.items())]] = True
        self.alone = np.zeros(sys.maxunicode + 1, dtype=bool)
        for word in words:
            self.kinds[ord(word[0])] |= _FIRST
            if len(word) == 1:
                self.alone[ord(word)] = True
            else:
                self.goes_on[ord(word[1])] = True

    def hits(self, text: str, codes: NDArray[np.uint32], firsts: Places) -> list[tuple[int, str]]:
        """Return the hits of `pattern.finditer` in *text*; *firsts*: the places of characters that begin hits."""
        behind = codes.take(firsts + 1, mode="clip")
        likely = self.alone.take(codes.take(firsts)) | self.goes_on.take(behind)
        result, end, match = [], 0, self.match
        for at in firsts[likely].tolist():
            if at >= end and (hit := match(text, at)) is not None:
                result.append((at, hit[0]))
                end = hit.end()
        return result


def lines_of(text: str, words: Words) -> Lines:
    """Return the lines of *text* to look at, and where one of *words* may be.

    Only \\n ends a line.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    kinds = words.kinds.take(codes)
    places = np.flatnonzero(kinds != 0)  # all that is not a plain wide character: a sixth of Chinese text
    kinds = kinds[places]
    breaks = np.append(places[kinds & _BREAK > 0], len(codes))
    starts = np.concatenate(([0], breaks[:-1] + 1))
    full = breaks > starts
    starts, stops = starts[full], breaks[full]
    closers = places[kinds & (_MARK | _CLOSER) > 0]
    careful = _holds(places[kinds & _OTHER > 0], starts, stops)
    careful |= _holds(closers, starts, starts + 1)  # a line that begins with what ends sentences
    ends = _ends(closers, places[kinds & _MARK > 0])
    first, last = np.searchsorted(ends, starts, "right"), np.searchsorted(ends, stops, "right")
    closed = np.append(0, ends)[last] == stops
    more = np.append(0, np.cumsum(_MORE.take(kinds)))

    def width(before: Places) -> Places:
        counts: Places = 3 * before + more[np.searchsorted(places, before)]
        return counts

    hits = words.hits(text, codes, places[kinds & _FIRST > 0])
    rows = starts[careful], stops[careful]
    result: list[Line | Part] = [Line(*row) for row in _rows(*rows, width(rows[0]))]
    if hits:
        columns = _parts(np.array([at for at, _ in hits]), starts, stops, careful, ends)
        quoted = _holds(places[kinds & _QUOTE > 0], *columns[:2])
        result += map(Part._make, _rows(*columns, width(columns[0]), quoted))
        result.sort(key=itemgetter(0))
    return Lines(result, hits, int((last - first + ~closed)[~careful].sum()))


def _rows(*columns: NDArray[Any]) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)


def _holds(places: Places, starts: Places, stops: Places) -> NDArray[np.bool_]:
    """Tell for each line whether any of the sorted *places* lies in it."""
    return np.searchsorted(places, starts) < np.searchsorted(places, stops)


def _ends(closers: Places, marks: Places) -> Places:
    """Return where sentences end: behind each run of marks and closers (`closers` are both) that has a mark."""
    if not len(closers):
        return closers
    parted = closers[1:] - closers[:-1] > 1
    begins, ends = closers[np.append(True, parted)], closers[np.append(parted, True)] + 1
    result: Places = ends[_holds(marks, begins, ends)]
    return result


def _parts(hits: Places, starts: Places, stops: Places, careful: NDArray[np.bool_], ends: Places) -> tuple[Places, ...]:
    """Return the sentences of clean lines that have hits, as columns of the first fields of Part."""
    line = np.searchsorted(starts, hits, "right") - 1
    clean = np.flatnonzero(~careful[line])
    line = line[clean]
    number = np.searchsorted(ends, hits[clean], "right")
    begins = np.maximum(np.append(0, ends)[number], starts[line])
    new = np.flatnonzero(np.diff(begins, prepend=-1))
    begins, line, number = begins[new], line[new], number[new]
    closes = np.minimum(np.append(ends, stops[-1])[number], stops[line])
    bounds = np.append(clean[new], len(hits))
    counts = np.diff(np.append(new, len(clean)))
    return begins, closes, starts[line], stops[line], bounds[:-1], bounds[:-1] + counts
