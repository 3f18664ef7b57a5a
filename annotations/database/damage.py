"""Databases that this process has found damaged or unreadable: nothing is written to them until they are whole again.

SQLite keeps the pages that it has read, so an open connection may store labels for hours in a file that does not open.
They would be lost with the file, although they were acknowledged.
"""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

from evenhand.core.errors import N_, Busy
from evenhand.core.files.sqlite_wal import BUSY, primary_code

UNREADABLE = N_(
    "The database {path} is damaged or cannot be read. Nothing is stored until it can be read again: labels stay on the"
    " devices of their annotators. Run `python cli.py doctor`, then repair the disk or restore a backup."
)
LOOK_S, EXAMINE_S = 1.0, 60.0  # between two attempts to read a damaged database, and to examine all of it
# The schema, and the newest page of each table that a label is written to.
_PROBES = (
    "SELECT count(*) FROM sqlite_master",
    *(f"SELECT max(id) FROM {table}" for table in ("project", "item", "label", "log", "event", "batch")),
    "SELECT count(*) FROM (SELECT 1 FROM assignment LIMIT 1)",
)
_damaged: dict[Path, float] = {}  # resolved path -> when it may be read again, on the monotonic clock
_guard = threading.Lock()


def is_readable(path: Path) -> bool:
    """Return whether a new connection can read a database. One that is in use by others counts as readable."""
    return _reads(path, _PROBES)


def note_damage(path: Path) -> None:
    """Let `refuse_damaged` refuse a database from now on."""
    _damaged.setdefault(path.resolve(), 0.0)


def refuse_damaged(path: Path) -> None:
    """Raise Busy for a database (resolved path) that was noted, unless all of it can be read again by now."""
    if path not in _damaged:
        return
    if _guard.acquire(blocking=False):  # one thread examines it; the others refuse meanwhile
        try:
            if time.monotonic() >= _damaged.get(path, 0.0) and _is_whole(path):
                _damaged.pop(path, None)
                return
        finally:
            _guard.release()
    raise Busy(UNREADABLE, path=path.name)


def _is_whole(path: Path) -> bool:
    """Return whether SQLite can read a database and finds no damage; for a large one it takes seconds."""
    if not is_readable(path):
        _damaged[path] = time.monotonic() + LOOK_S
        return False
    whole = _reads(path, ("PRAGMA quick_check(1)",), "ok")
    _damaged[path] = time.monotonic() + EXAMINE_S
    return whole


def _reads(path: Path, queries: tuple[str, ...], answer: str | None = None) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            rows = [connection.execute(query).fetchone()[0] for query in queries]
    except sqlite3.Error as error:
        return primary_code(error) in BUSY
    return answer is None or rows == [answer]
