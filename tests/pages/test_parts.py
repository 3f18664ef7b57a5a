"""Parts of pages check the permission again at each click, in the project of the click."""

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.accounts.accounts import Account, account, add_account, grant
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.scoring_input import SCORING
from evenhand.annotations.imports.run import IMPORT, Settings
from evenhand.annotations.jobs import jobs
from evenhand.annotations.permissions import ALLOWED, OWN, Role
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.projects import archive
from evenhand.annotations.projects.projects import projects as every_project
from evenhand.annotations.types import Project
from evenhand.core.errors import NotAllowed, NotFound
from evenhand.core.scoring.settings import Settings as ScoringSettings
from evenhand.pages.ui import visitor
from evenhand.pages.ui.visitor import PARTS
from tests.support.pages import open_page, text_of
from tests.support.released_project import ready_project

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("main.py", "page.py")  # these run when they are imported
for file in sorted((ROOT / "pages").rglob("*.py")):
    if file.name not in SCRIPTS:
        import_module(".".join(("evenhand", *file.relative_to(ROOT).with_suffix("").parts)))
ROLES: tuple[Role, ...] = ("owner", "lead", "adjudicator", "annotator", "reader")


@pytest.fixture
def two(fresh_store: Store) -> tuple[Project, Project]:
    return ready_project(fresh_store, 1, name="here"), ready_project(fresh_store, 1, name="elsewhere")


def come(store: Store, monkeypatch: pytest.MonkeyPatch, name: str, role: Role, project: Project | None) -> Account:
    """Look at pages as a new account with a role."""
    who = add_account(store, name)
    desk = "Ada" if role == "annotator" else "Bo" if role in ("lead", "owner") and project else None
    grant(store, who, role, project, annotator=desk)
    secret = sign_in(store, who)
    monkeypatch.setattr(visitor, "cookie", lambda: secret)
    return account(store, name)


