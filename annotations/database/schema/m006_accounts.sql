-- Version 6. Accounts, their roles and sign-ins.

CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE CHECK (length(trim(name)) > 0),    -- typed to sign in
    password TEXT,                              -- Argon2id; NULL: signs in by a link or a provider only
    annotator INTEGER UNIQUE REFERENCES annotator(id),      -- as whom this person labels; NULL: not yet
    version INTEGER NOT NULL DEFAULT 1,         -- raised when every sign-in and token of this account ends
    closed TEXT,                                -- since when nobody may sign in with it
    created TEXT NOT NULL
) STRICT;

CREATE TABLE account_role (
    account INTEGER NOT NULL REFERENCES account(id),
    project INTEGER REFERENCES project(id),     -- NULL: the whole server
    role TEXT NOT NULL CHECK (role IN ('owner', 'lead', 'adjudicator', 'annotator', 'reader')),
    created TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX account_role_once ON account_role (account, ifnull(project, 0));

CREATE TABLE sign_in (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    hash BLOB NOT NULL UNIQUE,                  -- SHA-256 of what the cookie holds
    account INTEGER NOT NULL REFERENCES account(id),
    version INTEGER NOT NULL,                   -- of the account when it was made
    browser TEXT NOT NULL DEFAULT '',           -- as it names itself
    created REAL NOT NULL, seen REAL NOT NULL,  -- unix seconds
    ended REAL
) STRICT;
CREATE INDEX sign_in_account ON sign_in (account, id);

CREATE TABLE access_link (
    hash BLOB PRIMARY KEY,                      -- SHA-256 of the secret in the link
    purpose TEXT NOT NULL CHECK (purpose IN ('first', 'invite', 'reset')),
    project INTEGER REFERENCES project(id),
    role TEXT CHECK (role IN ('owner', 'lead', 'adjudicator', 'annotator', 'reader')),
    account INTEGER REFERENCES account(id),     -- whose password a reset sets
    name TEXT NOT NULL DEFAULT '',              -- of the annotator for whom an invite is meant
    uses INTEGER NOT NULL CHECK (uses >= 1),
    used INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0 AND used <= uses),
    expires REAL NOT NULL,                      -- unix seconds
    created TEXT NOT NULL,
    CHECK ((purpose = 'reset') = (account IS NOT NULL)),
    CHECK ((purpose = 'invite') = (role IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE VIEW open_account AS SELECT * FROM account WHERE closed IS NULL;

-- What was done to accounts, by whom: appended, never changed. No password, no secret of a link or a cookie.
CREATE TABLE account_event (
    id INTEGER PRIMARY KEY,
    account INTEGER REFERENCES account(id),     -- whom it concerns; NULL: an attempt with an unknown name
    author INTEGER REFERENCES account(id),      -- who did it; NULL: the system's user on the command line, or nobody
    action TEXT NOT NULL CHECK (length(action) > 0),
    data TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(data)),
    created TEXT NOT NULL
) STRICT;
CREATE TRIGGER account_event_is_never_changed BEFORE UPDATE ON account_event
BEGIN SELECT RAISE(ABORT, 'events are appended, never changed'); END;
CREATE TRIGGER account_event_is_never_deleted BEFORE DELETE ON account_event
BEGIN SELECT RAISE(ABORT, 'events are appended, never deleted'); END;
