"""The tables, as numbered migrations. Never edit one that has been released; add the next.

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
from evenhand.annotations.database.schema import statements, v3_to_v6, v8_to_v13, v14_to_v21
from evenhand.annotations.database.schema.v1_start import SCHEMA
from evenhand.annotations.database.schema.v7_log import KINDS, TABLES, Kind
from evenhand.core.files.timestamps import timestamp

if TYPE_CHECKING:
    from sqlite_utils import Database

SET = "evenhand"  # the migrations of this app among those that a file may hold

# Version 2: adjudication, gold labels of generations, how a desk for generations behaves.
SETTLEMENTS = """
ALTER TABLE project ADD COLUMN rescue INTEGER NOT NULL DEFAULT 0 CHECK (rescue IN (0, 1));      -- may adjudication accept what the labels reject?
ALTER TABLE project ADD COLUMN checked INTEGER NOT NULL DEFAULT 1 CHECK (checked IN (0, 1));    -- rules of a label are checked before it is saved
ALTER TABLE project ADD COLUMN blur INTEGER NOT NULL DEFAULT 0 CHECK (blur IN (0, 1));          -- a text is blurred until it is opened
ALTER TABLE project ADD COLUMN pause_minutes INTEGER CHECK (pause_minutes >= 1);                -- reminder of a pause; NULL = none
ALTER TABLE project ADD COLUMN open_text INTEGER CHECK (open_text IN (0, 1));                   -- may texts leave in plain? NULL = as is usual for the kind
ALTER TABLE project ADD COLUMN doubled INTEGER CHECK (doubled >= 0);                            -- that many items get per_item labels, the others one; NULL = all get per_item

CREATE TABLE settlement (
    id INTEGER PRIMARY KEY,
    op_id TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project(id),
    item INTEGER NOT NULL REFERENCES item(id),
    adjudicator TEXT NOT NULL CHECK (length(trim(adjudicator)) > 0),
    action TEXT NOT NULL CHECK (action IN ('decide', 'leave', 'reopen')),   -- leave: as the labels have it
    choice TEXT CHECK (choice IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they')),
    reasons TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(reasons)),
    extraneous INTEGER CHECK (extraneous IN (0, 1)),
    spans TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(spans)),
    why TEXT NOT NULL DEFAULT '',
    seen TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(seen)),   -- op_ids of the labels that were in view
    created TEXT NOT NULL,
    CHECK ((action = 'decide') = (choice IS NOT NULL))
) STRICT;
CREATE INDEX settlement_item ON settlement (item, id);
CREATE INDEX settlement_project ON settlement (project, id);
CREATE TRIGGER settlement_of_this_project BEFORE INSERT ON settlement
WHEN NOT EXISTS (SELECT 1 FROM item WHERE id = NEW.item AND project = NEW.project)
BEGIN SELECT RAISE(ABORT, 'item and settlement are of one project'); END;
CREATE TRIGGER settlement_is_never_changed BEFORE UPDATE ON settlement BEGIN SELECT RAISE(ABORT, 'settlements are appended, never changed'); END;
CREATE TRIGGER settlement_is_never_deleted BEFORE DELETE ON settlement BEGIN SELECT RAISE(ABORT, 'settlements are appended, never deleted'); END;

CREATE TABLE comment (
    id INTEGER PRIMARY KEY,
    op_id TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project(id),
    item INTEGER NOT NULL REFERENCES item(id),
    annotator INTEGER REFERENCES annotator(id),             -- NULL: the lead
    author TEXT NOT NULL CHECK (length(trim(author)) > 0),  -- the name at the time
    text TEXT NOT NULL CHECK (length(trim(text)) > 0),
    created TEXT NOT NULL
) STRICT;
CREATE INDEX comment_item ON comment (item, id);
CREATE TRIGGER comment_of_this_project BEFORE INSERT ON comment
WHEN NOT EXISTS (SELECT 1 FROM item WHERE id = NEW.item AND project = NEW.project)
BEGIN SELECT RAISE(ABORT, 'item and comment are of one project'); END;
CREATE TRIGGER comment_is_never_changed BEFORE UPDATE ON comment BEGIN SELECT RAISE(ABORT, 'comments are appended, never changed'); END;
CREATE TRIGGER comment_is_never_deleted BEFORE DELETE ON comment BEGIN SELECT RAISE(ABORT, 'comments are appended, never deleted'); END;