def noting(found: list[str], name: str) -> Callable[..., None]:
    def note(*_args: object, **_values: object) -> None:
        found.append(name)

    return note


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the parts whose body was reached; each only notes that."""
    results: list[str] = []
    for part in PARTS.values():
        monkeypatch.setattr(part, "body", noting(results, part.name))
    yield results


def click(name: str, project: Project) -> None:
    """Call a part as a page would, with *project* where it takes one."""
    place, _, function = name.partition(".py: ")
    part = getattr(import_module("evenhand.pages." + place.replace("/", ".")), function)
    values: dict[str, Any] = dict.fromkeys(inspect.signature(part).parameters)
    part(**({**values, "project": project} if "project" in values else values))


@pytest.mark.parametrize("role", ROLES)
def test_each_part_checks_the_permission_in_its_project(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch, reached: list[str], role: Role
) -> None:
    here, elsewhere = two
    come(fresh_store, monkeypatch, "Lena", role, here)
    assert len(PARTS) > 50
    for part in PARTS.values():
        expected = part.action in ALLOWED[role]
        for project, may in ((here, expected), (elsewhere, expected and not part.in_project)):
            reached.clear()
            try:
                click(part.name, project)
            except NotAllowed:
                assert not may, part.name
            assert reached == ([part.name] if may else []), (part.name, project.name)


def test_a_role_on_the_server_holds_in_each_project(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch, reached: list[str]
) -> None:
    come(fresh_store, monkeypatch, "Olga", "lead", None)
    for part in PARTS.values():
        if part.action not in OWN:
            click(part.name, two[1])
    assert set(reached) == {part.name for part in PARTS.values() if part.action not in OWN}


def test_the_open_mode_allows_every_part(fresh_store: Store, two: tuple[Project, Project], reached: list[str]) -> None:
    for part in PARTS.values():
        click(part.name, two[0])
    assert set(reached) == set(PARTS)


def test_a_lead_sees_nothing_of_another_project(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch, nothing_runs: None
) -> None:
    here, elsewhere = two
    scored = ScoringSettings("own.csv", ("m",))
    theirs = jobs.start(fresh_store, IMPORT, Settings("p", Path("a.csv")), "Import secret.csv", project=elsewhere)
    nobodys = jobs.start(fresh_store, SCORING, scored, "Score other.csv")
    lena = come(fresh_store, monkeypatch, "Lena", "lead", here)
    own = jobs.start(fresh_store, SCORING, scored, "Score own.csv", account=lena.uid)
    ours = jobs.start(fresh_store, IMPORT, Settings("p", Path("a.csv")), "Import a.csv", project=here, account="nobody")
    query = "SELECT uid FROM item WHERE project = ?"
    (item,) = fresh_store.db.execute(query, (elsewhere.id,)).fetchone()
    page = open_page("projects", project="elsewhere")
    assert [error.value for error in page.error] == ["There is no project named elsewhere\\."]
    assert "elsewhere" not in text_of(page).replace("There is no project named elsewhere", "")
    archive(fresh_store, elsewhere)
    assert "There is no project named elsewhere" in text_of(open_page("projects", project="elsewhere"))
    archive(fresh_store, elsewhere, archived=False)
    for name in ("browse", "adjudication"):
        shown = open_page(name, project="elsewhere", item=item)
        assert "There is no open project named elsewhere" in text_of(shown)
        shown = open_page(name, project="here", item=item)
        assert name == "adjudication" or "There are no items" in text_of(shown) or "no item" in text_of(shown)
    home = open_page("home")
    assert "elsewhere" not in text_of(home)
    assert re.search(r"<b[^>]*>1</b>", text_of(home))  # candidates: of the own project only
    listed = text_of(open_page("jobs"))
    assert "own\\.csv" in listed and "a\\.csv" in listed
    assert "secret" not in listed and "other\\.csv" not in listed
    seen = {item.uid for item in (theirs, nobodys, own, ours) if item.is_for(lead_of(fresh_store, lena))}
    assert seen == {own.uid, ours.uid}


def lead_of(store: Store, who: Account) -> visitor.Person:
    from evenhand.annotations.accounts.accounts import person_of

    result = person_of(store, who.uid)
    assert result is not None
    return result


def test_a_job_of_another_project_cannot_be_cancelled(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch, nothing_runs: None
) -> None:
    from evenhand.pages.ui.jobs import _change

    theirs = jobs.start(fresh_store, IMPORT, Settings("p", Path("a.csv")), "Import secret.csv", project=two[1])
    come(fresh_store, monkeypatch, "Lena", "lead", two[0])
    _change(theirs.uid, "cancel")
    assert jobs.find(fresh_store, theirs.uid).state == "waiting"
    with pytest.raises(NotFound):
        jobs.find(fresh_store, "unknown")
    lead = add_account(fresh_store, "Lars")
    grant(fresh_store, lead, "lead", two[1])
    secret = sign_in(fresh_store, lead)
    monkeypatch.setattr(visitor, "cookie", lambda: secret)
    _change(theirs.uid, "cancel")
    assert jobs.find(fresh_store, theirs.uid).state == "cancelled"


def test_the_maker_of_a_project_becomes_its_lead(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ready_project(fresh_store, 1, name="here")
    come(fresh_store, monkeypatch, "Lena", "lead", first)
    page = open_page("projects", view="new")
    page.text_input(key="name").set_value("mine").run()
    page.button(key="create").click().run()
    made = next(entry for entry in every_project(fresh_store) if entry.name == "mine")
    assert lead_of(fresh_store, account(fresh_store, "Lena")).roles == {first.uid: "lead", made.uid: "lead"}
    assert "mine" in [heading.value for heading in page.title]


def test_a_change_is_recorded_under_the_name_of_the_account(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = ready_project(fresh_store, 1, name="here")
    come(fresh_store, monkeypatch, "Lena", "lead", project)
    page = open_page("plan", state={"adjudicator": "Somebody else"}, project="here")
    assert not [field for field in page.text_input if field.key == "adjudicator"]
    page.number_input(key=f"per-{project.uid}").set_value(2).run()
    page.button(key="save_plan").click().run()
    written = fresh_store.db.execute("SELECT author FROM event WHERE action = 'plan'").fetchall()
    assert written == [("Lena",)]


def test_a_lead_chooses_whether_to_label_too(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project = ready_project(fresh_store, 1, name="here")
    who = add_account(fresh_store, "Lena")
    grant(fresh_store, who, "lead", project)
    secret = sign_in(fresh_store, who)
    monkeypatch.setattr(visitor, "cookie", lambda: secret)
    page = open_page("accounts", project="here")
    for labels in (True, False):
        page.toggle(key=f"labels-{project.uid}").set_value(labels).run()
        assert ("Lena" in [annotator.name for annotator in annotators(fresh_store, project)]) != labels, (
            "nothing is stored yet"
        )
        words = ("no", "yes") if labels else ("yes", "no")
        assert f"{words[0]} → {words[1]}" in page.info[0].value
        page.button(key=f"save-labels-{project.uid}").click().run()
        assert page.toggle(key=f"labels-{project.uid}").value == labels and not page.info
        there = [annotator.name for annotator in annotators(fresh_store, project)]
        assert ("Lena" in there) == labels
        assert bool(open_page("review", project="here").get("bidi_component")) == labels
    query = "SELECT author, json_extract(data, '$.labels') FROM event WHERE action = 'lead_labels' ORDER BY id"
    assert fresh_store.db.execute(query).fetchall() == [("Lena", 1), ("Lena", 0)]
