"""The visitor's role decides the navigation and the parts of a page, and no page reveals others' labels."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.accounts.accounts import Account, account, add_account, close_account, grant
from evenhand.annotations.accounts.links import invitations, invite_link, link
from evenhand.annotations.accounts.sign_ins import sign_in, sign_ins
from evenhand.annotations.database.store import Store
from evenhand.annotations.log.erasure import own_data
from evenhand.annotations.log.verify import verify
from evenhand.annotations.permissions import OPEN, Person, Role
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.consent import add_grouping, answer_consent, set_group
from evenhand.annotations.types import Project
from evenhand.core.errors import NotAllowed
from evenhand.pages.catalogue import PAGES as CATALOGUE
from evenhand.pages.ui import visitor
from evenhand.pages.ui.visitor import may_open
from tests.support.pages import HOME, open_page, text_of, without_exception
from tests.support.released_project import items, label, ready_project

PAGES = {page.address: page.action for page in CATALOGUE}

GUEST = {"", "sentence-bias", "accounts", "about"}
OPENED: dict[Role, set[str]] = {
    "guest": GUEST,
    "reader": GUEST | {"agreement", "describe", "release"},
    "annotator": GUEST | {"review", "record", "guideline"},
    "adjudicator": GUEST | {"adjudication", "human-vs-rule", "guideline"},
    "lead": set(PAGES),
    "owner": set(PAGES),
}


@pytest.mark.parametrize("role", OPENED)
def test_the_navigation_lists_the_pages_of_a_role(role: Role) -> None:
    assert {page for page in PAGES if may_open(Person(None, "ada", {"p": role}), page)} == OPENED[role]
    assert all(may_open(OPEN, page) for page in PAGES)


Come = Callable[[Account], None]


@pytest.fixture
def come(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> Come:
    """Look at pages with the cookie of an account."""

    def as_account(who: Account) -> None:
        secret = sign_in(fresh_store, who, "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0")
        monkeypatch.setattr(visitor, "cookie", lambda: secret)

    return as_account


def person(store: Store, name: str, role: Role, project: Project | None, annotator: str | None = None) -> Account:
    made = add_account(store, name)
    grant(store, made, role, project, annotator=annotator)
    return account(store, name)


def test_an_annotator_sees_only_the_own_desk(fresh_store: Store, come: Come) -> None:
    project, other = ready_project(fresh_store, 2), ready_project(fresh_store, 1, name="elsewhere")
    ada = person(fresh_store, "ada@example.org", "annotator", project, "Ada")
    come(ada)
    label(fresh_store, project, annotators(fresh_store, project)[0], next(items(fresh_store, project)).uid, "accept")
    home = open_page("home")
    assert "Ada\\: 1 left" in [str(element.proto.label) for element in home.get("page_link")]
    assert not re.search(r"\bBo\b", text_of(home))
    assert other.name not in text_of(home)
    review = open_page("review", project="set")
    assert any("desk" in str(element.proto.component_name) for element in review.get("bidi_component"))
    assert review.session_state["desk_annotator"] == "Ada"
    bo = open_page("review", project="set", annotator="Bo")
    assert not bo.get("bidi_component")
    assert "Bo has no desk in set" in text_of(bo)
    record = open_page("record", project="set", annotator="Bo", view="work")
    assert not [box for box in record.selectbox if box.key.startswith("record-")]
    assert record.metric[0].value == "1"
    assert "There is no open project named elsewhere" in text_of(open_page("record", project="elsewhere"))


def test_a_forbidden_page_shows_home(fresh_store: Store, come: Come) -> None:
    come(person(fresh_store, "Ada", "annotator", ready_project(fresh_store, 1)))
    app = AppTest.from_file(str(Path(__file__).parents[2] / "pages/main.py"), default_timeout=60)
    app.switch_page("browse/page.py").run()
    assert [title.value for title in without_exception(app).title] == [HOME]


def test_a_revoked_role_ends_with_the_next_click(fresh_store: Store, come: Come) -> None:
    project = ready_project(fresh_store, 1)
    lena = person(fresh_store, "Lena", "lead", project)
    person(fresh_store, "Olga", "owner", None)
    come(lena)
    page = open_page("accounts", project="set")
    role = page.selectbox(key=f"role-{project.uid}")
    assert role.options == ["annotator", "adjudicator", "reader", "lead"]
    grant(fresh_store, lena, "reader", project)
    page.button(key=f"invite-{project.uid}").click().run()
    assert [error.value for error in page.error] == ["You do not have permission to do this\\. Ask the project lead\\."]
    assert not page.code
    close_account(fresh_store, lena)
    assert "Sign in to see your account." in text_of(page.run())


def test_a_lead_invites_and_signs_out(fresh_store: Store, come: Come) -> None:
    project = ready_project(fresh_store, 1)
    lena = person(fresh_store, "Lena", "lead", project)
    ada = person(fresh_store, "Ada", "annotator", project)
    both = person(fresh_store, "Both", "annotator", project)
    grant(fresh_store, both, "reader", ready_project(fresh_store, 1, name="other"))
    sign_in(fresh_store, ada)
    come(lena)
    page = open_page("accounts", project="set")
    keys = {button.key for button in page.button}
    assert f"sign-out-{project.uid}-{ada.uid}" in keys
    assert f"sign-out-{project.uid}-{both.uid}" not in keys  # has a role where Lena has none
    assert f"withdraw-{both.uid}" in keys
    page.button(key=f"sign-out-{project.uid}-{ada.uid}").click().run()
    assert sign_ins(fresh_store, ada) == []
    page.selectbox(key=f"role-{project.uid}").set_value("annotator").run()
    page.button(key=f"invite-{project.uid}").click().run()
    assert "/account/link?lang=en#" in page.code[0].value
    assert not page.run().code  # shown once
    assert "Firefox, Linux (this one)" in text_of(page)
    page.button(key=f"reset-{project.uid}-{ada.uid}").click().run()
    shown = [element.value for element in page.main if element.type in ("markdown", "code")]
    names = [line for line in shown if line in ("**Ada**", "**Both**") or "New password of" in line]
    assert names[:2] == ["**Ada**", "**New password of Ada**"]  # next to the account that it is for


def test_an_invitation_is_listed_replaced_and_withdrawn(fresh_store: Store, come: Come) -> None:
    project = ready_project(fresh_store, 1)
    lena = person(fresh_store, "Lena", "lead", project)
    other = ready_project(fresh_store, 1, name="other")
    invite_link(fresh_store, "reader", other)
    come(lena)
    page = open_page("accounts", project="set")
    assert "Open invitations" not in text_of(page)
    secrets = []
    for _ in range(2):
        page.selectbox(key=f"role-{project.uid}").set_value("annotator").run()
        page.selectbox(key=f"desk-{project.uid}").set_value(annotators(fresh_store, project)[0].name).run()
        without_exception(page.button(key=f"invite-{project.uid}").click().run())
        secrets.append(page.code[0].value.rpartition("#")[2])
    assert f"The earlier invitation for {annotators(fresh_store, project)[0].name} has been withdrawn" in text_of(page)
    with pytest.raises(NotAllowed):
        link(fresh_store, secrets[0])
    (mine,) = [invitation for invitation in invitations(fresh_store) if invitation.project == project]
    keys = [button.key for button in page.button if button.key and button.key.startswith("uninvite-")]
    assert keys == [f"uninvite-{mine.id}"], "those of other projects are not listed"
    without_exception(page.button(key=keys[0]).click().run())
    assert "Open invitations" not in text_of(page)
    with pytest.raises(NotAllowed):
        link(fresh_store, secrets[1])


def test_a_reader_sees_codes_and_no_items(fresh_store: Store, come: Come) -> None:
    project = ready_project(fresh_store, 3)
    for item in items(fresh_store, project):
        for number, who in enumerate(annotators(fresh_store, project)):
            label(fresh_store, project, who, item.uid, "accept" if number else "reject", note="why")
    come(person(fresh_store, "Rita", "reader", project))
    page = open_page("agreement", project="set")
    assert "Disagreements" not in [heading.value for heading in page.header]
    assert page.selectbox(key="confusion-a").options == ["A1", "A2", "A3"]
    release = open_page("release", project="set")
    assert not [button for button in release.button if "make" in button.key.lower()]
    assert [heading.value for heading in release.header] == ["Releases"]
    describe = open_page("describe", project="set")
    assert not [control for control in describe.segmented_control if control.key == "described"]


def test_pages_of_an_annotator_do_not_depend_on_others_labels(
    fresh_store: Store, come: Come, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages of Ada in two copies of a database that differ in what Bo chose, byte for byte."""
    project = ready_project(fresh_store, 4)
    ada = person(fresh_store, "ada@example.org", "annotator", project, "Ada")
    come(ada)
    label(fresh_store, project, annotators(fresh_store, project)[0], next(items(fresh_store, project)).uid, "accept")
    copies = [tmp_path / f"world-{number}.db" for number in (1, 2)]
    for copy in copies:
        fresh_store.db.execute("VACUUM INTO ?", (str(copy),))
    seen = []
    for copy, choice in zip(copies, ("accept", "reject"), strict=True):
        copy.chmod(0o600)
        with Store.open(copy) as store:
            for item in list(items(store, project))[:3]:
                label(store, project, annotators(store, project)[1], item.uid, choice, note="why")
        monkeypatch.setenv("EVENHAND_DB", str(copy))
        pages = [open_page(page, project="set") for page in ("home", "record", "accounts")]
        texts = ["\n".join(str(element.proto) for element in page.main) for page in pages]
        seen.append([re.sub(r'deferred_file_id: "\w+"', "", text) for text in texts])  # drawn again for each button
    assert seen[0] == seen[1]
    assert "Ada" in seen[0][0]


