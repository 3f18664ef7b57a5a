"""The session of a desk: which annotator is at work on which project."""

from dataclasses import dataclass
from typing import NamedTuple

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.tokens import Grant
from evenhand.annotations.projects import projects
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_, NotAllowed


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
