"""Changing a database past the app, as plain sqlite3 does, and the result of the check of the log."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from evenhand.annotations.database import store as opened_stores
from evenhand.annotations.database.connections import connect
from evenhand.annotations.database.schema.log_kinds import Kind
from evenhand.annotations.database.store import Store
from evenhand.annotations.log.verify import Broken, verify


@contextmanager
def opened_bare(path: Path) -> Iterator[Store]:
    """Yield the database as plain sqlite3 opens it, without a trigger or a check; nothing of what is written stays."""
    with closing(connect(path)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute("BEGIN IMMEDIATE")
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        assert broken_at(Store(db, path)) == ""
        yield Store(db, path)
        db.execute("ROLLBACK")


def broken_at(store: Store) -> str:
    """Return the message of the check, or "" if it finds nothing."""
    try:
        verify(store)
    except Broken as broken:
        return str(broken)
    return ""


def covered(kind: Kind) -> list[str]:
    """Return the columns of a table that its entries speak of."""
    text = " ".join((kind.key, *kind.columns, kind.when, kind.own, kind.beside))
    return sorted(set(re.findall(r"\{r\}\.(\w+)", text)))


def other(value: Any) -> Any:
    """Return a different value of the same type."""
    if value is None:
        return 1
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    return value + 1 if isinstance(value, int | float) else value + " "


def changed_outside(store: Store, statement: str, *values: Any) -> None:
    """Execute a statement in the file of an open store as another program does, with all triggers put back after it."""
    with closing(sqlite3.connect(store.path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        db.execute(statement, values)
        for _, sql in triggers:
            db.execute(sql)
        db.execute("COMMIT")


def forget_comparison(path: Path) -> None:
    """Let the next opening of a database in this process be the first one, which compares its triggers."""
    opened_stores._compared.discard(path.resolve())
