"""Who acts on the command line, and what each command needs.

Whoever may read the database file may do all of it: that is the system's user, whose name is recorded on a server with
accounts. With EVENHAND_SESSION (a secret made by `accounts session NAME`), or --as NAME and the password, a command
does only what the roles of that account allow, and is recorded under both names.
"""

import getpass
import os
import sys
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal, NamedTuple

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
from evenhand.annotations.jobs.process import current_job
from evenhand.annotations.permissions import OPEN, Action, Person, allowed, require
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.models.catalogue import is_open_to_all
from evenhand.core.runs.records import ordered_by

SESSION = "EVENHAND_SESSION"
ENDED = N_("The session in {variable} is no longer valid. Create a new one: python cli.py accounts session NAME")
TYPED = N_(
    "This server has accounts: actions are recorded under {user}, not under a name that is typed. Omit"
    " --author, or act as an account with --as NAME."
)


class Need(NamedTuple):
    """What a command needs, and where: in the project that its argument `where` names, in "any" of the own projects, or
    on the whole "server". `without`: where, if that argument names no project."""

    action: Action
    where: Literal["name", "project", "parent", "any", "server"]
    without: Literal["any", "server"] = "any"


# Every command; one that is not listed is refused to whoever acts as an account.
NEEDS: dict[str, Need] = {
    "project": Need("see_projects", "any"),
    "project create": Need("create_projects", "any"),
    "project list": Need("see_projects", "any"),
    "project show": Need("see_names", "name"),
    "project change": Need("change_projects", "name"),
    "project archive": Need("change_projects", "name"),
    "project recount": Need("change_projects", "name"),
    "project quota": Need("change_projects", "name"),
    "project guideline": Need("change_projects", "name"),
    "project annotators": Need("change_projects", "name"),
    "project preregister": Need("change_projects", "name"),
    "project followup": Need("release", "parent"),
    "project aside": Need("change_projects", "name"),
    "demo": Need("create_projects", "any"),
    "guideline": Need("see_guideline", "any"),
    "guideline show": Need("see_guideline", "name"),
    "guideline scheme": Need("see_guideline", "name"),
    "guideline diff": Need("see_guideline", "name"),
    "guideline new": Need("change_projects", "name"),
    "guideline send-back": Need("change_projects", "name"),
    "pilot": Need("see_names", "any"),
    "pilot start": Need("change_projects", "name"),
    "pilot close": Need("change_projects", "name"),
    "pilot show": Need("see_names", "name"),
    "import": Need("import_files", "name"),
    "export": Need("export_files", "name"),
    "undo": Need("import_files", "name"),
    "conflicts": Need("import_files", "name"),
    "plan": Need("change_projects", "name"),
    "sampling": Need("see_names", "any"),
    "sampling start": Need("change_projects", "name"),
    "sampling close": Need("change_projects", "name"),
    "sampling show": Need("see_names", "name"),
    "sampling needed": Need("change_projects", "name"),
    "accounts": Need("change_every_account", "server"),
    "accounts first": Need("change_every_account", "server"),
    "accounts list": Need("change_every_account", "server"),
    "accounts add": Need("change_every_account", "server"),
    "accounts role": Need("change_every_account", "server"),
    "accounts invite": Need("change_every_account", "server"),
    "accounts invitations": Need("change_every_account", "server"),
    "accounts withdraw-invitation": Need("change_every_account", "server"),
    "accounts reset": Need("change_every_account", "server"),
    "accounts close": Need("change_every_account", "server"),
    "accounts reopen": Need("change_every_account", "server"),
    "accounts erase": Need("change_every_account", "server"),
    "accounts scrub": Need("change_every_account", "server"),
    "accounts session": Need("change_every_account", "server"),
    "accounts sign-out": Need("change_every_account", "server"),
    "study": Need("change_projects", "any"),  # those that name a study ask for its project themselves
    "study create": Need("change_projects", "project"),
    "study list": Need("change_projects", "any"),
    "study show": Need("change_projects", "any"),
    "study ids": Need("change_projects", "any"),
    "study consent": Need("change_projects", "any"),
    "study close": Need("change_projects", "any"),
    "study reopen": Need("change_projects", "any"),
    "study withdraw": Need("change_projects", "any"),
    "study sweep": Need("change_projects", "server"),
    "people": Need("see_names", "project"),
    "people add": Need("change_projects", "project"),
    "people rename": Need("change_projects", "project"),
    "people deactivate": Need("change_projects", "project"),
    "people replace": Need("change_projects", "project"),
    "people consent": Need("change_projects", "project"),
    "people give-back": Need("change_projects", "project"),
    "people record": Need("see_names", "project"),
    "log": Need("see_names", "server"),
    "log verify": Need("see_all_labels", "name", "server"),
    "log show": Need("see_names", "server"),
    "log head": Need("see_agreement", "any"),
    "progress": Need("see_names", "project"),
    "agreement": Need("see_names", "project"),
    "groupings": Need("change_projects", "project"),
    "group-differences": Need("see_all_labels", "project"),
    "preferences": Need("see_all_labels", "project"),
    "annotator-models": Need("see_all_labels", "project"),
    "quality": Need("see_names", "project"),
    "release": Need("release", "name"),
    "harness": Need("start_jobs", "any"),
    "harness task": Need("see_all_labels", "name"),
    "harness read": Need("start_jobs", "any"),
    "demo-page": Need("measure", "any"),
    "hub": Need("release", "any"),
    "hub push": Need("release", "name"),
    "hub pull": Need("import_files", "name"),
    "describe": Need("see_all_labels", "project"),
    "score": Need("start_jobs", "any"),
    "score-sentence": Need("try_models", "any"),
    "generate": Need("start_jobs", "any"),
    "sample": Need("import_files", "name"),
    "compare-texts": Need("create_projects", "any"),
    "mine": Need("start_jobs", "any"),
    "pairs": Need("start_jobs", "any"),
    "pairs check": Need("start_jobs", "any"),
    "forecast": Need("change_projects", "name"),
    "concord": Need("start_jobs", "name"),
    "swap": Need("start_jobs", "any"),
    "models": Need("try_models", "any"),
    "tune": Need("start_jobs", "any"),
    "tune-grid": Need("start_jobs", "any"),
    "before-after": Need("start_jobs", "any"),
    "before-after-runs": Need("measure", "any"),
    "before-after-people": Need("start_jobs", "any"),
    "before-after-people mix": Need("create_projects", "any"),
    "before-after-people result": Need("start_jobs", "any"),
    "weat": Need("measure", "any"),
    "crows": Need("measure", "any"),
    "stereoset": Need("measure", "any"),
    "judge": Need("change_projects", "any"),
    "judge run": Need("change_projects", "project"),
    "judge again": Need("change_projects", "project"),
    "judge import": Need("change_projects", "project"),
    "judge show": Need("change_projects", "project"),
    "judge list": Need("change_projects", "project"),
    "judge failures": Need("change_projects", "project"),
    "judge eps": Need("change_projects", "project"),
    "judge prompt": Need("measure", "any"),
    "judge forecast": Need("change_projects", "project"),
    "other-measures": Need("start_jobs", "any"),
    "classifier-gaps": Need("measure", "any"),
    "estimate": Need("measure", "any"),
    "alt-test": Need("measure", "any"),
    "bias": Need("measure", "any"),
    "ruler": Need("measure", "any"),
    "association": Need("start_jobs", "any"),
    "audit": Need("measure", "any"),
    "audit draw": Need("measure", "any"),
    "audit send": Need("create_projects", "any"),
    "audit result": Need("see_all_labels", "project"),
    "check-paper": Need("measure", "any"),
    "report": Need("measure", "any"),
    "misgendering": Need("measure", "any"),
    "misgendering run": Need("start_jobs", "any"),
    "misgendering score": Need("start_jobs", "any"),
    "misgendering convert": Need("measure", "any"),
    "misgendering metrics": Need("measure", "any"),
    "rule": Need("measure", "any"),
    "human-vs-rule": Need("see_names", "project"),
    "nli": Need("measure", "any"),
    "nli ask": Need("start_jobs", "any"),
    "nli pair": Need("measure", "any"),
    "nli rates": Need("start_jobs", "any"),
    "nli set": Need("measure", "any"),
    "job": Need("see_jobs", "any"),
    "job list": Need("see_jobs", "any"),
    "job log": Need("see_jobs", "any"),
    "job cancel": Need("start_jobs", "any"),
    "job resume": Need("start_jobs", "any"),
    "job dismiss": Need("start_jobs", "any"),
    "job run": Need("see_jobs", "any"),
    "backup": Need("back_up", "server"),
    "restore": Need("back_up", "server"),
    "doctor": Need("back_up", "server"),
}
BY_UID = ("import", "undo", "release", "hub push", "hub pull")  # these may name their project by its public id
_person: ContextVar[Person] = ContextVar("person", default=OPEN)


