"""The frame of a page: who looks at it and what that person may do there, its title, its store, known errors.

The sign-in is looked up in the database at every run, fragment, callback and download, never kept in the session. Who
is signed out elsewhere, or loses a role, loses it at the next click. So a part that changes something or hands
something out asks again at every call (`asks`, `asks_at_click`): a click brings its arguments along.

Before an act that cannot be undone a part asks the visitor too (`confirmed`); a change of settings is written out above
the button that stores it (`say_changes`).
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import unquote, urlsplit

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from evenhand.annotations.accounts.accounts import accounts_exist, lead_new_project
from evenhand.annotations.accounts.sign_ins import sign_in_of, signed_in
from evenhand.annotations.database.events import acting
from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import OPEN, Action, Person, allowed, require
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, NotFound
from evenhand.core.language import explain
from evenhand.pages.catalogue import page_at, page_in
from evenhand.pages.ui.address import PROJECT, PROJECT_PAGES, link_to
from evenhand.pages.ui.text import _, caption, first_sentence, language, named, plain
from evenhand.web.gate import COOKIE, SECURE_COOKIE
from evenhand.web.requests import remember_visit

NOBODY = Person("guest")
# A file that is made at a click is made without a run of a page: the cookie of its visit, and the page it is on.
_download: ContextVar[tuple[str, str] | None] = ContextVar("download", default=None)


@contextmanager
def visit_of(session: str) -> Iterator[None]:
    """Work for the visit with this id outside a run of a page.

    The visitor is then the person of the visit's cookie, on the page that the visit has open.
    """
    client = runtime.get_instance().get_client(session) if runtime.exists() else None
    opened = runtime.get_instance().get_app_session(session) if runtime.exists() else None
    cookies = client.client_context.cookies if client and client.client_context else {}
    page = ""
    if opened is not None and "page_address" in opened.session_state:
        page = str(opened.session_state["page_address"])
    token = _download.set((cookies.get(SECURE_COOKIE) or cookies.get(COOKIE) or "", page))
    try:
        yield
    finally:
        _download.reset(token)


def page_here() -> str:
    """Return the address of the page that runs, or on which a file is asked for."""
    if (asked := _download.get()) is not None:
        return asked[1]
    return str(st.session_state.get("page_address", ""))


def is_presented() -> bool:
    """Return whether the page that runs is shown as slides over the whole window, without the rail."""
    return page_here() == "sentence-bias" and st.query_params.get("present") == "1"


def visitor(store: Store) -> Person:
    """Return who looks at this page now: `OPEN` on a server without accounts, else the person of the cookie."""
    if not accounts_exist(store):
        return OPEN
    person = signed_in(store, cookie()) or NOBODY
    if run := get_script_run_ctx():
        remember_visit(run.session_id, person.account)
    return person


def cookie() -> str:
    """Return the secret of the sign-in in the cookie with which this visit was opened, or ""."""
    if (asked := _download.get()) is not None:
        return asked[0]
    cookies = st.context.cookies
    return cookies.get(SECURE_COOKIE) or cookies.get(COOKIE) or ""


def own_sign_in(store: Store) -> str | None:
    """Return the public id of the sign-in of this browser; None in the open mode and for a guest."""
    return sign_in_of(store, cookie())


def may(store: Store, action: Action, project: Project | None = None) -> bool:
    """Return whether the visitor may do *action*, in a project or anywhere."""
    person = visitor(store)
    place = project.uid if project else None
    return allowed(person, action, project=place, annotator=person.annotator)


def may_open(person: Person, page: str) -> bool:
    """Return whether *person* may open a page (its address)."""
    action = page_at(page).action
    if action is None:
        return True
    return allowed(person, action, annotator=person.annotator)


def check_page(store: Store, project: Project | None = None) -> None:
    """Raise NotAllowed if the visitor may not be on the page that runs, with this project where one is named. A
    fragment runs without the frame of the page, and so does a callback: they ask here."""
    action = page_at(page_here()).action
    if action is not None:
        require_here(store, action, project)


def require_here(store: Store, action: Action, project: Project | None = None) -> None:
    """Raise NotAllowed unless the visitor may do *action* in *project* now; without one, in any of the own projects."""
    person = visitor(store)
    place = project.uid if project else None
    require(person, action, project=place, annotator=person.annotator)
    acting.set(person.name)  # what this run does is recorded under it


def author(store: Store) -> str:
    """Return who acts, for the record: the name of the account; in the open mode what was typed in this visit."""
    person = visitor(store)
    return str(st.session_state.get("adjudicator") or "").strip() if person is OPEN else person.name


def ask_author(store: Store, label: str, *, key: str = "adjudicator", **look: Any) -> str:
    """Ask for the name under which an act is recorded: typed in the open mode, else that of the account, shown."""
    if visitor(store) is OPEN:
        return str(st.text_input(label, key=key, max_chars=80, **look) or "")
    name = author(store)
    st.caption(plain(named(label, name)))
    return name


def own_new_project(store: Store, project: Project) -> Project:
    """Return *project*, which the visitor has just made, after making them its lead unless they have a wider role."""
    lead_new_project(store, visitor(store), project)
    return project


def own_projects(store: Store, *, archived: bool = False) -> list[Project]:
    """Return the projects in which the visitor may do what the page is for; *archived*: those that are put away."""
    person, action = visitor(store), page_at(page_here()).action
    result = projects(store, archived=archived)
    if person is OPEN:
        return result
    if action is None:
        return [project for project in result if sees_project(person, project)]
    return [project for project in result if allowed(person, action, project=project.uid, annotator=person.annotator)]


def sees_project(person: Person, project: Project) -> bool:
    """Return whether *person* has something to see or to do in a project."""
    actions: tuple[Action, ...] = ("see_projects", "label")
    return any(allowed(person, action, project=project.uid, annotator=person.annotator) for action in actions)


def own_project(store: Store, name: str) -> Project:
    """Return the project of that name, open or put away, if the visitor may do in it what the page is for.

    Raises NotFound: who may not see a project is not told that it is there.
    """
    there = (*own_projects(store), *own_projects(store, archived=True))
    stored_project = next((project for project in there if project.name == name), None)
    if stored_project is None:
        raise NotFound(N_("There is no project named {name}."), name=name)
    return stored_project


def address_on_this_server(path: str) -> str:
    """Return the address of *path* on this server, as the visitor reaches it."""
    here = urlsplit(st.context.url or "")
    server = f"{here.scheme}://{here.netloc}" if here.netloc else ""
    return f"{server}{base_path()}{path}"


def base_path() -> str:
    """Return the folder in which the app is served, with a slash before it; "" for the root of the server."""
    return f"/{(st.get_option('server.baseUrlPath') or '').strip('/')}".rstrip("/")


def show_who(person: Person) -> None:
    """Show in the navigation who is signed in, where to sign in, or that the server has no accounts."""
    base = base_path()
    if person is OPEN:
        caption("Open mode: no accounts. Anyone using this machine can do everything.")
    elif person.account is None:
        st.link_button(_("Sign in"), f"{base}/sign-in?lang={language()}", icon=":material/login:")
    else:
        caption("Signed in as {name}", name=person.name)
        st.link_button(_("Sign out"), f"{base}/sign-out?lang={language()}", icon=":material/logout:", type="tertiary")


def opens(file: str) -> bool:
    """Return whether the visitor may open a page (`projects/page.py`)."""
    address = _address(file)
    return address in st.session_state.get("open_pages", (address,))


def page_link(file: str, *, query_params: Mapping[str, str] | None = None, **look: Any) -> None:
    """Show a link to a page (`projects/page.py`), nothing where the visitor may not open it. *look*: as for
    st.page_link.

    A page about a project keeps that of this visit, unless *query_params* name another.
    """
    if opens(file):
        st.page_link(file, query_params=link_to(_address(file), query_params), **look)


def _address(file: str) -> str:
    return page_in(file.removesuffix("/page.py")).address


Inputs = ParamSpec("Inputs")
Result = TypeVar("Result")


def page_head(text: str) -> None:
    """Show the title of the page that runs, and what it is for in the visitor's language.

    Below the title are the project of this visit, where the page is about one, and the first sentence of *text*; the
    other sentences are behind the help sign.
    """
    first, others = first_sentence(_(text))
    st.title(_(page_at(page_here()).title), help=others or None)
    project = st.session_state.get(PROJECT) if page_here() in PROJECT_PAGES else None
    if project and st.query_params.get("project", project) == project:
        first = f"**{plain(project)}** · {first}"
    with st.container(key="lede"):
        st.write(first)


@contextmanager
def open_store(project: Project | None = None, action: Action | None = None) -> Iterator[Store]:
    """Yield the database for this run of the page; never keep it longer.

    An action on one project passes the project: callbacks, fragments and downloads run without the page around them.
    Raises NotAllowed if the visitor may not be on this page, may not be there with *project*, or may not do *action* in
    it.
    """
    with stores.borrow() as store:
        check_page(store, project)
        if action is not None:
            require_here(store, action, project)
        yield store


def unknown_address(url: str | None, shown: str, base: str = "") -> str | None:
    """Return the path of an address that is not a page; None where it leads to the page that is shown.

    *url* is the visitor's address, *shown* the path of the page that opened, *base* the folder the app is served in.
    """
    path = unquote(urlsplit(url or "").path).strip("/")
    base = base.strip("/")
    path = path.removeprefix(base).strip("/") if base else path
    return path if path and path != shown else None


def show_error(error: EvenhandError) -> None:
    """Show a known error as one sentence in the visitor's language; its values are shown as they are."""
    st.error(plain(explain(error, language())), icon=":material/error:")


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show a known error as one sentence; also a decorator, for a part that runs without the frame of a page."""
    try:
        yield
    except EvenhandError as error:
        show_error(error)


def remembered(
    now: tuple[str, ...],
    compute: Callable[Concatenate[Store, Project, Inputs], Result],
    project: Project,
    *args: Inputs.args,
    **settings: Inputs.kwargs,
) -> Result:
    """Return `compute(store, project, ...)`, computed again only where *now*, the project or an argument changed.

    *now*: a value that changes every time the result may change. *compute* must not ask who the visitor is.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"
    result: Result = _computed(name, now, project, args, settings, compute)
    return result


