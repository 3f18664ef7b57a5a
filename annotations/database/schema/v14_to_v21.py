"""Versions 14 to 21 of the database: samples, consent, groups, comparisons, imported gold labels.

Never edit what has been released.
"""

from evenhand.annotations.database.schema.v7_log import ITEM, TEXT, Kind, named, uids

# Version 14: samples for people to label, and the inclusion probability of each item. A probability is stored before
# anybody has seen its item, and never changes.
SAMPLES = """
CREATE TABLE sample (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    number INTEGER NOT NULL CHECK (number >= 1),            -- 1, 2, 3 ... in the project
    design TEXT NOT NULL CHECK (design IN ('simple', 'stratified', 'clusters', 'disagreement', 'variance', 'quotas')),
    items INTEGER NOT NULL CHECK (items >= 1),              -- drawn
    share REAL NOT NULL CHECK (share > 0 AND share <= 1),   -- of the probability that all items have alike
    settings TEXT NOT NULL CHECK (json_valid(settings)),    -- columns of the strata, measure, judges
    seed INTEGER NOT NULL,
    created TEXT NOT NULL,
    closed TEXT,                                            -- NULL: only its items are handed out
    UNIQUE (project, number)
) STRICT;
CREATE UNIQUE INDEX sample_open ON sample (project) WHERE closed IS NULL;
CREATE TRIGGER sample_is_never_changed BEFORE UPDATE OF id, project, number, design, items, share, settings, seed,
    created ON sample
BEGIN SELECT RAISE(ABORT, 'a sample stays as it was drawn'); END;
CREATE TRIGGER sample_is_never_deleted BEFORE DELETE ON sample
BEGIN SELECT RAISE(ABORT, 'a sample stays as it was drawn'); END;

-- Every item that could have been drawn, whether it was or not.
CREATE TABLE inclusion (
    id INTEGER PRIMARY KEY,
    sample INTEGER NOT NULL REFERENCES sample(id),
    item INTEGER NOT NULL REFERENCES item(id),
    probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
    stratum TEXT NOT NULL DEFAULT '',
    drawn INTEGER NOT NULL CHECK (drawn IN (0, 1)),
    UNIQUE (sample, item)
) STRICT;
CREATE INDEX inclusion_drawn ON inclusion (item) WHERE drawn = 1;
CREATE INDEX inclusion_of ON inclusion (sample, drawn);
CREATE TRIGGER inclusion_of_this_project BEFORE INSERT ON inclusion
WHEN NOT EXISTS (SELECT 1 FROM item JOIN sample ON sample.id = NEW.sample AND sample.project = item.project
    WHERE item.id = NEW.item)
BEGIN SELECT RAISE(ABORT, 'item and sample are of one project'); END;
CREATE TRIGGER inclusion_before_it_is_seen BEFORE INSERT ON inclusion
WHEN EXISTS (SELECT 1 FROM assignment WHERE item = NEW.item)
BEGIN SELECT RAISE(ABORT, 'a probability is stored before anybody sees the item'); END;
CREATE TRIGGER inclusion_is_never_changed BEFORE UPDATE ON inclusion
BEGIN SELECT RAISE(ABORT, 'probabilities are appended, never changed'); END;
CREATE TRIGGER inclusion_is_never_deleted BEFORE DELETE ON inclusion
BEGIN SELECT RAISE(ABORT, 'probabilities are appended, never deleted'); END;

CREATE VIEW open_sample AS SELECT * FROM sample WHERE closed IS NULL;
-- An item is drawn once: a later sample is drawn from what is left.
CREATE VIEW drawn_item AS
    SELECT inclusion.item, inclusion.sample, sample.project, sample.number, probability, stratum
    FROM inclusion JOIN sample ON sample.id = inclusion.sample WHERE drawn = 1;
"""

_NUMBER = "(SELECT number FROM sample WHERE id = {r}.sample)"

