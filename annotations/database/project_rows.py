"""Projects and names of annotators as they are stored now: what callers of every package read again.

A caller's project may be outdated: it was read before the transaction in which its settings matter.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project

PROJECT_COLUMNS = tuple(field.name for field in fields(Project))
PROJECTS = f"SELECT {', '.join(PROJECT_COLUMNS)} FROM project"
_TRUTHS = ("rescue", "checked", "blur", "open_text")


def as_project(**columns: Any) -> Project:
    """Return a project from the columns of its row, by name."""
    return Project(**columns | {name: None if columns[name] is None else bool(columns[name]) for name in _TRUTHS})


def current_project(store: Store, project: Project | int) -> Project:
    """Return a project (or that of a row id) as it is stored now."""
    row_id = project if isinstance(project, int) else project.id
    (current,) = store.rows(as_project, f"{PROJECTS} WHERE id = ?", (row_id,))
    return current


def annotator_names(store: Store) -> dict[int, str]:
    """Return the name of every annotator of the database by row id."""
    rows: Sequence[tuple[int, str]] = store.db.execute("SELECT id, name FROM annotator").fetchall()
    return dict(rows)
