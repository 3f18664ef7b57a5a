"""Tables and JSON lines as texts: which column holds the text, which say where it is from."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from evenhand.core.errors import N_, BadFile
from evenhand.core.files.csv_out import data_rows
from evenhand.core.files.readers import MANY_COLUMNS, MOST_COLUMNS
from evenhand.core.mining.report import Problem
from evenhand.core.mining.sources import Encoding, Shape
from evenhand.core.types import JsonObject

LOOKED_AT = 100  # rows from which the text column is known
LONGEST_VALUE = 200  # characters of another column that are kept

NAME_COLUMNS = ("name", "source", "newspaper", "paper", "publisher", "title", "来源", "报纸", "出处", "名称", "标题")
DATE_COLUMNS = ("date", "time", "published", "year", "日期", "时间", "发布时间", "年份")

NO_COLUMN = N_("{file} has no column {column}. Its columns: {columns}.")
NO_TEXT_COLUMN = N_("{file} has no text column. Its columns: {columns}.")
BAD_JSON = N_("{file}, line {line} is not a JSON object ({why}).")
UNEVEN_ROW = N_("{file}, line {line}: {found} cells, but the first line has {expected}; the row was skipped.")
BAD_ROW = N_("{file}, line {line}: the row cannot be read ({why}).")


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a table and their roles; `columns` is empty for JSON lines."""

    columns: tuple[str, ...]
    text: str
    name: str | None
    date: str | None
    delimiter: str = ","


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the byte where it begins in its text, its line, the text and where it is from."""

    offset: int
    line: int
    text: str
    name: str | None = None
    date: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


def header_of(name: str, shape: Shape, first: bytes, encoding: Encoding, column: str | None) -> Header | None:
    """Return the header of a table from its first bytes; None for running text. Raises BadFile if no column fits."""
    if shape not in ("csv", "tsv", "jsonl"):
        return None
    delimiter = ","
    columns: tuple[str, ...] = ()
    values: list[JsonObject]
    if shape != "jsonl":
        top = first.partition(b"\n")[0].decode(encoding, "replace").removeprefix("\ufeff")
        delimiter = "\t" if shape == "tsv" else max(",;\t", key=top.count)
        rows = _records(first, encoding, delimiter, shape)
        columns = tuple(cell.strip() for cell in next(rows, (0, 0, []))[2])
        if len(columns) > MOST_COLUMNS:
            raise BadFile(MANY_COLUMNS, file=name, found=f"{len(columns):,}", most=f"{MOST_COLUMNS:,}")
        values = [dict(zip(columns, cells, strict=False)) for _, _, cells in islice(rows, LOOKED_AT)]
    else:
        found = (_object(line) for line in first.decode(encoding, "replace").splitlines()[:LOOKED_AT])
        values = [entry for entry in found if isinstance(entry, dict)]
    names = columns or tuple(dict.fromkeys(key for row in values for key in row))
    return Header(columns, _text_column(name, names, values, column), *_origin(names), delimiter)


def _object(line: str) -> Any:
    try:
        return json.loads(line.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _text_column(name: str, names: tuple[str, ...], rows: list[JsonObject], column: str | None) -> str:
    listed = ", ".join(map(str, names)) or "-"
    if column is not None:
        if column not in names:
            raise BadFile(NO_COLUMN, file=name, column=column, columns=listed)
        return column
    # Letters, not characters: a column of numbers or web addresses is not text. Where short texts are next to
    # long names or dates (2020年1月3日 has letters), these are taken only if there is nothing else.
    lengths = {text: sum(_letters(row.get(text)) for row in rows) for text in names}
    beside = _origin(names)
    longest = max(lengths, key=lambda one: (bool(lengths[one]) and one not in beside, lengths[one]), default=None)
    if longest is None or not lengths[longest]:
        raise BadFile(NO_TEXT_COLUMN, file=name, columns=listed)
    return longest


def _letters(value: Any) -> int:
    text = value if isinstance(value, str) and not value.startswith(("http://", "https://")) else ""
    return sum(character.isalpha() for character in text)


def _origin(names: tuple[str, ...]) -> tuple[str | None, str | None]:
    lowered = {str(name).strip().lower(): name for name in names}
    return (
        next((lowered[known] for known in NAME_COLUMNS if known in lowered), None),
        next((lowered[known] for known in DATE_COLUMNS if known in lowered), None),
    )


def rows(
    name: str, data: bytes, encoding: Encoding, header: Header, offset: int, line: int, problems: list[Problem]
) -> Iterator[Row]:
    """The rows of a block that begins at byte *offset* and line *line* of its text; bad ones go to *problems*."""
    if not header.columns:
        yield from _json_rows(name, data, encoding, header, offset, line, problems)
        return
    shape: Shape = "tsv" if header.delimiter == "\t" else "csv"
    text_at = header.columns.index(header.text)
    for at, number, cells in _records(data, encoding, header.delimiter, shape, name, problems, line):
        if offset + at == 0 or not cells:
            continue  # the header itself, an empty line
        if len(cells) != len(header.columns) and (len(cells) > len(header.columns) or len(cells) <= text_at):
            # A comma inside an unquoted text, or an article that was cut: half a text must not pass for a whole.
            values = {"file": name, "line": number, "found": len(cells), "expected": len(header.columns)}
            problems.append(Problem(name, number, "bad_row", UNEVEN_ROW, values))
            continue
        yield _row(offset + at, number, dict(zip(header.columns, cells, strict=False)), header)


def _json_rows(
    name: str, data: bytes, encoding: Encoding, header: Header, offset: int, line: int, problems: list[Problem]
) -> Iterator[Row]:
    at = 0
    for number, raw in enumerate(data.split(b"\n"), line):
        text = raw.decode(encoding, "surrogateescape").removeprefix("\ufeff").strip()
        if text:
            try:
                values = json.loads(text)
            except (ValueError, RecursionError) as error:
                values, why = None, str(error).split(":")[0]
            else:
                why = type(values).__name__
            if isinstance(values, dict):
                yield _row(offset + at, number, values, header)
            else:
                problems.append(Problem(name, number, "bad_json", BAD_JSON, {"file": name, "line": number, "why": why}))
        at += len(raw) + 1


def _records(
    data: bytes,
    encoding: Encoding,
    delimiter: str,
    shape: Shape,
    name: str = "",
    problems: list[Problem] | None = None,
    first_line: int = 1,
) -> Iterator[tuple[int, int, list[str]]]:
    """Yield (byte, line, cells) of each record of *data*."""
    consumed = [0, first_line]

    def lines() -> Iterator[str]:
        for raw in data.split(b"\n"):
            consumed[0] += len(raw) + 1
            consumed[1] += 1
            yield raw.decode(encoding, "surrogateescape").removeprefix("\ufeff").removesuffix("\r") + "\n"

    plain = shape == "tsv"  # there a quotation mark is one
    reader = data_rows(lines(), delimiter, plain=plain)
    while True:
        at, line = consumed
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if problems is not None:
                values = {"file": name, "line": line, "why": str(error)}
                problems.append(Problem(name, line, "bad_row", BAD_ROW, values))
            continue
        yield at, line, cells


def _row(offset: int, line: int, values: dict[str, Any], header: Header) -> Row:
    text = values.get(header.text)
    others = {
        str(key): str(value)[:LONGEST_VALUE]
        for key, value in values.items()
        if key not in (header.text, header.name, header.date) and isinstance(value, str | int | float) and value != ""
    }
    name, date = (_short(values.get(word)) if word else None for word in (header.name, header.date))
    return Row(offset, line, text if isinstance(text, str) else "", name, date, others)


def _short(value: Any) -> str | None:
    return str(value)[:LONGEST_VALUE] if isinstance(value, str | int | float) and value != "" else None
