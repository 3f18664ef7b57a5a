"""Versions 3 to 6 of the database: curation, views, provenance, accounts. Never edit what has been released."""

# Version 3: from a pilot to a release.
CHOICES = "('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they')"


def _appended(table: str, what: str) -> str:
    return f"""
CREATE TRIGGER {table}_is_never_changed BEFORE UPDATE ON {table} BEGIN SELECT RAISE(ABORT, '{what}'); END;
CREATE TRIGGER {table}_is_never_deleted BEFORE DELETE ON {table} BEGIN SELECT RAISE(ABORT, '{what}'); END;
"""


def _frozen(table: str, when: str) -> str:
    abort = "BEGIN SELECT RAISE(ABORT, 'a release never changes'); END;"
    return f"""
CREATE TRIGGER {table}_is_never_changed BEFORE UPDATE ON {table} WHEN {when} {abort}
CREATE TRIGGER {table}_is_never_deleted BEFORE DELETE ON {table} WHEN {when} {abort}
"""


def _closed(table: str) -> str:
    return f"""
CREATE TRIGGER {table}_is_closed BEFORE INSERT ON {table}
WHEN (SELECT whole FROM release WHERE id = NEW.release) = 1
BEGIN SELECT RAISE(ABORT, 'a release never changes'); END;
"""


# How many labels an item gets, and retests.
PLAN = f"""
ALTER TABLE project ADD COLUMN plan TEXT NOT NULL DEFAULT 'all' CHECK (plan IN ('all', 'stop'));  -- stop: no more labels after a first reject
ALTER TABLE project ADD COLUMN share REAL NOT NULL DEFAULT 0.1 CHECK (share BETWEEN 0 AND 1);     -- of the items that all label under 'stop'
ALTER TABLE project ADD COLUMN retest REAL NOT NULL DEFAULT 0 CHECK (retest BETWEEN 0 AND 1);     -- of one's own items that come again
ALTER TABLE project ADD COLUMN retest_hours INTEGER NOT NULL DEFAULT 24 CHECK (retest_hours >= 0);
ALTER TABLE project ADD COLUMN licence TEXT NOT NULL DEFAULT '';          -- under which the set is passed on
ALTER TABLE project ADD COLUMN source_statement TEXT NOT NULL DEFAULT ''; -- where the texts come from, and by which right

ALTER TABLE item ADD COLUMN shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1));   -- under 'stop': labelled by all, whatever the first says
ALTER TABLE item ADD COLUMN known TEXT CHECK (known IN {CHOICES});                        -- hidden gold: the answer that the lead knows
CREATE INDEX item_known ON item (project, id) WHERE known IS NOT NULL;

CREATE TABLE known (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    item INTEGER NOT NULL REFERENCES item(id),
    choice TEXT CHECK (choice IN {CHOICES}),     -- NULL: it is hidden gold no more
    after INTEGER NOT NULL DEFAULT 0,           -- labels up to this one made the answer: their annotators are not scored
    why TEXT NOT NULL DEFAULT '',
    author TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL
) STRICT;
CREATE INDEX known_item ON known (item, id);
{_appended("known", "known answers are appended, never changed")}

CREATE TABLE retest (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,                   -- what the desk is sent in place of the item's id
    project INTEGER NOT NULL REFERENCES project(id),
    item INTEGER NOT NULL REFERENCES item(id),
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    due REAL NOT NULL,                          -- unix seconds from which it may be handed out
    state TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'labelled', 'skipped', 'void')),
    turn INTEGER NOT NULL DEFAULT 0,
    skips INTEGER NOT NULL DEFAULT 0 CHECK (skips >= 0),
    first INTEGER REFERENCES label(id),         -- the label that stood when it was handed out: the one to compare with
    latest INTEGER REFERENCES retest_label(id), -- the second one that stands; NULL: none, or taken back
    op_id TEXT, desk TEXT, revision INTEGER,    -- the last operation that was not superseded
    created TEXT NOT NULL,
    UNIQUE (item, annotator)
) STRICT;
CREATE INDEX retest_due ON retest (annotator, project, state, due);
CREATE TABLE retest_label (
    id INTEGER PRIMARY KEY,
    op_id TEXT NOT NULL UNIQUE,
    retest INTEGER NOT NULL REFERENCES retest(id),
    guideline INTEGER NOT NULL REFERENCES guideline(id),
    choice TEXT CHECK (choice IN {CHOICES}),     -- NULL: taken back, or skipped
    skip INTEGER NOT NULL DEFAULT 0 CHECK (skip IN (0, 1)),
    reasons TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(reasons)),
    tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
    extraneous INTEGER CHECK (extraneous IN (0, 1)),
    spans TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(spans)),
    note TEXT NOT NULL DEFAULT '',
    seconds REAL CHECK (seconds >= 0),
    form_shown TEXT NOT NULL CHECK (form_shown IN ('original', 'masked')),
    desk TEXT NOT NULL,
    revision INTEGER NOT NULL,
    base TEXT,
    superseded INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1)),
    created TEXT NOT NULL
) STRICT;
CREATE INDEX retest_label_retest ON retest_label (retest, id);
{_appended("retest_label", "labels are appended, never changed")}
"""

