"""A fair queue for the write lock of the database.

SQLite lets a program that waits for the write lock sleep for up to 100 ms at a time, and the lock goes to the program
that asks first. If one program writes without a pause, another one may wait until its timeout. Here the threads of one
process queue. One process polls SQLite's lock often, and the others queue behind it, so a program that has just written
goes to the end.

The queue only decides who asks first. SQLite alone ensures that two never write at once. If the file of the queue
cannot be opened or locked, or was deleted meanwhile, turns are less fair, and nothing else breaks.
"""

import fcntl
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evenhand.core.errors import N_, Busy
from evenhand.core.files.sqlite_wal import BUSY, primary_code

BUSY_MS = 10_000  # how long a writer waits for another one
ASK_S = 0.0005  # poll interval of the process whose turn it is
QUEUE_S = 0.002  # poll interval of the other processes
LONGEST_QUEUE_S = 5.0  # then SQLite is asked at once: the first process may hang

KEPT_BUSY = N_("The database is locked by another program. Nothing was stored; try again in a moment.")
NOT_WRITTEN = N_("The database could not be written ({why}). Nothing was stored; check the disk and its permissions.")


class ThreadQueue:
    """The threads of one process that want to write, first come, first served; `file`: the queue of the processes."""

    def __init__(self, database: Path) -> None:
        self.file = str(database.with_name(f"{database.name}-turn"))
        self._guard = threading.Lock()
        self._waiting: deque[tuple[threading.Lock, int]] = deque()
        self._writer: int | None = None

    def enter(self, patience_s: float) -> bool:
        """Wait for this thread's turn; whether it came within *patience_s* seconds. If so, `leave` must follow.

        Raises RuntimeError if the thread has its turn already: it would wait for itself.
        """
        thread, called = threading.get_ident(), threading.Lock()
        with self._guard:
            if self._writer == thread:
                raise RuntimeError("a transaction is begun within another one of the same thread")
            if self._writer is None:
                self._writer = thread
                return True
            called.acquire()
            self._waiting.append((called, thread))
        place = (called, thread)
        try:
            if called.acquire(timeout=patience_s):
                return True
        except BaseException:  # interrupted, by Ctrl-C for instance: leave the queue
            if not self._leave_line(place):
                self.leave()
            raise
        return not self._leave_line(place)

    def _leave_line(self, place: tuple[threading.Lock, int]) -> bool:
        """Leave the queue; False if the turn came at this moment and belongs to this thread now."""
        with self._guard:
            if place in self._waiting:
                self._waiting.remove(place)
                return True
        return False

    def leave(self) -> None:
        """Give the turn to the next thread."""
        with self._guard:
            self._writer = None
            if self._waiting:
                called, self._writer = self._waiting.popleft()
                called.release()


_lines: dict[Path, ThreadQueue] = {}
# A forked process has none of the waiting threads.
os.register_at_fork(after_in_child=_lines.clear)


@contextmanager
def acquire_write_lock(connection: sqlite3.Connection, path: Path, patience_s: float) -> Iterator[None]:
    """Begin a transaction of *connection* with the write lock; the caller ends it before the block ends.

    Processes queue with a lock on an empty file next to the database whose name ends in `-turn`; *path* is the path of
    the database without links, as SQLite resolves them before it names its log. Raises Busy, and begins nothing, if the
    lock does not come free within *patience_s* seconds; sqlite3.OperationalError for every other refusal of the
    database; RuntimeError within another turn of the same thread.
    """
    until = time.monotonic() + patience_s
    line = _lines.get(path) or _lines.setdefault(path, ThreadQueue(path))
    if not line.enter(patience_s):
        raise Busy(KEPT_BUSY)
    try:
        with _first_in_the_queue(line.file, until - max(patience_s / 2, patience_s - LONGEST_QUEUE_S)):
            _begin(connection, until)
        yield
    finally:
        line.leave()


@contextmanager
def _first_in_the_queue(file: str, until: float) -> Iterator[None]:
    try:
        queue = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # of another user, or in a read-only folder: SQLite reports whether it can write
        yield
        return
    try:
        # After *until* SQLite decides, as without a queue.
        with suppress(Busy):
            _wait(lambda: _is_mine(queue), QUEUE_S, until)
        yield
    finally:
        _leave(queue)


def _is_mine(queue: int) -> bool:
    try:
        fcntl.flock(queue, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without such locks
        return True
    return True


def _leave(queue: int) -> None:
    try:
        # Unlock explicitly: a forked process has the file open too, so closing it does not unlock it.
        fcntl.flock(queue, fcntl.LOCK_UN)
    except OSError:
        pass
    finally:
        os.close(queue)


def _begin(connection: sqlite3.Connection, until: float) -> None:
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        _wait(lambda: _has_begun(connection), ASK_S, until)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")


def _has_begun(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if primary_code(error) in BUSY:
            return False
        raise
    return True


def _wait(ready: Callable[[], bool], every_s: float, until: float) -> None:
    while not ready():
        if time.monotonic() > until:
            raise Busy(KEPT_BUSY)
        time.sleep(every_s)
