"""One row to one item, whatever the format; and what a report quotes of a row."""

import json

from annotations.formats.generations import generation
from annotations.formats.layouts import Layout, Usable
from annotations.formats.readers import Row, Source
from annotations.formats.sentences import mined, released, sentence
from core.errors import BadLine


def read_row(source: Source, layout: Layout, row: Row) -> Usable:
    """The item of *row*. Raises BadLine with file, line and a reason code where the row cannot be used."""
    try:
        if row.problem is not None:
            raise row.problem
        match layout.format:
            case "slguset":
                return released(source, row)
            case "generations":
                return generation(source, layout, row)
            case "candidates":
                return mined(source, row)
            case "sentences":
                return sentence(source, layout, row)
    except BadLine as error:
        raise BadLine(source.name, row.line, error.reason, error.message, **error.values) from None


def sentence_of(layout: Layout, row: Row) -> str:
    """The sentence of *row* as far as it can be told."""
    value = row.values.get(layout.column, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
