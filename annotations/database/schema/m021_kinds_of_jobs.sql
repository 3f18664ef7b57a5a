-- Version 21. What each job does, as its kind and settings.

ALTER TABLE job ADD COLUMN kind TEXT;  -- name of a `JobKind`; NULL: a job of an earlier version, which has a command
ALTER TABLE job ADD COLUMN settings TEXT CHECK (settings IS NULL OR json_valid(settings));
