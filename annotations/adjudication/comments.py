"""Comments on an item, once everybody has voted: for the lead and the annotators to talk a case over."""

import uuid
from dataclasses import dataclass

from annotations.store import Store, timestamp
from annotations.types import Annotator, Project
from core.errors import N_, NotAllowed, NotFound, Refused
from core.text import control_character

LONGEST = 4_000
LINE_BREAKS = str.maketrans("", "", "\t\n\r")


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody said about an item; `annotator` None: the lead."""

    op_id: str
    author: str
    annotator: str | None
    text: str
    created: str


def comments(store: Store, project: Project, item: str) -> list[Comment]:
    """The comments on an item (public id), oldest first."""
    query = (
        "SELECT comment.op_id, author, annotator.uid, comment.text, comment.created FROM comment"
        " JOIN item ON item.id = comment.item LEFT JOIN annotator ON annotator.id = comment.annotator"
        " WHERE item.uid = ? AND comment.project = ? ORDER BY comment.id"
    )
    return [Comment(*row) for row in store.db.execute(query, (item, project.id))]


def add_comment(
    store: Store,
    project: Project,
    item: str,
    text: str,
    *,
    author: str,
    annotator: Annotator | None = None,
    op_id: str | None = None,
) -> None:
    """Append a comment to an item (public id); the same `op_id` twice is stored once.

    Raises NotAllowed while the item still waits for labels (a comment would tell the others what to think), Refused for
    an empty, too long or unprintable text, NotFound for an unknown item.
    """
    said = checked_text(text, N_("A comment needs words."))
    with store.write() as db:
        row = db.execute(
            "SELECT id, labels >= wanted FROM item WHERE uid = ? AND project = ?", (item, project.id)
        ).fetchone()
        if row is None:
            raise NotFound(N_("This project has no such item."))
        if not row[1]:
            raise NotAllowed(N_("Comments begin when everybody has labelled this item."))
        values = (op_id or uuid.uuid4().hex, project.id, row[0], annotator.id if annotator else None, author.strip())
        db.execute(
            "INSERT INTO comment (op_id, project, item, annotator, author, text, created) VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (op_id) DO NOTHING",
            (*values, said, timestamp()),
        )


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