# Pilots, and relabelling under a new version of the guideline.
CRITERIA = """
CREATE TABLE pilot (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    number INTEGER NOT NULL CHECK (number >= 1),
    items INTEGER NOT NULL CHECK (items >= 1),
    people INTEGER NOT NULL CHECK (people >= 1),    -- how many label each of its items, where per_item is not more
    seed INTEGER NOT NULL,
    begun TEXT NOT NULL,
    closed TEXT,                                -- NULL: it goes on, and only its items are handed out
    UNIQUE (project, number)
) STRICT;
CREATE UNIQUE INDEX pilot_open ON pilot (project) WHERE closed IS NULL;
ALTER TABLE item ADD COLUMN pilot INTEGER REFERENCES pilot(id);
CREATE INDEX item_pilot ON item (pilot, rank) WHERE pilot IS NOT NULL;
ALTER TABLE label ADD COLUMN tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags));    -- free words of the annotator

-- What the lead has made of the free tags so far: a draft, kept so that nothing is lost before the version is written.
CREATE TABLE tag_draft (
    project INTEGER NOT NULL REFERENCES project(id),
    tag TEXT NOT NULL,
    code TEXT,                                  -- NULL: left out
    PRIMARY KEY (project, tag)
) STRICT, WITHOUT ROWID;
CREATE TABLE guideline_draft (
    project INTEGER PRIMARY KEY REFERENCES project(id),
    content TEXT NOT NULL CHECK (json_valid(content)),   -- {base, text, choices, reasons, changes}
    saved TEXT NOT NULL
) STRICT;

ALTER TABLE guideline ADD COLUMN changes TEXT NOT NULL DEFAULT '';   -- what is new, in the words that annotators are told
ALTER TABLE member ADD COLUMN told INTEGER NOT NULL DEFAULT 0;       -- the newest version whose changes this annotator has read
-- Sent back to its annotator: nobody else gets it, however long the annotator is away.
ALTER TABLE assignment ADD COLUMN kept INTEGER NOT NULL DEFAULT 0 CHECK (kept IN (0, 1));
CREATE INDEX assignment_kept ON assignment (project, annotator) WHERE kept = 1;
"""