ALTER TABLE item ADD COLUMN gold TEXT CHECK (gold IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they'));
ALTER TABLE item ADD COLUMN split INTEGER NOT NULL DEFAULT 0 CHECK (split IN (0, 1));   -- fully labelled, and the labels differ
ALTER TABLE item ADD COLUMN settlement INTEGER REFERENCES settlement(id);               -- the one that stands; NULL: none, or reopened
CREATE INDEX item_split ON item (project, id) WHERE split = 1;
CREATE INDEX item_settled ON item (project, id) WHERE settlement IS NOT NULL;

UPDATE item SET gold = iif(status = 'accepted', 'accept', 'reject') WHERE status <> 'pending';
UPDATE item SET split = 1 WHERE labels >= wanted AND labels > 1 AND (
    SELECT count(DISTINCT label.choice) FROM assignment JOIN label ON label.id = assignment.blind
    WHERE assignment.item = item.id) > 1;
"""


def _migration(
    name: str, script: str, kinds: tuple[Kind, ...] = (), first: "Callable[[sqlite3.Connection], None] | None" = None
) -> "Callable[[Database], None]":
    """Return a migration that calls *first*, runs a script, and begins the log of the tables of *kinds*."""

    def apply(db: "Database") -> None:
        if first is not None:
            first(db.conn)
        for statement in statements(script):
            db.execute(statement)
        if kinds:
            hash_chain.begin(db.conn, kinds)

    apply.__name__ = name
    return apply


MIGRATIONS: "tuple[Callable[[Database], None], ...]" = (
    _migration("m001_start", SCHEMA),
    _migration("m002_settlements", SETTLEMENTS),
    _migration("m003_curation", v3_to_v6.CURATION),
    _migration("m004_views", v3_to_v6.VIEWS),
    _migration("m005_provenance", v3_to_v6.PROVENANCE),
    _migration("m006_accounts", v3_to_v6.ACCOUNTS),
    _migration("m007_log", TABLES, KINDS),
    _migration("m008_study", v8_to_v13.STUDIES),
    _migration("m009_owners_of_jobs", v8_to_v13.OWNERS_OF_JOBS),
    _migration("m010_identities", v8_to_v13.IDENTITIES),
    _migration("m011_study_log", "", v8_to_v13.STUDY_KINDS),
    _migration("m012_judges", v8_to_v13.JUDGES, v8_to_v13.JUDGE_KINDS),
    _migration("m013_schemes", v8_to_v13.SCHEMES, v8_to_v13.SCHEME_KINDS, v8_to_v13.allow_own_choices),
    _migration("m014_sampling", v14_to_v21.SAMPLES, v14_to_v21.SAMPLE_KINDS),
    _migration("m015_consent", v14_to_v21.CONSENTS, v14_to_v21.CONSENT_KINDS),
    _migration("m016_groups", v14_to_v21.GROUPS, v14_to_v21.GROUP_KINDS),
    _migration("m017_comparisons", v14_to_v21.COMPARISONS, v14_to_v21.COMPARISON_KINDS),
    _migration("m018_study_uses", v14_to_v21.STUDY_USES, v14_to_v21.STUDY_USE_KINDS),
    _migration("m019_drawable", v14_to_v21.DRAWABLE),
    _migration("m020_imported_gold", v14_to_v21.IMPORTED_GOLD, v14_to_v21.IMPORTED_GOLD_KINDS),
    _migration("m021_kinds_of_jobs", v14_to_v21.KINDS_OF_JOBS),
)


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
