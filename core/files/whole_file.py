"""A file, folder or database that is written whole or not at all: under a hidden name beside its place, then renamed.

A reader sees the old file or all of the new one. A killed process leaves its hidden part behind; the next one that
writes to the same place removes it.
"""

import glob
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from core.errors import N_, BadFile
from core.processes import is_in_use

CANNOT_WRITE = N_("{file} cannot be written: {why}.")
LONGEST = 120  # bytes of the name that a part begins with; file systems allow 255


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[Callable[[str], object]]:
    """A function that writes text to *path*; the file gets its name when all of it is on disk.

    *private*: readable by the owner only, from the first character on. Folders on the way are made. Raises BadFile
    where it cannot be written; what was begun is removed then, or when anything else goes wrong.
    """
    part = part_of(path)
    with ExitStack() as stack:
        stack.callback(_remove, part)
        with refused(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_left_over(path)
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
            file = os.fdopen(handle, "w", encoding="utf-8", newline="")
        stack.callback(_close, file)

        def write(text: str) -> None:
            with refused(path):  # an error of what the caller reads is not an error of this file
                file.write(text)

        yield write
        with refused(path):
            file.close()
            _appear(part, path)


def _close(file: IO[str]) -> None:
    with suppress(OSError):  # the rest of the buffer does not fit either
        file.close()


@contextmanager
def whole_path(path: Path, *, new: bool = False) -> Iterator[Path]:
    """A temporary path for a file or folder that becomes *path* at the end. Raises OSError.

    A file takes the place of one that is there; with *new* it never does: FileExistsError. A folder takes the place of
    an empty one only. SQLite's side files of what was written go.
    """
    part = part_of(path)
    try:
        remove_left_over(path)
        yield part
        _appear(part, path, new=new)
    finally:
        _remove(part)


@contextmanager
def refused(path: Path) -> Iterator[None]:
    """Raise BadFile, which names *path* without its folders, for an OSError."""
    try:
        yield
    except OSError as error:
        raise BadFile(CANNOT_WRITE, file=path.name or str(path), why=error.strerror or error) from error


def part_of(path: Path, ending: str = ".part") -> Path:
    """A hidden name beside *path* that says which process it belongs to."""
    return path.with_name(f"{_beginning(path)}{os.getpid()}-{uuid.uuid4().hex[:8]}{ending}")


def remove_left_over(path: Path, ending: str = ".part") -> None:
    """Remove what processes left behind that were killed while they wrote *path*."""
    begun = _beginning(path)
    for left in path.parent.glob(f"{glob.escape(begun)}*{ending}"):
        process = re.match(r"(\d+)[-.]", left.name.removeprefix(begun))
        if process and not is_in_use(int(process[1])):
            _remove(left)


def _beginning(path: Path) -> str:
    return f".{path.name.encode()[:LONGEST].decode(errors='ignore')}."


def _appear(part: Path, path: Path, *, new: bool = False) -> None:
    _put_on_disk(part)
    if not new:
        part.replace(path)
    else:
        try:
            os.link(part, path)  # unlike a rename, never over something that appeared meanwhile
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            part.replace(path)
    with suppress(OSError):  # not every file system can; the file itself is on disk
        _put_on_disk(path.parent)


def _put_on_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(part: Path) -> None:
    for left in part.parent.glob(f"{glob.escape(part.name)}*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
