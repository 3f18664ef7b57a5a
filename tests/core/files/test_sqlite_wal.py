"""Switching a file to its write-ahead log while other connections lock it."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.core.files.sqlite_wal import write_ahead


def test_wal_mode_is_stored_in_the_file(tmp_path: Path) -> None:
    for _ in range(2):
        connection = sqlite3.connect(tmp_path / "a.db")
        write_ahead(connection, 1.0)
        connection.execute("CREATE TABLE IF NOT EXISTS t (x)")
        connection.close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as after:
        assert after.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_switching_to_wal_waits_for_a_lock(tmp_path: Path) -> None:
    holder = sqlite3.connect(tmp_path / "a.db", check_same_thread=False, isolation_level=None)
    holder.execute("CREATE TABLE t (x)")
    holder.execute("BEGIN EXCLUSIVE")
    other = sqlite3.connect(tmp_path / "a.db", timeout=0)
    let_go = threading.Timer(0.2, holder.execute, ("COMMIT",))
    let_go.start()
    write_ahead(other, 30.0)
    let_go.join()
    with closing(holder), closing(other):
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_switching_to_wal_gives_up_after_its_timeout(tmp_path: Path) -> None:
    holder = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    holder.execute("CREATE TABLE t (x)")
    holder.execute("BEGIN EXCLUSIVE")
    other = sqlite3.connect(tmp_path / "a.db", timeout=0)
    with closing(holder), closing(other), pytest.raises(sqlite3.OperationalError, match="locked"):
        write_ahead(other, 0.05)
