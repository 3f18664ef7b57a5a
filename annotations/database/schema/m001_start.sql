-- Version 1. The tables as they were first released.

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
    returns INTEGER NOT NULL DEFAULT 0, -- how often a slot of an item has become free again; numbers item.returned
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
CREATE TRIGGER guideline_is_never_changed BEFORE UPDATE ON guideline BEGIN SELECT RAISE(ABORT, 'a changed guideline is a new version'); END;
CREATE TRIGGER guideline_is_never_deleted BEFORE DELETE ON guideline BEGIN SELECT RAISE(ABORT, 'labels point to their guideline'); END;

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
    recent TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(recent)),   -- cells of the last three of them
    looked INTEGER NOT NULL DEFAULT 0,  -- the last item.returned that this annotator has been past
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
    published INTEGER NOT NULL DEFAULT 0 CHECK (published >= 0),   -- 0 = invisible; else 1, 2, 3 ... in order of publishing
    pid INTEGER, started_process REAL,      -- who is filling it: an unpublished batch of a process that is gone is removed
    heard REAL NOT NULL,                    -- unix seconds of its last rows
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
    taken INTEGER NOT NULL DEFAULT 0 CHECK (taken >= 0),          -- slots in use: live leases plus annotators with a label
    returned INTEGER NOT NULL DEFAULT 0,  -- 0, or the number of the last time that a slot became free: who passed it may have it
    aside INTEGER NOT NULL DEFAULT 0 CHECK (aside IN (0, 1)),     -- everybody skipped it: for the lead
    labels INTEGER NOT NULL DEFAULT 0 CHECK (labels >= 0),        -- annotators whose last blind label stands
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'rejected')),
    CHECK ((start IS NULL) = (keyword IS NULL) AND (start IS NULL) = (stop IS NULL)),
    CHECK (start IS NULL OR (start >= 0 AND start < stop AND stop <= length(text))),
    CHECK (start IS NULL OR (stem_start >= start AND stem_start < stem_stop AND stem_stop <= stop)),
    CHECK (keyword IS NULL OR keyword = substr(text, start + 1, stop - start)),
    UNIQUE (project, hash)
) STRICT;
CREATE INDEX item_open ON item (batch, cell, rank) WHERE taken < wanted AND aside = 0;
CREATE INDEX item_returned ON item (project, returned) WHERE returned > 0 AND taken < wanted AND aside = 0;
CREATE INDEX item_aside ON item (project, id) WHERE aside = 1;
CREATE INDEX item_batch ON item (batch);
CREATE TRIGGER item_text_is_never_changed BEFORE UPDATE OF uid, project, hash, text, context, start, stop, keyword ON item
BEGIN SELECT RAISE(ABORT, 'items are never changed'); END;

-- How many published items of a cell are in which state: counts are read here, never by counting items.
CREATE TABLE census (
    cell INTEGER NOT NULL REFERENCES cell(id),
    labels INTEGER NOT NULL,
    status TEXT NOT NULL,
    aside INTEGER NOT NULL,
    items INTEGER NOT NULL CHECK (items >= 0),
    PRIMARY KEY (cell, labels, status, aside)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER item_counted AFTER UPDATE OF labels, status, aside ON item
WHEN OLD.labels <> NEW.labels OR OLD.status <> NEW.status OR OLD.aside <> NEW.aside
BEGIN
    UPDATE census SET items = items - 1
        WHERE cell = OLD.cell AND labels = OLD.labels AND status = OLD.status AND aside = OLD.aside;
    INSERT INTO census (cell, labels, status, aside, items) VALUES (NEW.cell, NEW.labels, NEW.status, NEW.aside, 1)
        ON CONFLICT DO UPDATE SET items = items + 1;
END;

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
    finished INTEGER NOT NULL DEFAULT 0 CHECK (finished IN (0, 1)),   -- walked to the end
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
CREATE INDEX label_superseded ON label (annotator, project) WHERE superseded = 1;
CREATE TRIGGER label_of_this_project BEFORE INSERT ON label
WHEN NOT EXISTS (SELECT 1 FROM item WHERE id = NEW.item AND project = NEW.project)
    OR NOT EXISTS (SELECT 1 FROM guideline WHERE id = NEW.guideline AND project = NEW.project)
BEGIN SELECT RAISE(ABORT, 'item, guideline and label are of one project'); END;
CREATE TRIGGER label_is_never_changed BEFORE UPDATE ON label BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER label_is_never_deleted BEFORE DELETE ON label BEGIN SELECT RAISE(ABORT, 'labels are appended, never deleted'); END;

-- A skip stores no label, but the same skip sent twice must count once.
CREATE TABLE skip (
    op_id TEXT PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES item(id),
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    desk TEXT NOT NULL,
    revision INTEGER NOT NULL,
    base TEXT,
    superseded INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1)),
    created TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Who has (had) which item. `latest` and `blind` point to labels, so labels themselves never change.