def acting_person() -> Person:
    """As whom the command acts: `OPEN` for the system's user, else the account of the session or of --as."""
    return _person.get()


def guarded(command: click.Command, words: tuple[str, ...]) -> click.Command:
    """The same *command*, whose work, and that of each command below it, begins with the question whether it may.

    Called once for each command when it is asked for.
    """
    if getattr(command, "is_guarded", False):
        return command
    command.is_guarded = True  # type: ignore[attr-defined]
    if isinstance(command, click.Group):
        below = command.get_command

        def get_command(context: click.Context, name: str) -> click.Command | None:
            found = below(context, name)
            return guarded(found, (*words, name)) if found else None

        command.get_command = get_command  # type: ignore[method-assign,assignment]
    invoke = command.invoke

    def ask_first(context: click.Context) -> Any:
        if not isinstance(command, click.Group) or command.invoke_without_command:
            _enter(" ".join(words), context)
        return invoke(context)

    command.invoke = ask_first  # type: ignore[method-assign,assignment]
    return command


def _enter(words: str, context: click.Context) -> None:
    """Check the command, and note under which name it acts."""
    params = _all_params(context)
    ordered_by.set({})
    path = Path(params.get("db") or database_path())
    name, secret = context.find_root().params.get("account"), os.environ.get(SESSION, "")
    if not path.is_file():
        if name or secret:
            raise NotAllowed(ENDED, variable=SESSION)
        return
    if words in ("restore", "doctor", "job run") and not (name or secret):
        return  # a database that cannot be opened is what `restore` and `doctor` are for; a job asks for its command
    with Store.open(path) as store:
        if not accounts_exist(store):
            return
        person = _account_of(store, name, secret)
        job = current_job()
        if job is not None and person is OPEN:
            who = _name_of(store, job.account) or _system_user()
        else:
            who = _system_user() + (f" ({person.name})" if person is not OPEN else "")
            if params.get("author"):
                raise Refused(TYPED, user=who)
        if person is not OPEN:
            _require(store, words, params, person)
    acting.set(who)
    _person.set(person)
    for_whom = {"project": job.project, "account": job.account} if job is not None else {}
    for_whom |= {"account": person.account} if person.account else {}
    ordered_by.set({key: uid for key, uid in for_whom.items() if uid})
    if "author" in context.params:
        context.params["author"] = who


