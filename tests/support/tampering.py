"""Touching a database beside the app, as plain sqlite3 does, and what the check of the log says then."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from annotations.database.schema.v7_log import Kind
from annotations.database.store import Store, connect
from annotations.log.verify import Broken, verify


@contextmanager
def opened_bare(path: Path) -> Iterator[Store]:
    """The database as plain sqlite3 opens it, without a trigger or a check; nothing of what is written stays."""
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
    """What the check says; "" where it finds nothing."""
    try:
        verify(store)
    except Broken as broken:
        return str(broken)
    return ""


def covered(kind: Kind) -> list[str]:
    """The columns of a table that its entries speak of."""
    said = " ".join((kind.key, *kind.columns, kind.when, kind.own, kind.beside))
    return sorted(set(re.findall(r"\{r\}\.(\w+)", said)))


def other(value: Any) -> Any:
    """Another value than this one, of its type."""
    if value is None:
        return 1
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    return value + 1 if isinstance(value, int | float) else value + " "
