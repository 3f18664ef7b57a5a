-- Version 14. Samples for people to label, and the inclusion probability of each item. A probability is stored before anybody has
-- seen its item, and never changes.

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
