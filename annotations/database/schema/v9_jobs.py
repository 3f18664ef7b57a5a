"""Version 9 of the database: whose each job is. Never edit it once it has been released."""

OWNERS_OF_JOBS = """
ALTER TABLE job ADD COLUMN project INTEGER REFERENCES project(id);  -- on which it works; NULL: on none, or not known
ALTER TABLE job ADD COLUMN account INTEGER REFERENCES account(id);  -- who started it; NULL: open mode, command line
"""
