-- Version 15. The uses that annotators allow of their own labels. Each answer is a row that never changes; the newest of a person,
-- project and use counts.

CREATE TABLE label_consent (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    annotator INTEGER NOT NULL REFERENCES annotator(id),
    use TEXT NOT NULL CHECK (use <> ''),                         -- 'disaggregated': published label by label
    given INTEGER NOT NULL CHECK (given IN (0, 1)),              -- 0: refused or withdrawn
    recorded_by TEXT NOT NULL CHECK (recorded_by IN ('annotator', 'lead')),
    language TEXT NOT NULL CHECK (language IN ('en', 'zh')),
    text TEXT NOT NULL,                                          -- as it was read
    created TEXT NOT NULL
) STRICT;
CREATE INDEX label_consent_of ON label_consent (project, use, annotator);
CREATE TRIGGER label_consent_is_never_changed BEFORE UPDATE ON label_consent
BEGIN SELECT RAISE(ABORT, 'a changed consent is a new row'); END;
CREATE TRIGGER label_consent_is_never_deleted BEFORE DELETE ON label_consent
BEGIN SELECT RAISE(ABORT, 'a withdrawn consent is a new row'); END;
CREATE VIEW standing_consent AS SELECT * FROM label_consent AS one WHERE NOT EXISTS (
    SELECT 1 FROM label_consent AS later
    WHERE later.project = one.project AND later.use = one.use AND later.annotator = one.annotator
        AND later.id > one.id
);
