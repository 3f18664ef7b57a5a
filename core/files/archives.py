"""ZIP archives with tables in them, with or without a password (AES, as this app and 7-Zip write it).

Also the first reading of a file that a client sends, in a process of its own."""

import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory, gettempdir

import pyzipper  # type: ignore[import-untyped]

from evenhand.core.errors import N_, BadFile
from evenhand.core.files.excel import refuse_bomb
from evenhand.core.files.readers import open_source, rows
from evenhand.core.files.sandbox import reads_in_children, run_bounded

MOST_BYTES = 2 << 30  # of all tables in an archive, unpacked
MOST_MEMBERS = 2_000
TABLES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".xlsx", ".txt", ".md")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


class NeedsPassword(BadFile):
    """An archive whose files are locked, and no password or a wrong one was given."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive: where it lies unpacked, and its name with the folders of the archive."""

    path: Path
    name: str


def is_archive(path: Path | str) -> bool:
    """Return True if the name ends in .zip."""
    return Path(path).suffix.lower() == ".zip"


@contextmanager
def unpacked(path: Path | str, password: str | None, name: str | None = None) -> Iterator[list[Member]]:
    """Yield the tables of an archive in a folder that only this user can read and that is deleted afterwards.

    In the order of their names. Raises NeedsPassword where the archive is locked and *password* does not fit,
    BadFile where it is damaged, has no table, or unpacks to more than 2 GB, 200 times its size or what the disk has.
    """
    path = Path(path)
    name = name or path.name
    with TemporaryDirectory(prefix="evenhand-") as folder:
        if reads_in_children():
            yield run_bounded(_unpack, path, password, name, folder, file=name)
        else:
            yield _unpack(path, password, name, folder)


def _unpack(path: Path, password: str | None, name: str, folder: str) -> list[Member]:
    try:
        with pyzipper.AESZipFile(path) as archive:
            result = _members(archive, name)
            return [_extract(archive, info, Path(folder) / f"{n:04}", password, name) for n, info in enumerate(result)]
    except FileNotFoundError as error:
        raise BadFile(N_("{file} cannot be read: {why}."), file=name, why=error.strerror or error) from error
    except (*_BROKEN, pyzipper.BadZipFile) as error:
        raise BadFile(N_("{file} is a damaged archive ({why})."), file=name, why=str(error)) from error


def _members(archive: pyzipper.AESZipFile, name: str) -> list[zipfile.ZipInfo]:
    infos = [
        info for info in archive.infolist()
        if not info.is_dir() and PurePosixPath(info.filename).suffix.lower() in TABLES
        and not PurePosixPath(info.filename).name.startswith(".") and "__MACOSX" not in info.filename
    ]  # fmt: skip
    if not infos:
        message = N_("{file} contains no table. Add CSV, TSV, JSON Lines or Excel files.")
        raise BadFile(message, file=name)
    if len(infos) > MOST_MEMBERS or sum(info.file_size for info in infos) > MOST_BYTES:
        raise BadFile(N_("{file} contains more than 2,000 files or 2 GB; split it."), file=name)
    size = sum(info.file_size for info in infos)
    refuse_bomb(name, size, sum(info.compress_size for info in infos))
    if size > shutil.disk_usage(gettempdir()).free:
        message = N_("Not enough disk space to unpack {file}: it needs {megabytes} MB in {folder}.")
        raise BadFile(message, file=name, megabytes=f"{size >> 20:,}", folder=gettempdir())
    return sorted(infos, key=lambda info: info.filename)


def _extract(
    archive: pyzipper.AESZipFile, info: zipfile.ZipInfo, folder: Path, password: str | None, name: str
) -> Member:
    # The name inside an archive is a stranger's: nothing is written under it but its last part's ending.
    folder.mkdir()
    target = folder / f"file{PurePosixPath(info.filename).suffix.lower()}"
    try:
        with (
            archive.open(info, pwd=password.encode("utf-8") if password else None) as source,
            target.open("xb") as file,
        ):
            left = MOST_BYTES
            while chunk := source.read(1 << 20):
                left -= len(chunk)
                if left < 0:
                    raise BadFile(N_("{file} contains more than 2,000 files or 2 GB; split it."), file=name)
                file.write(chunk)
    except RuntimeError as error:  # raised for a missing or wrong password
        if isinstance(error, NotImplementedError):
            raise
        message = (
            N_("Wrong password for {file}.")
            if password
            else N_("{file} is encrypted. Give its password (on the command line: EVENHAND_PASSWORD).")
        )
        raise NeedsPassword(message, file=name) from error
    return Member(target, info.filename)


def read_first_elsewhere(path: Path, name: str) -> None:
    """Read a table or an archive to its end in a process with limits of time and memory, before this one does.

    The readers are linear in the size of a file, with bounded lines, elements and columns. A file that breaks this
    ends the other process, not this one and not the job that gets the file. Files that are not tables are skipped.
    Errors in a file are ignored here: its reader reports them with their lines. Raises BadFile where a limit is
    reached.
    """
    if path.suffix.lower() in TABLES or is_archive(path):
        run_bounded(read_to_end, str(path), name, file=name)


def read_to_end(path: str, name: str) -> None:
    """Read every row of a table, or of the tables of an archive without a password, and keep nothing."""
    with suppress(BadFile):
        if not is_archive(path):
            _read_rows(Path(path), name)
            return
        with unpacked(path, None, name) as members:
            for member in members:
                _read_rows(member.path, member.name)


def _read_rows(path: Path, name: str) -> None:
    with suppress(BadFile):
        for _row in rows(open_source(path, name)):
            pass
