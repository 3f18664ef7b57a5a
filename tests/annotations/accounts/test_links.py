"""Links: what each gives, once, in time, and to one person only."""

from threading import Barrier, Thread

import pytest

from evenhand.annotations.accounts.accounts import (
    account,
    accounts,
    add_account,
    authenticate,
    grant,
    person_of,
    roles_in,
)
from evenhand.annotations.accounts.links import (
    accept,
    find_invitation,
    first_link,
    first_link_to_print,
    invitations,
    invite_link,
    link,
    reset_link,
    spend,
    withdraw_invitation,
)
from evenhand.annotations.accounts.sign_ins import sign_in, signed_in
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.annotators import annotators
from evenhand.core.errors import EvenhandError, NotAllowed, NotFound, Refused
from tests.support.released_project import ready_project

PASSWORD = "correct horse battery"


def test_the_first_account_owns_the_server(fresh_store: Store) -> None:
    old, new = first_link(fresh_store), first_link(fresh_store)
    with pytest.raises(NotAllowed):
        link(fresh_store, old)
    assert link(fresh_store, new).purpose == "first"
    person = person_of(fresh_store, spend(fresh_store, new, "Olga", PASSWORD).uid)
    assert person is not None
    assert person.everywhere == "owner"
    with pytest.raises(NotAllowed):
        spend(fresh_store, new, "Otto", PASSWORD)
    with pytest.raises(Refused, match=r"This server already has accounts: an owner or lead can invite you\."):
        first_link(fresh_store)


def test_a_server_without_accounts_prints_the_first_link(fresh_store: Store) -> None:
    text = first_link_to_print(fresh_store, "https://e.example/")
    assert text is not None
    assert "https://e.example/account/link#" in text
    spend(fresh_store, text.rpartition("#")[2], "Olga", PASSWORD)
    assert first_link_to_print(fresh_store, "https://e.example/") is None


def test_the_first_link_opened_twice_at_once_makes_one_account(fresh_store: Store) -> None:
    secret, start, errors = first_link(fresh_store), Barrier(2), list[EvenhandError]()

    def open_it(name: str) -> None:
        with Store.open(fresh_store.path) as store:
            start.wait()
            try:
                spend(store, secret, name, PASSWORD)
            except EvenhandError as error:
                errors.append(error)

    people = [Thread(target=open_it, args=(name,)) for name in ("Olga", "Otto")]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert len(accounts(fresh_store)) == len(errors) == 1


def test_an_invitation_makes_an_annotator(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 1)
    name = annotators(fresh_store, project)[0].name
    secret = invite_link(fresh_store, "annotator", project, name=name)
    result = link(fresh_store, secret)
    assert (result.purpose, result.role, result.name) == ("invite", "annotator", name)
    assert spend(fresh_store, secret, "ada@example.org", PASSWORD).annotator == name
    assert [(holder.name, role) for holder, role in roles_in(fresh_store, project)] == [
        ("ada@example.org", "annotator")
    ]
    with pytest.raises(NotAllowed, match="no longer valid"):
        spend(fresh_store, secret, "Eve", PASSWORD)


def test_a_refused_sign_up_does_not_spend_the_link(fresh_store: Store) -> None:
    add_account(fresh_store, "Olga")
    secret = invite_link(fresh_store, "reader", None)
    for name, password in (("Ada", "short"), ("Olga", PASSWORD), ("", PASSWORD)):
        with pytest.raises(Refused):
            spend(fresh_store, secret, name, password)
    assert spend(fresh_store, secret, "Rita", PASSWORD).name == "Rita"


def test_a_link_for_several_people_can_be_used_several_times(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 1)
    secret = invite_link(fresh_store, "annotator", project, uses=2)
    for name in ("Ada", "Bo"):
        spend(fresh_store, secret, name, PASSWORD)
    with pytest.raises(NotAllowed):
        link(fresh_store, secret)
    with pytest.raises(Refused):
        invite_link(fresh_store, "annotator", project, name="Carla", uses=2)


