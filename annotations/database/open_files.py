"""Whether the files of an open database are still those that stand under its name.

SQLite keeps writing into a file that was moved or deleted, and its log is a second file beside the database. A label
that is written there is acknowledged, and gone when the process ends. So each file is compared by its device and
inode (two calls of stat each time, 8 microseconds beside the milliseconds of a commit).

SQLite also keeps the pages that it has read, so an open connection may store labels for hours in a file that does not
open. Nothing is written to a database that this process has found damaged or unreadable until it is whole again.
"""

import os
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

from evenhand.core.errors import N_, Busy
from evenhand.core.files.sqlite_wal import BUSY, primary_code

GONE = N_(
    "The database {path} is gone: it was moved or deleted, or its disk is not connected. Put it back, or"
    " restart the app."
)
REPLACED = N_(
    "While the app was running, the database {path} or its log (-wal) was replaced by another file, or the"
    " log was deleted. Nothing was stored. Stop every program that uses the database, put the files back,"
    " then restart the app."
)

Inode = tuple[int, int]  # device and number


@dataclass(frozen=True, slots=True)
class OpenFiles:
    """The inodes of the database at `path` (without links, as SQLite resolves them) and of its log, None for no log."""

    path: str
    database: Inode | None
    log: Inode | None

    @classmethod
    def of(cls, path: Path) -> "OpenFiles":
        """The files of the database at *path* as they are now."""
        own = str(path.resolve())
        return cls(own, inode_of(own), inode_of(f"{own}-wal"))

    def log_is_gone(self) -> bool:
        """Return whether the log was deleted while the database is the same.

        An empty file in its place counts as deleted: SQLite creates one for any new connection, also to read.
        """
        log = f"{self.path}-wal"
        if self.log is None or inode_of(self.path) != self.database or inode_of(log) == self.log:
            return False
        return size_of(log) == 0

    def check(self) -> None:
        """Raise Busy if one of the files is gone or is another one by now."""
        database = inode_of(self.path)
        if database is None:
            raise Busy(GONE, path=self.path)
        # A log that came later is no fault: the database had another journal when it was opened.
        if database != self.database or (self.log is not None and inode_of(f"{self.path}-wal") != self.log):
            raise Busy(REPLACED, path=self.path)


def size_of(path: str) -> int:
    """Return the size of a file in bytes; 0 if it does not exist or cannot be read."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def inode_of(path: str) -> Inode | None:
    """Device and inode of the file at *path*; None if it is not there or cannot be read."""
    try:
        status = os.stat(path)  # noqa: PTH116  (a Path costs four times as much)
    except OSError:
        return None
    return status.st_dev, status.st_ino


_guard = threading.Lock()
_in_use: WeakKeyDictionary[object, OpenFiles] = WeakKeyDictionary()  # of the stores that this process has open
os.register_at_fork(after_in_child=_in_use.clear)


def remember(store: object, path: Path) -> OpenFiles:
    """The files that *store* has just opened.

    Raises Busy if another store of this process has the same path open with other files: the two would write into
    different databases.
    """
    files = OpenFiles.of(path)
    with _guard:
        _in_use[store] = files
    try:
        check_others(path)
    except Busy:
        forget(store)
        raise
    return files


def check_others(path: Path) -> None:
    """Raise Busy if a store of this process has *path* open with files that are gone or replaced by now."""
    own = str(path.resolve())
    with _guard:
        others = [one for one in _in_use.values() if one.path == own]
    for one in others:
        one.check()


def forget(store: object) -> None:
    """*store* has closed its files."""
    with _guard:
        _in_use.pop(store, None)


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
_examining = threading.Lock()


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
    if _examining.acquire(blocking=False):  # one thread examines it; the others refuse meanwhile
        try:
            if time.monotonic() >= _damaged.get(path, 0.0) and _is_whole(path):
                _damaged.pop(path, None)
                return
        finally:
            _examining.release()
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
