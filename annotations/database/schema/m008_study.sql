-- Version 8. Studies whose people come by a link.

CREATE TABLE study (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project(id),
    name TEXT NOT NULL UNIQUE CHECK (length(trim(name)) > 0),
    service TEXT NOT NULL CHECK (service IN ('link', 'prolific', 'mturk')),  -- who sends the people, with which ids
    items INTEGER NOT NULL CHECK (items >= 1),          -- that one person labels
    places INTEGER NOT NULL CHECK (places >= 1),        -- people who are at work or have finished
    reward REAL NOT NULL CHECK (reward >= 0),           -- of one person, in `currency`
    currency TEXT NOT NULL CHECK (length(trim(currency)) > 0),
    floor REAL NOT NULL CHECK (floor >= 0),             -- an hour; 0: none
    minutes INTEGER NOT NULL CHECK (minutes >= 5),      -- without a sign of life, then somebody is away
    pause INTEGER CHECK (pause >= 1),                   -- minutes of work before a break is suggested; NULL: never
    cover INTEGER NOT NULL CHECK (cover IN (0, 1)),     -- is each text blurred until it is opened?
    questions INTEGER NOT NULL CHECK (questions >= 0),  -- questions of the test in one try; 0: no test
    pass_mark INTEGER NOT NULL CHECK (pass_mark >= 0 AND pass_mark <= questions),  -- of them right
    keep_days INTEGER NOT NULL CHECK (keep_days >= 0),  -- the outside id, after the end of its person's part
    contact TEXT NOT NULL CHECK (length(trim(contact)) > 0),
    warning_en TEXT NOT NULL, warning_zh TEXT NOT NULL, -- before the first text
    code_finished TEXT NOT NULL, code_screened_out TEXT NOT NULL, code_withdrew TEXT NOT NULL,
    created TEXT NOT NULL,
    closed TEXT                                         -- since when nobody new comes in
) STRICT;

-- What people agree to, in both languages: a changed text is a new version.
CREATE TABLE study_consent (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES study(id),
    version INTEGER NOT NULL CHECK (version >= 1),
    en TEXT NOT NULL CHECK (length(trim(en)) > 0),
    zh TEXT NOT NULL CHECK (length(trim(zh)) > 0),
    created TEXT NOT NULL,
    UNIQUE (study, version)
) STRICT;
CREATE TRIGGER study_consent_is_never_changed BEFORE UPDATE ON study_consent
BEGIN SELECT RAISE(ABORT, 'a changed consent is a new version'); END;
CREATE TRIGGER study_consent_is_never_deleted BEFORE DELETE ON study_consent
BEGIN SELECT RAISE(ABORT, 'people agreed to it'); END;

-- Copies of items with a known answer, for the test: what was asked does not change with the project.
CREATE TABLE study_question (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES study(id),
    text TEXT NOT NULL CHECK (length(text) > 0),
    context TEXT NOT NULL DEFAULT '',
    start INTEGER, stop INTEGER,                        -- the keyword, half-open code points
    answer TEXT NOT NULL CHECK (answer IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they')),
    CHECK ((start IS NULL) = (stop IS NULL))
) STRICT;
CREATE INDEX study_question_study ON study_question (study);

-- A person under a pseudonym; nothing here says who it is.
CREATE TABLE study_person (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    study INTEGER NOT NULL REFERENCES study(id),
    annotator INTEGER UNIQUE REFERENCES annotator(id),  -- NULL until the first text
    hash BLOB NOT NULL UNIQUE,                          -- SHA-256 of what the cookie holds
    state TEXT NOT NULL CHECK (state IN
        ('test', 'ready', 'working', 'finished', 'screened_out', 'withdrew', 'timed_out')),
    consent INTEGER NOT NULL REFERENCES study_consent(id),
    consent_language TEXT NOT NULL CHECK (consent_language IN ('en', 'zh')),
    consent_hash TEXT NOT NULL,                         -- SHA-256 of the text as it was read
    consented TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0 CHECK (tries IN (0, 1, 2)),
    right INTEGER,                                      -- answers of the last try
    came REAL NOT NULL, seen REAL NOT NULL,             -- unix seconds
    begun REAL,                                         -- at the first text
    completed REAL,                                     -- all labels made; stays when the labels are withdrawn later
    ended REAL,
    CHECK ((ended IS NULL) = (state IN ('test', 'ready', 'working'))),
    CHECK (state <> 'working' OR annotator IS NOT NULL),
    CHECK ((begun IS NULL) = (annotator IS NULL))
) STRICT;
CREATE INDEX study_person_study ON study_person (study, state);

-- Who it is for the service that sent the person: the only place of it, erased after `study.keep_days`.
CREATE TABLE study_identity (
    person INTEGER PRIMARY KEY REFERENCES study_person(id),
    study INTEGER NOT NULL REFERENCES study(id),
    outside TEXT NOT NULL,                              -- PROLIFIC_PID, workerId
    session TEXT NOT NULL,                              -- SESSION_ID, assignmentId
    task TEXT NOT NULL,                                 -- STUDY_ID, hitId
    UNIQUE (study, outside)
) STRICT;