# Events of the lead, files of labels that can be undone, private threads of an annotator and the lead.
RECORDS = f"""
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    item INTEGER REFERENCES item(id),
    annotator INTEGER REFERENCES annotator(id),
    action TEXT NOT NULL CHECK (length(action) > 0),
    data TEXT NOT NULL DEFAULT '{{}}' CHECK (json_valid(data)),
    author TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL
) STRICT;
CREATE INDEX event_project ON event (project, id);
CREATE INDEX event_action ON event (project, action, id);
CREATE INDEX event_item ON event (item, id) WHERE item IS NOT NULL;
{_appended("event", "events are appended, never changed")}

ALTER TABLE comment ADD COLUMN thread INTEGER REFERENCES annotator(id);   -- between this annotator and the lead; NULL: for everybody

ALTER TABLE batch ADD COLUMN undone TEXT;    -- when this import was taken back
ALTER TABLE batch ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1));   -- holds items of imports that were taken back; never published
-- Wider than before: whose standing label says what is looked up for every item of a search, without reading labels.
DROP INDEX label_item;
CREATE INDEX label_item ON label (item, annotator, choice, guideline, form_shown);

-- A file of labels that came in, so that it can be taken back.
CREATE TABLE label_file (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    file TEXT NOT NULL,
    labels INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL,
    undone TEXT
) STRICT;
CREATE TABLE label_of_file (
    file INTEGER NOT NULL REFERENCES label_file(id),
    label INTEGER NOT NULL REFERENCES label(id),
    PRIMARY KEY (file, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX label_of_file_label ON label_of_file (label);
CREATE INDEX skip_item ON skip (item);       -- an import that is taken back deletes items: each looks for what points to it

-- Items that were withdrawn are counted nowhere: whatever happens to them meanwhile moves no count.
DROP TRIGGER item_counted;
CREATE TRIGGER item_counted AFTER UPDATE OF labels, status, aside ON item
WHEN (OLD.labels <> NEW.labels OR OLD.status <> NEW.status OR OLD.aside <> NEW.aside)
    AND (SELECT withdrawn FROM batch WHERE id = NEW.batch) = 0
BEGIN
    UPDATE census SET items = items - 1
        WHERE cell = OLD.cell AND labels = OLD.labels AND status = OLD.status AND aside = OLD.aside;
    INSERT INTO census (cell, labels, status, aside, items) VALUES (NEW.cell, NEW.labels, NEW.status, NEW.aside, 1)
        ON CONFLICT DO UPDATE SET items = items + 1;
END;
DROP TRIGGER tallied;
CREATE TRIGGER tallied AFTER UPDATE OF state, latest ON assignment
WHEN (OLD.state <> NEW.state OR OLD.latest IS NOT NEW.latest)
    AND (SELECT withdrawn FROM item JOIN batch ON batch.id = item.batch WHERE item.id = NEW.item) = 0
BEGIN
    UPDATE tally SET
        handed = handed + (NEW.state <> 'released') - (OLD.state <> 'released'),
        labelled = labelled + (NEW.latest IS NOT NULL) - (OLD.latest IS NOT NULL),
        accepted = accepted + EXISTS (SELECT 1 FROM label WHERE id = NEW.latest AND choice = 'accept')
                            - EXISTS (SELECT 1 FROM label WHERE id = OLD.latest AND choice = 'accept')
    WHERE annotator = NEW.annotator AND cell = (SELECT cell FROM item WHERE id = NEW.item);
END;
"""

# Releases are stored file by file in the database: a backup holds them, and no later version of the app changes them.
RELEASES = f"""
CREATE TABLE release (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project(id),
    version TEXT NOT NULL CHECK (length(trim(version)) > 0),
    hash TEXT NOT NULL,                         -- of the contents: items, gold, labels
    items INTEGER NOT NULL CHECK (items >= 0),  -- in the release: kept ones
    labels INTEGER NOT NULL CHECK (labels >= 0),
    facts TEXT NOT NULL CHECK (json_valid(facts)),
    author TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    whole INTEGER NOT NULL DEFAULT 0 CHECK (whole IN (0, 1)),   -- 0: still being written, in short transactions; invisible
    pid INTEGER, started_process REAL,          -- who writes it: one that is not whole and whose process is gone is removed
    UNIQUE (project, version)
) STRICT;
CREATE TABLE release_file (
    release INTEGER NOT NULL REFERENCES release(id),
    name TEXT NOT NULL,
    part INTEGER NOT NULL DEFAULT 0 CHECK (part >= 0),  -- a large file comes in parts, so that labels need not wait
    sha256 TEXT NOT NULL,                       -- of the whole file, as are its bytes
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    content BLOB NOT NULL,                      -- deflated
    UNIQUE (release, name, part)
) STRICT;
CREATE TABLE release_item (
    release INTEGER NOT NULL REFERENCES release(id),
    item INTEGER NOT NULL REFERENCES item(id),
    status TEXT NOT NULL,
    gold TEXT,
    PRIMARY KEY (release, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX release_item_item ON release_item (item);
{_frozen("release", "OLD.whole = 1")}
{_frozen("release_file", "(SELECT whole FROM release WHERE id = OLD.release) = 1")}
{_frozen("release_item", "(SELECT whole FROM release WHERE id = OLD.release) = 1")}
{_closed("release_file")}
{_closed("release_item")}
"""

