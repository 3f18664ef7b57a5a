"""The session of a desk, and the annotator's decision on an item."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.tokens import Grant
from evenhand.annotations.items.batch import item as one_item
from evenhand.annotations.labels import retest_labels
from evenhand.annotations.labels.read import DECISION_COLUMNS, decision
from evenhand.annotations.projects import projects
from evenhand.annotations.types import Annotator, Decision, Item, Project
from evenhand.core.errors import N_, NotAllowed, NotFound


@dataclass(frozen=True, slots=True)
class DeskSession:
    """One annotator at work on one project."""

    project: Project
    annotator: Annotator


@dataclass(frozen=True, slots=True)
class InvitedDesk:
    """What a browser may do that came by the link of a study: label so many items of one project.

    `cover`: each text is covered until it is opened.
    """

    project: str
    items: int
    cover: bool


def open_session(store: Store, grant: Grant, database: str) -> DeskSession:
    """The session that a token grants in a *database* (public id).

    Raises NotAllowed if database, project or membership no longer exist.
    """
    found = projects.member(store, grant.project, grant.annotator) if grant.database == database else None
    if found is None:
        raise NotAllowed(N_("This desk no longer exists. Open the Review page again."))
    return DeskSession(*found)


class SignIn(NamedTuple):
    """How an annotator comes to the desk.

    `by_link`: as somebody in a study, so only the browser that took part has this desk. `version`: of the account, 0
    where there is none that is open; it is raised when every sign-in of the account ends (by a new password, say).
    """

    by_link: bool
    version: int


def sign_in_of(store: Store, annotator: str) -> SignIn:
    """How an annotator (public id) comes to the desk."""
    query = (
        "SELECT EXISTS (SELECT 1 FROM study_person WHERE study_person.annotator = annotator.id),"
        " (SELECT version FROM open_account AS account WHERE account.annotator = annotator.id)"
        " FROM annotator WHERE uid = ?"
    )
    row = store.db.execute(query, (annotator,)).fetchone()
    return SignIn(bool(row[0]), row[1] or 0) if row else SignIn(False, 0)


def bases(store: Store, annotator: Annotator, items: Sequence[Item]) -> dict[str, str]:
    """Public id of an item -> the operation that a new label of this annotator would replace, if there is one."""
    marks = ", ".join("?" * len(items))
    query = (
        "SELECT item.uid, op_id FROM assignment JOIN item ON item.id = assignment.item"
        f" WHERE assignment.annotator = ? AND op_id IS NOT NULL AND assignment.item IN ({marks})"
    )
    found = dict(store.db.execute(query, (annotator.id, *[item.id for item in items])).fetchall())
    return {**found, **retest_labels.bases(store, annotator, [item.uid for item in items])}


def standing_decision(store: Store, at: DeskSession, item: str) -> Decision:
    """The valid decision of this annotator on an item (public id). Raises NotFound if there is none."""
    query = (
        f"SELECT {DECISION_COLUMNS} FROM label"
        " JOIN assignment ON assignment.latest = label.id JOIN item ON item.id = label.item"
        " WHERE item.uid = ? AND item.project = ? AND assignment.annotator = ?"
    )
    row = store.db.execute(query, (item, at.project.id, at.annotator.id)).fetchone()
    if row is not None:
        return decision(one_item(store, at.project, item), row)
    again = retest_labels.standing_decision(store, at.project, at.annotator, item)
    if again is None:
        raise NotFound(N_("You have not labelled this sentence."))
    return again


def standing_choice(store: Store, at: DeskSession, item: str) -> str | None:
    """The valid choice of this annotator on an item (public id), or None."""
    try:
        return standing_decision(store, at, item).choice
    except NotFound:
        return None
