"""Versions 8 to 13 of the database: studies, judges, own schemes. Never edit what has been released."""

import sqlite3

from evenhand.annotations.database.schema.v7_log import TEXT, VERSION, Kind, named, uids

# Version 8: studies whose people come by a link.
STUDIES = """
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
"""


# Version 9: whose each job is.
OWNERS_OF_JOBS = """
ALTER TABLE job ADD COLUMN project INTEGER REFERENCES project(id);  -- on which it works; NULL: on none, or not known
ALTER TABLE job ADD COLUMN account INTEGER REFERENCES account(id);  -- who started it; NULL: open mode, command line
"""


# Version 10: identities at a provider.
IDENTITIES = """
-- As whom a provider (OpenID Connect) knows an account: by its issuer and subject, never by an e-mail address.
CREATE TABLE account_identity (
    issuer TEXT NOT NULL CHECK (length(issuer) > 0),
    subject TEXT NOT NULL CHECK (length(subject) > 0),
    account INTEGER NOT NULL REFERENCES account(id),
    created TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_identity_account ON account_identity (account);
"""


# Version 11: studies, what people agreed to, and how their part ended, have entries in the log. The log says which
# pseudonym agreed to which text, never whose it is: outside ids are in `study_identity`, have no entry, and are
# erased.
_STUDY = (
    "uid project name service items places reward currency floor minutes pause cover questions pass_mark keep_days"
    " contact warning_en warning_zh created closed"
)
_PERSON = "uid study annotator state consent consent_language consent_hash consented tries right completed ended"

STUDY_KINDS: tuple[Kind, ...] = (
    Kind("study_consent", "{r}.id", named("study version en zh created")),
    Kind("study", "{r}.id", named(_STUDY), watched=tuple(_STUDY.split())),
    Kind("study_person", "{r}.id", named(_PERSON), watched=tuple(_PERSON.split())),
)


# Version 12: judges, which label as people do, and their labels. No table of people's labels, of the queue or of a
# count knows them: what a judge said is never at a desk.
JUDGES = """
CREATE TABLE judge (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project(id),
    name TEXT NOT NULL CHECK (length(trim(name)) > 0),
    kind TEXT NOT NULL CHECK (kind IN ('rule', 'model', 'server', 'file')),
    guideline INTEGER NOT NULL REFERENCES guideline(id),    -- whose choices it gives, and whose text its prompt holds
    model TEXT NOT NULL, address TEXT NOT NULL,             -- of a server: without a key
    system TEXT NOT NULL, prompt TEXT NOT NULL,             -- as they were sent, with the places for the text
    settings TEXT NOT NULL CHECK (json_valid(settings)),    -- decoding: whatever else can change a label
    hash TEXT NOT NULL,                                     -- SHA-256 of all that can change a label
    signature TEXT NOT NULL,
    created TEXT NOT NULL,
    UNIQUE (project, name),
    UNIQUE (project, hash)
) STRICT;
CREATE TRIGGER judge_is_never_changed BEFORE UPDATE ON judge
BEGIN SELECT RAISE(ABORT, 'a changed judge is another judge'); END;
CREATE TRIGGER judge_is_never_deleted BEFORE DELETE ON judge
BEGIN SELECT RAISE(ABORT, 'labels point to their judge'); END;

CREATE TABLE judge_label (
    id INTEGER PRIMARY KEY,
    judge INTEGER NOT NULL REFERENCES judge(id),
    item INTEGER NOT NULL REFERENCES item(id),
    round INTEGER NOT NULL DEFAULT 0 CHECK (round >= 0),    -- 0: the label; 1, 2 ...: asked again, for drift
    choice TEXT NOT NULL,
    extraneous INTEGER CHECK (extraneous IN (0, 1)),        -- NULL: it was not asked, or cannot say
    spans TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(spans)),
    shares TEXT CHECK (shares IS NULL OR json_valid(shares)),    -- by choice, of samples or probability
    samples INTEGER NOT NULL DEFAULT 1 CHECK (samples >= 1),
    answered TEXT NOT NULL DEFAULT '',                      -- which model the server says has answered
    tokens_in INTEGER, tokens_out INTEGER,                  -- as the server counts; NULL: it does not
    seconds REAL CHECK (seconds >= 0),
    created TEXT NOT NULL,
    UNIQUE (judge, item, round)
) STRICT;
CREATE TRIGGER judge_label_of_this_project BEFORE INSERT ON judge_label
WHEN NOT EXISTS (SELECT 1 FROM item JOIN judge ON judge.id = NEW.judge AND judge.project = item.project
    WHERE item.id = NEW.item)
BEGIN SELECT RAISE(ABORT, 'item and judge are of one project'); END;
CREATE TRIGGER judge_label_of_this_guideline BEFORE INSERT ON judge_label
WHEN NOT EXISTS (SELECT 1 FROM judge JOIN guideline ON guideline.id = judge.guideline,
    json_each(guideline.choices) AS one WHERE judge.id = NEW.judge AND one.value ->> 'code' = NEW.choice)
BEGIN SELECT RAISE(ABORT, 'this is no choice of the guideline'); END;
CREATE TRIGGER judge_label_is_never_changed BEFORE UPDATE ON judge_label
BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER judge_label_is_never_deleted BEFORE DELETE ON judge_label
BEGIN SELECT RAISE(ABORT, 'labels are appended, never deleted'); END;

-- What could not be had of one text; it is asked again when the judge is run again.
CREATE TABLE judge_failure (
    id INTEGER PRIMARY KEY,
    judge INTEGER NOT NULL REFERENCES judge(id),
    item INTEGER NOT NULL REFERENCES item(id),
    round INTEGER NOT NULL DEFAULT 0,
    message TEXT NOT NULL, data TEXT NOT NULL CHECK (json_valid(data)),    -- a sentence and its values
    created TEXT NOT NULL
) STRICT;
CREATE INDEX judge_failure_judge ON judge_failure (judge, round, item);

-- What a judge may be worse by than an annotator: chosen once, before the test is looked at.
CREATE TABLE judge_margin (
    id INTEGER PRIMARY KEY,
    judge INTEGER NOT NULL UNIQUE REFERENCES judge(id),
    eps REAL NOT NULL CHECK (eps >= 0 AND eps <= 1),
    labels INTEGER NOT NULL CHECK (labels >= 0),            -- of this judge when it was chosen
    created TEXT NOT NULL
) STRICT;
CREATE TRIGGER judge_margin_is_never_changed BEFORE UPDATE ON judge_margin
BEGIN SELECT RAISE(ABORT, 'it was chosen before looking'); END;
CREATE TRIGGER judge_margin_is_never_deleted BEFORE DELETE ON judge_margin
BEGIN SELECT RAISE(ABORT, 'it was chosen before looking'); END;
"""


