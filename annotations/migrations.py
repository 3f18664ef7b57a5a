"""The tables, as numbered migrations. Never edit one that has been released; add the next.

What the database refuses on its own: a label twice (`op_id`), a changed or
deleted label (triggers), a second item with the same text in a project, a
choice or state that does not exist, a span that ends before it starts.
"""

from sqlite_utils import Database, Migrations

migrations = Migrations("evenhand")

SCHEMA = """
CREATE TABLE database (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uid TEXT NOT NULL,                  -- which database a desk belongs to: an outbox never crosses over
    secret BLOB NOT NULL,               -- signs the desk's tokens
    created TEXT NOT NULL
) STRICT;

CREATE TABLE project (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE CHECK (length(trim(name)) > 0),
    kind TEXT NOT NULL CHECK (kind IN ('sentences', 'generations')),
    language TEXT NOT NULL,
    per_item INTEGER NOT NULL CHECK (per_item >= 1),
    gold TEXT NOT NULL CHECK (gold IN ('unanimous', 'majority')),
    presentation TEXT NOT NULL CHECK (presentation IN ('original', 'masked')),
    opinion_model TEXT,                 -- whose opinion the desk may show after a label; NULL = none (default)
    seed INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL,
    archived TEXT
) STRICT;

CREATE TABLE guideline (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    version INTEGER NOT NULL CHECK (version >= 1),
    text TEXT NOT NULL,                 -- Markdown
    choices TEXT NOT NULL CHECK (json_valid(choices)),   -- [{code, key, label:{zh,en}}]
    reasons TEXT NOT NULL CHECK (json_valid(reasons)),   -- the same shape: criteria for a reject
    created TEXT NOT NULL,
    UNIQUE (project, version)
) STRICT;

CREATE TABLE annotator (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE CHECK (length(trim(name)) > 0),
    created TEXT NOT NULL
) STRICT;

CREATE TABLE member (
    project INTEGER NOT NULL REFERENCES project(id),
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
    seen REAL NOT NULL DEFAULT 0,       -- unix seconds until which this annotator's leases hold
    turn INTEGER NOT NULL DEFAULT 0,    -- how many items were ever handed to this annotator
    PRIMARY KEY (project, annotator)
) STRICT, WITHOUT ROWID;

-- A pair and side (for generations: any stratum); the queue walks cells, never all items.
CREATE TABLE cell (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    pair TEXT NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('male', 'female', '')),
    quota INTEGER CHECK (quota >= 0),   -- NULL: as many as there are
    UNIQUE (project, pair, side)
) STRICT;

CREATE TABLE batch (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    file TEXT NOT NULL,
    published INTEGER NOT NULL DEFAULT 0,   -- 0 = invisible; else 1, 2, 3 ... in order of publishing
    created TEXT NOT NULL
) STRICT;

CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project(id),
    batch INTEGER NOT NULL REFERENCES batch(id),
    cell INTEGER NOT NULL REFERENCES cell(id),
    rank INTEGER NOT NULL,              -- seeded random order inside a batch and cell
    hash BLOB NOT NULL,                 -- identity in the project: of the text (generations: context, completion, model ...)
    text TEXT NOT NULL CHECK (length(text) > 0),
    context TEXT,                       -- generations only
    start INTEGER, stop INTEGER,        -- the keyword, half-open code points
    stem_start INTEGER, stem_stop INTEGER,
    keyword TEXT, counterpart TEXT,
    file TEXT NOT NULL, line INTEGER NOT NULL,
    extra TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(extra)),   -- columns that came along
    wanted INTEGER NOT NULL CHECK (wanted >= 1),
    taken INTEGER NOT NULL DEFAULT 0 CHECK (taken >= 0),          -- live leases plus annotators with a label
    returned INTEGER NOT NULL DEFAULT 0 CHECK (returned IN (0, 1)),   -- a lease ran out or it was skipped: others may have it
    aside INTEGER NOT NULL DEFAULT 0 CHECK (aside IN (0, 1)),     -- everybody skipped it: for the lead
    labels INTEGER NOT NULL DEFAULT 0,  -- annotators whose last blind label stands
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'rejected')),
    CHECK (start IS NULL OR (start >= 0 AND start < stop AND stem_start >= start AND stem_stop <= stop)),
    UNIQUE (project, hash)
) STRICT;
CREATE INDEX item_open ON item (batch, cell, rank) WHERE taken < wanted AND aside = 0;
CREATE INDEX item_returned ON item (project, id) WHERE returned = 1 AND taken < wanted AND aside = 0;
CREATE INDEX item_counts ON item (batch, cell, status, labels);

-- What each batch holds per cell; written when the batch is published.
CREATE TABLE stock (
    batch INTEGER NOT NULL REFERENCES batch(id),
    cell INTEGER NOT NULL REFERENCES cell(id),
    items INTEGER NOT NULL,
    PRIMARY KEY (batch, cell)
) STRICT, WITHOUT ROWID;

-- How far an annotator has walked into a cell of a batch: the next item is one index seek.
CREATE TABLE progress (
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    batch INTEGER NOT NULL REFERENCES batch(id),
    cell INTEGER NOT NULL REFERENCES cell(id),
    rank INTEGER NOT NULL,              -- last rank that was handed out
    PRIMARY KEY (annotator, batch, cell)
) STRICT, WITHOUT ROWID;

CREATE TABLE label (
    id INTEGER PRIMARY KEY,
    op_id TEXT NOT NULL UNIQUE,         -- made by the desk: the same operation twice is stored once
    project INTEGER NOT NULL REFERENCES project(id),
    item INTEGER NOT NULL REFERENCES item(id),
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    guideline INTEGER NOT NULL REFERENCES guideline(id),
    choice TEXT CHECK (choice IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they')),  -- NULL = undone
    reasons TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(reasons)),
    extraneous INTEGER CHECK (extraneous IN (0, 1)),
    spans TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(spans)),
    note TEXT NOT NULL DEFAULT '',
    seconds REAL CHECK (seconds >= 0),
    form_shown TEXT NOT NULL CHECK (form_shown IN ('original', 'masked')),
    after_reveal INTEGER NOT NULL DEFAULT 0 CHECK (after_reveal IN (0, 1)),
    desk TEXT NOT NULL,
    revision INTEGER NOT NULL,
    base TEXT,                          -- op_id that this one replaces
    superseded INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1)),   -- stored, but another desk was first
    created TEXT NOT NULL
) STRICT;
CREATE INDEX label_item ON label (item, annotator);
CREATE INDEX label_annotator ON label (annotator, project, id);
CREATE TRIGGER label_is_never_changed BEFORE UPDATE ON label BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER label_is_never_deleted BEFORE DELETE ON label BEGIN SELECT RAISE(ABORT, 'labels are appended, never deleted'); END;

-- Who has (had) which item. `latest` and `blind` point to labels, so labels themselves never change.
CREATE TABLE assignment (
    item INTEGER NOT NULL REFERENCES item(id),
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    project INTEGER NOT NULL REFERENCES project(id),
    state TEXT NOT NULL CHECK (state IN ('leased', 'labelled', 'skipped')),
    turn INTEGER NOT NULL,              -- order in which items were handed to this annotator; a skip moves to the end
    skips INTEGER NOT NULL DEFAULT 0,
    revealed TEXT,                      -- when an opinion or another's label was shown for this item
    latest INTEGER REFERENCES label(id),
    blind INTEGER REFERENCES label(id), -- last label made before anything was revealed: agreement and gold use it
    PRIMARY KEY (item, annotator)
) STRICT, WITHOUT ROWID;
CREATE INDEX assignment_annotator ON assignment (annotator, project, state, turn);

-- An annotator's own counts: the bars and the order on the desk come from here only.
CREATE TABLE tally (
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    cell INTEGER NOT NULL REFERENCES cell(id),
    handed INTEGER NOT NULL DEFAULT 0,
    labelled INTEGER NOT NULL DEFAULT 0,
    accepted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (annotator, cell)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    command TEXT NOT NULL CHECK (json_valid(command)),   -- the arguments after `python cli.py`
    title TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled', 'interrupted')),
    pid INTEGER, started_process REAL,                   -- a pid alone may be another process by now
    done INTEGER NOT NULL DEFAULT 0, total INTEGER,
    message TEXT NOT NULL DEFAULT '',
    result TEXT CHECK (result IS NULL OR json_valid(result)),
    created TEXT NOT NULL, started TEXT, heartbeat REAL, finished TEXT
) STRICT;

-- The latest label of each annotator and item, and the latest blind one.
CREATE VIEW latest_label AS SELECT label.* FROM assignment JOIN label ON label.id = assignment.latest WHERE label.choice IS NOT NULL;
CREATE VIEW blind_label AS SELECT label.* FROM assignment JOIN label ON label.id = assignment.blind WHERE label.choice IS NOT NULL;
"""


@migrations()
def m001_start(db: Database) -> None:
    """Everything a sentences project needs, with room for generations."""
    for statement in _statements(SCHEMA):
        db.execute(statement)


def _statements(script: str) -> list[str]:
    # sqlite3's executescript commits first; one statement at a time keeps the migration in its transaction.
    import sqlite3

    found, part = [], ""
    for line in script.splitlines(keepends=True):
        part += line
        if part.strip() and sqlite3.complete_statement(part):
            found.append(part)
            part = ""
    return found