@st.cache_data(max_entries=64, show_spinner=False)
def _computed(
    name: str, now: tuple[str, ...], project: Project, args: Any, settings: Any, _compute: Callable[..., Any]
) -> Any:
    with open_store(project) as store:
        return _compute(store, project, *args, **settings)


Change = tuple[str, str, str]  # the name of a setting, its stored value, its new value


@dataclass(slots=True)
class Part:
    """A part of a page: where it is written, which action it needs, and whether in the given project or in any of the
    visitor's.

    `body`: the function that runs for a visitor who may do this.
    """

    name: str
    action: Action
    in_project: bool
    body: Callable[..., Any]


PARTS: dict[str, Part] = {}  # "projects/settings.py: show_settings" -> the part, as the modules are imported


def asks(action: Action) -> Callable[[Callable[Inputs, Result]], Callable[Inputs, Result]]:
    """Return a decorator of a part of a page that needs *action*.

    The visitor needs it in the argument `project` of the part; in any project if the part has no such argument or it is
    None. Without it the decorated part raises NotAllowed.
    """

    def decorate(body: Callable[Inputs, Result]) -> Callable[Inputs, Result]:
        signature = inspect.signature(body)
        module = body.__module__.removeprefix("evenhand.pages.").replace(".", "/")
        part = Part(f"{module}.py: {body.__name__}", action, "project" in signature.parameters, body)
        PARTS[part.name] = part

        @wraps(body)
        def guarded(*args: Inputs.args, **kwargs: Inputs.kwargs) -> Result:
            project = signature.bind(*args, **kwargs).arguments.get("project")
            with stores.borrow() as store:
                require_here(store, action, project if isinstance(project, Project) else None)
            result: Result = part.body(*args, **kwargs)
            return result

        return guarded

    return decorate


