"""Comments on an item: public ones once it has all its labels, and private threads of one annotator and the lead."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from evenhand.annotations.database.store import Store, columns_and_marks
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.text.sentences import control_character

LONGEST = 4_000
LINE_BREAKS = str.maketrans("", "", "\t\n\r")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an item; `annotator` None: the lead wrote it.

    `thread` is the public id of the annotator in whose private thread with the lead it stands; None: it is public.
    """

    op_id: str
    author: str
    annotator: str | None
    text: str
    created: str
    thread: str | None = None


_COMMENTS = (
    "SELECT comment.op_id, author, annotator.uid AS annotator, comment.text, comment.created, whose.uid AS thread"
    " FROM comment"
    " JOIN item ON item.id = comment.item LEFT JOIN annotator ON annotator.id = comment.annotator"
    " LEFT JOIN annotator AS whose ON whose.id = comment.thread"
    " WHERE item.uid = ? AND comment.project = ? {kept} ORDER BY comment.id"
)


def comments(store: Store, project: Project, item: str, *, thread: Annotator | None = None) -> list[Comment]:
    """The public comments on an item (public id), oldest first.

    `thread`: the private thread of this annotator and the lead instead; nobody else may see it.
    """
    kept = "AND comment.thread IS ?"
    values = (item, project.id, None if thread is None else thread.id)
    return store.rows(Comment, _COMMENTS.format(kept=kept), values)


def every_comment(store: Store, project: Project, item: str) -> list[Comment]:
    """Public and private comments on an item (public id), oldest first. For the lead only."""
    return store.rows(Comment, _COMMENTS.format(kept=""), (item, project.id))


def add_comment(
    store: Store,
    project: Project,
    item: str,
    text: str,
    *,
    author: str,
    annotator: Annotator | None = None,
    thread: Annotator | None = None,
    op_id: str | None = None,
) -> None:
    """Append a comment to an item (public id); the same `op_id` twice is stored once.

    `thread`: the private thread of this annotator and the lead, which is open at any time. Raises NotAllowed for a
    public comment while the item still waits for labels (it would influence them), or where an annotator writes in the
    thread of another; Refused for an empty, too long or unprintable text; NotFound for an unknown item.
    """
    said = checked_text(text, N_("A comment cannot be empty."))
    if thread is not None and annotator is not None and annotator.id != thread.id:
        raise NotAllowed(N_("A private thread is between one annotator and the lead."))
    with store.write() as db:
        row = db.execute(
            "SELECT item.id, labels >= wanted FROM imported_item AS item"
            # Not an item of a running import: if the import fails, an item with a comment could not be deleted.
            " WHERE item.uid = ? AND item.project = ?",
            (item, project.id),
        ).fetchone()
        if row is None:
            raise NotFound(N_("This project has no such item."))
        if thread is None and not row[1]:
            raise NotAllowed(N_("Comments open once everybody has labelled this item."))
        people = [None if one is None else one.id for one in (annotator, thread)]
        values = (op_id or uuid.uuid4().hex, project.id, row[0], *people, author.strip(), said, timestamp())
        names = ("op_id", "project", "item", "annotator", "thread", "author", "text", "created")
        insert_comment(db, dict(zip(names, values, strict=True)))


def insert_comment(db: Connection, values: Mapping[str, Any]) -> None:
    """Append a comment, a column each of *values*; the same `op_id` twice is stored once."""
    db.execute(f"INSERT INTO comment {columns_and_marks(values)} ON CONFLICT (op_id) DO NOTHING", dict(values))


def checked_text(text: str, missing: str = "") -> str:
    """*text* without blanks at its ends. Raises Refused: empty where *missing* says why not, too long, unprintable."""
    said = text.strip()
    if missing and not said:
        raise Refused(missing)
    if len(said) > LONGEST:
        raise Refused(N_("A comment has at most {most} characters."), most=LONGEST)
    control = control_character(said.translate(LINE_BREAKS))
    if control is not None:
        raise Refused(N_("The text contains a control character: {character}."), character=control)
    return said
