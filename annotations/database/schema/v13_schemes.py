"""Version 13 of the database: schemes of one's own, whose choices the guideline names. Never edit it once released.

Until version 12 the tables themselves listed the six choices that there were. Now a trigger asks the guideline. Only
the text of the conditions changes, no row: SQLite's own procedure for such a change ("Making Other Kinds Of Table
Schema Changes", https://www.sqlite.org/lang_altertable.html) writes it into the schema.
"""

import sqlite3

from evenhand.annotations.database.schema.v7_log import Kind

OLD = "('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they')"
LISTED, ANY = f"IN {OLD}", "<> ''"
TABLES = ("label", "settlement", "item", "known", "retest_label", "study_question")  # with the condition


def _of_guideline(table: str) -> str:
    return f"""
CREATE TRIGGER {table}_choice_of_its_guideline BEFORE INSERT ON {table}
WHEN NEW.choice NOT {LISTED} AND NOT EXISTS (SELECT 1 FROM guideline, json_each(guideline.choices) AS one
    WHERE guideline.id = NEW.guideline AND one.value ->> 'code' = NEW.choice)
BEGIN SELECT RAISE(ABORT, 'this is no choice of the guideline'); END;
"""


def _of_project(table: str) -> str:
    return f"""
CREATE TRIGGER {table}_choice_of_a_guideline BEFORE INSERT ON {table}
WHEN NEW.choice NOT {LISTED} AND NOT EXISTS (SELECT 1 FROM guideline, json_each(guideline.choices) AS one
    WHERE guideline.project = NEW.project AND one.value ->> 'code' = NEW.choice)
BEGIN SELECT RAISE(ABORT, 'this is no choice of a guideline of the project'); END;
"""


SCHEMES = f"""
-- What a version of the guideline has beside choices and flags (its reasons), where its scheme is the project's own.
CREATE TABLE scheme (
    guideline INTEGER PRIMARY KEY REFERENCES guideline(id),
    content TEXT NOT NULL CHECK (json_valid(content))   -- {{spans, needs, about}}
) STRICT;
CREATE TRIGGER scheme_is_never_changed BEFORE UPDATE ON scheme
BEGIN SELECT RAISE(ABORT, 'a changed scheme is a new version of the guideline'); END;
CREATE TRIGGER scheme_is_never_deleted BEFORE DELETE ON scheme
BEGIN SELECT RAISE(ABORT, 'labels point to their guideline'); END;
{_of_guideline("label")}
{_of_guideline("retest_label")}
{_of_project("settlement")}
{_of_project("known")}
"""

_PROJECT = (
    "(SELECT project.uid FROM guideline JOIN project ON project.id = guideline.project"
    " WHERE guideline.id = {r}.guideline)"
)
_VERSION = "(SELECT version FROM guideline WHERE id = {r}.guideline)"

SCHEME_KINDS: tuple[Kind, ...] = (Kind("scheme", "{r}.guideline", (_PROJECT, _VERSION, "{r}.content")),)


def allow_own_choices(db: sqlite3.Connection) -> None:
    """Let the tables store any choice, inside the caller's transaction; triggers ask the guideline instead."""
    (version,) = db.execute("PRAGMA schema_version").fetchone()
    db.execute("PRAGMA writable_schema = ON")
    marks = ", ".join("?" * len(TABLES))
    changed = db.execute(
        f"UPDATE sqlite_schema SET sql = replace(sql, ?, ?)"
        f" WHERE type = 'table' AND name IN ({marks}) AND instr(sql, ?)",
        (LISTED, ANY, *TABLES, LISTED),
    ).rowcount
    db.execute(f"PRAGMA schema_version = {version + 1}")
    db.execute("PRAGMA writable_schema = RESET")
    if changed != len(TABLES):
        raise sqlite3.DatabaseError(f"{changed} of {len(TABLES)} tables have the condition that version 13 changes")
