"""Bytes to rows: CSV, TSV, JSON (lines or an array), Excel and plain text, each with the line it begins on.

A JSON array is read element by element, so that a file of any length takes the memory of one element. ijson would do
the same in fewer lines, but it keeps the path to each value (20 KB of brackets take 1 GB, 100 KB over 20 GB), refuses
NaN, and turns half a character into a question mark where it should be reported.
"""

import csv
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from evenhand.core.errors import N_, BadFile, BadLine
from evenhand.core.files import excel
from evenhand.core.files.csv_out import restored
from evenhand.core.files.display_paths import Places
from evenhand.core.files.sandbox import reads_in_children, rows_bounded, run_bounded
from evenhand.core.text.sentences import CHUNK, Encoding, encoding_of

MAX_ELEMENT = 2_000_000  # characters; a longer element is neither a task nor a row
_SPACE = " \t\r\n\ufeff"


def elements(read: Callable[[int], str], decoder: json.JSONDecoder, name: str) -> Iterator[tuple[int, Any, str]]:
    """Yield (number from 1, element, its text) of the array that *read*(n) gives n characters at a time.

    Raises BadFile where it is not JSON, ends early, continues after its end, or has an element of over two million
    characters; what *decoder* raises for single values (other than ValueError) passes through.
    """
    text, place = read(CHUNK), 0
    place = _skip(text, place)
    if text[place : place + 1] != "[":
        raise BadFile(N_("{file} is not a JSON array."), file=name)
    place, number = place + 1, 0
    while True:
        text, place = _ahead(read, text, place)
        sign = text[place : place + 1]
        if sign == "]":
            rest = text[place + 1 :]
            while rest:
                if rest.strip(_SPACE):
                    message = N_("{file} continues after the end of its array: it is damaged or contains two files.")
                    raise BadFile(message, file=name)
                rest = read(CHUNK)
            return
        if number:
            if sign != ",":
                _broken(name, number, "a comma or the end of the array was expected after it")
            text, place = _ahead(read, text, place + 1)
        number += 1
        value, end, text, place = _element(read, decoder, text, place, name, number)
        yield number, value, text[place:end]
        place = end


def _element(
    read: Callable[[int], str], decoder: json.JSONDecoder, text: str, place: int, name: str, number: int
) -> tuple[Any, int, str, int]:
    while True:
        try:
            value, end = decoder.raw_decode(text, place)
        except (json.JSONDecodeError, RecursionError) as error:
            if len(text) - place > MAX_ELEMENT:
                message = N_("{file}, element {line} has more than {limit} characters, or is not JSON.")
                raise BadFile(message, file=name, line=number, limit=MAX_ELEMENT) from error
            more = read(CHUNK)
            if not more or isinstance(error, RecursionError):
                _broken(name, number, getattr(error, "msg", "nested too deep"), error)
            text, place = text[place:] + more, 0
        else:
            return value, end, text, place


def _ahead(read: Callable[[int], str], text: str, place: int) -> tuple[str, int]:
    """Move to the next sign that is not white space, reading on where the text ends."""
    place = _skip(text, place)
    while place >= len(text):
        text, place = read(CHUNK), 0
        if not text:
            return "", 0
        place = _skip(text, place)
    return text, place


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place


def _broken(name: str, number: int, why: str, cause: BaseException | None = None) -> None:
    message = N_("{file}, element {line} is not JSON, or the file ends too early ({why}).")
    raise BadFile(message, file=name, line=number, why=why) from cause


Shape = Literal["csv", "tsv", "jsonl", "json", "text", "xlsx"]