def asks_at_click(action: Action) -> Callable[[Callable[Inputs, None]], Callable[Inputs, None]]:
    """Guard a callback like `asks`; a callback has no frame around it, so it shows a known error itself."""

    def decorate(body: Callable[Inputs, None]) -> Callable[Inputs, None]:
        part = asks(action)(body)

        @wraps(body)
        def clicked(*args: Inputs.args, **kwargs: Inputs.kwargs) -> None:
            with errors_shown():
                part(*args, **kwargs)

        return clicked

    return decorate


def confirmed(
    label: str, text: str, act: str, *, key: str, icon: str | None = None, primary: bool = False, disabled: bool = False
) -> bool:
    """Return whether the visitor pressed *act* below *text*, which a button *label* opens.

    *text* says what will happen. No key of a form field gets here: both buttons want a click of their own.
    """
    turn = st.session_state.setdefault(f"turn-{key}", 0)
    # A new key after each act, because a popover that stays on the page stays open.
    with st.popover(
        label, icon=icon, type="primary" if primary else "secondary", disabled=disabled, key=f"ask-{key}-{turn}"
    ):
        st.markdown(plain(text))
        pressed = st.button(plain(act), key=key, type="primary", icon=icon, disabled=disabled)
    if pressed:
        st.session_state[f"turn-{key}"] = turn + 1
    return pressed


def say_changes(changes: Sequence[Change], *, published: bool = False) -> None:
    """Write which settings a button will store, with old and new values; *published*: papers state the change."""
    lines = "  \n".join(plain(named(name, f"{old} → {new}")) for name, old, new in changes)
    if published:
        text = _(
            "The project log records the change and its time. If labels exist, the method section of a"
            " release reports it."
        )
    else:
        text = _("The project log records the change and its time.")
    st.info(f"{lines}  \n{text}", icon=":material/published_with_changes:")
