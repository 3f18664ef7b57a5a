"""The statements of each version of the schema."""

import sqlite3


def statements(script: str) -> list[str]:
    """Return the statements of a script, one by one."""
    # sqlite3's executescript commits first; one statement at a time keeps the migration in its transaction.
    found, part = [], ""
    for line in script.splitlines(keepends=True):
        part += line
        if part.strip() and sqlite3.complete_statement(part):
            found.append(part)
            part = ""
    return found
