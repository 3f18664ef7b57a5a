-- Version 9. Whose each job is.

ALTER TABLE job ADD COLUMN project INTEGER REFERENCES project(id);  -- on which it works; NULL: on none, or not known
ALTER TABLE job ADD COLUMN account INTEGER REFERENCES account(id);  -- who started it; NULL: open mode, command line
