"""The acting person on the command line, and the permission that each command needs.

A system user who may read the database file may run all commands; a server with accounts records the user's name.
With EVENHAND_SESSION (a secret made by `accounts session NAME`), or --as NAME and the password, a command does only
what the roles of that account allow, and is recorded under both names.
"""

import getpass
import os
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import click

from evenhand.annotations.accounts.accounts import (
    account_of_uid,
    accounts_exist,
    authenticate,
    lead_new_project,
    person_of,
)
from evenhand.annotations.accounts.sign_ins import signed_in
from evenhand.annotations.database.events import acting
from evenhand.annotations.database.store import Store, database_path
from evenhand.annotations.jobs.jobs import Job
from evenhand.annotations.permissions import OPEN, Action, Person, allowed, require
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.types import Project
from evenhand.commands.shared import answer_options, options
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.models.catalogue import is_open_to_all
from evenhand.core.runs.records import ordered_by

SESSION = "EVENHAND_SESSION"
ENDED = N_("The session in {variable} is no longer valid. Create a new one: python cli.py accounts session NAME")
TYPED = N_(
    "This server has accounts: actions are recorded under {user}, not under a name given with --author. Omit --author,"
    " or act as an account with --as NAME."
)


Where = Literal["name", "project", "parent", "any", "server"]


@dataclass(frozen=True, slots=True)
class Need:
    """What a command needs, and where: in the project that its argument *where* names, in any, or on the server.

    *without*: where, if that argument names no project. *by_uid*: the project may be named by its public id. *creates*:
    a project that does not exist is created. *opens*: the command needs a database that can be opened.
    """

    action: Action
    where: Where = "any"
    without: Literal["any", "server"] = "any"
    by_uid: bool = False
    creates: bool = False
    opens: bool = True


Function = TypeVar("Function", bound=Callable[..., Any])
_person: ContextVar[Person] = ContextVar("person", default=OPEN)


def acting_person() -> Person:
    """Return the acting person: `OPEN` for the system's user, else the account of the session or of --as."""
    return _person.get()


def needs(action: Action, where: Where = "any", **more: Any) -> Callable[[Function], Function]:
    """Declare what a command needs, and check it each time before the command runs; for the arguments see `Need`."""
    need = Need(action, where, **more)

    def decorate(function: Function) -> Function:
        @wraps(function)
        def checked(*args: Any, **values: Any) -> Any:
            context = click.get_current_context()
            enter(need, context)
            return function(*args, **{name: context.params.get(name, value) for name, value in values.items()})

        checked.need = need  # type: ignore[attr-defined]
        return cast(Function, checked)

    return decorate


def guarded(action: Action, where: Where = "any", **need: Any) -> Callable[[Function], Function]:
    """Give a command `--db` and `--json`, and check each time before it runs what it needs; for these see `Need`."""
    return options(answer_options, needs(action, where, **need))


