"""Comparison of the triggers of a database with those of the schema, and their restoration.

Triggers write the log, keep the counts and refuse changed labels. SQLite drops those of a table with the table, and any
program may drop them: without them labels are stored as usual, but without an entry.
"""

import hashlib
import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import lru_cache

from evenhand.annotations.database import chain, migrations
from evenhand.core.files.timestamps import timestamp

# SHA-256 over names and statements of all triggers of the newest version: opening a database compares only this.
DIGEST = "ddfb110363d2949d0cdf69a4da189eddb264f545e5f4e1eeb26eb2f8e9eb5c59"
NAMED = 5  # triggers that one sentence names
RESTORED = "triggers restored"  # of an entry of the log, before its moment
_TRIGGERS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Differences:
    """Names of triggers that a database lacks, that have another statement, and that the schema does not have."""

    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.unknown)


def named(names: Sequence[str]) -> str:
    """Return the first names in one line."""
    return ", ".join(names[:NAMED]) + (" ..." if len(names) > NAMED else "")


def digest_of_triggers(db: sqlite3.Connection) -> str:
    """Return the SHA-256 over names and statements of the triggers, in hex."""
    return hashlib.sha256(repr(db.execute(_TRIGGERS).fetchall()).encode()).hexdigest()


def different_triggers(db: sqlite3.Connection) -> Differences:
    """Compare the triggers of a database of the newest version with the schema."""
    if digest_of_triggers(db) == DIGEST:
        return Differences()
    stored, due = dict(db.execute(_TRIGGERS).fetchall()), _of_schema(len(migrations.MIGRATIONS))
    return Differences(
        tuple(name for name in due if name not in stored),
        tuple(name for name in due if name in stored and stored[name] != due[name]),
        tuple(name for name in stored if name not in due),
    )


@lru_cache(maxsize=2)
def _of_schema(_versions: int) -> dict[str, str]:
    """Return the statements of all triggers by name, from a new database in memory (half a second)."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        chain.register(db)
        migrations.migrate(db)
        return dict(db.execute(_TRIGGERS).fetchall())


def restore_triggers(db: sqlite3.Connection) -> Differences:
    """Create missing and changed triggers again, inside the caller's transaction, and write an entry of the log.

    Rows that were written without them stay as they are, so that `log verify` finds them. Triggers that the schema does
    not have are left alone. Returns what differed.
    """
    differences = different_triggers(db)
    if not (differences.missing or differences.changed):
        return differences
    due = _of_schema(len(migrations.MIGRATIONS))
    for name in differences.changed:
        db.execute(f'DROP TRIGGER "{name}"')
    for name in (*differences.missing, *differences.changed):
        db.execute(due[name])
    chain.append_start(db, {f"{RESTORED} {timestamp()}": asdict(differences)})
    names = (*differences.missing, *differences.changed)
    message = "%d triggers of the database were missing or changed and were restored: %s"
    logger.warning(message, len(names), named(names))
    return differences
