"""Copies of the database: backups taken while people work and how to restore one, snapshots to read, trial copies.

The secret of the database signs tokens and keys the hashes of cookies and links. A backup gets another secret: a reader
of the backup cannot sign for the server, and after a restore all users sign in again. Backups in a folder or at an
address of fsspec are checked by reading them back, pruned, and sealed with a key: a ZIP file with AES-256, which other
programs open too.

A snapshot is a copy, not a long read transaction: the log of the database cannot be checkpointed during a read. The log
would grow with every label until one label has to wait for all of it.
"""

import os
import re
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenhand.annotations.database import migrations
from evenhand.annotations.database.connections import connect, copy_database
from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, BadFile, EvenhandError, NotAllowed, NotFound, Refused
from evenhand.core.files.atomic_file import PRIVATE, make_folder, new_file, part_of, remove_left_over, whole_path

SIDE_FILES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A checked copy of a database: where it is and what it holds."""

    path: Path
    bytes: int
    projects: int
    items: int
    labels: int


def backup(store: Store, out: Path) -> Snapshot:
    """Copy a snapshot of the database, also while others write. The copy is checked before it gets its name.

    Raises NotAllowed if *out* exists, Refused if it cannot be written.
    """
    if out.exists():
        raise NotAllowed(
            N_("{path} already exists. Choose another name; a backup never overwrites a file."), path=str(out)
        )
    try:
        with whole_path(out, new=True) as draft:
            copy_database(store.path, draft, secret=secrets.token_bytes(32))
            snapshot = check(draft)
    except FileExistsError as error:
        raise NotAllowed(N_("{path} already exists."), path=str(out)) from error
    except (OSError, sqlite3.OperationalError) as error:
        raise Refused(N_("The backup {path} could not be written ({why})."), path=str(out), why=error) from error
    return Snapshot(out, snapshot.bytes, snapshot.projects, snapshot.items, snapshot.labels)


def restore(source: Path, target: Path, *, force: bool = False) -> Snapshot:
    """Replace a database by a backup, all or nothing.

    Raises NotFound or BadFile if *source* is not a whole database of Evenhand, NotAllowed if *target* exists and
    `force` is not given, or is in use. With `force` the old database is kept next to the new one, named
    `.before-restore`.
    """
    checked = check(source)
    if target.exists() and not force:
        message = N_(
            "{path} already exists. Move it away, or restore with --force, which keeps the old file next to it."
        )
        raise NotAllowed(message, path=str(target))
    try:
        with whole_path(target) as draft:
            copy_database(source, draft, secret=secrets.token_bytes(32))
            check(draft)
            _set_aside(target)
    except (OSError, sqlite3.OperationalError) as error:
        raise Refused(N_("{path} could not be restored ({why})."), path=str(target), why=error) from error
    return Snapshot(target, checked.bytes, checked.projects, checked.items, checked.labels)


def check(path: Path) -> Snapshot:
    """Read a database from end to end. Raises NotFound, or BadFile with what is broken."""
    if not path.is_file():
        raise NotFound(N_("There is no file {path}."), path=str(path))
    try:
        with closing(connect(path, read_only=True)) as connection:
            return _inspect(connection, path)
    except sqlite3.DatabaseError as error:
        raise BadFile(N_("{path} is not a complete database ({why})."), path=path.name, why=error) from error


def _inspect(connection: sqlite3.Connection, path: Path) -> Snapshot:
    applied = migrations.applied_migrations(connection)
    if not applied:
        raise BadFile(N_("{path} is a database, but not an Evenhand database."), path=path.name)
    if applied - {migration.__name__ for migration in migrations.MIGRATIONS}:
        message = N_("{path} was created by a newer version of Evenhand. Update the app, then open it again.")
        raise BadFile(message, path=path.name)
    problem = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if problem != "ok":
        raise BadFile(N_("{path} is damaged ({why})."), path=path.name, why=problem)
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        raise BadFile(N_("{path} is damaged ({why})."), path=path.name, why="foreign keys")
    counted = [Store(connection, path, frozen=True).count(table) for table in ("project", "item", "label")]
    return Snapshot(path, path.stat().st_size, *counted)


def _set_aside(target: Path) -> None:
    """Rename what is at *target*, side files too: SQLite would replay a log left behind into the new file."""
    if target.exists():
        _write_back(target)
    aside = _free_name(target)
    for ending in SIDE_FILES:
        old = target.with_name(target.name + ending)
        if old.exists():
            old.replace(aside.with_name(aside.name + ending))
    if target.exists():
        # Both names exist for a moment: if the path were free, another program could create a database there.
        os.link(target, aside)


def _write_back(target: Path) -> None:
    """Write the content of the side files into the database. Raises NotAllowed while another program has it open."""
    try:
        with closing(connect(target)) as connection:
            connection.execute("PRAGMA busy_timeout = 1000")
            connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        message = N_("{path} is in use. Stop the app first, then restore.")
        raise NotAllowed(message, path=str(target)) from error
    except sqlite3.DatabaseError:
        return  # damaged, perhaps the reason for the restore: leave it as it is


def _free_name(target: Path) -> Path:
    name, number = target.with_name(f"{target.name}.before-restore"), 2
    while name.exists():
        name, number = target.with_name(f"{target.name}.before-restore-{number}"), number + 1
    return name


ENDING = ".snapshot"


@contextmanager
def snapshot(store: Store) -> Iterator[Store]:
    """Yield a read-only store that does not see later writes; its copy is deleted afterwards.

    Raises Refused if the copy cannot be made, for example because the disk of the database is full.
    """
    with _copied(store, read_only=True) as frozen:
        yield frozen


@contextmanager
def trial(store: Store) -> Iterator[Store]:
    """Open a temporary copy of *store*, in which all changes are discarded at the end.

    Use it for work of many transactions that must leave nothing behind if it fails. Raises Refused as `snapshot`.
    """
    with _copied(store, read_only=False) as copy:
        copy.db.execute("PRAGMA synchronous = OFF")  # nothing of it has to outlive this process
        copy.db.execute("PRAGMA journal_mode = MEMORY")
        yield copy


@contextmanager
def _copied(store: Store, *, read_only: bool) -> Iterator[Store]:
    path = store.path.absolute()
    remove_left_over(path, ENDING)
    copy = part_of(path, ENDING)
    try:
        copy_database(store.path, copy, lasting=False)
        found = Store(connect(copy, read_only=read_only), copy)
    except (OSError, sqlite3.OperationalError) as error:
        copy.unlink(missing_ok=True)
        message = N_("The database could not be copied for reading ({why}). Check the free disk space.")
        raise Refused(message, why=str(error)) from error
    try:
        yield found
    finally:
        found.close()
        for ending in ("", "-turn"):
            copy.with_name(f"{copy.name}{ending}").unlink(missing_ok=True)


NAME = re.compile(r"evenhand-(\d{8}T\d{6}Z)-[0-9a-f]{4}\.db(?:\.zip)?")
INSIDE = "evenhand.db"
SHORTEST_KEY = 20  # characters
NO_LIBRARY = N_(
    "The backup location {place} needs the Python package {package}, which is not installed. Install it where Evenhand"
    " runs: .venv/bin/python -m pip install {package}"
)
NOT_REACHED = N_("The backup location {place} could not be reached or used ({why}).")
BUCKETS = {"s3", "gs", "az", "abfs"}  # protocols whose first folder is a bucket
NO_BUCKET = N_("{place}: there is no bucket {bucket}. Create it, or check the name.")
SEALED = N_("{path} is encrypted: use --key-file with the key file that was used to create it.")
DIFFERS = N_("The backup at {place} does not match what was saved, so it was removed. Check the disk or the service.")


def is_place(text: str) -> bool:
    """Return whether *text* names a folder or an address of fsspec, rather than a file to make."""
    return "://" in text or text.endswith("/") or Path(text).is_dir()


def read_key(file: Path) -> bytes:
    """Return the key in a key file, without the line end. Raises NotFound, or Refused below 20 characters."""
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

    It gets its name after it was downloaded, opened and read completely. Then all but the newest *keep* backups
    at that place are removed; other files stay. Raises Refused if the place cannot be used.
    """
    moment = datetime.fromtimestamp(time.time(), UTC).strftime("%Y%m%dT%H%M%SZ")
    name = f"evenhand-{moment}-{secrets.token_hex(2)}.db{'.zip' if key else ''}"
    with _draft(store.path) as draft, _draft(store.path) as sealed:
        made = backup(store, draft)
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
    """Return when the newest backup at *place* was made; None without one. Raises Refused if it cannot be read."""
    with _reached(place, make=False) as (files, folder):
        names = _names(files, folder)
    match = NAME.fullmatch(names[-1]) if names else None
    return datetime.strptime(match[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) if match else None


@contextmanager
def fetched(source: str, beside: Path, *, key: bytes | None = None) -> Iterator[Path]:
    """Yield a local copy of the backup at *source* (a file or an address), opened with *key* if it is sealed.

    The copy is written next to the database `beside` and is removed at the end. Raises NotFound, BadFile or Refused.
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
    """Yield the file system of a place and the path there. Raises Refused for every error of its library."""
    import fsspec  # type: ignore[import-untyped]  # takes long, and only backups elsewhere need it

    try:
        files, folder = fsspec.url_to_fs(place)
        folder = folder.rstrip("/")
        if make and _is_local(files):
            make_folder(Path(folder))
        elif make:
            _refuse_no_bucket(files, folder, place)
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


def _refuse_no_bucket(files: Any, folder: str, place: str) -> None:
    """Raise Refused for a bucket that does not exist: a library would make one of a mistyped name."""
    protocols = (files.protocol,) if isinstance(files.protocol, str) else files.protocol
    bucket = folder.lstrip("/").partition("/")[0]
    if BUCKETS & set(protocols) and not files.exists(bucket):
        raise Refused(NO_BUCKET, place=_without_password(place), bucket=bucket)


def _without_password(place: str) -> str:
    return re.sub(r"//[^/@]*@", "//", place).partition("?")[0]


def _is_local(files: Any) -> bool:
    return "file" in ((files.protocol,) if isinstance(files.protocol, str) else files.protocol)


def _names(files: Any, folder: str) -> list[str]:
    """Return the backups at a place, oldest first."""
    with suppress(FileNotFoundError):
        result = [str(path).rstrip("/").rpartition("/")[2] for path in files.ls(folder, detail=False)]
        return sorted(name for name in result if NAME.fullmatch(name))
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
            again = restore(plain, restored)
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
