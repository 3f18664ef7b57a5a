"""The database: one SQLite file, opened per run and never shared across threads."""

import os
import secrets
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, wraps
from pathlib import Path
from sqlite3 import Connection
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from evenhand.annotations.database import migrations
from evenhand.annotations.database.connections import (
    LOG_PAGES,
    OpenFiles,
    check_others,
    connect,
    connected,
    copy_database,
    forget,
    make_private,
    note_damage,
    refuse_damaged,
    remember,
)
from evenhand.annotations.database.migrations import different_triggers, restore_triggers
from evenhand.annotations.database.write_lock import BUSY_MS, KEPT_BUSY, NOT_WRITTEN, acquire_write_lock
from evenhand.core.errors import N_, BadFile, Busy, NotFound
from evenhand.core.files.atomic_file import whole_path
from evenhand.core.files.sqlite_wal import primary_code, write_ahead
from evenhand.core.files.timestamps import timestamp

NO_TEXT = "Could not decode to UTF-8"  # the module's message, without a code, for bytes that are not text
BULK_KIB = 131_072  # of pages that a store keeps in memory while it writes many rows; else SQLite's 2,000 KiB
SWITCH_S = 1.0  # how long opening waits to switch the log of a restored backup on
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_compared: set[Path] = set()  # whose triggers this process has compared with the schema
_patience_s = 0.0  # how long the writers of this process wait at least; see `long_lock_timeout`

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")
Row = TypeVar("Row")
Values = Sequence[Any] | Mapping[str, Any]  # of the parameters of a statement


@contextmanager
def long_lock_timeout(seconds: float) -> Iterator[None]:
    """Let writers of this process wait up to *seconds* for another one, because hours of work must not end there."""
    global _patience_s
    before, _patience_s = _patience_s, seconds
    try:
        yield
    finally:
        _patience_s = before


def database_path() -> Path:
    """Return the path of the database: EVENHAND_DB, else evenhand.db in the working folder."""
    return _path(os.environ.get("EVENHAND_DB") or "evenhand.db")


_path = lru_cache(maxsize=8)(Path)  # each request asks for it four times


