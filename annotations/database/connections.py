"""Connections to the file of a database, and a check that its files are still the ones under its name.

SQLite keeps writing into a file that was moved or deleted, and its log is a second file next to the database. A label
written to such a file is acknowledged, and lost when the process ends. So each file is compared by its device and inode
(two calls of stat each time: 8 microseconds, compared with milliseconds for a commit).

SQLite also keeps the pages that it has read, so an open connection may store labels for hours in a file that does not
open. After this process has found a database damaged or unreadable, it writes nothing to it until it is whole again.
"""

import os
import sqlite3
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

from evenhand.annotations.database import hash_chain
from evenhand.annotations.database.write_lock import BUSY_MS
from evenhand.core.errors import N_, Busy
from evenhand.core.files.atomic_file import whole_path
from evenhand.core.files.sqlite_wal import BUSY, primary_code

# SQLite writes its log back into the database in the commit that makes it so long (1,000 pages without this), with two
# more waits for the disk, during which others cannot write. The server does it while commits continue
# (desk/shared_commit.py), so a commit does it only where nothing else can follow, or where no server runs.
LOG_PAGES = 8_000
GONE = N_(
    "The database {path} is missing: it was moved or deleted, or its disk is not connected. Put it back, or restart the"
    " app."
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
        """Return the files that the database at *path* has now."""
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
        # A log that came later is not a fault: the database had another journal when it was opened.
        if database != self.database or (self.log is not None and inode_of(f"{self.path}-wal") != self.log):
            raise Busy(REPLACED, path=self.path)


def size_of(path: str) -> int:
    """Return the size of a file in bytes; 0 if it does not exist or cannot be read."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def inode_of(path: str) -> Inode | None:
    """Return device and inode of the file at *path*; None if it does not exist or cannot be read."""
    try:
        status = os.stat(path)  # noqa: PTH116  (a Path costs four times as much)
    except OSError:
        return None
    return status.st_dev, status.st_ino


_guard = threading.Lock()
_in_use: WeakKeyDictionary[object, OpenFiles] = WeakKeyDictionary()  # of the stores that this process has open
os.register_at_fork(after_in_child=_in_use.clear)


def remember(store: object, path: Path) -> OpenFiles:
    """Record and return the files that *store* has just opened.

    Raises Busy if another store of this process has other files open at the same path: the two would write into
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
        others = [open_files for open_files in _in_use.values() if open_files.path == own]
    for open_files in others:
        open_files.check()


def forget(store: object) -> None:
    """Forget the files that *store* has closed."""
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


_opened: set[Path] = set()  # by this process


def connected(path: Path, any_thread: bool) -> tuple[sqlite3.Connection, bool]:
    """Open a connection; return it, and whether it can only read because the disk or the folder is read-only."""
    try:
        return connect(path, any_thread=any_thread), False
    except sqlite3.OperationalError as error:
        # SQLite cannot read a WAL database where it cannot create the index of its log, unless it is told that the
        # file has no writers. A log file means that it has a writer.
        log = path.resolve().with_name(f"{path.resolve().name}-wal")
        if primary_code(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            raise
        if log.exists() or os.access(log.parent, os.W_OK):
            raise
        return connect(path, any_thread=any_thread, unchanging=True), True


def connect(
    path: Path, *, read_only: bool = False, any_thread: bool = False, unchanging: bool = False
) -> sqlite3.Connection:
    """Return a connection with the settings that the app relies on; `unchanging`: the file has no writers."""
    source = f"{path.resolve().as_uri()}?mode={'ro' if read_only or unchanging else 'rw'}"
    source += "&immutable=1" if unchanging else ""
    # Autocommit: every transaction begins with an explicit BEGIN, so its length shows in the code.
    connection = sqlite3.connect(
        source, uri=True, isolation_level=None, timeout=BUSY_MS / 1000, check_same_thread=not any_thread
    )
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA recursive_triggers = ON")  # triggers that refuse to delete also refuse to replace
        hash_chain.register(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def copy_database(source: Path, target: Path, *, secret: bytes | None = None, lasting: bool = True) -> None:
    """Copy a snapshot of a database into a new file, while others write.

    *secret*: replaces the secret of the database. *lasting* False: the copy may be lost. Raises OSError or
    sqlite3.OperationalError.
    """
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))  # labels are for their owner
    with (
        closing(connect(source, read_only=True)) as origin,
        closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        if not lasting:
            copy.execute("PRAGMA synchronous = OFF")
        origin.backup(copy)  # in one step: with WAL a read transaction does not block writers
        if secret is not None:
            copy.execute("PRAGMA secure_delete = ON")  # the old one is overwritten
            copy.execute("UPDATE database SET secret = ?", (secret,))
        # One file without side files, so that it can be moved. Opening it with the app switches WAL on again.
        copy.execute("PRAGMA journal_mode = DELETE")


def make_private(path: Path) -> None:
    """Create an empty file for its owner if none exists. Raises Busy if this process had one open there."""
    # Labels and the key that signs tokens are for their owner; SQLite gives its side files the same rights.
    # A database that exists must never be opened and closed outside SQLite: closing any handle of a file drops every
    # lock that this process holds on it, and another process would then throw away a log that is in use.
    if path.exists():
        _opened.add(path.absolute())
        return
    if path.absolute() in _opened:  # a new empty file would take labels while the disk is unmounted
        raise Busy(GONE, path=str(path))
    with suppress(FileExistsError), whole_path(path, new=True) as empty:  # it was never open under this name
        os.close(os.open(empty, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    _opened.add(path.absolute())
