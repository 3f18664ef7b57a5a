"""Version 21 of the database: what each job does, as its kind and settings. Never edit it once it has been released."""

KINDS_OF_JOBS = """
ALTER TABLE job ADD COLUMN kind TEXT;  -- name of a `JobKind`; NULL: a job of an earlier version, which has a command
ALTER TABLE job ADD COLUMN settings TEXT CHECK (settings IS NULL OR json_valid(settings));
"""