class Store:
    """An open database. `with Store.open() as store:`; one per run, one thread."""

    def __init__(self, db: Connection, path: Path, *, frozen: bool = False) -> None:
        self.db, self.path, self.frozen = db, path, frozen
        self._own = path.resolve()  # once: it costs as much as three queries
        self._files: OpenFiles | None = None  # while it is open, and others may write
        self._writing = False  # whether a transaction of this store is open

    @classmethod
    def open_existing(cls, path: Path | str) -> "Store":
        """Open a database that must exist. Raises NotFound if the file is missing, and the errors of `open`."""
        if not Path(path).is_file():
            raise NotFound(N_("There is no database {path}: check --db and EVENHAND_DB."), path=str(path))
        return cls.open(path)

    @classmethod
    def open(cls, path: Path | str | None = None, *, any_thread: bool = False) -> "Store":
        """Open the database; create or migrate it if needed.

        `any_thread`: for a pool that hands it from one thread to the next. Raises BadFile if the file is not an
        Evenhand database or was made by a newer version, Busy if it cannot be opened or written now, has disappeared
        since this process opened it, or is another file than the one that this process has open under its name. On a
        read-only disk or folder it is opened to read (`frozen`), provided that no other process writes to it.
        """
        where = Path(path) if path is not None else database_path()
        try:
            make_private(where)
            connection, frozen = connected(where, any_thread)
        except (OSError, sqlite3.OperationalError) as error:
            check_others(where)  # SQLite only calls it an I/O error where the log was deleted
            message = N_("The database {path} cannot be opened ({why}). Check the folder and its permissions.")
            raise Busy(message, path=str(where), why=_why(error)) from error
        except sqlite3.DatabaseError as error:  # raised here for a short file that is not a database
            raise BadFile(N_("{path} is not an Evenhand database ({why})."), path=where.name, why=error) from error
        store = cls(connection, where, frozen=frozen)
        try:
            store._prepare()  # its first query opens the log
            if not frozen:
                store._files = remember(store, where)
        except sqlite3.OperationalError as error:
            store.close()
            check_others(where)
            raise _translate_error(error) from error
        except sqlite3.DatabaseError as error:
            store.close()
            raise BadFile(N_("{path} is not an Evenhand database ({why})."), path=where.name, why=error) from error
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def reading(cls, path: Path) -> "Store":
        """Open a database to read it as it is: nothing is created, migrated or restored."""
        return cls(connect(path, read_only=True), path, frozen=True)

    def is_current(self) -> bool:
        """Return whether the database has the newest version of the tables."""
        return len(self._applied()) == len(migrations.MIGRATIONS)

    def _prepare(self) -> None:
        """Migrate the tables if needed, and switch the log on; two queries if there is nothing to do."""
        known = [migration.__name__ for migration in migrations.MIGRATIONS]
        applied = self._applied()
        if applied - set(known):
            message = N_("{path} was created by a newer version of Evenhand. Update the app, then open it again.")
            raise BadFile(message, path=self.path.name)
        if len(applied) < len(known):
            self._migrate()
        elif not self.frozen and self.db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            # A backup is one file without a log. While it is in use elsewhere, the next opening switches it.
            with suppress(sqlite3.OperationalError):
                write_ahead(self.db, SWITCH_S)
        if not self.frozen and self._own not in _compared:
            self._compare_triggers()

    def _compare_triggers(self) -> None:
        """Restore triggers that are missing or changed: labels stored without them would have no entry in the log."""
        differences = different_triggers(self.db)
        if differences.missing or differences.changed:
            with self.write() as db:
                restore_triggers(db)
        _compared.add(self._own)

    def _applied(self) -> set[str]:
        applied = migrations.applied_migrations(self.db)
        if applied is None:
            raise BadFile(N_("{path} is a database, but not an Evenhand database."), path=self.path.name)
        return applied

    def _migrate(self) -> None:
        # One transaction with the write lock: two programs may open a new file at once, or one may be killed.
        write_ahead(self.db, BUSY_MS / 1000)
        with self.write() as db:
            if 0 < len(self._applied()) < len(migrations.MIGRATIONS):
                self._keep_copy()
            migrations.migrate(db)
            row = (uuid.uuid4().hex, secrets.token_bytes(32), timestamp())
            db.execute("INSERT OR IGNORE INTO database (id, uid, secret, created) VALUES (1, ?, ?, ?)", row)

    def _keep_copy(self) -> None:
        """Copy an older database to a file next to it before any change. Raises Busy if it cannot."""
        name = f"{self.path.name}.before-version-{int(migrations.MIGRATIONS[-1].__name__[1:4])}"
        number = 1
        while (out := self.path.with_name(name if number == 1 else f"{name}-{number}")).exists():
            number += 1
        try:
            with whole_path(out, new=True) as draft:
                copy_database(self.path, draft)  # reads what was committed, while this store keeps writers out
        except (OSError, sqlite3.Error) as error:
            message = N_(
                "{path} has an older version, and no copy of it could be made ({why}). Free up disk space there."
            )
            raise Busy(message, path=self.path.name, why=error) from error

    @property
    def uid(self) -> str:
        """The random public id of this database."""
        return self.key[1]

    @property
    def secret(self) -> bytes:
        """The key that signs the desk's tokens."""
        return self.key[0]

    @property
    def key(self) -> tuple[bytes, str]:
        """The key that signs the desk's tokens, and the public id of this database."""
        secret, uid = self.db.execute("SELECT secret, uid FROM database").fetchone()
        return bytes(secret), str(uid)

    def each(self, kind: Callable[..., Row], query: str, values: Values = ()) -> Iterator[Row]:
        """Yield each row of *query* as a *kind*, which takes its columns by name: a dataclass, a function, or dict."""
        cursor = self.db.execute(query, values)
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield kind(**dict(zip(names, row, strict=True)))

    def rows(self, kind: Callable[..., Row], query: str, values: Values = ()) -> list[Row]:
        """Return what `each` yields."""
        return list(self.each(kind, query, values))

    def row(self, kind: Callable[..., Row], query: str, values: Values = ()) -> Row | None:
        """Return the first row of *query* as `rows` does; None without a row."""
        return next(iter(self.rows(kind, query, values)), None)

    def required_row(self, kind: Callable[..., Row], query: str, values: Values, missing: Exception) -> Row:
        """Return the first row of *query* as `rows` does; raise *missing* without a row."""
        row = self.row(kind, query, values)
        if row is None:
            raise missing
        return row

    def value(self, query: str, values: Values = ()) -> Any:
        """Return the first column of the first row of *query*; None without a row."""
        row = self.db.execute(query, values).fetchone()
        return None if row is None else row[0]

    def column(self, query: str, values: Values = ()) -> list[Any]:
        """Return the first column of each row of *query*."""
        return [row[0] for row in self.db.execute(query, values)]

    def count(self, rows: str, values: Values = ()) -> int:
        """Return the number of *rows*: a table or view, with what follows FROM in a statement."""
        return int(self.value(f"SELECT count(*) FROM {rows}", values))

    def newest(self, table: str) -> int:
        """Return the largest row id of *table*; 0 without a row."""
        return int(self.value(f"SELECT coalesce(max(id), 0) FROM {table}"))

    def has(self, rows: str, values: Values = ()) -> bool:
        """Return whether there is any of *rows* (see `count`)."""
        return self.value(f"SELECT 1 FROM {rows} LIMIT 1", values) is not None

    @contextmanager
    def read(self) -> Iterator[None]:
        """Let every query in the block see the database as of the first query; this store cannot write meanwhile.

        For exports that need more than one query while people continue to label. Nested calls are part of the outer
        one. Keep the block to seconds: the log of the database grows during every read.
        """
        if self.db.in_transaction:
            yield
            return
        self.db.execute("BEGIN")
        try:
            yield
        finally:
            # Already closed if the caller stopped reading rows, because of a full disk for instance.
            with suppress(sqlite3.ProgrammingError):
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")  # nothing was written

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Run the block as one short transaction with the write lock from its first statement; all or nothing.

        Raises Busy if another program keeps the lock for ten seconds (in a job: ten minutes), the disk is full or
        read-only, the database or its log was moved, deleted or replaced, or this process has found the database
        damaged. A block within another block of this store is part of the outer transaction.
        """
        if self._writing:
            with self.savepoint():
                yield self.db
            return
        refuse_damaged(self._own)
        try:
            with acquire_write_lock(self.db, self._own, max(BUSY_MS / 1000, _patience_s)):
                self._writing = True
                try:
                    yield self.db
                    self._check_files()
                    self.db.execute("COMMIT")
                    self._check_files()  # nothing is acknowledged that went into a file without a name
                except BaseException:
                    if self.db.in_transaction:
                        self.db.execute("ROLLBACK")
                    self._write_back()
                    raise
                finally:
                    self._writing = False
        except sqlite3.OperationalError as error:
            raise _translate_error(error) from error

    @contextmanager
    def unsynced(self) -> Iterator[None]:
        """Let commits in the block return before they are on disk.

        For rows that are useless without a later commit, or that are soon useless. The commits survive if the process
        is killed, and any later commit makes them as safe as itself. If the machine fails before such a commit, they
        are lost as a whole, the last ones first.
        """
        self.db.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            self.db.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Write many rows as in `unsynced`: more pages stay in memory, and commits do not write the log back.

        The caller writes it back between commits (`write_back` of another store), so that other writers do not wait.
        """
        (pages,), db = self.db.execute("PRAGMA cache_size").fetchone(), self.db
        db.execute(f"PRAGMA cache_size = -{BULK_KIB}")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        try:
            with self.unsynced():
                yield
        finally:
            db.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
            db.execute(f"PRAGMA cache_size = {pages}")

    def sync_log(self) -> None:
        """Let the disk have what was committed without it, while others may write: no label waits for it then."""
        with suppress(OSError):  # no log: then nothing waits either
            log = os.open(f"{self.path.resolve()}-wal", os.O_RDONLY)
            try:
                getattr(os, "fdatasync", os.fsync)(log)
            finally:
                os.close(log)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Open a part of the transaction that is undone alone if it fails.

        Raises Busy if the database could not be written: then SQLite may have undone the whole transaction.
        """
        self.db.execute("SAVEPOINT part")
        try:
            yield
        except BaseException as error:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK TO part")
                self.db.execute("RELEASE part")
            if isinstance(error, sqlite3.OperationalError):
                raise _translate_error(error) from error
            raise
        self.db.execute("RELEASE part")

    def refuse_read_only(self) -> None:
        """Raise Busy if the disk is read-only: SQLite begins a transaction there, and refuses only a statement that
        may write."""
        with self.write() as db:
            db.execute("UPDATE database SET uid = uid WHERE false")

    def write_back(self) -> None:
        """Write the log back into the database as far as other readers and writers allow, without delaying them.

        Raises Busy if the opened files were moved, deleted or replaced.
        """
        self._check_files()
        self.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _check_files(self) -> None:
        if self._files is not None:
            self._files.check()

    def _write_back(self) -> None:
        """Write a log that was deleted into its database, so that what was acknowledged before is not lost with it."""
        if self._files is not None and self._files.log_is_gone():
            with suppress(sqlite3.Error):
                self.db.execute("PRAGMA wal_checkpoint(FULL)")

    def close(self) -> None:
        """Close the connection."""
        forget(self)
        self.db.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if isinstance(error, sqlite3.OperationalError) and (told := _translate_error(error)) is not error:
            raise told from error
        if isinstance(error, sqlite3.DatabaseError) and primary_code(error) in DAMAGED:
            note_damage(self._own)
        if isinstance(error, sqlite3.DatabaseError) and (primary_code(error) in DAMAGED or NO_TEXT in str(error)):
            raise BadFile(N_("{path} is damaged ({why})."), path=self.path.name, why=error) from error


def into(table: str, columns: Iterable[str]) -> str:
    """Return the INSERT of a row from a mapping: "INSERT INTO item (uid, text) VALUES (:uid, :text)"."""
    names = list(columns)
    return " ".join(("INSERT INTO", table, f"({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"))


def insert(db: Connection, table: str, values: Mapping[str, Any], conflict: str = "") -> int:
    """Insert a row, a column each of *values*; return its row id, or 0 where nothing was stored.

    *conflict*: how the statement ends, such as "ON CONFLICT DO NOTHING".
    """
    cursor = db.execute(f"{into(table, values)} {conflict}", dict(values))
    return int(cursor.lastrowid or 0) if cursor.rowcount else 0


def in_list(parameter: str) -> str:
    """Return the condition that a value is in a JSON list, a *parameter* of the statement: `id {in_list(':items')}`."""
    return f"IN (SELECT value FROM json_each({parameter}))"


def update_rows(db: Connection, table: str, values: Mapping[str, Any], **where: Any) -> int:
    """Set the columns *values* of the rows that have the values *where*; return how many rows.

    `update_rows(db, "job", {"state": "done"}, id=7)`; a value of *where* may be None, or a tuple that has the value.
    """
    condition, chosen = _matching(where)
    names = ", ".join(f"{name} = ?" for name in values)
    return db.execute(f"UPDATE {table} SET {names} WHERE {condition}", (*values.values(), *chosen)).rowcount


def delete_rows(db: Connection, table: str, **where: Any) -> int:
    """Delete the rows that have the values *where* (as in `update_rows`); return how many."""
    condition, chosen = _matching(where)
    return db.execute(f"DELETE FROM {table} WHERE {condition}", chosen).rowcount


def _matching(where: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return the condition that a row has some values, and its parameters."""
    parts, chosen = [], list[Any]()
    for name, value in where.items():
        some = value if isinstance(value, tuple) else (value,)
        marks = f"IN ({', '.join('?' * len(some))})" if isinstance(value, tuple) else "IS ?" if value is None else "= ?"
        parts.append(f"{name} {marks}")
        chosen += some
    return " AND ".join(parts), chosen


def consistent_read(
    report: Callable[Concatenate[Store, Arguments], Found],
) -> Callable[Concatenate[Store, Arguments], Found]:
    """Make a report of several queries run inside `Store.read`, so that its numbers are of one point in time."""

    @wraps(report)
    def read_once(store: Store, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Found:
        with store.read():
            return report(store, *args, **kwargs)

    return read_once


def _why(error: OSError | sqlite3.Error) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def _translate_error(error: sqlite3.OperationalError) -> Exception:
    """Return the error to raise for one of the database engine; re-raise an error in a statement."""
    primary = primary_code(error)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy(KEPT_BUSY)
    if primary in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return Busy(NOT_WRITTEN, why=str(error))
    return error