SAMPLE_KINDS: tuple[Kind, ...] = (
    Kind(
        "sample", "{r}.id", (*uids("project"), *named("number design items share settings seed created closed")),
        watched=("closed",),
    ),
    Kind("inclusion", "{r}.id", (_NUMBER, *uids("item"), *named("probability stratum drawn")), beside=TEXT),
)  # fmt: skip


# Version 15: the uses that annotators allow of their own labels. Each answer is a row that never changes; the
# newest of a person, project and use counts.
CONSENTS = """
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
"""


CONSENT_KINDS: tuple[Kind, ...] = (
    Kind(
        "label_consent", "{r}.id",
        (*uids("project", "annotator"), *named("use given recorded_by language text created")),
    ),
)  # fmt: skip


# Version 16: groups of annotators, as by dialect or first language. In which group a person is may be changed and
# removed at any time; a removed answer leaves a hash without its salt.
GROUPS = """
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
"""

_CHANGING = ("value", "recorded_by", "created")

GROUP_KINDS: tuple[Kind, ...] = (
    Kind("grouping", "{r}.id", (*uids("project"), *named("name options created"))),
    Kind(
        "annotator_group", "{r}.id", (*uids("annotator"), *named("grouping ~value recorded_by created")),
        watched=_CHANGING, removed=True,
    ),
)  # fmt: skip


# Version 17: comparisons, items with a second text. Of a label of a comparison is stored which text was on the left.
# Its entry in the log holds the second text too, as the entry of the label holds the first.
COMPARISONS = """
ALTER TABLE item ADD COLUMN second TEXT CHECK (length(second) > 0);     -- of a comparison: the other text; else NULL
CREATE TRIGGER item_second_is_never_changed BEFORE UPDATE OF second ON item
BEGIN SELECT RAISE(ABORT, 'items are never changed'); END;

-- Of a label of a comparison, or of the second label of a retest: which of the item's texts was on the left.
CREATE TABLE left_text (
    op_id TEXT PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES item(id),
    place TEXT CHECK (place IN ('first', 'second'))     -- NULL: it came with a file that does not say
) STRICT, WITHOUT ROWID;
CREATE TRIGGER left_text_is_never_changed BEFORE UPDATE ON left_text
BEGIN SELECT RAISE(ABORT, 'what was shown is appended, never changed'); END;
CREATE TRIGGER left_text_is_never_deleted BEFORE DELETE ON left_text
BEGIN SELECT RAISE(ABORT, 'what was shown is appended, never deleted'); END;

-- The same of a judge: which text stood first in its prompt.
CREATE TABLE judge_order (
    label INTEGER PRIMARY KEY REFERENCES judge_label(id),
    item INTEGER NOT NULL REFERENCES item(id),
    place TEXT CHECK (place IN ('first', 'second'))
) STRICT;
CREATE TRIGGER judge_order_is_never_changed BEFORE UPDATE ON judge_order
BEGIN SELECT RAISE(ABORT, 'what was shown is appended, never changed'); END;
CREATE TRIGGER judge_order_is_never_deleted BEFORE DELETE ON judge_order
BEGIN SELECT RAISE(ABORT, 'what was shown is appended, never deleted'); END;
"""

_SECOND = ITEM.format(part="log_text(x'', second)")

COMPARISON_KINDS: tuple[Kind, ...] = (
    Kind("left_text", "{r}.op_id", ("{r}.op_id", *uids("item"), *named("place")), beside=_SECOND),
    Kind("judge_order", "{r}.label", ("{r}.label", *uids("item"), *named("place")), beside=_SECOND),
)


# Version 18: uses of labels that a study's consent form asks about. The answer of a person becomes their consent
# (`label_consent`) with the first text, when they become an annotator.
STUDY_USES = """
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
"""

STUDY_USE_KINDS: tuple[Kind, ...] = (
    Kind("study_use", "{r}.id", named("consent use")),
    Kind("study_answer", "{r}.id", named("person use given text")),
)