ENDINGS: dict[str, Shape] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".xlsx": "xlsx",
}
HEADER_NAMES = {"sentence", "text", "句子", "文本", "completion"}  # a first line with one of them heads a table
MOST_COLUMNS = 5_000
MANY_COLUMNS = N_("{file} has {found} columns; the limit is {most}.")
MAX_LINE = 200_000  # characters; a longer line is neither a sentence nor a row
ROWS_AT_ONCE = 200  # that a child sends
MAX_BRACKETS = 500  # more than this in a JSON line: look how deep it goes
MAX_DEPTH = 100
MAX_DIGITS = 300  # a longer whole number is none that anybody counted with


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was found to be text: its shape, its encoding and the columns of its header."""

    path: Path
    name: str
    shape: Shape
    encoding: Encoding
    columns: tuple[str, ...]
    delimiter: str = ","
    places: Places = field(default_factory=Places, compare=False, repr=False)  # that its rows name


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the line it begins on (the first is 1), and its values or what is wrong with the row.

    In a JSON array, the line is the number of the element. `cells`: the cells of a table as in the file; `values` are
    without the apostrophes that guard formulas (`core.files.csv_out`).
    """

    line: int
    values: dict[str, Any] = field(default_factory=dict)
    problem: BadLine | None = None
    cells: Sequence[str] = ()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of the bytes of a file, 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_source(path: Path | str, name: str | None = None) -> Source:
    """Return *path* as a source: its shape, encoding and columns. Reads every byte (for the encoding) once.

    `name` is what reports call the file (default: its own name). Raises
    BadFile where the file cannot be read, is empty, or is not text.
    """
    path = Path(path)
    name = name or path.name
    if reads_in_children() and path.suffix.lower() != ".xlsx":
        return run_bounded(open_source, path, name, file=name)
    try:
        if path.stat().st_size == 0 and path.suffix.lower() != ".jsonl":
            raise BadFile(N_("{file} is empty."), file=name)
        shape = ENDINGS.get(path.suffix.lower(), "text")
        encoding = "utf-8" if shape == "xlsx" else encoding_of(lambda: _chunks(path), name)
        if path.suffix.lower() == ".json" and _is_array(path, encoding):
            shape = "json"
        source = Source(path, name, shape, encoding, ())
        delimiter = _delimiter(source)
        return replace(source, columns=_columns(source, delimiter), delimiter=delimiter)
    except OSError as error:
        raise BadFile(N_("{file} cannot be read: {why}."), file=name, why=error.strerror or error) from error


def rows(source: Source) -> Iterator[Row]:
    """Yield the rows of *source* below its header, in order.

    A row that is wrong by itself (too many cells) carries its problem. Raises
    BadFile where the file is not what it says: a line without an end, broken
    quotes, a line that is not JSON.
    """
    if reads_in_children() and source.shape != "xlsx":
        yield from rows_bounded(_parts, source, file=source.name)
    elif source.shape == "text":
        for number, line in enumerate(_lines(source), 1):
            yield Row(number, {"sentence": line.strip()})
    elif source.shape == "jsonl":
        yield from _objects(source)
    elif source.shape == "json":
        yield from _elements(source)
    elif source.shape == "xlsx":
        yield from _open_workbook(source)
    else:
        yield from _records(source)


def _parts(source: Source) -> Iterator[list[Row]]:
    """Yield the rows in small lists."""
    found = rows(source)
    while part := list(islice(found, ROWS_AT_ONCE)):
        yield part


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def _lines(source: Source) -> Iterator[str]:
    with source.path.open(encoding=source.encoding, newline="") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                message = N_("{file}, line {line} has more than {limit} characters: this is not a file of sentences.")
                raise BadFile(message, file=source.name, line=number, limit=MAX_LINE)
            yield line.removeprefix("\ufeff") if number == 1 else line


def _delimiter(source: Source) -> str:
    if source.shape == "tsv":
        return "\t"
    if source.shape != "csv":
        return ","
    header = next(_lines(source), "")
    # Spreadsheets write semicolons where the comma is the decimal sign.
    return max(",;\t", key=header.count)


