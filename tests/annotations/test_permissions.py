"""Default deny: what is not listed is not allowed, and nobody labels in another's name."""

from typing import get_args

import pytest

from annotations.permissions import Action, Person, Role, allowed, require
from core.errors import NotAllowed

ACTIONS = get_args(Action)
OWN = {"label", "see_own_labels"}
GUEST = {"try_models"}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("role", get_args(Role))
def test_table_of_roles(role: Role, action: Action) -> None:
    expected = {"guest": GUEST, "annotator": GUEST | OWN, "lead": set(ACTIONS)}[role]
    assert allowed(Person(role, "ada"), action, annotator="ada") == (action in expected)


@pytest.mark.parametrize("role", get_args(Role))
@pytest.mark.parametrize("action", sorted(OWN))
@pytest.mark.parametrize(("own", "asked"), [("ada", "bo"), ("ada", None), (None, "ada"), (None, None), ("", "bo")])
def test_nobody_acts_for_another_annotator(role: Role, action: Action, own: str | None, asked: str | None) -> None:
    assert not allowed(Person(role, own), action, annotator=asked)


@pytest.mark.parametrize(("role", "action"), [("admin", "label"), ("", "try_models"), ("lead", "delete_everything")])
def test_what_is_not_listed_is_not_allowed(role: str, action: str) -> None:
    person = Person(role, "ada")  # type: ignore[arg-type]
    assert not allowed(person, action, annotator="ada")  # type: ignore[arg-type]
    with pytest.raises(NotAllowed):
        require(person, action, annotator="ada")  # type: ignore[arg-type]


def test_a_lead_labels_under_the_own_name_only() -> None:
    require(Person("lead"), "change_projects")
    require(Person("lead", "ada"), "label", annotator="ada")
    with pytest.raises(NotAllowed):
        require(Person("lead", "ada"), "label", annotator="bo")
    with pytest.raises(NotAllowed):
        require(Person("lead"), "label", annotator="ada")
