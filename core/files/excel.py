"""Excel workbooks (.xlsx): the first sheet that has cells, its first row the header, read without formulas.

A workbook is an archive of XML, and a kilobyte of it can ask for hours and gigabytes. So it is read in a process of
its own (`core.files.sandbox`), which writes its rows into a file of JSON lines; the last few of these are kept.
"""

import json
import threading
import warnings
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from evenhand.core.errors import N_, BadFile
from evenhand.core.files import sandbox

MOST_BYTES = 1 << 30  # unpacked: tables that people make are not larger
MOST_SHARED_BYTES = 256 << 20  # of the list of texts, which is held in memory
MOST_ROWS = 1 << 20  # as many as Excel has
MOST_COLUMNS = 5_000
MOST_TIMES = 200  # larger unpacked than packed; tables of people take 5 to 30 times
SMALL_BYTES = 64 << 20  # unpacked: what is smaller may be packed as well as it likes
CACHED_WORKBOOKS = 4  # workbooks whose rows stay on the disk while the process runs

_BROKEN = N_("{file} is not a readable Excel workbook ({why}). Save it as .xlsx or as UTF-8 CSV.")
_guard = threading.Lock()
_kept: OrderedDict[tuple[str, int, int, int], Path] = OrderedDict()
_folder: list["TemporaryDirectory[str]"] = []  # one, from the first workbook on


def cells(path: Path, name: str) -> Iterator[tuple[int, list[Any]]]:
    """Yield row number (from 1) and cells of each row that has any; whole numbers as int, dates as ISO text.

    Formulas give the value that was last computed. Raises BadFile where the file is not a workbook, is locked with
    a password, unpacks to more than 1 GB or 200 times its size, has more than 1,048,576 rows or 5,000 columns, or takes
    more time or memory than a table may.
    """
    if sandbox.is_child():
        yield from _read(path, name)
        return
    with _rows_of(path, name).open(encoding="ascii") as file:
        for line in file:
            number, values = json.loads(line)
            yield number, values


def _rows_of(path: Path, name: str) -> Path:
    """Return the file with the rows of a workbook, which is read once for all callers while it does not change."""
    status = path.stat()
    key = (str(path.resolve()), status.st_ino, status.st_mtime_ns, status.st_size)
    with _guard:
        if not _folder:
            _folder.append(TemporaryDirectory(prefix="evenhand-"))
        if (rows := _kept.get(key)) is not None and rows.exists():
            _kept.move_to_end(key)
            return rows
    out = Path(_folder[0].name) / f"{uuid4().hex}.jsonl"
    try:
        sandbox.run_bounded(write_rows, str(path), name, str(out), file=name)
    except BaseException:
        out.unlink(missing_ok=True)
        raise
    with _guard:
        _kept[key] = out
        while len(_kept) > CACHED_WORKBOOKS:  # who reads one has it open still
            _kept.popitem(last=False)[1].unlink(missing_ok=True)
    return out


def write_rows(path: str, name: str, out: str) -> None:
    """Write the rows of a workbook as JSON lines of [number, cells]. Raises BadFile; runs in a process of its own."""
    with Path(out).open("x", encoding="ascii") as file:
        for number, values in _read(Path(path), name):
            file.write(json.dumps([number, values]) + "\n")


def _read(path: Path, name: str) -> Iterator[tuple[int, list[Any]]]:
    _check(path, name)
    import openpyxl  # type: ignore[import-untyped]  # a third of a second; few files are workbooks

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions that are not read anyway
        try:
            book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        except MemoryError:
            raise
        except Exception as error:  # a damaged workbook can raise any error
            raise BadFile(_BROKEN, file=name, why=str(error) or type(error).__name__) from error
        try:
            yield from _rows(book, name)
        finally:
            book.close()


def _rows(book: Any, name: str) -> Iterator[tuple[int, list[Any]]]:
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # programs write wrong ones
        found = False
        for number, row in _numbered(sheet, name):
            if number > MOST_ROWS:
                raise BadFile(N_("{file} has more than {most} rows; split it."), file=name, most=f"{MOST_ROWS:,}")
            if any(cell is not None for cell in row[MOST_COLUMNS:]):
                raise BadFile(N_("{file} has more than {most} columns."), file=name, most=f"{MOST_COLUMNS:,}")
            if any(cell is not None for cell in row):
                found = True
                yield number, [_value(cell) for cell in row[:MOST_COLUMNS]]
        if found:
            return


def _numbered(sheet: Any, name: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield every row of a sheet, also empty ones, with its number; the sheet is closed in the end for openpyxl."""
    rows = sheet.iter_rows(values_only=True)
    try:
        yield from enumerate(rows, 1)
    except MemoryError:
        raise
    except BadFile:
        raise
    except Exception as error:
        raise BadFile(_BROKEN, file=name, why=str(error) or type(error).__name__) from error
    finally:
        rows.close()


def _check(path: Path, name: str) -> None:
    with path.open("rb") as file:
        if file.read(8) == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
            message = N_("{file} is an old or password-protected workbook. Save it as .xlsx without a password.")
            raise BadFile(message, file=name)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BadFile(_BROKEN, file=name, why=str(error)) from error
    size = sum(member.file_size for member in members)
    if size > MOST_BYTES:
        raise BadFile(N_("{file} unpacks to more than 1 GB; split it."), file=name)
    refuse_bomb(name, size, path.stat().st_size)
    if any(
        member.file_size > MOST_SHARED_BYTES
        for member in members
        if member.filename.lower().endswith("sharedstrings.xml")
    ):
        raise BadFile(N_("{file} contains more than 256 MB of distinct texts; split it."), file=name)


def refuse_bomb(name: str, unpacked: int, packed: int) -> None:
    """Raise BadFile for an archive that unpacks to more than 64 MB and more than 200 times its size."""
    if unpacked > max(SMALL_BYTES, MOST_TIMES * packed):
        message = N_("{file} unpacks to more than {times} times its size, which no ordinary table does.")
        raise BadFile(message, file=name, times=MOST_TIMES)


def _value(cell: Any) -> Any:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1 << 53:
        return int(cell)
    return cell.isoformat() if isinstance(cell, date | datetime | time) else cell
