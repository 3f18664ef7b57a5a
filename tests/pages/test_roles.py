"""Each role at each page: the page opens, or the first page with one sentence and nothing of the requested page."""

from collections.abc import Iterator

import pytest
import streamlit as st

from evenhand.annotations.accounts.accounts import add_account, grant
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import ALLOWED, OWN, Role
from evenhand.annotations.types import Project
from evenhand.pages.catalogue import PAGES as CATALOGUE
from evenhand.pages.ui import visitor
from tests.support.pages import addresses, assert_title, open_address, text_of, without_exception
from tests.support.released_project import ready_project

PAGES = {page.address: page.action for page in CATALOGUE}

ROLES: tuple[Role, ...] = ("owner", "lead", "adjudicator", "annotator", "reader", "guest")
FOLDERS = {address: folder for folder, address in addresses().items()}
CELLS = [(role, address) for role in ROLES for address in PAGES]
OPENED_HERE = (("reader", "agreement"), ("annotator", "record"), ("adjudicator", "accounts"), ("lead", "study"))


def may_open(role: Role, address: str) -> bool:
    """Decide by tables put together without the code under test; only the annotator has a desk here."""
    action = PAGES[address]
    return action is None or (action in ALLOWED[role] and (action not in OWN or role == "annotator"))


REFUSED = {address: [role for role in ROLES if not may_open(role, address)] for address in PAGES}


@pytest.fixture
def project(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    yield ready_project(fresh_store, 2, name="here")


def come(store: Store, monkeypatch: pytest.MonkeyPatch, role: Role, project: Project) -> None:
    """Look at pages with this role in the project; a guest has no account, on a server that has some."""
    grant(store, add_account(store, "Olga"), "owner", None)
    secret = ""
    if role != "guest":
        who = add_account(store, "Lena")
        grant(store, who, role, None if role == "owner" else project, annotator="Ada" if role == "annotator" else None)
        secret = sign_in(store, who)
    monkeypatch.setattr(visitor, "cookie", lambda: secret)


def look(store: Store, monkeypatch: pytest.MonkeyPatch, role: Role, address: str, project: Project) -> None:
    come(store, monkeypatch, role, project)
    monkeypatch.setattr(type(st.context), "url", property(lambda _: f"http://localhost/{address}"))
    app = without_exception(open_address(FOLDERS[address], project="here"))
    if may_open(role, address):
        assert_title(app, FOLDERS[address])
        assert "There is no page" not in text_of(app)
        return
    assert_title(app, "home")
    messages = [warning.value.replace("\\", "") for warning in app.warning]
    assert messages == [f"There is no page /{address}. This is the home page."]
    assert address not in app.session_state["open_pages"]
    assert not app.error


def test_each_page_is_refused_to_some_role_or_open_to_all() -> None:
    assert set(FOLDERS) == set(PAGES)
    assert {address for address, roles in REFUSED.items() if not roles} == {"", "accounts", "about", "sentence-bias"}


@pytest.mark.parametrize(
    ("role", "address"),
    [
        *((roles[number % len(roles)], address) for number, (address, roles) in enumerate(REFUSED.items()) if roles),
        *OPENED_HERE,
    ],
)
def test_a_page_is_opened_or_refused_for_one_role(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch, project: Project, role: Role, address: str
) -> None:
    look(fresh_store, monkeypatch, role, address, project)


@pytest.mark.long
@pytest.mark.parametrize(("role", "address"), CELLS)
def test_each_page_is_opened_or_refused_for_each_role(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch, project: Project, role: Role, address: str
) -> None:
    look(fresh_store, monkeypatch, role, address, project)
