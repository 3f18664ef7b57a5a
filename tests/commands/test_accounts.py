"""`accounts` on the command line: from the first link to a closed account."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.accounts.accounts import account, authenticate, person_of
from evenhand.annotations.accounts.links import link, spend
from evenhand.annotations.accounts.sign_ins import sign_in, signed_in
from evenhand.annotations.database.store import Store
from evenhand.core.errors import NotAllowed
from tests.support.released_project import ready_project
from tests.support.terminal import typed

PASSWORD = "correct horse battery"


def run(db: Path, *arguments: str, code: int = 0) -> Any:
    ended = typed("accounts", *arguments, "--db", db, "--json")
    assert ended.code == code, ended
    return json.loads(ended.stdout) if code == 0 else ended.stderr


def secret_of(found: dict[str, str]) -> str:
    address, _, secret = found["link"].partition("#")
    assert address == "http://localhost:8501/account/link"
    return secret


def test_the_first_account_is_made_before_any_project(tmp_path: Path) -> None:
    db = tmp_path / "new.db"
    secret = secret_of(run(db, "first"))
    with Store.open(db) as store:
        spend(store, secret, "Olga", PASSWORD)
    assert "This server already has accounts: an owner or lead can invite you." in run(db, "first", code=2)
    rows = run(db, "list")["accounts"]
    assert [(row["name"], row["server"], row["projects"], row["sign_ins"]) for row in rows] == [
        ("Olga", "owner", {}, 0)
    ]


def test_an_account_is_added_with_role_and_password(fresh_store: Store) -> None:
    ready_project(fresh_store, 1)
    db = fresh_store.path
    secret = secret_of(
        run(db, "add", "ada@example.org", "--role", "annotator", "--project", "set", "--annotator", "Ada")
    )
    spend(fresh_store, secret, "", PASSWORD)
    ada = authenticate(fresh_store, "ada@example.org", PASSWORD)
    assert ada.annotator == "Ada"
    run(db, "role", "ada@example.org", "reader")
    assert run(db, "list")["accounts"][0] | {"id": "", "sign_ins": 0} == {
        "name": "ada@example.org", "id": "", "server": "reader", "projects": {"set": "annotator"}, "annotator": "Ada",
        "closed": None, "sign_ins": 0,
    }  # fmt: skip
    run(db, "role", "ada@example.org", "none", "--project", "set")
    person = person_of(fresh_store, ada.uid)
    assert person is not None
    assert person.roles == {}
    cookie = sign_in(fresh_store, ada)
    run(db, "sign-out", "ADA@example.org")
    assert signed_in(fresh_store, cookie) is None
    run(db, "close", "ada@example.org")
    assert "closed" in typed("accounts", "list", "--db", db).stdout
    run(db, "reopen", "ada@example.org")
    assert spend(fresh_store, secret_of(run(db, "reset", "ada@example.org")), "", PASSWORD) == account(
        fresh_store, "ada@example.org"
    )


def test_an_invitation_prints_its_link(fresh_store: Store) -> None:
    ready_project(fresh_store, 1)
    result = typed(
        "accounts", "invite", "lead", "--project", "set", "--url", "https://e.example/", "--db", fresh_store.path
    )
    assert "https://e.example/account/link#" in result.stdout
    lead = spend(fresh_store, result.stdout.strip().rpartition("#")[2], "Lena", PASSWORD)
    person = person_of(fresh_store, lead.uid)
    assert person is not None
    assert list(person.roles.values()) == ["lead"]


def test_open_invitations_are_listed_and_withdrawn(fresh_store: Store) -> None:
    ready_project(fresh_store, 1)
    db = fresh_store.path
    assert typed("accounts", "invitations", "--db", db).stdout.strip() == "No open invitation."
    invited = ("accounts", "invite", "annotator", "--project", "set", "--annotator", "Ada", "--db", db)
    typed(*invited)
    (former,) = run(db, "invitations")["invitations"]
    again = typed(*invited)
    assert f"The earlier invitation {former['id']} for Ada is withdrawn." in again.stderr
    run(db, "invite", "reader")
    rows = run(db, "invitations", "--project", "set")["invitations"]
    assert [(row["role"], row["project"], row["annotator"], row["uses"]) for row in rows] == [
        ("annotator", "set", "Ada", 1)
    ]
    head, first, second = typed("accounts", "invitations", "--db", db).stdout.splitlines()
    assert head.split() == ["invitation", "role", "in", "labels", "as", "uses", "made", "expires"]
    assert first.split()[:5] == [rows[0]["id"], "annotator", "set", "Ada", "1"] and "the whole server" in second
    run(db, "withdraw-invitation", rows[0]["id"])
    with pytest.raises(NotAllowed):
        link(fresh_store, again.stdout.strip().rpartition("#")[2])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["close", "nobody"], "no account named nobody"),
        (["role", "nobody", "lead"], "no account named nobody"),
        (["invite", "lead", "--project", "nowhere"], "nowhere"),
        (["withdraw-invitation", "abc"], "no open invitation abc"),
        (["add", "", "--role", "lead"], "Enter a name"),
    ],
)
def test_unknown_accounts_and_roles_are_refused(fresh_store: Store, arguments: list[str], sentence: str) -> None:
    assert sentence in run(fresh_store.path, *arguments, code=2)


def test_a_server_without_accounts_reports_the_open_mode(fresh_store: Store) -> None:
    assert "open mode" in typed("accounts", "list", "--db", fresh_store.path).stdout
