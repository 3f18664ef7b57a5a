"""Accounts: names, roles by project, the last owner, who manages whom."""

import pytest

from evenhand.annotations.accounts.accounts import (
    account,
    accounts,
    accounts_exist,
    add_account,
    authenticate,
    close_account,
    grant,
    hashed,
    manages,
    person_of,
    reopen_account,
    roles_in,
    roles_to_give,
    store_password,
    take_over_roles,
    withdraw,
)
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import Person
from evenhand.annotations.projects.annotators import annotators
from evenhand.core.errors import NotAllowed, NotFound, Refused
from tests.support.released_project import ready_project

PASSWORD = "correct horse battery"


def test_a_server_without_accounts_is_open(fresh_store: Store) -> None:
    assert not accounts_exist(fresh_store)
    add_account(fresh_store, "Olga")
    assert accounts_exist(fresh_store)


def test_a_name_and_a_password_open_an_account(fresh_store: Store) -> None:
    olga = add_account(fresh_store, " Olga ", password=PASSWORD)
    assert authenticate(fresh_store, "olga", PASSWORD) == olga == account(fresh_store, "OLGA")
    stored = fresh_store.db.execute("SELECT password FROM account").fetchone()[0]
    assert stored.startswith("$argon2id$")
    assert PASSWORD not in stored


def test_every_failed_sign_in_gets_one_message(fresh_store: Store) -> None:
    grant(fresh_store, add_account(fresh_store, "Olga", password=PASSWORD), "owner", None)
    add_account(fresh_store, "without")
    close_account(fresh_store, add_account(fresh_store, "closed", password=PASSWORD))
    wrong = [("olga", "wrong"), ("olga", ""), ("nobody", PASSWORD), ("", ""), ("without", ""), ("closed", PASSWORD)]
    for name, password in wrong:
        with pytest.raises(NotAllowed, match="Wrong name or password"):
            authenticate(fresh_store, name, password)


@pytest.mark.parametrize(
    ("name", "password", "sentence"),
    [
        ("olga", PASSWORD, "already"),
        ("", PASSWORD, "Enter a name"),
        ("a\nb", PASSWORD, "one line"),
        ("Bo", "short", "12 to"),
    ],
)
def test_invalid_and_taken_account_names_are_refused(
    fresh_store: Store, name: str, password: str, sentence: str
) -> None:
    add_account(fresh_store, "Olga")
    with pytest.raises(Refused, match=sentence):
        add_account(fresh_store, name, password=password)
    assert [account.name for account in accounts(fresh_store)] == ["Olga"]


def test_a_role_holds_in_its_project_only(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 2)
    who = add_account(fresh_store, "Ada")
    grant(fresh_store, who, "reader", None)
    grant(fresh_store, who, "annotator", project)
    person = person_of(fresh_store, who.uid)
    assert person is not None
    desk = next(annotator for annotator in annotators(fresh_store, project) if annotator.name == "Ada")
    assert (person.everywhere, person.roles, person.annotator) == ("reader", {project.uid: "annotator"}, desk.uid)
    assert [(holder.name, role) for holder, role in roles_in(fresh_store, project)] == [("Ada", "annotator")]
    grant(fresh_store, who, "lead", project)  # in place of the one before
    assert [role for _one, role in roles_in(fresh_store, project)] == ["lead"]
    withdraw(fresh_store, who, project)
    person = person_of(fresh_store, who.uid)
    assert person is not None
    assert person.roles == {}


def test_an_account_takes_the_desk_of_an_annotator(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 2)
    name = annotators(fresh_store, project)[0].name
    ada, bo = add_account(fresh_store, "ada@example.org"), add_account(fresh_store, "Doris")
    grant(fresh_store, ada, "annotator", project, annotator=name)
    assert account(fresh_store, "ada@example.org").annotator == name
    with pytest.raises(Refused, match=r"belongs to another account\."):
        grant(fresh_store, bo, "annotator", project, annotator=name)
    with pytest.raises(Refused, match="has one desk"):
        grant(fresh_store, account(fresh_store, ada.name), "annotator", project, annotator="Carla")
    with pytest.raises(Refused, match="no desk"):
        grant(fresh_store, bo, "reader", project, annotator="Doris")
    assert {"Carla", "Doris"}.isdisjoint(annotator.name for annotator in annotators(fresh_store, project))


