"""Texts to blocks: about a megabyte of whole lines or whole rows each, so that memory stays flat.

A line that is longer than a block is cut after the end of a sentence; where a
megabyte has none, what lies between two ends of sentences is left out (no
sentence is that long).
"""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from evenhand.core.errors import N_, BadFile
from evenhand.core.files.excel import MOST_TIMES, SMALL_BYTES
from evenhand.core.mining.report import Problem, Read
from evenhand.core.mining.sources import (
    ARCHIVE_BROKEN,
    UNREADABLE,
    Damaged,
    Encoding,
    Shape,
    Text,
    encoding_of_corpus,
    texts,
    unpacking,
)
from evenhand.core.mining.tables import NO_COLUMN, NO_TEXT_COLUMN, Header, header_of
from evenhand.core.text.sentences import CLOSERS, MARKS

BLOCK = 1 << 20  # bytes
LONGEST_ROW = 16 << 20  # bytes; a longer row of a table or JSON line is left out

EMPTY = N_("{file} is empty.")
LONG_ROW = N_("{file}, line {line}: a row of more than {limit} MB was skipped.")
LONG_SENTENCE = N_("{file}, line {line}: more than 1 MB without a sentence end; the rest of the line was skipped.")
NOTHING_READ = N_("No file could be read. The first problem: {why}")

NOTHING_THERE = N_(
    "{given} contains no readable file: .txt, .md, .html, .jsonl, .csv or .tsv, also inside .gz and .zip."
)

