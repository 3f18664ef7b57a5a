-- Version 16. Groups of annotators, as by dialect or first language. In which group a person is may be changed and removed at any
-- time; a removed answer leaves a hash without its salt.

-- What annotators of a project are grouped by, and the groups that there are.
CREATE TABLE grouping (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    name TEXT NOT NULL CHECK (name <> ''),
    options TEXT NOT NULL CHECK (json_valid(options)),
    created TEXT NOT NULL,
    UNIQUE (project, name)
) STRICT;
CREATE TRIGGER grouping_is_never_changed BEFORE UPDATE ON grouping
BEGIN SELECT RAISE(ABORT, 'answers point to their grouping'); END;
CREATE TRIGGER grouping_is_never_deleted BEFORE DELETE ON grouping
BEGIN SELECT RAISE(ABORT, 'answers point to their grouping'); END;

CREATE TABLE annotator_group (
    id INTEGER PRIMARY KEY,
    grouping INTEGER NOT NULL REFERENCES grouping(id),
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    value TEXT NOT NULL,                                            -- one of the options
    recorded_by TEXT NOT NULL CHECK (recorded_by IN ('annotator', 'lead')),
    created TEXT NOT NULL,
    UNIQUE (grouping, annotator)
) STRICT;
DROP TRIGGER log_salt_is_deleted_with_its_text;
CREATE TRIGGER log_salt_is_deleted_with_its_text BEFORE DELETE ON log_salt
WHEN OLD.kind NOT IN ('annotator', 'account')
    AND NOT (OLD.kind = 'annotator_group' AND NOT EXISTS (SELECT 1 FROM annotator_group WHERE id = OLD.row))
    AND NOT EXISTS (SELECT 1 FROM scrubbed WHERE kind = OLD.kind AND row = OLD.row AND part = OLD.part)
BEGIN SELECT RAISE(ABORT, 'a salt goes with its text'); END;
