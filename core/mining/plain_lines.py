"""Whole blocks at once: which lines need cleaning, where sentences end, and which sentences may hold a keyword.

Nearly every line of plain text is clean, and nine sentences of ten have no keyword:
they are only counted. What is said here of a line is what `Cleaner.clean` and
`core.text.sentences.split` would do with it.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.text.sentences import CLOSERS, MARKS
from core.types import Span

Places = NDArray[np.int64]

_MARK, _CLOSER, _OTHER = 1, 2, 4  # kinds of characters; _OTHER: a line with it is read with care
_BEYOND = 0xFFFF  # stands for all characters above it, which are read with care too


class Line(NamedTuple):
    """A line of the block: where it stands, and its sentences in which a keyword may stand; None: read it with care."""

    start: int
    end: int
    sentences: list[Span] | None


class Lines(NamedTuple):
    """The lines that are worth a look, in their order, and how many sentences all others and those hold.

    Sentences of lines that are to be read with care are not counted.
    """

    lines: list[Line]
    sentences: int


@cache
def _kinds() -> NDArray[np.uint8]:
    """For each character up to U+FFFF its kind."""
    careful = ' "<&;０１２３４５６７８９'  # spaces, straight quotes, tags, entities; full-width digits and letters
    found = bytearray(_BEYOND + 1)
    for code in range(_BEYOND + 1):
        character = chr(code)
        wide = 0xFF21 <= code <= 0xFF3A or 0xFF41 <= code <= 0xFF5A
        if character in MARKS:
            found[code] = _MARK
        elif character in CLOSERS:
            found[code] = _CLOSER
        elif wide or character in careful or (character != "\n" and not character.isprintable()):
            found[code] = _OTHER
    return np.frombuffer(bytes(found), dtype=np.uint8)


def lines_of(text: str, may_stand: re.Pattern[str]) -> Lines:
    """The lines of *text*, in which only \\n ends one; `may_stand` finds what may become a keyword."""
    codes: NDArray[Any] = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype=np.uint16)
    if len(codes) > len(text):
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        codes = np.minimum(codes, _BEYOND)
    kinds = _kinds()[codes]
    breaks = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
    starts = np.concatenate(([0], breaks[:-1] + 1))
    full = breaks > starts
    starts, stops = starts[full], breaks[full]
    careful = _holds(np.flatnonzero(kinds == _OTHER), starts, stops)
    careful |= (kinds[starts] & (_MARK | _CLOSER)) > 0  # a line that begins with what ends sentences
    ends = _ends(kinds)
    first, last = np.searchsorted(ends, starts, "right"), np.searchsorted(ends, stops, "right")
    closed = np.append(0, ends)[last] == stops
    hits = np.array([hit.start() for hit in may_stand.finditer(text)], dtype=np.int64)
    worth = careful | _holds(hits, starts, stops)
    lines = list(_worth(starts[worth], stops[worth], careful[worth], ends, hits))
    return Lines(lines, int((last - first + ~closed)[~careful].sum()))


def _holds(places: Places, starts: Places, stops: Places) -> NDArray[np.bool_]:
    """Whether any of the sorted *places* lies in each line."""
    return np.searchsorted(places, starts) < np.searchsorted(places, stops)


def _ends(kinds: NDArray[np.uint8]) -> Places:
    """Where sentences end: behind each run of marks and closers in which a mark stands."""
    runs = np.flatnonzero(np.diff((kinds & (_MARK | _CLOSER)) > 0, prepend=False, append=False))
    begins, ends = runs[::2], runs[1::2]
    marks = np.flatnonzero(kinds == _MARK)
    return ends[np.searchsorted(marks, begins) < np.searchsorted(marks, ends)]


def _worth(starts: Places, stops: Places, careful: NDArray[np.bool_], ends: Places, hits: Places) -> Iterator[Line]:
    """Lines with those of their sentences that have hits."""
    number = np.searchsorted(ends, hits, "right")
    begins = np.append(0, ends)[number].tolist()
    closes = np.append(ends, stops[-1] if len(stops) else 0)[number].tolist()
    low, high = np.searchsorted(hits, starts).tolist(), np.searchsorted(hits, stops).tolist()
    rows = zip(starts.tolist(), stops.tolist(), careful.tolist(), low, high, strict=True)
    for start, stop, with_care, from_, to in rows:
        found: list[Span] = []
        for at in range(from_, 0 if with_care else to):
            span = max(begins[at], start), min(closes[at], stop)
            if not found or found[-1] != span:
                found.append(span)
        yield Line(start, stop, None if with_care else found)
