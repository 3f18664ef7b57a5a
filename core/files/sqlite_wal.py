"""The write-ahead log of an SQLite file: readers never wait for writers."""

import sqlite3
import time

PAUSE_S = 0.02
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def primary_code(error: sqlite3.Error) -> int:
    """Return the primary result code of SQLite; 0 for an error of the module itself (text that is not UTF-8)."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def write_ahead(connection: sqlite3.Connection, patience_s: float) -> None:
    """Switch the file of *connection* to a write-ahead log; the setting stays in the file.

    While another connection is in the way, the function tries again for *patience_s* seconds, then raises
    sqlite3.OperationalError. SQLite's own waiting is off meanwhile: each try would wait for a whole timeout.
    """
    until = time.monotonic() + patience_s
    waits = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if primary_code(error) not in BUSY or time.monotonic() > until:
                    raise
            time.sleep(PAUSE_S)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {waits}")
