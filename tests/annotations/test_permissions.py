"""Default deny: unlisted actions are not allowed, a role in one project does not hold in another, and annotators label
in their own name only."""

from typing import get_args

import pytest

from evenhand.annotations.permissions import ALLOWED, OPEN, Action, Person, Role, allowed, require
from evenhand.core.errors import NotAllowed

ACTIONS = get_args(Action)
OWN = {"label", "see_own_labels"}
# Written out a second time, so that a change of the table is meant.
TABLE: dict[str, set[str]] = {
    "guest": {"try_models"},
    "reader": {"try_models", "see_projects", "see_agreement", "see_releases"},
    "annotator": {"try_models", "label", "see_own_labels", "see_guideline"},
    "adjudicator": {"try_models", "see_projects", "see_guideline", "see_all_labels", "settle"},
    "lead": set(ACTIONS) - {"back_up", "change_every_account"},
    "owner": set(ACTIONS),
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("role", get_args(Role))
def test_roles_are_allowed_the_actions_of_the_table(role: Role, action: Action) -> None:
    expected = action in TABLE[role]
    here, elsewhere = Person(None, "ada", {"p": role}), Person(role, "ada")
    assert allowed(here, action, project="p", annotator="ada") == expected
    assert allowed(here, action, annotator="ada") == expected  # somewhere
    assert not allowed(here, action, project="q", annotator="ada")  # nothing of it in another project
    assert allowed(elsewhere, action, project="q", annotator="ada") == expected  # a role on the server


def test_each_role_is_in_the_table() -> None:
    assert set(ALLOWED) == set(get_args(Role)) == set(TABLE)


@pytest.mark.parametrize("role", get_args(Role))
@pytest.mark.parametrize("action", sorted(OWN))
@pytest.mark.parametrize(("own", "asked"), [("ada", "bo"), ("ada", None), (None, "ada"), (None, None), ("", "bo")])
def test_acting_for_another_annotator_is_not_allowed(
    role: Role, action: Action, own: str | None, asked: str | None
) -> None:
    assert not allowed(Person(role, own), action, annotator=asked)
    assert not allowed(Person(None, own, {"p": role}), action, project="p", annotator=asked)


def test_any_visitor_opens_any_desk_in_the_open_mode() -> None:
    assert all(allowed(OPEN, action, project="p", annotator="ada") for action in ACTIONS)
    owner = Person("owner", name="")  # has no display name, but has an account
    assert not allowed(owner, "label", project="p", annotator="ada")


@pytest.mark.parametrize(("role", "action"), [("admin", "label"), ("", "try_models"), ("lead", "delete_everything")])
def test_unlisted_roles_and_actions_are_not_allowed(role: str, action: str) -> None:
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
