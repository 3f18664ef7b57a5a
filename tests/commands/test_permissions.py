"""Who acts on the command line: the system's user, or an account with its roles; and what each command needs."""

import getpass
import json
import sys
from contextvars import copy_context
from io import StringIO
from pathlib import Path

import click
import pytest

from cli import cli
from evenhand.annotations.accounts.accounts import account, add_account, close_account, grant
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.database.store import Store
from evenhand.annotations.imports.run import IMPORT, Settings
from evenhand.annotations.jobs import jobs
from evenhand.annotations.permissions import ALLOWED, Role
from evenhand.annotations.projects.projects import project as project_named
from evenhand.annotations.types import Project
from evenhand.commands.permissions import SESSION, Need, enter, enter_job, enter_project, every_need
from evenhand.core.errors import EvenhandError, NotAllowed, NotFound
from evenhand.core.runs.records import ordered_by
from tests.support.released_project import ready_project
from tests.support.terminal import answered, typed

ROLES: tuple[Role, ...] = ("owner", "lead", "adjudicator", "annotator", "reader")
PASSWORD = "correct horse battery"


def needs_of_commands() -> dict[str, Need]:
    """Return what each command needs, by its words; groups that only contain commands are left out."""
    return {words: need for words, need in every_need(cli, click.Context(cli)) if need is not None}


NEEDS = needs_of_commands()


def test_each_command_declares_its_permission() -> None:
    def runs(words: str) -> bool:
        context, command = click.Context(cli), cli
        for word in words.split():
            command = command.get_command(context, word)
        return not isinstance(command, click.Group) or command.invoke_without_command

    words = [words for words, _ in every_need(cli, click.Context(cli))]
    assert len(words) > 130 and {command for command in words if runs(command)} == set(NEEDS)


@pytest.fixture
def two(fresh_store: Store) -> tuple[Project, Project]:
    return ready_project(fresh_store, 1, name="here"), ready_project(fresh_store, 1, name="elsewhere")


def session(store: Store, name: str, role: Role, project: Project | None) -> str:
    who = add_account(store, name, password=PASSWORD)
    grant(store, who, role, project, annotator="Ada" if role == "annotator" else None)
    return sign_in(store, who)


def refusal(words: str, project: str | None, **more: object) -> type[EvenhandError] | None:
    """Return the error that refuses a command before its work, with *project* in each place that may name one."""
    context = click.Context(click.Command(words), parent=click.Context(cli))
    assert context.parent is not None
    context.parent.params = {"account": None}
    context.params = {**dict.fromkeys(("name", "project", "parent"), project), **more}
    try:
        copy_context().run(enter, NEEDS[words], context)
    except EvenhandError as error:
        return type(error)
    return None