def test_the_open_mode_is_announced(fresh_store: Store) -> None:
    page = open_page("accounts")
    assert any("Open mode" in caption.value for caption in page.sidebar.caption)
    page.button(key="first").click().run()
    assert "/account/link" in page.code[0].value


def test_the_owner_erases_a_person_and_scrubs_the_texts(fresh_store: Store, come: Come) -> None:
    project = ready_project(fresh_store, 2)
    owner = person(fresh_store, "olga", "owner", None)
    person(fresh_store, "ada@example.org", "annotator", project, "Ada")
    ada = annotators(fresh_store, project)[0]
    label(fresh_store, project, ada, next(items(fresh_store, project)).uid, "accept", note="as Theo said")
    come(owner)
    page = open_page("accounts")
    assert page.button(key="erase").disabled
    page.selectbox(key="erase-who").set_value("ada@example.org")
    page.text_input(key="erase-typed").set_value("ada@example.org").run()
    page = without_exception(page.button(key="erase").click().run())
    assert "now replaces the name" in text_of(page)
    assert "ada@example.org" not in text_of(page) and "as Theo said" in text_of(page)
    code = f"P-{ada.uid[:8]}"
    page = without_exception(page.button(key=f"scrub-{code}").click().run())
    assert "as Theo said" not in text_of(page)
    assert fresh_store.db.execute("SELECT note FROM label").fetchone() == ("",)
    assert verify(fresh_store).kinds["label"] == 1