CURATION = PLAN + CRITERIA + RECORDS + RELEASES


# Version 4: a view for each question that is asked in many places. A statement that uses a view repeats no condition,
# so none can be forgotten: withdrawn, superseded and closed rows are not counted. Every view is a plain join or
# filter: SQLite flattens it into the statement and uses the same indexes (tests/annotations/database/test_views.py).
VIEWS = """
-- Published: the import is complete and was not taken back. `published` numbers the batches of a project in that order.
CREATE VIEW published_batch AS SELECT * FROM batch WHERE published > 0;
CREATE VIEW published_item AS
    SELECT item.*, batch.published FROM item JOIN batch ON batch.id = item.batch AND batch.published > 0;
-- Imported: the import is complete, though it may have been taken back since. Open desks may still label such items.
CREATE VIEW imported_item AS
    SELECT item.*, batch.withdrawn FROM item JOIN batch ON batch.id = item.batch
        AND (batch.published > 0 OR batch.withdrawn = 1);

-- Valid: not superseded by what another desk had stored first. A label whose choice is NULL takes one back.
CREATE VIEW valid_label AS SELECT * FROM label WHERE superseded = 0;
CREATE VIEW valid_skip AS SELECT * FROM skip WHERE superseded = 0;
CREATE VIEW valid_retest_label AS SELECT * FROM retest_label WHERE superseded = 0;

-- Of each annotator and published item: the label that stands, and the last one made before anything was revealed.
DROP VIEW latest_label;
DROP VIEW blind_label;
CREATE VIEW standing_label AS
    SELECT label.*, item.uid AS item_uid, item.cell, item.shared, item.labels >= item.wanted AS fully_labelled
    FROM assignment JOIN label ON label.id = assignment.latest
        AND label.item = assignment.item AND label.annotator = assignment.annotator
        JOIN item ON item.id = assignment.item JOIN batch ON batch.id = item.batch AND batch.published > 0
    WHERE label.choice IS NOT NULL;
CREATE VIEW blind_label AS
    SELECT label.*, item.uid AS item_uid, item.cell, item.shared, item.labels >= item.wanted AS fully_labelled
    FROM assignment JOIN label ON label.id = assignment.blind
        AND label.item = assignment.item AND label.annotator = assignment.annotator
        JOIN item ON item.id = assignment.item JOIN batch ON batch.id = item.batch AND batch.published > 0
    WHERE label.choice IS NOT NULL;

-- Active: has joined the project and has not left it, so items are handed out to them.
CREATE VIEW active_member AS SELECT * FROM member WHERE active = 1;
CREATE VIEW current_guideline AS
    SELECT * FROM guideline
    WHERE version = (SELECT max(version) FROM guideline AS one WHERE one.project = guideline.project);
CREATE VIEW open_pilot AS SELECT * FROM pilot WHERE closed IS NULL;
-- The answer that the lead gave last for an item; where `choice` is NULL, the item is no longer a known answer.
CREATE VIEW standing_answer AS
    SELECT * FROM known WHERE id = (SELECT max(id) FROM known AS one WHERE one.item = known.item);
-- A release whose files are all written.
CREATE VIEW frozen_release AS SELECT * FROM release WHERE whole = 1;
"""


