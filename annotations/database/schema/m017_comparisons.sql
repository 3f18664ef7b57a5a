-- Version 17. Comparisons, items with a second text. Of a label of a comparison is stored which text was on the left. Its entry in
-- the log holds the second text too, as the entry of the label holds the first.

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