@pytest.mark.parametrize("role", ROLES)
def test_each_command_checks_the_permission_in_its_project(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    monkeypatch.setenv(SESSION, session(fresh_store, "Lena", role, two[0]))
    for words, need in NEEDS.items():
        may = need.action in ALLOWED[role]
        if need.where == "any":
            assert (refusal(words, "elsewhere") is None) == may, words
        elif need.where == "server":  # an owner of one project does not own the server
            assert refusal(words, "here") is NotAllowed, words
        else:
            assert refusal(words, "here") == (None if may else NotAllowed), words
            if not need.creates or not may:
                hidden = NotAllowed if need.creates else NotFound
                assert refusal(words, "elsewhere") in (hidden, NotFound), words
            without = need.without == "any" and may
            assert (refusal(words, None) is None) == without, words


@pytest.mark.parametrize("role", ["owner", "lead", "reader"])
def test_a_role_on_the_server_holds_for_every_command(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    monkeypatch.setenv(SESSION, session(fresh_store, "Olga", role, None))
    for words, need in NEEDS.items():
        assert refusal(words, "elsewhere") == (None if need.action in ALLOWED[role] else NotAllowed), words


def test_without_a_session_the_systems_user_does_everything(fresh_store: Store, two: tuple[Project, Project]) -> None:
    session(fresh_store, "Lena", "lead", two[0])
    assert {words for words in NEEDS if refusal(words, "elsewhere")} == set()


@pytest.mark.parametrize("place", ["model", "models", "before", "after", "placebo"])
def test_a_reader_cannot_name_own_models_in_any_option(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv(SESSION, session(fresh_store, "Rita", "reader", two[0]))
    assert refusal("score-sentence", "here", **{place: ("demo-zh",)}) is None  # what a reader may do
    assert refusal("score-sentence", "here", **{place: ("demo-zh", "/srv/models/own")}) is NotAllowed


@pytest.mark.parametrize(("model", "refused"), [("demo-zh", False), ("bert-base-chinese", True), ("/etc", True)])
def test_a_reader_uses_built_in_models_only(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch, model: str, refused: bool
) -> None:
    monkeypatch.setenv(SESSION, session(fresh_store, "Rita", "reader", two[0]))
    assert refusal("score-sentence", None, model=model) == (NotAllowed if refused else None)
    assert refusal("score-sentence", None, models=("demo-zh", model)) == (NotAllowed if refused else None)


def authors(store: Store, action: str) -> list[str]:
    rows = store.db.execute("SELECT author FROM event WHERE action = ? ORDER BY id", (action,))
    return [row[0] for row in rows]


def test_changes_are_recorded_under_the_name_of_the_system_user(
    fresh_store: Store, two: tuple[Project, Project]
) -> None:
    answered("plan", "here", "--per-item", "2", "--author", "Typed")  # the open mode
    lena = session(fresh_store, "Lena", "lead", two[0])
    ended = typed("plan", "here", "--per-item", "3", "--author", "Typed")
    assert ended.code == 2 and getpass.getuser() in ended.stderr
    answered("plan", "here", "--per-item", "3")
    answered("plan", "here", "--per-item", "4", **{SESSION: lena})
    assert authors(fresh_store, "plan") == ["Typed", getpass.getuser(), f"{getpass.getuser()} (Lena)"]
    answered("project", "annotators", "here", "--add", "Dora")  # has no --author at all
    assert authors(fresh_store, "joined")[-1] == getpass.getuser()
    answered("accounts", "close", "Lena")
    query = "SELECT data FROM account_event WHERE action = 'closed'"
    assert json.loads(fresh_store.db.execute(query).fetchone()[0]) == {"by": getpass.getuser()}


def test_a_command_acts_as_an_account_after_its_password(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    session(fresh_store, "Lena", "lead", two[0])
    for password, code in ((PASSWORD, 0), ("wrong horse battery", 2), ("", 2)):
        monkeypatch.setattr(sys, "stdin", StringIO(f"{password}\n"))
        assert typed("--as", "lena", "plan", "here", "--per-item", "2").code == code
    monkeypatch.setattr(sys, "stdin", StringIO(f"{PASSWORD}\n"))
    ended = typed("--as", "Lena", "plan", "elsewhere", "--per-item", "2")
    assert (ended.code, ended.stderr) == (2, "There is no project named elsewhere.\n")
    other = session(fresh_store, "Lars", "lead", two[1])
    assert typed("--as", "Lena", "project", "list", **{SESSION: other}).code == 2
    assert authors(fresh_store, "plan") == [f"{getpass.getuser()} (Lena)"]


def test_a_session_lets_commands_act_as_its_account(
    fresh_store: Store, two: tuple[Project, Project], tmp_path: Path
) -> None:
    who = add_account(fresh_store, "Lena")
    grant(fresh_store, who, "lead", two[0])
    secret = answered("accounts", "session", "Lena")["session"]
    listed = answered("project", "list", **{SESSION: secret})["projects"]
    assert [stored["name"] for stored in listed] == ["here"]
    assert typed("accounts", "session", "Lena", **{SESSION: secret}).code == 2  # not even for oneself
    answered("project", "create", "mine", **{SESSION: secret})
    assert {project["name"] for project in answered("project", "list", **{SESSION: secret})["projects"]} == {
        "here",
        "mine",
    }
    assert project_named(fresh_store, "mine")
    assert typed("export", "elsewhere", tmp_path / "out.jsonl", "--format", "jsonl", **{SESSION: secret}).code == 2
    assert not (tmp_path / "out.jsonl").exists()
    assert typed("backup", "--out", tmp_path / "copy.db", **{SESSION: secret}).code == 2
    close_account(fresh_store, who)
    assert "is no longer valid" in typed("project", "list", **{SESSION: secret}).stderr
    assert typed("project", "list", **{SESSION: "made up"}).code == 2


def test_jobs_of_another_project_are_not_listed(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_spawn", lambda *_: None)
    theirs = jobs.start(fresh_store, IMPORT, Settings("p", Path("a.csv")), "Import secret.csv", project=two[1])
    secret = session(fresh_store, "Lena", "lead", two[0])
    assert answered("job", "list", **{SESSION: secret}) == {"jobs": []}
    for work in ("cancel", "resume", "log"):
        ended = typed("job", work, theirs.uid, **{SESSION: secret})
        assert (ended.code, "There is no job" in ended.stderr) == (2, True)
    assert len(answered("job", "list")["jobs"]) == 1


def test_runs_and_jobs_belong_to_account_and_project(
    fresh_store: Store, two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    context = click.Context(click.Command("score"), parent=click.Context(cli))
    assert context.parent is not None
    context.parent.params = {"account": None}
    here, elsewhere = two

    def entered(project: Project | None) -> dict[str, str]:
        enter(NEEDS["score"], context)
        if project is not None:
            enter_project(fresh_store, f" {project.name}", None)
        return ordered_by.get()

    assert copy_context().run(entered, here) == {}  # the open mode
    monkeypatch.setenv(SESSION, session(fresh_store, "Lena", "lead", here))
    lena = account(fresh_store, "Lena").uid
    assert copy_context().run(entered, None) == {"account": lena}
    assert copy_context().run(entered, here) == {"account": lena, "project": here.uid}
    with pytest.raises(NotFound, match="no project named  elsewhere"):
        copy_context().run(entered, elsewhere)
    monkeypatch.delenv(SESSION)
    monkeypatch.setattr(jobs, "_spawn", lambda *_: None)
    settings = Settings("p", Path("a.csv"))
    job = jobs.start(fresh_store, IMPORT, settings, "Import", project=elsewhere, account=lena)

    def of_job() -> dict[str, str]:
        assert enter_job(fresh_store, job) == "Lena"
        return ordered_by.get()

    assert copy_context().run(of_job) == {"account": lena, "project": elsewhere.uid}
