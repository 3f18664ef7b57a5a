"""The database: one SQLite file, opened per run and never shared across threads."""

import os
import secrets
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from sqlite_utils import Database

from annotations.migrations import migrations
from core.errors import N_, BadFile

BUSY_MS = 10_000  # how long a writer waits for another one


def database_path() -> Path:
    """Where the labels are: EVENHAND_DB, else evenhand.db in the working folder."""
    return Path(os.environ.get("EVENHAND_DB") or "evenhand.db")


def timestamp() -> str:
    """Now, UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Store:
    """An open database. `with Store.open() as store:`; one per run, one thread."""

    def __init__(self, db: Database, path: Path) -> None:
        self.db, self.path = db, path

    @classmethod
    def open(cls, path: Path | str | None = None) -> "Store":
        """Open the database, making it or bringing it up to date where needed.

        Raises BadFile if the file is not an Evenhand database.
        """
        where = Path(path) if path is not None else database_path()
        # Autocommit: every transaction is begun in so many words, so its length can be seen in the code.
        connection = sqlite3.connect(where, isolation_level=None, timeout=BUSY_MS / 1000)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            db = Database(connection)
            if migrations.pending(db):
                migrations.apply(db)
        except sqlite3.DatabaseError as error:
            connection.close()
            raise BadFile(N_("{path} is not a database of Evenhand ({why})."), path=where.name, why=error) from error
        store = cls(db, where)
        store._sign()
        return store

    def _sign(self) -> None:
        if self.db.execute("SELECT 1 FROM database").fetchone() is None:
            row = (str(uuid.uuid4()), secrets.token_bytes(32), timestamp())
            self.db.execute("INSERT OR IGNORE INTO database (id, uid, secret, created) VALUES (1, ?, ?, ?)", row)

    @property
    def uid(self) -> str:
        """The random public id of this database."""
        return str(self.db.execute("SELECT uid FROM database").fetchone()[0])

    @property
    def secret(self) -> bytes:
        """The key that signs the desk's tokens."""
        return bytes(self.db.execute("SELECT secret FROM database").fetchone()[0])

    @contextmanager
    def write(self) -> Iterator[Database]:
        """One short transaction that holds the write lock from its first statement; all or nothing."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
        except BaseException:
            if self.db.conn.in_transaction:
                self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def close(self) -> None:
        """Close the connection."""
        self.db.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