def test_only_the_owner_can_erase(fresh_store: Store, come: Come) -> None:
    project = ready_project(fresh_store, 1)
    person(fresh_store, "olga", "owner", None)
    come(person(fresh_store, "lea", "lead", project))
    assert "erase" not in [button.key for button in open_page("accounts").button]


def test_the_own_data_names_no_other_person(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 2)
    olga = person(fresh_store, "olga", "owner", None)
    ada = add_account(fresh_store, "ada@example.org", author=olga)
    grant(fresh_store, ada, "annotator", project, annotator="Ada", author=olga)
    sign_in(fresh_store, ada, "Firefox")
    dialect = add_grouping(fresh_store, project, "dialect", ("that of Ada", "that of Bo"))
    for who in annotators(fresh_store, project)[:2]:
        label(fresh_store, project, who, next(items(fresh_store, project)).uid, "accept", note=f"of {who.name}")
        answer_consent(fresh_store, project, who, "release", given=who.name == "Ada")
        set_group(fresh_store, project, dialect, who, f"that of {who.name}", "annotator")
    text = own_data(fresh_store, account(fresh_store, "ada@example.org"))
    data = json.loads(text)
    assert [role["role"] for role in data["roles"]] == ["annotator"] and len(data["sign_ins"]) == 1
    assert [event["action"] for event in data["events"]] == ["added", "granted", "signed in"]
    assert [event["note"] for item in data["records"][0]["items"] for event in item["history"]] == ["of Ada"]
    assert len(data["records"][0]["log"]["chain"]) == 1
    assert [consent["given"] for consent in data["consents"]] == [True]
    assert [group["group"] for group in data["groups"]] == ["that of Ada"]
    assert "olga" not in text and "Bo" not in text
