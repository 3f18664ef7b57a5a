"""Who looks at a page, and what that person may do there.

The sign-in is looked up in the database at every run, fragment, callback and download, never kept in the session. Who
is signed out elsewhere, or loses a role, loses it at the next click.
"""

from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from annotations.accounts.accounts import accounts_exist
from annotations.accounts.sign_ins import signed_in
from annotations.database.store import Store
from annotations.permissions import OPEN, Action, Person, allowed, require
from annotations.projects.projects import projects
from annotations.server.gate import COOKIE, SECURE_COOKIE
from annotations.server.visits import remember_visit
from annotations.types import Project
from pages.ui.language import _, language
from pages.ui.text import plain

NOBODY = Person("guest")
# What a page is for: whoever may not do this anywhere neither sees it in the navigation nor opens it. None: everybody.
PAGES: dict[str, Action | None] = {
    "": None,
    "mining": "start_jobs",
    "generation": "start_jobs",
    "concordance": "start_jobs",
    "projects": "change_projects",
    "pilot": "change_projects",
    "plan": "change_projects",
    "review": "label",
    "record": "see_own_labels",
    "adjudication": "settle",
    "progress": "see_all_labels",
    "browse": "see_all_labels",
    "agreement": "see_agreement",
    "quality": "see_names",
    "human-vs-rule": "see_all_labels",
    "describe": "see_agreement",
    "release": "see_releases",
    "sentence-bias": "try_models",
    "scoring": "start_jobs",
    "model-bias": "measure",
    "ruler": "measure",
    "published": "measure",
    "association": "measure",
    "nli": "measure",
    "misgendering": "measure",
    "jobs": "see_jobs",
    "accounts": None,
    "about": None,
}


def visitor(store: Store) -> Person:
    """Who looks at this page now: everybody's `OPEN` on a server without accounts, else the person of the cookie."""
    if not accounts_exist(store):
        return OPEN
    person = signed_in(store, cookie()) or NOBODY
    if run := get_script_run_ctx():
        remember_visit(run.session_id, person.account)
    return person


def cookie() -> str:
    """The secret of the sign-in in the cookie with which this visit was opened, or ""."""
    cookies = st.context.cookies
    return cookies.get(SECURE_COOKIE) or cookies.get(COOKIE) or ""


def may(store: Store, action: Action, project: Project | None = None) -> bool:
    """Whether the visitor may do *action*, in a project or anywhere."""
    person = visitor(store)
    place = project.uid if project else None
    return allowed(person, action, project=place, annotator=person.annotator)


def may_open(person: Person, page: str) -> bool:
    """Whether a page (its address) is there for *person*."""
    action = PAGES[page]
    if action is None:
        return True
    return allowed(person, action, annotator=person.annotator)


def check_page(store: Store) -> None:
    """Raise NotAllowed if the visitor may not be on the page that runs. A fragment runs without the frame of the page,
    and so does a callback: they ask here."""
    action = PAGES[st.session_state.get("page_address", "")]
    if action is not None:
        person = visitor(store)
        require(person, action, annotator=person.annotator)


def own_projects(store: Store, *, archived: bool = False) -> list[Project]:
    """The projects in which the visitor may do what the page is for; *archived*: those that are put away."""
    person, action = visitor(store), PAGES[st.session_state.get("page_address", "")]
    found = projects(store, archived=archived)
    if person is OPEN:
        return found
    actions: tuple[Action, ...] = (action,) if action else ("see_projects", "label")
    return [
        one
        for one in found
        if any(allowed(person, each, project=one.uid, annotator=person.annotator) for each in actions)
    ]


def show_who(person: Person) -> None:
    """In the navigation: that there are no accounts, who is signed in, or where to sign in."""
    base = f"/{(st.get_option('server.baseUrlPath') or '').strip('/')}".rstrip("/")
    if person is OPEN:
        st.caption(_("Open mode: no accounts. Whoever uses this machine may do everything."))
    elif person.account is None:
        st.link_button(_("Sign in"), f"{base}/sign-in?lang={language()}", icon=":material/login:")
    else:
        st.caption(plain(_("Signed in as {name}").format(name=person.name)))
        st.link_button(_("Sign out"), f"{base}/sign-out?lang={language()}", icon=":material/logout:", type="tertiary")


def opens(file: str) -> bool:
    """Whether the visitor may open a page (`projects/page.py`)."""
    address = file.partition("/")[0].replace("_", "-").removeprefix("home")
    return address in st.session_state.get("open_pages", PAGES)


def page_link(file: str, **look: Any) -> None:
    """A link to a page (`projects/page.py`), nothing where the visitor may not open it. *look*: as for st.page_link."""
    if opens(file):
        st.page_link(file, **look)
