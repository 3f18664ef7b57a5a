"""Permissions: who may do what. An action is forbidden unless a role lists it here.

A server without accounts (the open mode) answers on its own machine only, and its user may do everything; the name of
an annotator opens that annotator's desk. On a server with accounts, a person has at most one role in a project, and a
server-wide role holds in each of its projects. Pages, parts of pages, routes, downloads and commands ask here.
"""

from dataclasses import dataclass, field
from typing import Literal

from evenhand.core.errors import N_, NotAllowed

Role = Literal["owner", "lead", "adjudicator", "annotator", "reader", "guest"]
Action = Literal[
    "see_projects",
    "create_projects",
    "change_projects",
    "import_files",
    "export_files",
    "see_names",
    "label",
    "see_own_labels",
    "see_guideline",
    "see_all_labels",
    "see_agreement",
    "see_releases",
    "release",
    "settle",
    "start_jobs",
    "see_jobs",
    "try_models",
    "load_models",
    "measure",
    "back_up",
    "change_accounts",
    "change_every_account",
]

GUEST: frozenset[Action] = frozenset({"try_models"})
READER: frozenset[Action] = GUEST | {"see_projects", "see_agreement", "see_releases"}
ANNOTATOR: frozenset[Action] = GUEST | {"label", "see_own_labels", "see_guideline"}
ADJUDICATOR: frozenset[Action] = GUEST | {"see_projects", "see_guideline", "see_all_labels", "settle"}
LEAD: frozenset[Action] = (
    READER
    | ANNOTATOR
    | ADJUDICATOR
    | {
        "create_projects",
        "change_projects",
        "import_files",
        "export_files",
        "see_names",
        "release",
        "measure",
        "start_jobs",
        "see_jobs",
        "load_models",
        "change_accounts",
    }
)
OWNER: frozenset[Action] = LEAD | {"back_up", "change_every_account"}
ALLOWED: dict[str, frozenset[Action]] = {
    "owner": OWNER,
    "lead": LEAD,
    "adjudicator": ADJUDICATOR,
    "annotator": ANNOTATOR,
    "reader": READER,
    "guest": GUEST,
}
# These concern one annotator and are allowed to that annotator only.
OWN: frozenset[Action] = frozenset({"label", "see_own_labels"})
FORBIDDEN = N_("You do not have permission to do this. Ask the project lead.")


@dataclass(frozen=True, slots=True)
class Person:
    """The acting person: the roles by project, and the annotator whose desk is the person's own.

    `everywhere`: the server-wide role, None for none. `roles`: public id of a project -> role there.
    `annotator`: public id of the annotator under whose name this person labels, or None. `account`: public id of the
    account; None in the open mode, for a guest, and for the holder of a desk's token.
    """

    everywhere: Role | None = None
    annotator: str | None = None
    roles: dict[str, Role] = field(default_factory=dict)
    account: str | None = None
    name: str = ""


# The user of a server without accounts: lead and owner, and any annotator whose desk the address names.
OPEN = Person("owner", name="")


def roles_of(person: Person, project: str | None) -> list[Role]:
    """Return the roles that count in a project (public id); without a project, those that the person has anywhere."""
    everywhere: list[Role] = [person.everywhere] if person.everywhere else []
    if project is None:
        return [*everywhere, *person.roles.values()]
    return [*everywhere, *([person.roles[project]] if project in person.roles else [])]


def allowed(person: Person, action: Action, *, project: str | None = None, annotator: str | None = None) -> bool:
    """Return whether *person* may do *action* in a project (public id), or, without one, in any of the own projects.

    `label` and `see_own_labels` concern one annotator (public id) and are allowed to that annotator only; in the open
    mode, the person counts as every annotator.
    """
    if not any(action in ALLOWED.get(role, frozenset()) for role in roles_of(person, project)):
        return False
    if action in OWN and person is not OPEN:
        return annotator is not None and annotator == person.annotator
    return True


def may_see_work(person: Person, project: str | None, account: str | None) -> bool:
    """Return whether *person* may see a job or a finished run.

    With a *project*, all who may see the jobs of the project may. Without one, the person who started it (*account*)
    may, and all who may see jobs server-wide. Project and account are public ids.
    """
    if project is not None:
        return allowed(person, "see_jobs", project=project)
    if person.account is not None and account == person.account:
        return allowed(person, "see_jobs")
    return allowed(Person(person.everywhere), "see_jobs")


def require(person: Person, action: Action, *, project: str | None = None, annotator: str | None = None) -> None:
    """Raise NotAllowed unless *person* may do *action*."""
    if not allowed(person, action, project=project, annotator=annotator):
        raise NotAllowed(FORBIDDEN)