def _cells(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(_lines(source), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        message = N_(
            "{file}, line {line}: the table cannot be read from here on ({why}). A quotation mark inside a"
            " quoted cell must be doubled, and the cell must end with one."
        )
        raise BadFile(message, file=source.name, line=line, why=error) from error


def _columns(source: Source, delimiter: str) -> tuple[str, ...]:
    if source.shape == "text":
        _refuse_other_shape(source)
        return ()
    if source.shape in ("jsonl", "json"):
        return tuple(dict.fromkeys(key for row in islice(rows(source), 10) for key in row.values))
    if source.shape == "xlsx":
        filled = next((cells for _, cells in excel.cells(source.path, source.name)), [])
        while filled and filled[-1] == "":
            filled.pop()
        cells = list(map(str, filled))
    else:
        cells = next((cells for _, cells in _cells(source, delimiter)), [])
    names = tuple(restored(cell).strip() or f"column {number}" for number, cell in enumerate(cells, 1))
    if len(names) > MOST_COLUMNS:
        raise BadFile(MANY_COLUMNS, file=source.name, found=f"{len(names):,}", most=f"{MOST_COLUMNS:,}")
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise BadFile(N_("{file} has two columns named {column}."), file=source.name, column=twice)
    return names


def _refuse_other_shape(source: Source) -> None:
    # A table read as plain text would put its commas and quotes into the sentences.
    first = next(_lines(source), "").strip()
    cells = {cell.strip(' "') for cell in first.replace("\t", ",").replace(";", ",").split(",")}
    if len(cells) > 1 and cells & HEADER_NAMES:
        message = N_("{file} looks like a table, not one sentence per line. Rename it to .csv or .tsv and try again.")
        raise BadFile(message, file=source.name)
    if first.startswith("{") and first.endswith("}") and '":' in first:
        message = N_("{file} looks like JSON Lines, not one sentence per line. Rename it to .jsonl and try again.")
        raise BadFile(message, file=source.name)


def _records(source: Source) -> Iterator[Row]:
    expected = len(source.columns)
    for line, cells in islice(_cells(source, source.delimiter), 1, None):
        if not cells and expected > 1:
            continue  # an empty line between rows
        cells = cells or [""]
        if len(cells) != expected:
            message = N_("{found} cells, but the header has {expected}.")
            problem = BadLine(source.name, line, "columns", message, found=len(cells), expected=expected)
            yield Row(line, dict(zip(source.columns, map(restored, cells), strict=False)), problem)
        else:
            yield Row(line, dict(zip(source.columns, map(restored, cells), strict=True)), cells=cells)


def _open_workbook(source: Source) -> Iterator[Row]:
    expected = len(source.columns)
    for line, cells in islice(excel.cells(source.path, source.name), 1, None):
        values = [restored(cell) if isinstance(cell, str) else cell for cell in cells]
        problem = None
        if any(value != "" for value in values[expected:]):
            message = N_("{found} cells, but the header has {expected}.")
            problem = BadLine(source.name, line, "columns", message, found=len(values), expected=expected)
        padded = [*values, *[""] * expected][:expected]  # a row ends with its last cell that is filled
        yield Row(line, dict(zip(source.columns, padded, strict=True)), problem)


def _is_array(path: Path, encoding: Encoding) -> bool:
    with path.open(encoding=encoding) as file:
        while chunk := file.read(CHUNK):
            if rest := chunk.lstrip(_SPACE):
                return rest[0] == "["
    return False


def _elements(source: Source) -> Iterator[Row]:
    decoder = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite, parse_int=_as_whole_number)
    with source.path.open(encoding=source.encoding, newline="") as file:
        found = elements(file.read, decoder, source.name)
        number = 0
        try:
            for number, values, text in found:
                if not isinstance(values, dict):
                    message = N_("{file}, element {line} is JSON but not an object.")
                    raise BadFile(message, file=source.name, line=number)
                yield Row(number, values, _unstorable(source, number, text, values))
        except _TooManyDigits as error:
            message = N_("{file}, line {line} contains a number with {digits} digits; the limit is {most}.")
            raise BadFile(message, file=source.name, line=number + 1, digits=error.args[0], most=MAX_DIGITS) from error


def _objects(source: Source) -> Iterator[Row]:
    for number, line in enumerate(_lines(source), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line, parse_constant=lambda _: None, parse_float=_finite, parse_int=_as_whole_number)
        except _TooManyDigits as error:
            message = N_("{file}, line {line} contains a number with {digits} digits; the limit is {most}.")
            raise BadFile(message, file=source.name, line=number, digits=error.args[0], most=MAX_DIGITS) from error
        except (ValueError, RecursionError) as error:
            message = N_("{file}, line {line} is not JSON: one object per line is needed ({why}).")
            raise BadFile(message, file=source.name, line=number, why=error) from error
        if isinstance(values, dict) and values.keys() == {"canary"}:
            continue  # the line that asks to keep the file out of training data
        if not isinstance(values, dict):
            message = N_("{file}, line {line} is JSON but not an object: a line must look like {example}.")
            raise BadFile(message, file=source.name, line=number, example='{"sentence": "..."}')
        yield Row(number, values, _unstorable(source, number, line, values))


class _TooManyDigits(ValueError):
    """A whole number is too long; the argument says how many digits it has."""


def _as_whole_number(number: str) -> int:
    digits = len(number.lstrip("-"))
    if digits > MAX_DIGITS:
        raise _TooManyDigits(digits)
    return int(number)


def _finite(number: str) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None


def _unstorable(source: Source, number: int, line: str, values: dict[str, Any]) -> BadLine | None:
    if "\\u" in line:
        try:
            json.dumps(values, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            message = N_("The line contains half a character (a lone surrogate).")
            return BadLine(source.name, number, "control_characters", message)
    if line.count("[") + line.count("{") > MAX_BRACKETS and _depth(values) > MAX_DEPTH:
        return BadLine(
            source.name, number, "columns", N_("The line has more than {limit} levels of nesting."), limit=MAX_DEPTH
        )
    return None


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level:
        depth += 1
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return depth