def test_expired_and_malformed_links_are_refused(fresh_store: Store) -> None:
    for secret in (invite_link(fresh_store, "reader", None, hours=-1), "nonsense", "", "\udc80"):
        with pytest.raises(NotAllowed):
            link(fresh_store, secret)


def test_a_reset_sets_the_password_and_signs_out(fresh_store: Store) -> None:
    ada = add_account(fresh_store, "Ada", password=PASSWORD)
    cookie = sign_in(fresh_store, ada)
    first, secret = reset_link(fresh_store, ada), reset_link(fresh_store, ada)
    with pytest.raises(NotAllowed):
        link(fresh_store, first)
    assert spend(fresh_store, secret, "whatever name", "another long one") == account(fresh_store, "Ada")
    assert signed_in(fresh_store, cookie) is None
    assert authenticate(fresh_store, "Ada", "another long one")
    with pytest.raises(NotAllowed):
        spend(fresh_store, secret, "Ada", "a third long one")


def test_an_existing_account_joins_by_a_link(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 1)
    ada = add_account(fresh_store, "Ada")
    grant(fresh_store, ada, "reader", None)
    accept(fresh_store, invite_link(fresh_store, "adjudicator", project), ada)
    person = person_of(fresh_store, ada.uid)
    assert person is not None
    assert (person.everywhere, person.roles) == ("reader", {project.uid: "adjudicator"})
    for secret in (reset_link(fresh_store, ada), "nonsense"):
        with pytest.raises(NotAllowed):
            accept(fresh_store, secret, ada)


def test_no_secret_of_a_link_is_stored(fresh_store: Store) -> None:
    secrets = [first_link(fresh_store), invite_link(fresh_store, "reader", None)]
    tables = ("access_link", "account_event")
    stored = repr([fresh_store.db.execute(f"SELECT * FROM {table}").fetchall() for table in tables])
    assert not any(secret in stored for secret in secrets)


def test_open_invitations_are_listed_until_they_are_used_or_withdrawn(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 1)
    used = invite_link(fresh_store, "annotator", project, name="Ada")
    invite_link(fresh_store, "reader", None, hours=0.0)  # has expired
    reset_link(fresh_store, add_account(fresh_store, "Lena"))  # not an invitation
    open_one = invite_link(fresh_store, "lead", project, uses=3)
    results = {
        (invitation.role, invitation.name, invitation.project and invitation.project.name, invitation.uses)
        for invitation in invitations(fresh_store)
    }
    assert results == {("annotator", "Ada", "set", 1), ("lead", "", "set", 3)}
    spend(fresh_store, used, "ada", PASSWORD)
    spend(fresh_store, open_one, "Lars", PASSWORD)
    (left,) = invitations(fresh_store)
    assert (left.role, left.uses) == ("lead", 2)
    withdraw_invitation(fresh_store, find_invitation(fresh_store, left.id.upper()))
    assert invitations(fresh_store) == []
    with pytest.raises(NotAllowed):
        link(fresh_store, open_one)
    with pytest.raises(NotFound, match=left.id):
        find_invitation(fresh_store, left.id)
    query = "SELECT action FROM account_event ORDER BY id DESC LIMIT 1"
    assert fresh_store.db.execute(query).fetchone() == ("invitation withdrawn",)


def test_an_annotator_has_one_open_invitation_in_a_project(fresh_store: Store) -> None:
    project, other = ready_project(fresh_store, 1), ready_project(fresh_store, 1, name="other")
    old, elsewhere = (invite_link(fresh_store, "annotator", place, name="Ada") for place in (project, other))
    unnamed = [invite_link(fresh_store, "annotator", project) for _ in range(2)]
    new = invite_link(fresh_store, "annotator", project, name=" ADA")
    with pytest.raises(NotAllowed):
        link(fresh_store, old)
    assert all(link(fresh_store, secret).role == "annotator" for secret in (new, elsewhere, *unnamed))
