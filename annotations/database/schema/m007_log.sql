-- Version 7. The log: a chain of hashes over what changes labels, settings and people (log_kinds.py).

CREATE TABLE log (
    id INTEGER PRIMARY KEY CHECK (id >= 1),     -- 1, 2, 3 ... without a gap
    kind TEXT NOT NULL CHECK (length(kind) > 0),    -- the table, or 'start'
    row ANY NOT NULL,                           -- which row of it
    at INTEGER NOT NULL,                        -- unix milliseconds
    body TEXT CHECK (body IS NULL OR json_valid(body)),     -- [before, after] of a row that may change; else NULL
    annotator INTEGER REFERENCES annotator(id), -- in whose own chain the entry is
    own BLOB,                                   -- SHA-256 of the entry before in that chain and the row
    hash BLOB NOT NULL                          -- SHA-256 of the hash of the entry before and of this entry
) STRICT;
CREATE INDEX log_own ON log (annotator) WHERE annotator IS NOT NULL;
CREATE INDEX log_day ON log (at / 86400000);
CREATE TRIGGER log_is_never_changed BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'the log is appended, never changed'); END;
CREATE TRIGGER log_is_never_deleted BEFORE DELETE ON log
BEGIN SELECT RAISE(ABORT, 'the log is appended, never deleted'); END;

-- The salt of each text and name. Without it nobody can try out what the hash in the log may stand for.
CREATE TABLE log_salt (
    kind TEXT NOT NULL,
    row ANY NOT NULL,
    part TEXT NOT NULL,                         -- the column; of a row that may change, with its text: 'name:Ada'
    salt BLOB NOT NULL,
    PRIMARY KEY (kind, row, part)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER log_salt_is_never_changed BEFORE UPDATE ON log_salt
BEGIN SELECT RAISE(ABORT, 'a salt is never changed'); END;

-- Texts of erased people: what stands in place of the text, and its salted hash, so that the log still holds.
CREATE TABLE scrubbed (
    kind TEXT NOT NULL,
    row ANY NOT NULL,
    part TEXT NOT NULL,
    hash TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (kind, row, part)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER scrubbed_is_never_changed BEFORE UPDATE ON scrubbed
BEGIN SELECT RAISE(ABORT, 'a text is scrubbed for good'); END;
CREATE TRIGGER scrubbed_is_never_deleted BEFORE DELETE ON scrubbed
BEGIN SELECT RAISE(ABORT, 'a text is scrubbed for good'); END;
CREATE TRIGGER log_salt_is_deleted_with_its_text BEFORE DELETE ON log_salt
WHEN OLD.kind NOT IN ('annotator', 'account')
    AND NOT EXISTS (SELECT 1 FROM scrubbed WHERE kind = OLD.kind AND row = OLD.row AND part = OLD.part)
BEGIN SELECT RAISE(ABORT, 'a salt goes with its text'); END;
-- A skip may take a label back: it is appended like a label.
CREATE TRIGGER skip_is_never_changed BEFORE UPDATE ON skip
BEGIN SELECT RAISE(ABORT, 'skips are appended, never changed'); END;
CREATE TRIGGER skip_is_never_deleted BEFORE DELETE ON skip
BEGIN SELECT RAISE(ABORT, 'skips are appended, never deleted'); END;
