"""Excel workbooks (.xlsx): the first sheet that has cells, its first row the header, read without formulas."""

import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import count
from pathlib import Path
from typing import Any

from core.errors import N_, BadFile

MOST_BYTES = 1 << 30  # unpacked: a workbook that grows more than that is no table that anybody made


def cells(path: Path, name: str) -> Iterator[tuple[int, list[Any]]]:
    """Row number (the first is 1) and cells of each row that has any; whole numbers as int, dates as ISO text.

    Formulas come as the value that was last computed. Raises BadFile where the file is no workbook, is locked with
    a password, or unpacks to more than 1 GB.
    """
    import openpyxl  # type: ignore[import-untyped]  # a third of a second; few files are workbooks

    _check(path, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions that are not read anyway
        try:
            book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        except Exception as error:  # whatever a damaged workbook makes it raise
            raise BadFile(_BROKEN, file=name, why=str(error) or type(error).__name__) from error
        try:
            yield from _rows(book, name)
        finally:
            book.close()


def _rows(book: Any, name: str) -> Iterator[tuple[int, list[Any]]]:
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # programs write wrong ones
        found = False
        rows = sheet.iter_rows(values_only=True)
        for number in count(1):
            try:
                row = next(rows, None)
            except Exception as error:
                raise BadFile(_BROKEN, file=name, why=str(error) or type(error).__name__) from error
            if row is None:
                break
            if any(cell is not None for cell in row):
                found = True
                yield number, [_value(cell) for cell in row]
        if found:
            return


_BROKEN = N_("{file} is no Excel workbook that can be read ({why}). Save it as .xlsx or as CSV in UTF-8.")


def _check(path: Path, name: str) -> None:
    with path.open("rb") as file:
        if file.read(8) == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
            message = N_("{file} is an old or a locked workbook. Save it as .xlsx without a password.")
            raise BadFile(message, file=name)
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError) as error:
        raise BadFile(_BROKEN, file=name, why=str(error)) from error
    if size > MOST_BYTES:
        raise BadFile(N_("{file} unpacks to more than 1 GB; split it."), file=name)


def _value(cell: Any) -> Any:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1 << 53:
        return int(cell)
    return cell.isoformat() if isinstance(cell, date | datetime | time) else cell
