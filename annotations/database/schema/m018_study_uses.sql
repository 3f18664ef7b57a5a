-- Version 18. Uses of labels that a study's consent form asks about. The answer of a person becomes their consent (`label_consent`)
-- with the first text, when they become an annotator.

CREATE TABLE study_use (
    id INTEGER PRIMARY KEY,
    consent INTEGER NOT NULL REFERENCES study_consent(id),  -- the version that asks
    use TEXT NOT NULL CHECK (use <> ''),
    UNIQUE (consent, use)
) STRICT;
CREATE TRIGGER study_use_is_never_changed BEFORE UPDATE ON study_use
BEGIN SELECT RAISE(ABORT, 'a changed consent is a new version'); END;
CREATE TRIGGER study_use_is_never_deleted BEFORE DELETE ON study_use
BEGIN SELECT RAISE(ABORT, 'a changed consent is a new version'); END;

CREATE TABLE study_answer (
    id INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES study_person(id),
    use TEXT NOT NULL CHECK (use <> ''),
    given INTEGER NOT NULL CHECK (given IN (0, 1)),
    text TEXT NOT NULL,                                     -- as it was read
    UNIQUE (person, use)
) STRICT;
CREATE TRIGGER study_answer_is_never_changed BEFORE UPDATE ON study_answer
BEGIN SELECT RAISE(ABORT, 'a withdrawn consent is a row of label_consent'); END;
CREATE TRIGGER study_answer_is_never_deleted BEFORE DELETE ON study_answer
BEGIN SELECT RAISE(ABORT, 'a withdrawn consent is a row of label_consent'); END;
