"""The files that a run reads, in order: files, folders, globs, archives and their members."""

import glob
import gzip
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal, cast

from evenhand.core.errors import N_
from evenhand.core.mining.report import Problem

Shape = Literal["text", "markdown", "html", "jsonl", "csv", "tsv"]

SHAPES: dict[str, Shape] = {
    ".txt": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
}
ARCHIVES = (".gz", ".zip")
# RuntimeError is what zipfile raises for a password, NotImplementedError for a way of packing that it does not know.
BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, NotImplementedError, RuntimeError)

MISSING = N_("{file} does not exist.")
UNREADABLE = N_("{file} cannot be read: {why}.")
NOTHING_INSIDE = N_("{file} contains no text file (.txt, .md, .html, .jsonl, .csv or .tsv).")
ARCHIVE_BROKEN = N_("{file} is a damaged or password-protected archive ({why}); everything before that was read.")


class Damaged(Exception):
    """An archive cannot be unpacked, or not further; says why."""


@contextmanager
def unpacking() -> Iterator[None]:
    """Only around calls of gzip and zipfile: turns their errors for a bad archive into Damaged."""
    try:
        yield
    except BROKEN as error:
        raise Damaged(str(error) or type(error).__name__) from error


@dataclass(frozen=True, slots=True)
class Text:
    """One text to read: what reports call it, its shape, how to open it anew, and its size on the disk.

    A member of an archive counts with its compressed size; `expands` is how much larger it unpacks.
    """

    name: str
    shape: Shape
    open: Callable[[], IO[bytes]]
    size: int
    expands: float = 1.0


def texts(
    paths: Iterable[Path | str], problems: list[Problem], skipped: Counter[str], without: Iterable[Path] = ()
) -> Iterator[Text]:
    """Every text below *paths*, each file once; folders and globs in the order of their names.

    In a folder, hidden files and other endings are left alone and counted in
    *skipped*; a file that is named itself is read as text whatever its ending.
    What cannot be read is added to *problems*. *without*: files that are not
    read, such as what an earlier run wrote into the same folder.
    """
    seen = {path.resolve() for path in without}
    for given in paths:
        for path, named in _files(str(given), problems):
            ending = path.suffix.lower()
            if not named and ending not in SHAPES and ending not in ARCHIVES:
                skipped[ending or path.name] += 1
            elif (real := path.resolve()) not in seen:
                seen.add(real)
                yield from _members(path, problems)


def _files(given: str, problems: list[Problem]) -> Iterator[tuple[Path, bool]]:
    path = Path(given).expanduser()
    if path.is_dir():
        for folder, below, names in os.walk(path):
            below[:] = sorted(name for name in below if not name.startswith("."))
            yield from ((Path(folder, name), False) for name in sorted(names) if not name.startswith("."))
    elif path.exists():
        yield path, True
    elif matches := sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(given) else []:  # noqa: PTH207
        for match in matches:
            if Path(match).is_file():
                yield Path(match), True
            else:
                yield from _files(match, problems)
    else:
        problems.append(Problem(given, 0, "missing", MISSING, {"file": given}))


def _members(path: Path, problems: list[Problem]) -> Iterator[Text]:
    name = str(path)
    try:
        size = path.stat().st_size
        path.open("rb").close()
    except OSError as error:
        problems.append(Problem(name, 0, "unreadable", UNREADABLE, {"file": name, "why": error.strerror or str(error)}))
        return
    ending = path.suffix.lower()
    if ending == ".zip":
        yield from _zipped(path, problems)
    elif ending == ".gz":
        shape = SHAPES.get(path.with_suffix("").suffix.lower(), "text")
        yield Text(name, shape, lambda: _gzipped(path), size, _expands(path, size))
    else:
        yield Text(name, SHAPES.get(ending, "text"), lambda: path.open("rb"), size)


def _expands(path: Path, size: int) -> float:
    with path.open("rb") as file:
        file.seek(max(0, size - 4))
        return max(1.0, int.from_bytes(file.read(4), "little") / max(1, size))


def _gzipped(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb"))


def _zipped(path: Path, problems: list[Problem]) -> Iterator[Text]:
    try:
        with unpacking(), zipfile.ZipFile(path) as archive:
            members = sorted(archive.infolist(), key=_member_name)
    except (OSError, Damaged) as error:
        values = {"file": str(path), "why": str(error)}
        problems.append(Problem(str(path), 0, "archive", ARCHIVE_BROKEN, values))
        return
    found = False
    for member in members:
        inner = PurePosixPath(_member_name(member))
        shape = SHAPES.get(inner.suffix.lower())
        if member.is_dir() or shape is None or inner.name.startswith(".") or "__MACOSX" in inner.parts:
            continue
        found = True
        size = member.compress_size
        yield Text(f"{path}/{inner}", shape, _opener(path, member), size, max(1.0, member.file_size / max(1, size)))
    if not found:
        problems.append(Problem(str(path), 0, "empty", NOTHING_INSIDE, {"file": str(path)}))


def _opener(path: Path, member: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    def opened() -> IO[bytes]:
        with zipfile.ZipFile(path) as archive:  # the member keeps the file open for itself
            return archive.open(member)

    return opened


def _member_name(member: zipfile.ZipInfo) -> str:
    """The name in the archive; old Windows archives write it in GBK without saying so."""
    if member.flag_bits & 0x800:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("gb18030")
    except UnicodeError:
        return member.filename
