"""Statistics of the sentences or generations of a file (core.describe)."""

from collections.abc import Iterator
from pathlib import Path

from evenhand.annotations.describe.project_description import date_of, source_of
from evenhand.annotations.files.detect import Layout, detect_layout
from evenhand.annotations.files.import_items import read_row, sentence_of
from evenhand.core.describe.description import Description, Text, described
from evenhand.core.describe.keywords import Cell
from evenhand.core.describe.vocabulary import Vocabulary, vocabulary
from evenhand.core.errors import N_, BadFile, BadLine, Refused
from evenhand.core.files.readers import Source, open_source, rows


def describe_file(
    path: Path | str,
    *,
    before: Path | str | None = None,
    column: str | None = None,
    name: str | None = None,
    words: Vocabulary | None = None,
    model: str = "",
) -> Description:
    """Describe the texts of a file: released format, mined candidates, any table of sentences, generations.

    Every row with a text counts, also one without a clear keyword (`without_keyword`). `before`: a file of the
    candidates that the sentences were chosen from. *model*: whose vocabulary to read where *words* are not given; a
    file is never taken for a model. Raises BadFile, and Refused if the file has no text.
    """
    source, chosen, texts = _read(path, column, name)
    if not texts:
        raise BadFile(N_("{file} has no text to describe."), file=source.name)
    return described(
        texts,
        name=source.name,
        items="file",
        kind=chosen.kind,
        before=None if before is None else _cells(before),
        vocabulary=vocabulary(model, files=False) if words is None and model else words,
    )


def _cells(path: Path | str) -> dict[Cell, int]:
    source, chosen, texts = _read(path)
    if chosen.kind != "sentences":
        raise Refused(N_("{file} holds generations; candidates are sentences with a keyword."), file=source.name)
    cells: dict[Cell, int] = {}
    for text in texts:
        if text.pair:
            cells[text.pair, text.side] = cells.get((text.pair, text.side), 0) + 1
    return cells


def _read(path: Path | str, column: str | None = None, name: str | None = None) -> tuple[Source, Layout, list[Text]]:
    source = open_source(path, name)
    chosen = detect_layout(source, "auto", column)
    return source, chosen, list(_file_texts(source, chosen))


def _file_texts(source: Source, chosen: Layout) -> Iterator[Text]:
    for row in rows(source):
        try:
            item = read_row(source, chosen, row).item
        except BadLine:
            text = sentence_of(chosen, row)
            if text.strip():
                named, date = source_of(row.values, source.places), date_of(row.values)
                yield Text(text, place=str(row.line), source=named, date=date)
            continue
        candidate, extra = item.candidate, row.values | item.extra
        pair, side, word = (
            (item.stratum, "", None)
            if candidate is None
            else (candidate.pair.name, candidate.side, (candidate.start, candidate.end))
        )
        yield Text(item.text, pair, side, word, str(row.line), source_of(extra), date_of(extra), item.context)
