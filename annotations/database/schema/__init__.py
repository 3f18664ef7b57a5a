"""The schema: a script for each version, which never changes once it has been released, and what the log holds."""

import sqlite3
from pathlib import Path

SCRIPTS = {file.stem: file for file in sorted(Path(__file__).parent.glob("m*.sql"))}  # by the name of their migration


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