def every_need(group: click.Group, context: click.Context, above: str = "") -> Iterator[tuple[str, Need | None]]:
    """Yield each command of *group* with what it needs; None for a group that only holds commands."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        words = f"{above} {name}".strip()
        yield words, getattr(command.callback, "need", None)
        if isinstance(command, click.Group):
            yield from every_need(command, click.Context(command, info_name=name, parent=context), words)


def enter(need: Need, context: click.Context) -> None:
    """Check that the acting person may run a command, and record the acting name. Raises NotAllowed, NotFound."""
    params = _all_params(context)
    ordered_by.set({})
    path = Path(params.get("db") or database_path())
    name, secret = context.find_root().params.get("account"), os.environ.get(SESSION, "")
    if not path.is_file():
        if name or secret:
            raise NotAllowed(ENDED, variable=SESSION)
        return
    if not need.opens and not (name or secret):
        return  # `restore` and `doctor` also handle a database that cannot be opened; a job checks its own command
    with Store.open(path) as store:
        if not accounts_exist(store):
            return
        person = _account_of(store, name, secret)
        who = _system_user() + (f" ({person.name})" if person is not OPEN else "")
        if params.get("author"):
            raise Refused(TYPED, user=who)
        if person is not OPEN:
            _require(store, need, params, person)
    acting.set(who)
    _person.set(person)
    if person.account:
        ordered_by.set({"account": person.account})
    if "author" in context.params:
        context.params["author"] = who


def enter_job(store: Store, job: Job) -> str:
    """Record what this process does as work of who started *job*.

    Returns the name that is recorded; "" on a server without accounts.
    """
    if not accounts_exist(store):
        return ""
    who = _name_of(store, job.account) or _system_user()
    acting.set(who)
    owners = {"project": job.project, "account": job.account}
    ordered_by.set({key: uid for key, uid in owners.items() if uid})
    return who


def _all_params(context: click.Context) -> dict[str, Any]:
    """Return the arguments of a command and of the groups above it."""
    above = _all_params(context.parent) if context.parent else {}
    return {**above, **{key: value for key, value in context.params.items() if value is not None}}


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a process without an entry in the list of users
        return f"uid {os.getuid()}"


def _name_of(store: Store, uid: str | None) -> str:
    return account_of_uid(store, uid).name if uid else ""


def _account_of(store: Store, name: str | None, secret: str) -> Person:
    """Return the person of the session, or of --as with its password; `OPEN` without either. Raises NotAllowed."""
    if secret:
        person = signed_in(store, secret)
        if person is None or (name and person.name.casefold() != name.strip().casefold()):
            raise NotAllowed(ENDED, variable=SESSION)
        return person
    if name is None:
        return OPEN
    if sys.stdin.isatty():
        password = click.prompt("Password", hide_input=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    return person_of(store, authenticate(store, name, password).uid) or Person("guest")


def _require(store: Store, need: Need, params: dict[str, Any], person: Person) -> None:
    """Raise NotAllowed, or NotFound for a project in which the person has no role."""
    named = [params.get(key) for key in ("model", "models", "before", "after", "placebo")]
    models = [one for value in named if value for one in ([value] if isinstance(value, str) else value)]
    if any(not is_open_to_all(str(model)) for model in models):
        require(person, "load_models")
    asked = params.get(need.where)
    uid = params.get("uid") if need.by_uid else None
    place = need.without if asked is None and uid is None and need.where not in ("any", "server") else need.where
    if place == "any":
        require(person, need.action, annotator=person.annotator)
        return
    if place == "server":
        require(Person(person.everywhere, person.annotator), need.action)
        return
    project = _project(store, str(asked), uid)
    if project is None and need.creates:
        require(person, "create_projects")
        return
    if project is None or not allowed(person, "try_models", project=project.uid):
        raise NotFound(N_("There is no project named {name}."), name=asked)
    require(person, need.action, project=project.uid, annotator=person.annotator)


def _project(store: Store, name: str, uid: object) -> Project | None:
    every = (*projects(store), *projects(store, archived=True))
    return next((project for project in every if (project.uid == uid if uid else project.name == name)), None)


def own_projects(found: list[Project], action: Action) -> list[Project]:
    """Return the projects of *found* in which the acting person may do *action*."""
    person = acting_person()
    return [project for project in found if allowed(person, action, project=project.uid)]


def enter_project(store: Store, name: str, uid: str | None) -> None:
    """Record what this command writes as the project's, so that people who may start jobs there can see it.

    Raises NotFound for a project in which the acting person may not start jobs.
    """
    project = _project(store, name.strip(), uid)
    if project is None or not allowed(acting_person(), "start_jobs", project=project.uid):
        raise NotFound(N_("There is no project named {name}."), name=name)
    if accounts_exist(store):
        ordered_by.set(ordered_by.get() | {"project": project.uid})


def enter_texts(db: str, texts: str, uid: str | None) -> None:
    """Enter the project of texts that are named as project:NAME. Raises NotFound."""
    from evenhand.annotations.files.scoring_input import PROJECT

    if texts.startswith(PROJECT):
        with Store.open_existing(db) as store:
            enter_project(store, texts.removeprefix(PROJECT), uid)


def own_new_project(store: Store, project: Project) -> None:
    """Make the acting account the lead of a new project, unless its server-wide role is wider."""
    lead_new_project(store, acting_person(), project)
