"""The database as of one moment, while people go on labelling; and a copy to try something on.

A copy, not a long read transaction: while somebody reads, the log of the database cannot be checkpointed. It would grow
with every label until one label has to wait for all of it.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from evenhand.annotations.database.store import Store, connect
from evenhand.core.errors import N_, Refused
from evenhand.core.files.whole_file import part_of, remove_left_over

ENDING = ".snapshot"


@contextmanager
def snapshot(store: Store) -> Iterator[Store]:
    """A read-only store that does not see later writes; its copy is deleted afterwards.

    Raises Refused where the copy cannot be made, for want of room beside the database for instance.
    """
    with _copied(store, read_only=True) as frozen:
        yield frozen


@contextmanager
def trial(store: Store) -> Iterator[Store]:
    """A store in which everything may be tried: it holds what *store* holds, and what is written there is thrown away.

    For work of many transactions that must leave nothing where it fails. Raises Refused as `snapshot`.
    """
    with _copied(store, read_only=False) as copy:
        copy.db.execute("PRAGMA synchronous = OFF")  # nothing of it has to outlive this process
        copy.db.execute("PRAGMA journal_mode = MEMORY")
        yield copy


@contextmanager
def _copied(store: Store, *, read_only: bool) -> Iterator[Store]:
    path = store.path.absolute()
    remove_left_over(path, ENDING)
    copy = part_of(path, ENDING)
    try:
        _copy(store.path, copy)
        found = Store(connect(copy, read_only=read_only), copy)
    except (OSError, sqlite3.OperationalError) as error:
        copy.unlink(missing_ok=True)
        message = N_("The database could not be copied for reading ({why}). Check the free disk space.")
        raise Refused(message, why=str(error)) from error
    try:
        yield found
    finally:
        found.close()
        for ending in ("", "-turn"):
            copy.with_name(f"{copy.name}{ending}").unlink(missing_ok=True)


def _copy(source: Path, copy: Path) -> None:
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))  # labels are for their owner
    with closing(connect(source, read_only=True)) as origin, closing(sqlite3.connect(copy)) as target:
        target.execute("PRAGMA synchronous = OFF")  # a copy may be lost
        origin.backup(target)  # in one step: it does not block writers
        target.execute("PRAGMA journal_mode = DELETE")
