"""The log of what the lead did to a project: appended, never changed, never deleted. Also projects as stored now.

Labels, settlements and comments have tables of their own. Events are the rest that explains a label or a number later:
a guideline version, relabelling, an annotator replaced, an import undone, a release, known answers. A caller's project
may be outdated: it was read before the transaction in which its settings matter.
"""

import json
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any

from evenhand.annotations.database.store import Store, insert
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.files.timestamps import timestamp

PACKAGE_BEGUN, PACKAGE_DONE = "package_begun", "package_done"
RECOUNT_BEGUN, RECOUNT_DONE = "settling", "settled"
EXPORTED = "exported"
GOLD_CORRECTED = "gold_corrected"  # stored gold labels did not follow from the labels, and were decided again
# These mark the progress of work in this database, and what left it. They are neither exported nor imported.
HERE_ONLY = (PACKAGE_BEGUN, PACKAGE_DONE, RECOUNT_BEGUN, RECOUNT_DONE, EXPORTED, GOLD_CORRECTED)


# Under which name this thread or process acts, where an act is recorded without another name.
acting: ContextVar[str] = ContextVar("acting", default="")


@dataclass(frozen=True, slots=True)
class Event:
    """One act of the lead.

    `item` and `annotator` are public ids or None; the keys of `data` depend on the action; `author` is "" if no name
    was given; `created` is UTC, ISO 8601 with milliseconds.
    """

    id: int
    action: str
    item: str | None
    annotator: str | None
    data: dict[str, Any]
    author: str
    created: str


def record(
    store: Store,
    project: Project | int,
    action: str,
    *,
    item: Item | int | None = None,
    annotator: Annotator | int | None = None,
    author: str = "",
    **data: Any,
) -> None:
    """Store an event. Call it inside the transaction that does *action*, so that both or neither are stored.

    `project`, `item` and `annotator` take the object or its row id. `data` is stored as JSON and must be JSON values.
    Raises ValueError for an empty action, TypeError for data that JSON cannot hold.
    """
    if not action.strip():
        raise ValueError("an event needs an action")
    text = json.dumps(data, ensure_ascii=False, sort_keys=True, allow_nan=False)
    restore_event(
        store, project, action.strip(), item=_row_id(item), annotator=_row_id(annotator), data=text,
        author=author.strip() or acting.get(), created=timestamp(),
    )  # fmt: skip


def restore_event(
    store: Store,
    project: Project | int,
    action: str,
    *,
    item: int | None,
    annotator: int | None,
    data: str,
    author: str,
    created: str,
) -> None:
    """Store an event of another database: *data* as the JSON that `record` writes, row ids of this database."""
    insert(store.db, "event", {
        "project": _row_id(project), "item": item, "annotator": annotator, "action": action, "data": data,
        "author": author, "created": created,
    })  # fmt: skip


def events(
    store: Store, project: Project, item: str | None = None, *, action: str | None = None, last: int | None = None
) -> list[Event]:
    """Return the events of a project, oldest first; with `item` (public id) those of that item only.

    `action`: only such events; `last`: only so many, the newest.
    """
    where, parameters = "event.project = ?", list[Any]((project.id,))
    if item is not None:
        where += " AND event.item = (SELECT id FROM item WHERE uid = ?)"
        parameters.append(item)
    if action is not None:
        where += " AND event.action = ?"
        parameters.append(action)
    rows = store.db.execute(
        "SELECT event.id, action, item.uid, annotator.uid, data, author, event.created FROM event"
        " LEFT JOIN item ON item.id = event.item LEFT JOIN annotator ON annotator.id = event.annotator"
        f" WHERE {where} ORDER BY event.id DESC LIMIT ?",
        (*parameters, -1 if last is None else last),
    ).fetchall()
    return [Event(row[0], row[1], row[2], row[3], json.loads(row[4]), row[5], row[6]) for row in reversed(rows)]


def _row_id(thing: Project | Item | Annotator | int | None) -> int | None:
    return thing if thing is None or isinstance(thing, int) else thing.id


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
