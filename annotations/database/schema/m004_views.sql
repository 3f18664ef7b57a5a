-- Version 4. A view for each question that is asked in many places. A statement that uses a view repeats no condition, so
-- none can be forgotten: withdrawn, superseded and closed rows are not counted. Every view is a plain join or filter:
-- SQLite flattens it into the statement and uses the same indexes (tests/annotations/database/test_views.py).

-- Published: the import is complete and was not taken back. `published` numbers the batches of a project in that order.
CREATE VIEW published_batch AS SELECT * FROM batch WHERE published > 0;
CREATE VIEW published_item AS
    SELECT item.*, batch.published FROM item JOIN batch ON batch.id = item.batch AND batch.published > 0;
-- Imported: the import is complete, though it may have been taken back since. Open desks may still label such items.
CREATE VIEW imported_item AS
    SELECT item.*, batch.withdrawn FROM item JOIN batch ON batch.id = item.batch
        AND (batch.published > 0 OR batch.withdrawn = 1);

-- Valid: not superseded by what another desk had stored first. A label whose choice is NULL takes one back.
CREATE VIEW valid_label AS SELECT * FROM label WHERE superseded = 0;
CREATE VIEW valid_skip AS SELECT * FROM skip WHERE superseded = 0;
CREATE VIEW valid_retest_label AS SELECT * FROM retest_label WHERE superseded = 0;

-- Of each annotator and published item: the label that stands, and the last one made before anything was revealed.
DROP VIEW latest_label;
DROP VIEW blind_label;
CREATE VIEW standing_label AS
    SELECT label.*, item.uid AS item_uid, item.cell, item.shared, item.labels >= item.wanted AS fully_labelled
    FROM assignment JOIN label ON label.id = assignment.latest
        AND label.item = assignment.item AND label.annotator = assignment.annotator
        JOIN item ON item.id = assignment.item JOIN batch ON batch.id = item.batch AND batch.published > 0
    WHERE label.choice IS NOT NULL;
CREATE VIEW blind_label AS
    SELECT label.*, item.uid AS item_uid, item.cell, item.shared, item.labels >= item.wanted AS fully_labelled
    FROM assignment JOIN label ON label.id = assignment.blind
        AND label.item = assignment.item AND label.annotator = assignment.annotator
        JOIN item ON item.id = assignment.item JOIN batch ON batch.id = item.batch AND batch.published > 0
    WHERE label.choice IS NOT NULL;

-- Active: has joined the project and has not left it, so items are handed out to them.
CREATE VIEW active_member AS SELECT * FROM member WHERE active = 1;
CREATE VIEW current_guideline AS
    SELECT * FROM guideline
    WHERE version = (SELECT max(version) FROM guideline AS one WHERE one.project = guideline.project);
CREATE VIEW open_pilot AS SELECT * FROM pilot WHERE closed IS NULL;
-- The answer that the lead gave last for an item; where `choice` is NULL, the item is no longer a known answer.
CREATE VIEW standing_answer AS
    SELECT * FROM known WHERE id = (SELECT max(id) FROM known AS one WHERE one.item = known.item);
-- A release whose files are all written.
CREATE VIEW frozen_release AS SELECT * FROM release WHERE whole = 1;
