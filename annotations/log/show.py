"""Entries of the log, to read."""

from dataclasses import dataclass
from typing import Any

from evenhand.annotations.database.chain import moment_of
from evenhand.annotations.database.store import Store


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry: its number, its moment (UTC), the table and the row it is about, [before, after] as JSON or None."""

    entry: int
    at: str
    kind: str
    row: Any
    body: str | None
    hash: str


def entries(store: Store, *, kind: str | None = None, last: int = 20) -> list[LogEntry]:
    """The newest entries, in their order."""
    rows = store.db.execute(
        "SELECT id, at, kind, row, body, hash FROM log WHERE :kind IS NULL OR kind = :kind"
        " ORDER BY id DESC LIMIT :last",
        {"kind": kind, "last": last},
    ).fetchall()
    return [LogEntry(row[0], moment_of(row[1]), row[2], row[3], row[4], row[5].hex()) for row in reversed(rows)]
