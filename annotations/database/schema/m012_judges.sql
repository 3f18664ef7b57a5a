-- Version 12. Judges, which label as people do, and their labels. No table of people's labels, of the queue or of a count knows
-- them: what a judge said is never at a desk.

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
