"""Backups of the database, taken while people work, and how one is restored.

The secret of the database signs tokens and keys the hashes of cookies and links. A copy gets another one: whoever reads
a backup can sign nothing for the server, and after a restore everybody signs in again.
"""

import os
import secrets
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from evenhand.annotations.database import migrations
from evenhand.annotations.database.store import Store, connect
from evenhand.core.errors import N_, BadFile, NotAllowed, NotFound, Refused
from evenhand.core.files.whole_file import whole_path

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
    """Copy the database as of one moment, also while others write. The copy is checked before it gets its name.

    Raises NotAllowed if *out* exists, Refused if it cannot be written.
    """
    if out.exists():
        raise NotAllowed(
            N_("{path} already exists. Choose another name; a backup never overwrites a file."), path=str(out)
        )
    try:
        with whole_path(out, new=True) as draft:
            _copy(store.path, draft)
            snapshot = check(draft)
    except FileExistsError as error:
        raise NotAllowed(N_("{path} already exists."), path=str(out)) from error
    except (OSError, sqlite3.OperationalError) as error:
        raise Refused(N_("The backup {path} could not be written ({why})."), path=str(out), why=error) from error
    return Snapshot(out, snapshot.bytes, snapshot.projects, snapshot.items, snapshot.labels)


def restore(source: Path, target: Path, *, force: bool = False) -> Snapshot:
    """Replace a database by a backup, all or nothing.

    Raises NotFound or BadFile if *source* is not a whole database of Evenhand,
    NotAllowed if *target* exists and `force` is not given, or is in use. With
    `force` the old database stays beside the new one, named `.before-restore`.
    """
    checked = check(source)
    if target.exists() and not force:
        message = N_("{path} already exists. Move it away, or restore with --force: the old file is kept beside it.")
        raise NotAllowed(message, path=str(target))
    try:
        with whole_path(target) as draft:
            _copy(source, draft)
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
    counted = [
        connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("project", "item", "label")
    ]
    return Snapshot(path, path.stat().st_size, *counted)


def _copy(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    origin = connect(source, read_only=True)
    copy = sqlite3.connect(target, isolation_level=None)
    try:
        origin.backup(copy)  # in one step: with WAL a read transaction does not block writers
        copy.execute("PRAGMA secure_delete = ON")  # the old one is overwritten
        copy.execute("UPDATE database SET secret = ?", (secrets.token_bytes(32),))
        # One file without side files, so that it can be moved. Opening it with the app switches WAL on again.
        copy.execute("PRAGMA journal_mode = DELETE")
    finally:
        copy.close()
        origin.close()


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
