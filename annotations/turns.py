"""Whose turn it is to write.

SQLite lets a program that waits for the write lock sleep for up to 100 ms at a
time, and whoever asks in the moment between two transactions gets it. Beside a
program that writes without a pause one that waits can be out of luck for as long
as it has patience. Here the threads of one process queue at a lock of their own;
of the processes one waits at SQLite's lock, asking often, and the others queue
behind it, so who has just written does not come first again.
"""

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import N_, Busy
from core.journal import BUSY

ASK_S = 0.0005  # how often the process whose turn it is asks SQLite
QUEUE_S = 0.002  # how often the others look whether it is theirs

KEPT_BUSY = N_("Another program keeps the database busy. Nothing was stored; try again in a moment.")
NOT_WRITTEN = N_("The database could not be written ({why}). Nothing was stored; check the disk and its permissions.")

_threads: dict[Path, threading.Lock] = {}


@contextmanager
def turn(connection: sqlite3.Connection, path: Path, patience_s: float) -> Iterator[None]:
    """A transaction of *connection* begun with the write lock; the caller ends it before this is left.

    Processes queue with a lock on the file beside the database that ends in `-turn`, which is empty and stays there.
    Raises Busy, and nothing is begun, where the lock is not to be had within *patience_s* seconds or that file cannot
    be made; sqlite3.OperationalError for every other refusal of the database.
    """
    until = time.monotonic() + patience_s
    lock = _threads.setdefault(path.absolute(), threading.Lock())
    if not lock.acquire(timeout=patience_s):
        raise Busy(KEPT_BUSY)
    try:
        with _first_in_the_queue(path, until):
            _begin(connection, until)
        yield
    finally:
        lock.release()


@contextmanager
def _first_in_the_queue(path: Path, until: float) -> Iterator[None]:
    try:
        queue = os.open(path.with_name(f"{path.name}-turn"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Busy(NOT_WRITTEN, why=error.strerror or error) from error
    try:
        _wait(lambda: _is_mine(queue), QUEUE_S, until)
        yield
    finally:
        os.close(queue)  # and with it the lock


def _is_mine(queue: int) -> bool:
    try:
        fcntl.flock(queue, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
