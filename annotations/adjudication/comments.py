"""Comments on an item: of all, once everybody has voted, and private threads of one annotator and the lead."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from annotations.database.store import Store, columns_and_marks
from annotations.types import Annotator, Project
from core.errors import N_, NotAllowed, NotFound, Refused
from core.files.timestamps import timestamp
from core.text.sentences import control_character

LONGEST = 4_000
LINE_BREAKS = str.maketrans("", "", "\t\n\r")


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody said about an item; `annotator` None: the lead.

    `thread` is the public id of the annotator whose talk with the lead it belongs to; None: said to everybody.
    """

    op_id: str
    author: str
    annotator: str | None
    text: str
    created: str
    thread: str | None = None


_COMMENTS = (
    "SELECT comment.op_id, author, annotator.uid, comment.text, comment.created, whose.uid FROM comment"
    " JOIN item ON item.id = comment.item LEFT JOIN annotator ON annotator.id = comment.annotator"
    " LEFT JOIN annotator AS whose ON whose.id = comment.thread"
    " WHERE item.uid = ? AND comment.project = ? {kept} ORDER BY comment.id"
)


def comments(store: Store, project: Project, item: str, *, thread: Annotator | None = None) -> list[Comment]:
    """The comments on an item (public id), oldest first: what was said to everybody.

    `thread`: what this annotator and the lead said to each other instead; nobody else is to see it.
    """
    kept = "AND comment.thread IS ?"
    values = (item, project.id, None if thread is None else thread.id)
    return [Comment(*row) for row in store.db.execute(_COMMENTS.format(kept=kept), values)]


def every_comment(store: Store, project: Project, item: str) -> list[Comment]:
    """What was said about an item (public id) to everybody and in all threads, oldest first: for the lead alone."""
    return [Comment(*row) for row in store.db.execute(_COMMENTS.format(kept=""), (item, project.id))]


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

    `thread`: it is said between this annotator and the lead alone, which is possible at any time. Raises NotAllowed
    while the item still waits for labels and no thread is given (a comment would tell the others what to think), or
    where an annotator writes in the thread of another; Refused for an empty, too long or unprintable text; NotFound
    for an unknown item.
    """
    said = checked_text(text, N_("A comment needs words."))
    if thread is not None and annotator is not None and annotator.id != thread.id:
        raise NotAllowed(N_("A private thread is between one annotator and the lead."))
    with store.write() as db:
        row = db.execute(
            "SELECT item.id, labels >= wanted FROM imported_item AS item"
            # Not one of an import on its way: what something points to could not be removed when the import fails.
            " WHERE item.uid = ? AND item.project = ?",
            (item, project.id),
        ).fetchone()
        if row is None:
            raise NotFound(N_("This project has no such item."))
        if thread is None and not row[1]:
            raise NotAllowed(N_("Comments begin when everybody has labelled this item."))
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
        raise Refused(N_("The text holds a control character: {character}."), character=control)
    return said
