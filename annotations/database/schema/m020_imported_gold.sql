-- Version 20. Gold labels that a package brought without the labels they were made of. A gold label is derived from labels and
-- decisions. A package may lack some of them, for want of consent; then its gold label is a record of its own, from
-- which the recount derives gold.

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
