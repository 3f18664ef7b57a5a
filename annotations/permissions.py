"""Permissions: an action is forbidden unless it is listed here.

There is only the open mode: no accounts, the app listens on this machine only, and its user is a lead. The name of an
annotator opens that annotator's desk. The routes of the desk check here what a token may do. Pages and commands do not,
because the open mode allows them everything.
"""

from dataclasses import dataclass
from typing import Literal

from core.errors import N_, NotAllowed

Role = Literal["lead", "annotator", "guest"]
Action = Literal[
    "see_projects",
    "change_projects",
    "import_files",
    "export_files",
    "see_names",
    "label",
    "see_own_labels",
    "see_all_labels",
    "see_agreement",
    "settle",
    "start_jobs",
    "see_jobs",
    "try_models",
    "back_up",
]

_GUEST: frozenset[Action] = frozenset({"try_models"})
_ANNOTATOR: frozenset[Action] = _GUEST | {"label", "see_own_labels"}
_LEAD: frozenset[Action] = _ANNOTATOR | {
    "see_projects",
    "change_projects",
    "import_files",
    "export_files",
    "see_names",
    "see_all_labels",
    "see_agreement",
    "settle",
    "start_jobs",
    "see_jobs",
    "back_up",
}
_ALLOWED: dict[str, frozenset[Action]] = {"lead": _LEAD, "annotator": _ANNOTATOR, "guest": _GUEST}


@dataclass(frozen=True, slots=True)
class Person:
    """A role, and the public id of the annotator of the desk (or None)."""

    role: Role
    annotator: str | None = None


def allowed(person: Person, action: Action, *, annotator: str | None = None) -> bool:
    """Whether *person* may do *action*.

    `label` and `see_own_labels` concern one annotator (public id) and are allowed to that annotator only.
    """
    if action not in _ALLOWED.get(person.role, frozenset()):
        return False
    if action in ("label", "see_own_labels"):
        return annotator is not None and annotator == person.annotator
    return True


def require(person: Person, action: Action, *, annotator: str | None = None) -> None:
    """Raise NotAllowed unless *person* may do *action*."""
    if not allowed(person, action, annotator=annotator):
        raise NotAllowed(N_("You may not do this. Ask the person who leads the project."))
