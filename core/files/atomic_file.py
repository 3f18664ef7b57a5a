"""A file, folder or database that is written whole or not at all: under a hidden name in the same folder, then renamed.

A reader sees the old file or all of the new one. A killed process leaves its hidden part behind; the next one that
writes to the same place removes it.
"""

import glob
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from evenhand.core.errors import N_, BadFile
from evenhand.core.processes import is_in_use

CANNOT_WRITE = N_("{file} cannot be written: {why}.")
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700  # texts, labels and scores are for who made them
FORGOTTEN_S = 3_600.0  # a part of another file is removed so long after it was last written
_OWN_PART, _ANY_PART = re.compile(r"(\d+)[-.]"), re.compile(r"\.(\d+)-[0-9a-f]{8}\.\w+$")  # of which process
LONGEST = 120  # bytes of the name that a part begins with; file systems allow 255


@contextmanager
def whole_file(path: Path) -> Iterator[Callable[[str], object]]:
    """Yield a function that writes text to *path*; the file gets its name once it is completely on disk.

    Only its owner can read it, from the first character on, and so with the folders that are made on the way. Raises
    BadFile where it cannot be written; the unfinished file is removed then, and after any other error.
    """
    part = part_of(path)
    with ExitStack() as stack:
        stack.callback(_remove, part)
        with refused(path):
            make_folder(path.parent)
            remove_left_over(path)
            # Half a character (a lone surrogate), which UTF-8 lacks, is written as JSON escapes it.
            file = os.fdopen(_new_handle(part), "w", encoding="utf-8", errors="backslashreplace", newline="")
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
    """Yield a temporary path for a file or folder that becomes *path* at the end. Raises OSError.

    A file replaces an existing one; with *new* it raises FileExistsError instead. A folder takes the place of
    an empty one only. SQLite's side files of the temporary path are deleted.
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


def make_folder(folder: Path) -> None:
    """Make *folder* and those above it that are missing, for their owner only. Raises OSError."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def growing_part(path: Path) -> Path | None:
    """Return the part of *path* that a live process is writing; None without one. Read it up to its last whole line."""
    begun, result = _beginning(path), list[tuple[float, Path]]()
    for part in path.parent.glob(f"{glob.escape(begun)}*.part"):
        process = _OWN_PART.match(part.name.removeprefix(begun))
        if process and is_in_use(int(process[1])):
            with suppress(OSError):  # it has just got its name
                result.append((part.stat().st_mtime, part))
    return max(result)[1] if result else None


def new_file(path: Path) -> IO[bytes]:
    """Open a new file for writing bytes that only its owner can read. Raises OSError."""
    return os.fdopen(_new_handle(path), "wb")


def _new_handle(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)


def part_of(path: Path, ending: str = ".part") -> Path:
    """Return a hidden name in the folder of *path* that has the number of this process."""
    return path.with_name(f"{_beginning(path)}{os.getpid()}-{uuid.uuid4().hex[:8]}{ending}")


def remove_left_over(path: Path, ending: str = ".part") -> None:
    """Remove what processes left behind that were killed while they wrote *path*, or another file of its folder.

    The latter an hour later: where several machines share a folder, a process of another one may be at work.
    """
    begun = _beginning(path)
    for left in path.parent.glob(f".*{ending}"):
        own = left.name.startswith(begun)
        process = (_OWN_PART.match if own else _ANY_PART.search)(left.name.removeprefix(begun))
        if process and not is_in_use(int(process[1])) and (own or _seconds_since(left) > FORGOTTEN_S):
            _remove(left)


def _seconds_since(part: Path) -> float:
    try:
        return time.time() - part.stat().st_mtime
    except OSError:  # another process has removed it
        return 0.0


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
