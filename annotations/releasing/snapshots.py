"""The database as it is at one moment, while people go on labelling: a read transaction keeps nobody waiting."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlite_utils import Database

from annotations.store import Store, connect
from core.errors import N_, Busy


@contextmanager
def snapshot(store: Store) -> Iterator[Store]:
    """A store that only reads and sees nothing of what is written meanwhile.

    Raises Busy where the database cannot be opened a second time.
    """
    try:
        connection = connect(store.path, read_only=True)
    except sqlite3.OperationalError as error:
        raise Busy(N_("The database cannot be read now ({why}); try again in a moment."), why=str(error)) from error
    frozen = Store(Database(connection), store.path)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM project").fetchone()  # a read transaction begins with its first read
        yield frozen
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        frozen.close()
