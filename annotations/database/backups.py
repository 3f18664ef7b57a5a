"""Backups kept in a folder or at an address of fsspec: sealed with a key, checked by reading them back, pruned.

A sealed backup is a ZIP file with AES-256, which other programs open too. Its password is what the key file holds.
"""

import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenhand.annotations.database import backup as snapshots
from evenhand.annotations.database.backup import Snapshot
from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, BadFile, EvenhandError, NotFound, Refused
from evenhand.core.files.whole_file import PRIVATE, make_folder, new_file, part_of, remove_left_over

NAME = re.compile(r"evenhand-(\d{8}T\d{6}Z)-[0-9a-f]{4}\.db(?:\.zip)?")
INSIDE = "evenhand.db"
SHORTEST_KEY = 20  # characters
NO_LIBRARY = N_(
    "The backup location {place} needs the Python package {package}, which is not installed. Install it where Evenhand"
    " runs: .venv/bin/python -m pip install {package}"
)
NOT_REACHED = N_("The backup location {place} could not be reached or used ({why}).")
SEALED = N_("{path} is encrypted: use --key-file with the key file that was used to create it.")
DIFFERS = N_("The backup at {place} does not match what was saved, so it was removed. Check the disk or the service.")


def is_place(text: str) -> bool:
    """Whether *text* names a folder or an address of fsspec, rather than a file that is to be made."""
    return "://" in text or text.endswith("/") or Path(text).is_dir()


def read_key(file: Path) -> bytes:
    """What a key file holds, without the end of its line. Raises NotFound, or Refused for fewer than 20 characters."""
    try:
        key = file.read_bytes().strip()
    except OSError as error:
        raise NotFound(N_("The key file {path} cannot be read."), path=str(file)) from error
    if len(key) < SHORTEST_KEY:
        message = N_(
            "The key in {path} is too short: at least {least} characters, for example from openssl rand -hex 32."
        )
        raise Refused(message, path=str(file), least=SHORTEST_KEY)
    return key


def back_up_to(store: Store, place: str, *, key: bytes | None = None, keep: int | None = None) -> tuple[Snapshot, str]:
    """Add a backup to *place*. Returns what it holds and its name there.

    It gets its name after it was fetched back, opened and read from end to end. Then all but the newest *keep* backups
    at that place are removed; other files stay. Raises Refused where the place cannot be used.
    """
    moment = datetime.fromtimestamp(time.time(), UTC).strftime("%Y%m%dT%H%M%SZ")
    name = f"evenhand-{moment}-{secrets.token_hex(2)}.db{'.zip' if key else ''}"
    with _draft(store.path) as draft, _draft(store.path) as sealed:
        made = snapshots.backup(store, draft)
        if key:
            _seal(draft, sealed, key)
            draft.unlink()  # the room of a copy each: what is open now, what was fetched, what was restored
        with _reached(place) as (files, folder):
            path, part = f"{folder}/{name}", f"{folder}/{name}.part"
            _send(files, sealed if key else draft, part)
            size = int(files.size(part))
            try:
                _compare(files, part, store.path, key, made)
            except EvenhandError as error:
                files.rm_file(part)
                raise Refused(DIFFERS, place=_without_password(place)) from error
            files.mv(part, path)
            if keep is not None:
                for old in _names(files, folder)[: -max(1, keep)]:
                    files.rm_file(f"{folder}/{old}")
    return replace(made, path=Path(name), bytes=size), name


