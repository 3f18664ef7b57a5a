"""Whose turn it is to write.

SQLite lets a program that waits for the write lock sleep for up to 100 ms at a
time, and whoever asks in the moment between two transactions gets it. Beside a
program that writes without a pause one that waits can be out of luck for as long
as it has patience. Here the threads of one process stand in a line; of the
processes one waits at SQLite's lock, asking often, and the others queue behind
it, so who has just written does not come first again.

All of this only says who asks first. That two never write at once is SQLite's
work alone: where the file of the queue cannot be had, its lock is not known on
that disk, or it was deleted while somebody waits, turns are less fair and
nothing else.
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

from core.errors import N_, Busy
from core.files.sqlite_wal import BUSY

ASK_S = 0.0005  # how often the process whose turn it is asks SQLite
QUEUE_S = 0.002  # how often the others look whether it is theirs

KEPT_BUSY = N_("Another program keeps the database busy. Nothing was stored; try again in a moment.")
NOT_WRITTEN = N_("The database could not be written ({why}). Nothing was stored; check the disk and its permissions.")


class Line:
    """The threads of one process that want to write, first come, first served."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[tuple[threading.Lock, int]] = deque()
        self._writer: int | None = None

    def enter(self, patience_s: float) -> bool:
        """Wait for this thread's turn; whether it came within *patience_s* seconds. `leave` has to follow then.

        Raises RuntimeError where the thread has its turn already: it would wait for itself.
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
        except BaseException:  # the wait was broken off, by Ctrl-C for instance: nobody is called who has gone
            if not self._leave_line(place):
                self.leave()
            raise
        return not self._leave_line(place)

    def _leave_line(self, place: tuple[threading.Lock, int]) -> bool:
        """Give up a place in the line; False where the turn came at that very moment and is this thread's now."""
        with self._guard:
            if place in self._waiting:
                self._waiting.remove(place)
                return True
        return False

    def leave(self) -> None:
        """Call the next one."""
        with self._guard:
            self._writer = None
            if self._waiting:
                called, self._writer = self._waiting.popleft()
                called.release()


_lines: dict[Path, Line] = {}
# A process that is split off has none of the threads that stand in line here.
os.register_at_fork(after_in_child=_lines.clear)


@contextmanager
def turn(connection: sqlite3.Connection, path: Path, patience_s: float) -> Iterator[None]:
    """A transaction of *connection* begun with the write lock; the caller ends it before this is left.

    Processes queue with a lock on the file beside the database that ends in `-turn`, which is empty and stays there;
    *path* may be any name of the database. Raises Busy, and nothing is begun, where the lock is not to be had within
    *patience_s* seconds; sqlite3.OperationalError for every other refusal of the database; RuntimeError within
    another turn of the same thread.
    """
    until = time.monotonic() + patience_s
    own = path.resolve()  # where SQLite has its log too, by whatever link the database was opened
    line = _lines.setdefault(own, Line())
    if not line.enter(patience_s):
        raise Busy(KEPT_BUSY)
    try:
        with _first_in_the_queue(own, until - patience_s / 2):
            _begin(connection, until)
        yield
    finally:
        line.leave()


@contextmanager
def _first_in_the_queue(path: Path, until: float) -> Iterator[None]:
    try:
        queue = os.open(path.with_name(f"{path.name}-turn"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # another user's, or a folder that takes no file: SQLite says whether it can write here
        yield
        return
    try:
        # Who is first there may be halted, or hang at a disk: after *until* SQLite decides as it does without a queue.
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
    except OSError:  # a disk that knows no such locks
        return True
    return True


def _leave(queue: int) -> None:
    try:
        # In so many words: a process split off meanwhile has the file open too, and closing it here would not do.
        fcntl.flock(queue, fcntl.LOCK_UN)
    except OSError:
        pass
    finally:
        os.close(queue)


def _begin(connection: sqlite3.Connection, until: float) -> None:
    (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        _wait(lambda: _has_begun(connection), ASK_S, until)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {usual}")


def _has_begun(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if (error.sqlite_errorcode or 0) & 0xFF in BUSY:
            return False
        raise
    return True


def _wait(ready: Callable[[], bool], every_s: float, until: float) -> None:
    while not ready():
        if time.monotonic() > until:
            raise Busy(KEPT_BUSY)
        time.sleep(every_s)