# Version 5: where each label comes from. A label was made at a desk of this database (`app`: by which version of
# Evenhand), came with a file (`label_of_file`), or its origin is not known. Version 3 introduced the record of
# imported files, so a label that was stored after that migration and has no file was made here; of an older one
# nothing proves it.
PROVENANCE = """
ALTER TABLE label ADD COLUMN app TEXT;      -- the version of Evenhand whose desk stored it; '': not recorded; NULL: it came with a file, or nobody knows
ALTER TABLE retest_label ADD COLUMN app TEXT;   -- the same; NULL: it came with a package, or nobody knows
ALTER TABLE label_file ADD COLUMN program TEXT NOT NULL DEFAULT '';   -- that wrote the file, by its layout; '': not recorded
ALTER TABLE label_file ADD COLUMN sha256 TEXT NOT NULL DEFAULT '';    -- of the file; '': not recorded

DROP TRIGGER label_is_never_changed;
UPDATE label SET app = ''
WHERE desk NOT IN ('file', 'undo', 'lead')
    AND NOT EXISTS (SELECT 1 FROM label_of_file WHERE label_of_file.label = label.id)
    AND datetime(created) >= (SELECT datetime(applied_at) FROM _sqlite_migrations
        WHERE migration_set = 'evenhand' AND name = 'm003_curation');
CREATE TRIGGER label_is_never_changed BEFORE UPDATE ON label BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
"""


# Version 6: accounts, their roles and sign-ins.
ACCOUNTS = """
CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE CHECK (length(trim(name)) > 0),    -- typed to sign in
    password TEXT,                              -- Argon2id; NULL: signs in by a link or a provider only
    annotator INTEGER UNIQUE REFERENCES annotator(id),      -- as whom this person labels; NULL: not yet
    version INTEGER NOT NULL DEFAULT 1,         -- raised when every sign-in and token of this account ends
    closed TEXT,                                -- since when nobody may sign in with it
    created TEXT NOT NULL
) STRICT;

CREATE TABLE account_role (
    account INTEGER NOT NULL REFERENCES account(id),
    project INTEGER REFERENCES project(id),     -- NULL: the whole server
    role TEXT NOT NULL CHECK (role IN ('owner', 'lead', 'adjudicator', 'annotator', 'reader')),
    created TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX account_role_once ON account_role (account, ifnull(project, 0));

CREATE TABLE sign_in (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    hash BLOB NOT NULL UNIQUE,                  -- SHA-256 of what the cookie holds
    account INTEGER NOT NULL REFERENCES account(id),
    version INTEGER NOT NULL,                   -- of the account when it was made
    browser TEXT NOT NULL DEFAULT '',           -- as it names itself
    created REAL NOT NULL, seen REAL NOT NULL,  -- unix seconds
    ended REAL
) STRICT;
CREATE INDEX sign_in_account ON sign_in (account, id);

CREATE TABLE access_link (
    hash BLOB PRIMARY KEY,                      -- SHA-256 of the secret in the link
    purpose TEXT NOT NULL CHECK (purpose IN ('first', 'invite', 'reset')),
    project INTEGER REFERENCES project(id),
    role TEXT CHECK (role IN ('owner', 'lead', 'adjudicator', 'annotator', 'reader')),
    account INTEGER REFERENCES account(id),     -- whose password a reset sets
    name TEXT NOT NULL DEFAULT '',              -- of the annotator for whom an invite is meant
    uses INTEGER NOT NULL CHECK (uses >= 1),
    used INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0 AND used <= uses),
    expires REAL NOT NULL,                      -- unix seconds
    created TEXT NOT NULL,
    CHECK ((purpose = 'reset') = (account IS NOT NULL)),
    CHECK ((purpose = 'invite') = (role IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE VIEW open_account AS SELECT * FROM account WHERE closed IS NULL;

-- What was done to accounts, by whom: appended, never changed. No password, no secret of a link or a cookie.
CREATE TABLE account_event (
    id INTEGER PRIMARY KEY,
    account INTEGER REFERENCES account(id),     -- whom it concerns; NULL: an attempt with an unknown name
    author INTEGER REFERENCES account(id),      -- who did it; NULL: the system's user on the command line, or nobody
    action TEXT NOT NULL CHECK (length(action) > 0),
    data TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(data)),
    created TEXT NOT NULL
) STRICT;
CREATE TRIGGER account_event_is_never_changed BEFORE UPDATE ON account_event
BEGIN SELECT RAISE(ABORT, 'events are appended, never changed'); END;
CREATE TRIGGER account_event_is_never_deleted BEFORE DELETE ON account_event
BEGIN SELECT RAISE(ABORT, 'events are appended, never deleted'); END;
"""