JUDGE_KINDS: tuple[Kind, ...] = (
    Kind(
        "judge",
        "{r}.id",
        (
            "{r}.uid",
            *uids("project"),
            VERSION,
            *named("name kind model address system prompt settings hash signature created"),
        ),
    ),
    Kind(
        "judge_label",
        "{r}.id",
        (*uids("judge", "item"), *named("round choice extraneous spans shares samples answered created")),
        beside=f"log_row({{r}}.id, {TEXT})",
    ),
    Kind("judge_margin", "{r}.id", (*uids("judge"), *named("eps labels created"))),
)


# Version 13: schemes of one's own, whose choices the guideline names. Until version 12 the tables themselves listed
# the six choices that there were. Now a trigger asks the guideline. Only the text of the conditions changes, no row:
# SQLite's own procedure for such a change ("Making Other Kinds Of Table Schema Changes",
# https://www.sqlite.org/lang_altertable.html) writes it into the schema.
OLD = "('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they')"
LISTED, ANY = f"IN {OLD}", "<> ''"
TABLES = ("label", "settlement", "item", "known", "retest_label", "study_question")  # with the condition


def _of_guideline(table: str) -> str:
    return f"""
CREATE TRIGGER {table}_choice_of_its_guideline BEFORE INSERT ON {table}
WHEN NEW.choice NOT {LISTED} AND NOT EXISTS (SELECT 1 FROM guideline, json_each(guideline.choices) AS one
    WHERE guideline.id = NEW.guideline AND one.value ->> 'code' = NEW.choice)
BEGIN SELECT RAISE(ABORT, 'this is no choice of the guideline'); END;
"""


def _of_project(table: str) -> str:
    return f"""
CREATE TRIGGER {table}_choice_of_a_guideline BEFORE INSERT ON {table}
WHEN NEW.choice NOT {LISTED} AND NOT EXISTS (SELECT 1 FROM guideline, json_each(guideline.choices) AS one
    WHERE guideline.project = NEW.project AND one.value ->> 'code' = NEW.choice)
BEGIN SELECT RAISE(ABORT, 'this is no choice of a guideline of the project'); END;
"""


SCHEMES = f"""
-- What a version of the guideline has beside choices and flags (its reasons), where its scheme is the project's own.
CREATE TABLE scheme (
    guideline INTEGER PRIMARY KEY REFERENCES guideline(id),
    content TEXT NOT NULL CHECK (json_valid(content))   -- {{spans, needs, about}}
) STRICT;
CREATE TRIGGER scheme_is_never_changed BEFORE UPDATE ON scheme
BEGIN SELECT RAISE(ABORT, 'a changed scheme is a new version of the guideline'); END;
CREATE TRIGGER scheme_is_never_deleted BEFORE DELETE ON scheme
BEGIN SELECT RAISE(ABORT, 'labels point to their guideline'); END;
{_of_guideline("label")}
{_of_guideline("retest_label")}
{_of_project("settlement")}
{_of_project("known")}
"""

_PROJECT = (
    "(SELECT project.uid FROM guideline JOIN project ON project.id = guideline.project"
    " WHERE guideline.id = {r}.guideline)"
)

SCHEME_KINDS: tuple[Kind, ...] = (Kind("scheme", "{r}.guideline", (_PROJECT, VERSION, "{r}.content")),)


def allow_own_choices(db: sqlite3.Connection) -> None:
    """Let the tables store any choice, inside the caller's transaction; triggers ask the guideline instead."""
    (version,) = db.execute("PRAGMA schema_version").fetchone()
    db.execute("PRAGMA writable_schema = ON")
    marks = ", ".join("?" * len(TABLES))
    changed = db.execute(
        f"UPDATE sqlite_schema SET sql = replace(sql, ?, ?)"
        f" WHERE type = 'table' AND name IN ({marks}) AND instr(sql, ?)",
        (LISTED, ANY, *TABLES, LISTED),
    ).rowcount
    db.execute(f"PRAGMA schema_version = {version + 1}")
    db.execute("PRAGMA writable_schema = RESET")
    if changed != len(TABLES):
        raise sqlite3.DatabaseError(f"{changed} of {len(TABLES)} tables have the condition that version 13 changes")
