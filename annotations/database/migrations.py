"""The tables, as numbered migrations. Never edit one that has been released; add the next.

The database itself refuses: a label twice (`op_id`), a changed or deleted label, guideline or assignment, a changed
sentence, a label on an item of another project, a second item with the same text in a project, a choice or state that
does not exist, a span that ends before it starts.

Its triggers count `item.taken`, `item.returned`, `tally` and `census`, so that no program can get them wrong.
"""

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

from evenhand.annotations.database.chain import begin
from evenhand.annotations.database.schema import statements
from evenhand.annotations.database.schema.v1_start import SCHEMA
from evenhand.annotations.database.schema.v3_curation import CURATION
from evenhand.annotations.database.schema.v4_views import VIEWS
from evenhand.annotations.database.schema.v5_provenance import PROVENANCE
from evenhand.annotations.database.schema.v6_accounts import ACCOUNTS
from evenhand.annotations.database.schema.v7_log import KINDS, TABLES
from evenhand.annotations.database.schema.v8_study import STUDIES
from evenhand.annotations.database.schema.v9_jobs import OWNERS_OF_JOBS
from evenhand.annotations.database.schema.v10_identities import IDENTITIES
from evenhand.annotations.database.schema.v11_study_log import STUDY_KINDS
from evenhand.annotations.database.schema.v12_judges import JUDGE_KINDS, JUDGES
from evenhand.annotations.database.schema.v13_schemes import SCHEME_KINDS, SCHEMES, allow_own_choices
from evenhand.annotations.database.schema.v14_sampling import SAMPLE_KINDS, SAMPLES
from evenhand.annotations.database.schema.v15_consent import CONSENT_KINDS, CONSENTS
from evenhand.annotations.database.schema.v16_groups import GROUP_KINDS, GROUPS
from evenhand.annotations.database.schema.v17_comparisons import COMPARISON_KINDS, COMPARISONS
from evenhand.annotations.database.schema.v18_study_uses import STUDY_USE_KINDS, STUDY_USES
from evenhand.annotations.database.schema.v19_drawable import DRAWABLE
from evenhand.annotations.database.schema.v20_imported_gold import IMPORTED_GOLD, IMPORTED_GOLD_KINDS
from evenhand.annotations.database.schema.v21_job_kinds import KINDS_OF_JOBS

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


def m001_start(db: "Database") -> None:
    """Everything a sentences project needs, with room for generations."""
    for statement in statements(SCHEMA):
        db.execute(statement)


def m002_settlements(db: "Database") -> None:
    """Adjudication with its comments, gold labels for every kind, settings of a desk for generations."""
    for statement in statements(SETTLEMENTS):
        db.execute(statement)


def m003_curation(db: "Database") -> None:
    """Pilots, plans of labels, retests, known answers, events, releases."""
    for statement in statements(CURATION):
        db.execute(statement)


def m004_views(db: "Database") -> None:
    """A view for every common question: what is published, which labels count, who is active."""
    for statement in statements(VIEWS):
        db.execute(statement)


def m005_provenance(db: "Database") -> None:
    """Where each label comes from: the version that stored it, or the file that it came with."""
    for statement in statements(PROVENANCE):
        db.execute(statement)


def m006_accounts(db: "Database") -> None:
    """Accounts, their roles and sign-ins, links that let somebody in."""
    for statement in statements(ACCOUNTS):
        db.execute(statement)


def m007_log(db: "Database") -> None:
    """The log: a chain of hashes that triggers write, begun with a hash of the tables as they are."""
    for statement in statements(TABLES):
        db.execute(statement)
    begin(db.conn, KINDS)


def m008_study(db: "Database") -> None:
    """Online studies: consent, test, people under pseudonyms, their outside ids apart."""
    for statement in statements(STUDIES):
        db.execute(statement)


def m009_owners_of_jobs(db: "Database") -> None:
    """Whose each job is: its project, and the account that started it."""
    for statement in statements(OWNERS_OF_JOBS):
        db.execute(statement)


def m010_identities(db: "Database") -> None:
    """As whom a provider of identities knows an account."""
    for statement in statements(IDENTITIES):
        db.execute(statement)


def m011_study_log(db: "Database") -> None:
    """The log has studies too: their settings, what people agreed to, how their part ended."""
    begin(db.conn, STUDY_KINDS)


def m012_judges(db: "Database") -> None:
    """Judges, their labels, what failed, and what each may be worse by; all but failures have entries in the log."""
    for statement in statements(JUDGES):
        db.execute(statement)
    begin(db.conn, JUDGE_KINDS)


def m013_schemes(db: "Database") -> None:
    """Schemes of one's own: choices that the guideline names, kinds of spans."""
    allow_own_choices(db.conn)
    for statement in statements(SCHEMES):
        db.execute(statement)
    begin(db.conn, SCHEME_KINDS)


def m014_sampling(db: "Database") -> None:
    """Samples for people to label, with the inclusion probability of each item; both have entries in the log."""
    for statement in statements(SAMPLES):
        db.execute(statement)
    begin(db.conn, SAMPLE_KINDS)


def m015_consent(db: "Database") -> None:
    """What annotators allow to be done with their own labels, with entries in the log."""
    for statement in statements(CONSENTS):
        db.execute(statement)
    begin(db.conn, CONSENT_KINDS)


def m016_groups(db: "Database") -> None:
    """Groups of annotators, with entries in the log."""
    for statement in statements(GROUPS):
        db.execute(statement)
    begin(db.conn, GROUP_KINDS)


def m017_comparisons(db: "Database") -> None:
    """Items with a second text, and which text was on the left of whom."""
    for statement in statements(COMPARISONS):
        db.execute(statement)
    begin(db.conn, COMPARISON_KINDS)


def m018_study_uses(db: "Database") -> None:
    """Uses of labels that a study's consent form asks about, with entries in the log."""
    for statement in statements(STUDY_USES):
        db.execute(statement)
    begin(db.conn, STUDY_USE_KINDS)


def m019_drawable(db: "Database") -> None:
    """Let samples draw items that a desk gave back without a label."""
    for statement in statements(DRAWABLE):
        db.execute(statement)


def m020_imported_gold(db: "Database") -> None:
    """Create the table of gold labels that packages brought without their labels, with entries in the log."""
    for statement in statements(IMPORTED_GOLD):
        db.execute(statement)
    begin(db.conn, IMPORTED_GOLD_KINDS)


def m021_kinds_of_jobs(db: "Database") -> None:
    """Store what each job does as its kind and settings."""
    for statement in statements(KINDS_OF_JOBS):
        db.execute(statement)


MIGRATIONS: "tuple[Callable[[Database], None], ...]" = (
    m001_start, m002_settlements, m003_curation, m004_views, m005_provenance, m006_accounts, m007_log,
    m008_study, m009_owners_of_jobs, m010_identities, m011_study_log, m012_judges,
    m013_schemes, m014_sampling, m015_consent, m016_groups, m017_comparisons,
    m018_study_uses, m019_drawable, m020_imported_gold, m021_kinds_of_jobs,
)  # fmt: skip


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