def test_the_last_owner_cannot_be_removed(fresh_store: Store) -> None:
    olga, otto = add_account(fresh_store, "Olga"), add_account(fresh_store, "Otto")
    grant(fresh_store, olga, "owner", None)
    with pytest.raises(Refused, match="last owner"):
        withdraw(fresh_store, olga, None)
    with pytest.raises(Refused, match="last owner"):
        close_account(fresh_store, olga)
    with pytest.raises(Refused, match="last owner"):
        grant(fresh_store, olga, "reader", None)
    assert person_of(fresh_store, olga.uid) == Person("owner", account=olga.uid, name="Olga")
    grant(fresh_store, otto, "owner", None)
    close_account(fresh_store, olga)
    assert person_of(fresh_store, olga.uid) is None
    reopen_account(fresh_store, olga)
    assert person_of(fresh_store, olga.uid) is not None


def test_an_unknown_account_is_not_found(fresh_store: Store) -> None:
    with pytest.raises(NotFound):
        account(fresh_store, "nobody")
    assert person_of(fresh_store, "0" * 32) is None


def test_account_changes_are_recorded_without_secrets(fresh_store: Store) -> None:
    olga = add_account(fresh_store, "Olga", password=PASSWORD)
    store_password(fresh_store, olga, hashed("another long one"), author=olga)
    rows = fresh_store.db.execute("SELECT action, account, author, data FROM account_event ORDER BY id").fetchall()
    assert rows == [("added", olga.id, None, "{}"), ("password changed", olga.id, olga.id, "{}")]
    with pytest.raises(Exception, match="never changed"):
        fresh_store.db.execute("UPDATE account_event SET action = 'nothing'")
    with pytest.raises(Refused, match="no account"):
        grant(fresh_store, olga, "guest", None)


OWNER, LEAD, ELSEWHERE = Person("owner"), Person(None, roles={"p": "lead"}), Person(None, roles={"q": "lead"})


@pytest.mark.parametrize(
    ("who", "other", "expected"),
    [
        (OWNER, Person("owner"), True),
        (OWNER, Person(), True),
        (LEAD, Person(None, roles={"p": "annotator"}), True),
        (LEAD, Person(None, roles={"p": "lead"}), True),
        (LEAD, Person(None, roles={"p": "owner"}), False),
        (LEAD, Person(None, roles={"p": "annotator", "q": "reader"}), False),  # the account opens q, too
        (LEAD, Person("reader", roles={"p": "annotator"}), False),
        (LEAD, Person(), False),
        (ELSEWHERE, Person(None, roles={"p": "annotator"}), False),
        (Person(None, roles={"p": "adjudicator"}), Person(None, roles={"p": "annotator"}), False),
        (Person("reader"), Person(None, roles={"p": "annotator"}), False),
        (Person(None, roles={"p": "owner"}), Person(None, roles={"p": "owner"}), True),
    ],
)
def test_managers_of_an_account_depend_on_both_roles(who: Person, other: Person, expected: bool) -> None:
    assert manages(who, other) == expected


def test_roles_that_each_role_may_grant(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 1)
    lead, reader = Person(None, roles={project.uid: "lead"}), Person("reader")
    assert roles_to_give(OWNER, project)[0] == roles_to_give(OWNER, None)[0] == "owner"
    assert roles_to_give(lead, project) == ["lead", "adjudicator", "annotator", "reader"]
    assert roles_to_give(lead, None) == roles_to_give(reader, project) == roles_to_give(ELSEWHERE, project) == []


def test_a_replacing_project_takes_over_the_roles(fresh_store: Store) -> None:
    empty, new = ready_project(fresh_store, 1, name="empty"), ready_project(fresh_store, 1, name="new")
    for name, role in (("Lea", "lead"), ("Ann", "annotator"), ("Rea", "reader")):
        grant(fresh_store, add_account(fresh_store, name), role, empty)  # type: ignore[arg-type]
    take_over_roles(fresh_store, empty, new)
    take_over_roles(fresh_store, empty, empty)
    assert [(who.name, role) for who, role in roles_in(fresh_store, new)] == [
        ("Lea", "lead"), ("Ann", "annotator"), ("Rea", "reader")
    ]  # fmt: skip
    assert "Ann" in [annotator.name for annotator in annotators(fresh_store, new)]
    assert len(roles_in(fresh_store, empty)) == 3
