"""Files to passages: a paragraph of a text, or a row of a table, in the order in which mining reads them."""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePath

from evenhand.core.concordance.answer_text import lines_csv
from evenhand.core.concordance.counting import Concordance, Passage, Question, concordance
from evenhand.core.mining.blocks import Block, blocks
from evenhand.core.mining.cleaning import tags
from evenhand.core.mining.report import Problem, Read
from evenhand.core.mining.tables import rows

BREAKS = re.compile(r"[\r\n\u2028\u2029]")
NAMES = {"html": True}  # shapes whose tags are taken off


def passages(
    paths: Iterable[Path | str],
    *,
    column: str | None = None,
    read: Read | None = None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Passage]:
    """Yield every paragraph or row of the texts below *paths*, with folders, archives and encodings as in `mine`.

    A file is one document, a row of a table one of its own. What could not be
    read is noted in *read*; `progress(bytes)` gets the bytes read from disk.
    Damaged bytes become U+FFFD, which no word matches. Raises BadFile where nothing could be read.
    """
    seen = Read() if read is None else read
    for block, position in blocks(paths, seen, column=column):
        yield from _rows(block, seen) if block.header is not None else _paragraphs(block)
        if progress is not None:
            progress(position)


def look_up_files(paths: Iterable[Path | str], question: Question) -> Concordance:
    """Answer a question from the texts below *paths*."""
    return concordance(passages(paths), question)


def lines_of_files(paths: Iterable[Path | str], question: Question) -> str:
    """Return all lines from the texts below *paths* as CSV."""
    return lines_csv(passages(paths), question)


def _paragraphs(block: Block) -> Iterator[Passage]:
    text = block.data.decode(block.encoding, "replace").removeprefix("\ufeff")
    if block.shape in NAMES:
        text = html.unescape(_without_tags(text))
    name = PurePath(block.name).name
    for line, paragraph in enumerate(BREAKS.split(text.replace("\r\n", "\n")), block.line):
        if stripped := paragraph.strip():
            yield Passage(name, line, stripped)


def _without_tags(text: str) -> str:
    # A tag becomes as many line breaks as it spans, so that lines keep their numbers.
    pieces, at = [], 0
    for start, end in tags(text):
        pieces += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end
    return "".join([*pieces, text[at:]])


def _rows(block: Block, read: Read) -> Iterator[Passage]:
    assert block.header is not None
    problems: list[Problem] = []
    name = PurePath(block.name).name
    for row in rows(block.name, block.data, block.encoding, block.header, block.offset, block.line, problems):
        if text := " ".join(row.text.split("\n")).strip():
            origin = " ".join(part for part in (row.name, row.date) if part)
            yield Passage(f"{name}:{row.line} {origin}".strip(), row.line, text)
    read.report(problems)