def newest(place: str) -> datetime | None:
    """When the newest backup at *place* was made; None if there is none. Raises Refused where it cannot be read."""
    with _reached(place, make=False) as (files, folder):
        names = _names(files, folder)
    found = NAME.fullmatch(names[-1]) if names else None
    return datetime.strptime(found[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) if found else None


@contextmanager
def fetched(source: str, beside: Path, *, key: bytes | None = None) -> Iterator[Path]:
    """A local copy of the backup at *source* (a file or an address), opened with *key* if it is sealed.

    It lies beside the database *beside* and is removed at the end. Raises NotFound, BadFile or Refused.
    """
    if "://" not in source:
        with _opened(Path(source), beside, key) as plain:
            yield plain
        return
    folder, _, name = source.rpartition("/")
    with _draft(beside) as local:
        with _reached(folder, make=False) as (files, path):
            if not files.exists(f"{path}/{name}"):
                raise NotFound(N_("There is no file {path}."), path=_without_password(source))
            _receive(files, f"{path}/{name}", local)
        with _opened(local, beside, key) as plain:
            yield plain


@contextmanager
def _draft(beside: Path) -> Iterator[Path]:
    path = beside.absolute()
    remove_left_over(path, ".backup")
    draft = part_of(path, ".backup")
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _reached(place: str, *, make: bool = True) -> Iterator[tuple[Any, str]]:
    """The file system of a place and the path there. Whatever its library raises becomes Refused."""
    import fsspec  # type: ignore[import-untyped]  # takes long, and only backups elsewhere need it

    try:
        files, folder = fsspec.url_to_fs(place)
        folder = folder.rstrip("/")
        if make and _is_local(files):
            make_folder(Path(folder))
        elif make:
            files.makedirs(folder, exist_ok=True)
        yield files, folder
    except EvenhandError:
        raise
    except ImportError as error:  # fsspec's own, which the missing module caused
        package = getattr(error.__cause__ or error, "name", None) or str(error)
        raise Refused(NO_LIBRARY, place=_without_password(place), package=package.partition(".")[0]) from error
    except Exception as error:  # each service has errors of its own
        why = type(error).__name__ if "://" in place else error  # the text of a service may hold its password
        raise Refused(NOT_REACHED, place=_without_password(place), why=why) from error


def _without_password(place: str) -> str:
    return re.sub(r"//[^/@]*@", "//", place).partition("?")[0]


def _is_local(files: Any) -> bool:
    return "file" in ((files.protocol,) if isinstance(files.protocol, str) else files.protocol)


def _names(files: Any, folder: str) -> list[str]:
    """The backups at a place, oldest first."""
    with suppress(FileNotFoundError):
        found = [str(path).rstrip("/").rpartition("/")[2] for path in files.ls(folder, detail=False)]
        return sorted(name for name in found if NAME.fullmatch(name))
    return []


def _send(files: Any, source: Path, path: str) -> None:
    if _is_local(files):
        Path(path).touch(mode=PRIVATE)
    files.put_file(str(source), path)


def _receive(files: Any, path: str, local: Path) -> None:
    new_file(local).close()  # for its owner only
    files.get_file(path, str(local))


def _compare(files: Any, path: str, beside: Path, key: bytes | None, made: Snapshot) -> None:
    """Fetch a backup, open it, read it from end to end. Raises EvenhandError if it is not what was saved."""
    with _draft(beside) as local:
        _receive(files, path, local)
        with _opened(local, beside, key) as plain, _draft(beside) as restored:
            again = snapshots.restore(plain, restored)
    if (again.projects, again.items, again.labels) != (made.projects, made.items, made.labels):
        raise BadFile(N_("{path} does not match what was saved."), path=path)


def _seal(source: Path, target: Path, key: bytes) -> None:
    import pyzipper  # type: ignore[import-untyped]

    with (
        new_file(target) as file,
        pyzipper.AESZipFile(file, "w", compression=pyzipper.ZIP_DEFLATED, encryption=pyzipper.WZ_AES) as archive,
    ):
        archive.setpassword(key)
        archive.setencryption(pyzipper.WZ_AES, nbits=256)
        archive.write(source, INSIDE)


@contextmanager
def _opened(path: Path, beside: Path, key: bytes | None) -> Iterator[Path]:
    import pyzipper

    if not path.is_file() or not pyzipper.is_zipfile(path):
        yield path
        return
    if key is None:
        raise BadFile(SEALED, path=path.name)
    with _draft(beside) as plain:
        try:
            with pyzipper.AESZipFile(path) as archive, new_file(plain) as out:
                archive.setpassword(key)
                with archive.open(INSIDE) as inside:
                    shutil.copyfileobj(inside, out, 1 << 20)
        except (
            RuntimeError,
            KeyError,
            ValueError,
            EOFError,
            pyzipper.BadZipFile,
            pyzipper.zipfile.zlib.error,
        ) as error:
            message = N_("{path} cannot be opened with this key, or is damaged.")
            raise BadFile(message, path=path.name) from error
        yield plain
