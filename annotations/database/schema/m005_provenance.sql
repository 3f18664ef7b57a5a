-- Version 5. Where each label comes from. A label was made at a desk of this database (`app`: by which version of Evenhand), came
-- with a file (`label_of_file`), or its origin is not known. Version 3 introduced the record of imported files, so a
-- label that was stored after that migration and has no file was made here; of an older one nothing proves it.

ALTER TABLE label ADD COLUMN app TEXT;      -- the version of Evenhand whose desk stored it; '': not recorded; NULL: it came with a file, or nobody knows
ALTER TABLE retest_label ADD COLUMN app TEXT;   -- the same; NULL: it came with a package, or nobody knows
ALTER TABLE label_file ADD COLUMN program TEXT NOT NULL DEFAULT '';   -- that wrote the file, by its layout; '': not recorded
ALTER TABLE label_file ADD COLUMN sha256 TEXT NOT NULL DEFAULT '';    -- of the file; '': not recorded

DROP TRIGGER label_is_never_changed;
UPDATE label SET app = ''
WHERE desk NOT IN ('file', 'undo', 'lead')
    AND NOT EXISTS (SELECT 1 FROM label_of_file WHERE label_of_file.label = label.id)
    AND datetime(created) >= (SELECT datetime(applied_at) FROM _sqlite_migrations
        WHERE migration_set = 'evenhand' AND name = 'm003_curation');
CREATE TRIGGER label_is_never_changed BEFORE UPDATE ON label BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