# Tried once for each run of marks, from its start: 100 kB of them are not read 100,000 times.
_BETWEEN = re.compile(f'(?<![{MARKS}{CLOSERS}])[{CLOSERS}]*+[{MARKS}][{MARKS}{CLOSERS}]*+(?=[^{MARKS}{CLOSERS}"])')
_PARAGRAPH = re.compile(rb"</(?:p|div|li|td|tr|h[1-6])>|<br\s*/?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Block:
    """A part of one text: its bytes, where they begin (byte offset, line), and how to read them."""

    name: str
    shape: Shape
    encoding: Encoding
    offset: int
    line: int
    data: bytes
    header: Header | None = None


def blocks(
    paths: Iterable[Path | str],
    read: Read,
    *,
    column: str | None = None,
    limit: int | None = None,
    without: Iterable[Path] = (),
) -> Iterator[tuple[Block, int]]:
    """Yield the blocks of every text below *paths*, in order, each with the bytes on the disk read so far.

    Counts files, bytes and encodings in *read* and notes problems there.
    Stops once *limit* bytes of text were handed out. Raises BadFile where
    nothing could be read.
    """
    problems: list[Problem] = []
    paths = list(paths)
    handed, behind = 0, 0
    for text in texts(paths, problems, read.skipped, without):
        for block, position in _blocks_of(text, problems, column, read):
            if limit is not None and handed + len(block.data) > limit and handed:
                read.report(problems)
                read.whole = False
                return
            handed += len(block.data)
            read.bytes += len(block.data)
            yield block, behind + position
        behind += text.size
        read.report(problems)
        problems.clear()
    read.report(problems)
    if not read.files:
        if not read.problems:
            raise BadFile(NOTHING_THERE, given=", ".join(map(str, paths)))
        raise BadFile(NOTHING_READ, why=read.problems[0].text)


def total_size(paths: Iterable[Path | str], without: Iterable[Path] = ()) -> int:
    """Return the bytes on the disk of all texts below *paths*; archives count compressed."""
    return sum(text.size for text in texts(paths, [], Counter(), without))


def _blocks_of(text: Text, problems: list[Problem], column: str | None, read: Read) -> Iterator[tuple[Block, int]]:
    try:
        with _opened(text) as file:
            source = _Source(file, text.size)
            encoding = encoding_of_corpus(iter(source.read, b""), text.name)
        with _opened(text) as file:
            source = _Source(file, text.size)
            first = source.read()
            if source.broken is not None and not first:
                raise source.broken
            if not first.strip():
                problems.append(Problem(text.name, 0, "empty", EMPTY, {"file": text.name}))
                return
            header = header_of(text.name, text.shape, first, encoding, column)
            read.files += 1
            read.encodings[encoding] += 1
            yield from _cut(text, source, first, encoding, header, problems)
            if source.broken is not None:
                raise source.broken
    except BadFile as error:
        reason = "column" if error.message in (NO_COLUMN, NO_TEXT_COLUMN) else "not_text"
        problems.append(Problem(text.name, 0, reason, error.message, error.values))
    except Damaged as error:
        values = {"file": text.name, "why": str(error)}
        problems.append(Problem(text.name, 0, "archive", ARCHIVE_BROKEN, values))
    except OSError as error:
        values = {"file": text.name, "why": error.strerror or str(error)}
        problems.append(Problem(text.name, 0, "unreadable", UNREADABLE, values))


def _opened(text: Text) -> IO[bytes]:
    with unpacking():
        return text.open()


class _Source:
    """The bytes of a text by blocks. Where an archive is damaged it ends there, and `broken` says why."""

    def __init__(self, file: IO[bytes], packed: int) -> None:
        self._left = max(SMALL_BYTES, MOST_TIMES * packed)  # of a bomb; a file that is not packed is never so long
        # read1 returns the bytes unpacked so far; read would lose them if the same block is damaged.
        self._read: Callable[[int], bytes] = getattr(file, "read1", file.read)
        self.broken: Damaged | None = None

    def read(self) -> bytes:
        """Return the next block; it is shorter at the end only."""
        pieces, wanted = [], BLOCK
        while wanted and self.broken is None:
            try:
                with unpacking():
                    piece = self._read(wanted)
            except Damaged as error:
                self.broken = error
                break
            if not piece:
                break
            pieces.append(piece)
            wanted -= len(piece)
            self._left -= len(piece)
            if self._left < 0:
                self.broken = Damaged(f"it unpacks to more than {MOST_TIMES} times its size")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _cut(
    text: Text, source: _Source, first: bytes, encoding: Encoding, header: Header | None, problems: list[Problem]
) -> Iterator[tuple[Block, int]]:
    """Yield the blocks of one text, of which *first* has been read already."""
    cutter = _Cutter(text, encoding, problems)
    buffer, offset, line = first, 0, 1
    while buffer:
        more = source.read()
        # The text before a damage may end in the middle of a sentence.
        skipped, end = cutter.cut(buffer, line, last=not more and source.broken is None)
        if end > skipped:
            start = line + _line_ends(buffer, skipped)
            data = buffer[skipped:end] if skipped or end < len(buffer) else buffer
            place = min(text.size, int((offset + end) / text.expands))
            yield Block(text.name, text.shape, encoding, offset + skipped, start, data, header), place
        if not more and source.broken is not None:
            return
        line += _line_ends(buffer, end)
        offset += end
        buffer = buffer[end:] + more


def _line_ends(buffer: bytes, end: int) -> int:
    """Return the number of lines that end before *end*.

    `bytes.count` stops at each line end and takes four times as long.
    """
    return int(np.count_nonzero(np.frombuffer(buffer, dtype=np.uint8, count=end) == ord("\n"))) if end else 0


class _Cutter:
    """Where a buffer may be cut."""

    def __init__(self, text: Text, encoding: Encoding, problems: list[Problem]) -> None:
        self.text, self.encoding, self.problems = text, encoding, problems
        self.skipping = False  # the rest of a line that is too long

    def cut(self, buffer: bytes, line: int, *, last: bool) -> tuple[int, int]:
        """(how much to skip, where to cut); the same place twice where nothing can be handed out yet."""
        start = 0
        if self.skipping:
            start = buffer.find(b"\n") + 1
            if not start:
                return len(buffer), len(buffer)
            self.skipping = False
        end = len(buffer) if last else self._end(buffer, start)
        if end > start or last:
            return start, end
        rows = self.text.shape in ("jsonl", "csv", "tsv")
        if rows and len(buffer) - start <= LONGEST_ROW:
            return start, start
        values: dict[str, str | int] = {"file": self.text.name, "line": line + buffer.count(b"\n", 0, start)}
        message = LONG_ROW if rows else LONG_SENTENCE
        values |= {"limit": LONGEST_ROW >> 20} if rows else {}
        self.problems.append(Problem(self.text.name, int(values["line"]), "long_line", message, values))
        self.skipping = True
        return len(buffer), len(buffer)

    def _end(self, buffer: bytes, start: int) -> int:
        if self.text.shape == "csv":
            return _end_of_row(buffer, start)
        if self.text.shape == "html" and (tags := list(_PARAGRAPH.finditer(buffer, start))):
            return tags[-1].end()
        end = buffer.rfind(b"\n", start) + 1
        if end or self.text.shape in ("jsonl", "tsv"):
            return end
        return self._end_of_sentence(buffer, start)

    def _end_of_sentence(self, buffer: bytes, start: int) -> int:
        text = codecs.getincrementaldecoder(self.encoding)("surrogateescape").decode(buffer[start:])
        at = max((match.end() for match in _BETWEEN.finditer(text)), default=0)
        return start + len(text[:at].encode(self.encoding, "surrogateescape")) if at else 0


def _end_of_row(buffer: bytes, start: int) -> int:
    """After the last line break that stands outside quotation marks, 0 where there is none."""
    end = buffer.rfind(b"\n", start) + 1
    quotes = buffer.count(b'"', start, end)
    while end and quotes % 2:
        before = buffer.rfind(b"\n", start, end - 1) + 1
        quotes -= buffer.count(b'"', before, end)
        end = before
    return end