def _all_params(context: click.Context) -> dict[str, Any]:
    """The arguments of a command and of the groups above it."""
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
    """The person of the session, or of --as with its password; `OPEN` without either. Raises NotAllowed."""
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


def _require(store: Store, words: str, params: dict[str, Any], person: Person) -> None:
    """Raise NotAllowed, or NotFound for a project in which the person has no role."""
    need = NEEDS.get(words)
    if need is None:
        raise NotAllowed(N_("This command cannot be used while acting as an account."))
    named = [params.get(key) for key in ("model", "models", "before", "after", "placebo")]
    models = [one for value in named if value for one in ([value] if isinstance(value, str) else value)]
    if any(not is_open_to_all(str(one)) for one in models):
        require(person, "load_models")
    asked = params.get(need.where)
    uid = params.get("uid") if words in BY_UID else None
    place = need.without if asked is None and uid is None and need.where not in ("any", "server") else need.where
    if place == "any":
        require(person, need.action, annotator=person.annotator)
        return
    if place == "server":
        require(Person(person.everywhere, person.annotator), need.action)
        return
    found = _project(store, str(asked), uid)
    if found is None and words in ("import", "hub pull"):  # it makes the project
        require(person, "create_projects")
        return
    if found is None or not allowed(person, "try_models", project=found.uid):
        raise NotFound(N_("There is no project named {name}."), name=asked)
    require(person, need.action, project=found.uid, annotator=person.annotator)


def _project(store: Store, name: str, uid: object) -> Project | None:
    every = (*projects(store), *projects(store, archived=True))
    return next((one for one in every if (one.uid == uid if uid else one.name == name)), None)


def own_projects(found: list[Project], action: Action) -> list[Project]:
    """Those of *found* in which whoever acts may do *action*."""
    person = acting_person()
    return [one for one in found if allowed(person, action, project=one.uid)]


def enter_project(store: Store, name: str, uid: str | None) -> None:
    """What this command writes is the project's: whoever starts jobs there may see it. Raises NotFound for a project in
    which whoever acts may not start jobs."""
    found = _project(store, name.strip(), uid)
    if found is None or not allowed(acting_person(), "start_jobs", project=found.uid):
        raise NotFound(N_("There is no project named {name}."), name=name)
    if accounts_exist(store):
        ordered_by.set(ordered_by.get() | {"project": found.uid})


def own_new_project(store: Store, project: Project) -> None:
    """Whoever has made a project as an account leads it."""
    lead_new_project(store, acting_person(), project)