# Version 19: an item that a desk gave back without a label can be drawn. Until version 18 an item was lost to samples
# as soon as a desk had prefetched it.
DRAWABLE = """
DROP TRIGGER inclusion_before_it_is_seen;
CREATE TRIGGER inclusion_before_it_is_labelled BEFORE INSERT ON inclusion
WHEN EXISTS (SELECT 1 FROM assignment WHERE item = NEW.item AND state <> 'released')
BEGIN SELECT RAISE(ABORT, 'a probability is stored before anybody labels the item'); END;
"""


# Version 20: gold labels that a package brought without the labels they were made of. A gold label is derived from
# labels and decisions. A package may lack some of them, for want of consent; then its gold label is a record of its
# own, from which the recount derives gold.
IMPORTED_GOLD = """
CREATE TABLE imported_gold (
    id INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(id),
    item INTEGER NOT NULL REFERENCES item(id),
    file INTEGER NOT NULL REFERENCES label_file(id),        -- the package that it came with
    gold TEXT CHECK (gold <> ''),                           -- NULL: the package says that there is no gold label
    holds INTEGER NOT NULL CHECK (holds IN (0, 1)),         -- 0: taken back, because the import was undone
    label INTEGER NOT NULL DEFAULT 0,                       -- labels after this one were made or imported later
    settlement INTEGER REFERENCES settlement(id),           -- the decision in force at that time; NULL: none
    created TEXT NOT NULL
) STRICT;
CREATE INDEX imported_gold_item ON imported_gold (item, id);
CREATE INDEX imported_gold_file ON imported_gold (file, item);
CREATE TRIGGER imported_gold_of_this_project BEFORE INSERT ON imported_gold
WHEN NOT EXISTS (SELECT 1 FROM item WHERE id = NEW.item AND project = NEW.project)
    OR NOT EXISTS (SELECT 1 FROM label_file WHERE id = NEW.file AND project = NEW.project)
BEGIN SELECT RAISE(ABORT, 'item, file and gold label are of one project'); END;
CREATE TRIGGER imported_gold_choice_of_a_guideline BEFORE INSERT ON imported_gold
WHEN NEW.gold NOT NULL AND NOT EXISTS (SELECT 1 FROM guideline, json_each(guideline.choices) AS one
    WHERE guideline.project = NEW.project AND one.value ->> 'code' = NEW.gold)
BEGIN SELECT RAISE(ABORT, 'this is no choice of a guideline of the project'); END;
CREATE TRIGGER imported_gold_is_never_changed BEFORE UPDATE ON imported_gold
BEGIN SELECT RAISE(ABORT, 'gold labels are appended, never changed'); END;
CREATE TRIGGER imported_gold_is_never_deleted BEFORE DELETE ON imported_gold
BEGIN SELECT RAISE(ABORT, 'gold labels are appended, never deleted'); END;

-- Of each item the last record, unless it was taken back.
CREATE VIEW standing_gold AS SELECT * FROM imported_gold
    WHERE id = (SELECT max(id) FROM imported_gold AS one WHERE one.item = imported_gold.item) AND holds = 1;
-- In force: neither has an adjudicator acted since, nor has the item all its labels with a later one among them.
CREATE VIEW gold_in_force AS SELECT brought.* FROM standing_gold AS brought JOIN item ON item.id = brought.item
    WHERE brought.settlement IS item.settlement AND (item.labels < item.wanted OR NOT EXISTS (
        SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.blind > brought.label));
"""


IMPORTED_GOLD_KINDS: tuple[Kind, ...] = (
    Kind("imported_gold", "{r}.id", (*uids("project", "item"), *named("file gold holds label settlement created"))),
)


# Version 21: what each job does, as its kind and settings.
KINDS_OF_JOBS = """
ALTER TABLE job ADD COLUMN kind TEXT;  -- name of a `JobKind`; NULL: a job of an earlier version, which has a command
ALTER TABLE job ADD COLUMN settings TEXT CHECK (settings IS NULL OR json_valid(settings));
"""
