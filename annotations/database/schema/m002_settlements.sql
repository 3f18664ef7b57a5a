-- Version 2. Adjudication, gold labels of generations, how a desk for generations behaves.

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
