"""Annotators: who labels in which project."""

import uuid
from collections.abc import Iterable

from annotations.aside import hand_out_to_new, set_aside_everything
from annotations.queue import release
from annotations.store import Store, timestamp
from annotations.types import Annotator, Project
from core.errors import N_, NotFound, Refused
from core.text import control_character

LONGEST_NAME = 80


def annotators(store: Store, project: Project, *, active: bool = True) -> list[Annotator]:
    """Who labels in this project, in the order of joining; `active=False`: those who have left as well."""
    rows = store.db.execute(
        "SELECT annotator.id, uid, name FROM member JOIN annotator ON annotator.id = member.annotator"
        " WHERE member.project = ? AND member.active >= ? ORDER BY annotator.id",
        (project.id, int(active)),
    )
    return [Annotator(*row) for row in rows]


def annotator(store: Store, project: Project, name: str) -> Annotator:
    """The annotator of that name, also one who has left. Raises NotFound."""
    row = store.db.execute(
        "SELECT annotator.id, uid, name FROM annotator JOIN member ON member.annotator = annotator.id"
        " WHERE member.project = ? AND name = ?",
        (project.id, name.strip()),
    ).fetchone()
    if row is not None:
        return Annotator(*row)
    raise NotFound(N_("{name} is not an annotator of this project."), name=name)


def add_annotators(store: Store, project: Project, names: Iterable[str]) -> list[Annotator]:
    """Let people label here; someone who had left is back. Returns all active annotators."""
    people = [checked_name(name) for name in names]
    with store.write():
        join(store, project, people)
    return annotators(store, project)


def remove_annotator(store: Store, project: Project, annotator: Annotator) -> list[Annotator]:
    """Let somebody leave: leases are given back, labels stay and still count. Returns who is left."""
    with store.write() as db:
        where = (project.id, annotator.id)
        if db.execute("UPDATE member SET active = 0 WHERE project = ? AND annotator = ?", where).rowcount != 1:
            raise NotFound(N_("{name} is not an annotator of this project."), name=annotator.name)
        release(db, project, annotator.id)
        set_aside_everything(store, project)
    return annotators(store, project)


def checked_name(name: str) -> str:
    """*name* without blanks around it. Raises Refused if it is empty, too long or not one line of text."""
    bare = name.strip()
    if not bare or len(bare) > LONGEST_NAME or control_character(bare):
        message = N_("A name is one line of 1 to {most} characters; {name} is not.")
        raise Refused(message, most=LONGEST_NAME, name=repr(name[:LONGEST_NAME]))
    return bare


def join(store: Store, project: Project, names: Iterable[str]) -> None:
    """Make people annotators of a project, inside the caller's transaction."""
    for name in names:
        person = "INSERT INTO annotator (uid, name, created) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING"
        store.db.execute(person, (uuid.uuid4().hex, name, timestamp()))
        store.db.execute(
            "INSERT INTO member (project, annotator) SELECT ?, id FROM annotator WHERE name = ?"
            " ON CONFLICT DO UPDATE SET active = 1",
            (project.id, name),
        )
    hand_out_to_new(store, project)