CREATE TABLE assignment (
    item INTEGER NOT NULL REFERENCES item(id),
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    project INTEGER NOT NULL REFERENCES project(id),
    state TEXT NOT NULL CHECK (state IN ('leased', 'labelled', 'skipped', 'released')),   -- released: the lease ran out
    turn INTEGER NOT NULL,              -- order in which items were handed to this annotator; a skip moves to the end
    skips INTEGER NOT NULL DEFAULT 0 CHECK (skips >= 0),
    revealed TEXT,                      -- when an opinion or another's label was shown for this item
    latest INTEGER REFERENCES label(id),    -- the label that stands; NULL: none, or taken back
    blind INTEGER REFERENCES label(id), -- the last one made before anything was revealed: agreement and gold use it
    op_id TEXT, desk TEXT, revision INTEGER,    -- the last operation that was not superseded
    CHECK ((state = 'labelled') = (latest IS NOT NULL)),
    CHECK (revealed IS NOT NULL OR blind IS latest),
    PRIMARY KEY (item, annotator)
) STRICT, WITHOUT ROWID;
CREATE INDEX assignment_annotator ON assignment (annotator, project, state, turn);
CREATE TRIGGER assignment_is_never_deleted BEFORE DELETE ON assignment
BEGIN SELECT RAISE(ABORT, 'assignments are released, never deleted'); END;

-- An annotator's own counts: the bars and the order on the desk come from here only.
CREATE TABLE tally (
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    cell INTEGER NOT NULL REFERENCES cell(id),
    handed INTEGER NOT NULL DEFAULT 0 CHECK (handed >= 0),      -- leased, labelled or skipped
    labelled INTEGER NOT NULL DEFAULT 0 CHECK (labelled >= 0),
    accepted INTEGER NOT NULL DEFAULT 0 CHECK (accepted >= 0),
    PRIMARY KEY (annotator, cell)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER slot_taken_first AFTER INSERT ON assignment WHEN NEW.state IN ('leased', 'labelled') OR NEW.blind IS NOT NULL
BEGIN UPDATE item SET taken = taken + 1 WHERE id = NEW.item; END;
CREATE TRIGGER slot_taken AFTER UPDATE OF state, blind ON assignment
WHEN (NEW.state IN ('leased', 'labelled') OR NEW.blind IS NOT NULL)
    AND NOT (OLD.state IN ('leased', 'labelled') OR OLD.blind IS NOT NULL)
BEGIN UPDATE item SET taken = taken + 1 WHERE id = NEW.item; END;
CREATE TRIGGER slot_freed AFTER UPDATE OF state, blind ON assignment
WHEN (OLD.state IN ('leased', 'labelled') OR OLD.blind IS NOT NULL)
    AND NOT (NEW.state IN ('leased', 'labelled') OR NEW.blind IS NOT NULL)
BEGIN
    UPDATE project SET returns = returns + 1 WHERE id = NEW.project;
    UPDATE item SET taken = taken - 1, returned = (SELECT returns FROM project WHERE id = NEW.project) WHERE id = NEW.item;
END;
CREATE TRIGGER tallied_first AFTER INSERT ON assignment
BEGIN
    INSERT INTO tally (annotator, cell, handed, labelled, accepted) VALUES (NEW.annotator,
        (SELECT cell FROM item WHERE id = NEW.item), NEW.state <> 'released', NEW.latest IS NOT NULL,
        EXISTS (SELECT 1 FROM label WHERE id = NEW.latest AND choice = 'accept'))
    ON CONFLICT DO UPDATE SET handed = handed + excluded.handed, labelled = labelled + excluded.labelled,
        accepted = accepted + excluded.accepted;
END;
CREATE TRIGGER tallied AFTER UPDATE OF state, latest ON assignment
WHEN OLD.state <> NEW.state OR OLD.latest IS NOT NEW.latest
BEGIN
    UPDATE tally SET
        handed = handed + (NEW.state <> 'released') - (OLD.state <> 'released'),
        labelled = labelled + (NEW.latest IS NOT NULL) - (OLD.latest IS NOT NULL),
        accepted = accepted + EXISTS (SELECT 1 FROM label WHERE id = NEW.latest AND choice = 'accept')
                            - EXISTS (SELECT 1 FROM label WHERE id = OLD.latest AND choice = 'accept')
    WHERE annotator = NEW.annotator AND cell = (SELECT cell FROM item WHERE id = NEW.item);
END;

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
