"""Tables as files: whole or not there, one line of CSV at a time, no cell a formula."""

import csv
import glob
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from core.errors import N_, BadFile
from core.files.formula_cells import neutralised


@contextmanager
def whole_file(path: Path) -> Iterator[Callable[[str], object]]:
    """A function that writes text to *path*, which appears under its name only when all of it is on disk.

    Raises BadFile where it cannot be written; what was begun is removed then, or when anything else goes wrong.
    """
    begun = f".{path.name[:60]}."
    part = path.with_name(f"{begun}{os.getpid()}-{uuid.uuid4().hex[:8]}.part")
    with ExitStack() as stack:
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _sweep(path.parent, begun)
            file = stack.enter_context(_Part(part))

        def write(text: str) -> None:
            with _writing(path):  # an error of what the caller reads is not an error of this file
                file.write(text)

        yield write
        with _writing(path):
            file.finish()
            part.replace(path)


class _Part:
    """A file that is removed when it is left, unless it was renamed before."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("x", encoding="utf-8", newline="")

    def write(self, text: str) -> None:
        self._file.write(text)

    def finish(self) -> None:
        """Put everything on disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> "_Part":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what was left to write does not fit either
            self._file.close()
        self._path.unlink(missing_ok=True)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = N_("{file} cannot be written: {why}.")
        raise BadFile(message, file=path.name or str(path), why=error.strerror or error) from error


def _sweep(folder: Path, begun: str) -> None:
    """Remove what processes left behind that were killed while they wrote this file."""
    for left in folder.glob(f"{glob.escape(begun)}*.part"):
        process = left.name.removeprefix(begun).partition("-")[0]
        if process.isdigit() and not _alive(int(process)):
            left.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        return bool(
            psutil.Process(process).status() != psutil.STATUS_ZOMBIE
        )  # killed, and nobody has asked how it ended
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # somebody else's
        return True


class _Line:
    """What csv.writer writes to: keeps one line."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def csv_line(cells: Sequence[Any]) -> str:
    """One line of a table: undefined is an empty cell, numbers are exact, no text runs as a formula in a spreadsheet.

    \\r\\n ends it, as in the released file; it also makes Python quote a lone \\r.
    """
    line = _Line()
    csv.writer(line, lineterminator="\r\n").writerow(
        ["" if cell is None else neutralised(cell) if isinstance(cell, str) else cell for cell in cells]
    )
    return line.text
