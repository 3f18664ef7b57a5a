"""The migrations: a script of `schema/` for each version. Never edit one that has been released; add the next.

The database itself refuses: a label twice (`op_id`), a changed or deleted label, guideline or assignment, a changed
sentence, a label on an item of another project, a second item with the same text in a project, a choice or state that
does not exist, a span that ends before it starts.

Its triggers count `item.taken`, `item.returned`, `tally` and `census`, so that no program can get them wrong, and write
the log. SQLite drops those of a table with the table, and any program may drop them: without them labels are stored as
usual, but without an entry. So they are compared with those of the schema, and restored.
"""

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from evenhand.annotations.database import hash_chain
from evenhand.annotations.database.schema import SCRIPTS, statements
from evenhand.annotations.database.schema.log_kinds import KINDS_BY_VERSION
from evenhand.core.files.timestamps import timestamp

if TYPE_CHECKING:
    from sqlite_utils import Database

SET = "evenhand"  # the migrations of this app among those that a file may hold

# Until version 12 tables themselves listed the six choices that there were; from version 13 on triggers ask the
# guideline. Only the text of the conditions changes, no row: SQLite's own procedure for such a change ("Making Other
# Kinds Of Table Schema Changes", https://www.sqlite.org/lang_altertable.html) writes it into the schema.
LISTED, ANY = "IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they')", "<> ''"
TABLES = ("label", "settlement", "item", "known", "retest_label", "study_question")  # with the condition


def allow_own_choices(db: sqlite3.Connection) -> None:
    """Let the tables store any choice, inside the caller's transaction; triggers ask the guideline instead."""
    (version,) = db.execute("PRAGMA schema_version").fetchone()
    db.execute("PRAGMA writable_schema = ON")
    marks = ", ".join("?" * len(TABLES))
    changed = db.execute(
        f"UPDATE sqlite_schema SET sql = replace(sql, ?, ?)"
        f" WHERE type = 'table' AND name IN ({marks}) AND instr(sql, ?)",
        (LISTED, ANY, *TABLES, LISTED),
    ).rowcount
    db.execute(f"PRAGMA schema_version = {version + 1}")
    db.execute("PRAGMA writable_schema = RESET")
    if changed != len(TABLES):
        raise sqlite3.DatabaseError(f"{changed} of {len(TABLES)} tables have the condition that version 13 changes")


def _migration(name: str) -> "Callable[[Database], None]":
    """Return the migration that runs a script and begins the log of the tables that this version adds to it."""

    def apply(db: "Database") -> None:
        if name == "m013_schemes":
            allow_own_choices(db.conn)
        for statement in statements(SCRIPTS[name].read_text(encoding="utf-8")):
            db.execute(statement)
        if name in KINDS_BY_VERSION:
            hash_chain.begin(db.conn, KINDS_BY_VERSION[name])

    apply.__name__ = name
    return apply


MIGRATIONS: "tuple[Callable[[Database], None], ...]" = tuple(map(_migration, SCRIPTS))


def applied_migrations(connection: sqlite3.Connection) -> set[str] | None:
    """Return the names of the migrations that a file has; empty for an empty file, None for one of another program."""
    # Tables and the record of their migration are committed together.
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return set()
    if "_sqlite_migrations" not in tables:
        return None
    query = "SELECT name FROM _sqlite_migrations WHERE migration_set = ?"
    return {str(row[0]) for row in connection.execute(query, (SET,))} or None


def migrate(connection: sqlite3.Connection) -> None:
    """Apply the migrations that a file lacks; call it inside a transaction."""
    from sqlite_utils import Database, Migrations  # loads pandas, which only a new or older file needs

    found = Migrations(SET)
    for migration in MIGRATIONS:
        found()(migration)
    found.apply(Database(connection))


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
    stored, due = dict(db.execute(_TRIGGERS).fetchall()), _of_schema(len(MIGRATIONS))
    return Differences(
        tuple(name for name in due if name not in stored),
        tuple(name for name in due if name in stored and stored[name] != due[name]),
        tuple(name for name in stored if name not in due),
    )


@lru_cache(maxsize=2)
def _of_schema(_versions: int) -> dict[str, str]:
    """Return the statements of all triggers by name, from a new database in memory (half a second)."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        hash_chain.register(db)
        migrate(db)
        return dict(db.execute(_TRIGGERS).fetchall())


def restore_triggers(db: sqlite3.Connection) -> Differences:
    """Create missing and changed triggers again, inside the caller's transaction, and write an entry of the log.

    Rows that were written without them stay as they are, so that `log verify` finds them. Triggers that the schema does
    not have are left alone. Returns what differed.
    """
    differences = different_triggers(db)
    if not (differences.missing or differences.changed):
        return differences
    due = _of_schema(len(MIGRATIONS))
    for name in differences.changed:
        db.execute(f'DROP TRIGGER "{name}"')
    for name in (*differences.missing, *differences.changed):
        db.execute(due[name])
    hash_chain.append_start(db, {f"{RESTORED} {timestamp()}": asdict(differences)})
    names = (*differences.missing, *differences.changed)
    message = "%d triggers of the database were missing or changed and were restored: %s"
    logger.warning(message, len(names), named(names))
    return differences
