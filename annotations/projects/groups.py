"""Groups of annotators, as by dialect or first language: the lead says which there are, annotators where they belong.

An own answer stands before the lead's and can be removed at any time. Groups are never in a file that is published.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any, Literal

from evenhand.annotations.database.chain import forget_row
from evenhand.annotations.database.store import Store, insert
from evenhand.annotations.projects.annotators import checked_name, is_active
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp

RecordedBy = Literal["annotator", "lead"]
MOST_GROUPS = 20


@dataclass(frozen=True, slots=True)
class Grouping:
    """What annotators are grouped by, and the groups that there are."""

    id: int
    name: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnGroup:
    """In which group of a grouping an annotator is (None: in none), and who said so."""

    grouping: Grouping
    value: str | None
    recorded_by: RecordedBy | None


def groupings(store: Store, project: Project) -> list[Grouping]:
    """Those of a project, in the order in which they were made."""
    query = "SELECT id, name, options FROM grouping WHERE project = ? ORDER BY id"
    rows = store.db.execute(query, (project.id,))
    return [Grouping(row, name, tuple(json.loads(options))) for row, name, options in rows]


def grouping(store: Store, project: Project, name: str) -> Grouping:
    """The grouping of that name. Raises NotFound."""
    for one in groupings(store, project):
        if one.name == name.strip():
            return one
    raise NotFound(N_("{project} does not group its annotators by {name}."), project=project.name, name=name)


def add_grouping(store: Store, project: Project, name: str, options: Sequence[str]) -> Grouping:
    """Let annotators be grouped by *name*. Raises Refused for fewer than 2 or more than 20 groups, NotAllowed for a
    grouping that is there."""
    bare, groups = checked_name(name), list(dict.fromkeys(checked_name(one) for one in options))
    if not 2 <= len(groups) <= MOST_GROUPS:
        raise Refused(N_("Name 2 to {most} groups."), most=MOST_GROUPS)
    with store.write() as db:
        if any(one.name == bare for one in groupings(store, project)):
            raise NotAllowed(N_("There is already a grouping named {name}."), name=bare)
        _insert_grouping(db, project, bare, groups, timestamp())
        return grouping(store, project, bare)


def groups_of(store: Store, of: Grouping) -> dict[int, str]:
    """Annotator (row id) -> group."""
    query = "SELECT annotator, value FROM annotator_group WHERE grouping = ?"
    return dict(store.db.execute(query, (of.id,)).fetchall())


def own_groups(store: Store, project: Project, person: Annotator) -> list[OwnGroup]:
    """Where *person* is in every grouping of the project."""
    query = (
        "SELECT grouping, value, recorded_by FROM annotator_group AS one JOIN grouping ON grouping.id = one.grouping"
        " WHERE project = ? AND annotator = ?"
    )
    known = {row: (value, by) for row, value, by in store.db.execute(query, (project.id, person.id))}
    return [OwnGroup(one, *known.get(one.id, (None, None))) for one in groupings(store, project)]


def set_group(
    store: Store, project: Project, of: Grouping, person: Annotator, value: str | None, recorded_by: RecordedBy
) -> None:
    """Put *person* into a group, or into none (None). Raises NotFound for no annotator of the project, Refused for a
    group that there is not, NotAllowed where a lead would change what somebody says of oneself."""
    if value is not None and value not in of.options:
        raise Refused(N_("{value} is no group of {name}. Groups: {groups}."), value=value, name=of.name,
                      groups=", ".join(of.options))  # fmt: skip
    with store.write() as db:
        is_active(db, project, person)
        query = "SELECT id, recorded_by FROM annotator_group WHERE grouping = ? AND annotator = ?"
        row = db.execute(query, (of.id, person.id)).fetchone()
        if row is not None and row[1] == "annotator" and recorded_by == "lead":
            raise NotAllowed(N_("{name} has chosen a group; only they can change it."), name=person.name)
        if row is not None:
            _remove(store, row[0])
        if value is not None:
            _insert_group(db, of, person.id, value, recorded_by, timestamp())


def restore_grouping(store: Store, project: Project, row: Mapping[str, Any]) -> bool:
    """Store a grouping of a package, inside the caller's transaction; False where there is one of that name."""
    if any(one.name == row["name"] for one in groupings(store, project)):
        return False
    options = [checked_name(one) for one in row["options"]]
    _insert_grouping(store.db, project, checked_name(row["name"]), options, row["created"])
    return True


def restore_group(store: Store, project: Project, annotator: int, row: Mapping[str, Any]) -> bool:
    """Store where an annotator belongs, inside the caller's transaction; what is known here stays (False)."""
    of = grouping(store, project, row["grouping"])
    if annotator in groups_of(store, of):
        return False
    if row["value"] not in of.options:
        raise ValueError(f"value: {str(row['value'])[:40]}")
    _insert_group(store.db, of, annotator, row["value"], row["recorded_by"], row["created"])
    return True


def _insert_grouping(db: Connection, project: Project, name: str, options: Sequence[str], created: str) -> None:
    packed = json.dumps(options, ensure_ascii=False)
    insert(db, "grouping", {"project": project.id, "name": name, "options": packed, "created": created})


def _insert_group(db: Connection, of: Grouping, annotator: int, value: str, recorded_by: str, created: str) -> None:
    row = {"grouping": of.id, "annotator": annotator, "value": value, "recorded_by": recorded_by, "created": created}
    insert(db, "annotator_group", row)


def forget_groups(store: Store, person: Annotator) -> None:
    """Remove a person from every group of every project, inside the caller's transaction."""
    for (row,) in store.db.execute("SELECT id FROM annotator_group WHERE annotator = ?", (person.id,)).fetchall():
        _remove(store, row)


def _remove(store: Store, row: int) -> None:
    store.db.execute("DELETE FROM annotator_group WHERE id = ?", (row,))
    forget_row(store.db, "annotator_group", row)
