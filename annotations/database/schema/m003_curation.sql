-- Version 3. From a pilot to a release.

-- How many labels an item gets, and retests.
ALTER TABLE project ADD COLUMN plan TEXT NOT NULL DEFAULT 'all' CHECK (plan IN ('all', 'stop'));  -- stop: no more labels after a first reject
ALTER TABLE project ADD COLUMN share REAL NOT NULL DEFAULT 0.1 CHECK (share BETWEEN 0 AND 1);     -- of the items that all label under 'stop'
ALTER TABLE project ADD COLUMN retest REAL NOT NULL DEFAULT 0 CHECK (retest BETWEEN 0 AND 1);     -- of one's own items that come again
ALTER TABLE project ADD COLUMN retest_hours INTEGER NOT NULL DEFAULT 24 CHECK (retest_hours >= 0);
ALTER TABLE project ADD COLUMN licence TEXT NOT NULL DEFAULT '';          -- under which the set is passed on
ALTER TABLE project ADD COLUMN source_statement TEXT NOT NULL DEFAULT ''; -- where the texts come from, and by which right

ALTER TABLE item ADD COLUMN shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1));   -- under 'stop': labelled by all, whatever the first says
ALTER TABLE item ADD COLUMN known TEXT CHECK (known IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they'));                        -- hidden gold: the answer that the lead knows
CREATE INDEX item_known ON item (project, id) WHERE known IS NOT NULL;

CREATE TABLE known (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    item INTEGER NOT NULL REFERENCES item(id),
    choice TEXT CHECK (choice IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they')),     -- NULL: it is hidden gold no more
    after INTEGER NOT NULL DEFAULT 0,           -- labels up to this one made the answer: their annotators are not scored
    why TEXT NOT NULL DEFAULT '',
    author TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL
) STRICT;
CREATE INDEX known_item ON known (item, id);

CREATE TRIGGER known_is_never_changed BEFORE UPDATE ON known BEGIN SELECT RAISE(ABORT, 'known answers are appended, never changed'); END;
CREATE TRIGGER known_is_never_deleted BEFORE DELETE ON known BEGIN SELECT RAISE(ABORT, 'known answers are appended, never changed'); END;

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
    choice TEXT CHECK (choice IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they')),     -- NULL: taken back, or skipped
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

CREATE TRIGGER retest_label_is_never_changed BEFORE UPDATE ON retest_label BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER retest_label_is_never_deleted BEFORE DELETE ON retest_label BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;

-- Pilots, and relabelling under a new version of the guideline.
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

-- Events of the lead, files of labels that can be undone, private threads of an annotator and the lead.
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    item INTEGER REFERENCES item(id),
    annotator INTEGER REFERENCES annotator(id),
    action TEXT NOT NULL CHECK (length(action) > 0),
    data TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(data)),
    author TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL
) STRICT;
CREATE INDEX event_project ON event (project, id);
CREATE INDEX event_action ON event (project, action, id);
CREATE INDEX event_item ON event (item, id) WHERE item IS NOT NULL;

CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are appended, never changed'); END;
CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are appended, never changed'); END;

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

-- Releases are stored file by file in the database: a backup holds them, and no later version of the app changes them.
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

CREATE TRIGGER release_is_never_changed BEFORE UPDATE ON release WHEN OLD.whole = 1 BEGIN SELECT RAISE(ABORT, 'a release never changes'); END;
CREATE TRIGGER release_is_never_deleted BEFORE DELETE ON release WHEN OLD.whole = 1 BEGIN SELECT RAISE(ABORT, 'a release never changes'); END;

CREATE TRIGGER release_file_is_never_changed BEFORE UPDATE ON release_file WHEN (SELECT whole FROM release WHERE id = OLD.release) = 1 BEGIN SELECT RAISE(ABORT, 'a release never changes'); END;
CREATE TRIGGER release_file_is_never_deleted BEFORE DELETE ON release_file WHEN (SELECT whole FROM release WHERE id = OLD.release) = 1 BEGIN SELECT RAISE(ABORT, 'a release never changes'); END;

CREATE TRIGGER release_item_is_never_changed BEFORE UPDATE ON release_item WHEN (SELECT whole FROM release WHERE id = OLD.release) = 1 BEGIN SELECT RAISE(ABORT, 'a release never changes'); END;
CREATE TRIGGER release_item_is_never_deleted BEFORE DELETE ON release_item WHEN (SELECT whole FROM release WHERE id = OLD.release) = 1 BEGIN SELECT RAISE(ABORT, 'a release never changes'); END;

CREATE TRIGGER release_file_is_closed BEFORE INSERT ON release_file
WHEN (SELECT whole FROM release WHERE id = NEW.release) = 1
BEGIN SELECT RAISE(ABORT, 'a release never changes'); END;

CREATE TRIGGER release_item_is_closed BEFORE INSERT ON release_item
WHEN (SELECT whole FROM release WHERE id = NEW.release) = 1
BEGIN SELECT RAISE(ABORT, 'a release never changes'); END;
