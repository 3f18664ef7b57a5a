"""Where the visitor is: the project of this visit and the part of a page, in the address and in the session.

The address decides wherever it has changed by itself, by a link or by Back and Forward; else what the visitor chose.
"""

import time
from collections.abc import Mapping, Sequence

import streamlit as st

from evenhand.pages.catalogue import addresses_in

# Addresses of pages about one project, which the address names. The page Projects is about one or about all.
PROJECT_PAGES = addresses_in("step", "project")
LATE = 1.0  # seconds in which a browser that was told a new address may still send the one before
NOTHING: tuple[str | None, str | None, float] = (None, None, 0.0)
PROJECT = "last_project"  # of the session: the name of the project of this visit


def asked_for(name: str, key: str) -> str | None:
    """Return what the address says under *name*; None if it says nothing.

    Also None if the widget *key* has an answer and `keep` wrote this value to the address.
    """
    asked = st.query_params.get(name)
    return asked if asked is not None and (key not in st.session_state or not _own(f"{key}@{name}", asked)) else None


def keep(name: str, key: str, value: str) -> None:
    """Put the choice of the widget *key* into the address."""
    now = st.session_state.get(f"{key}@{name}", NOTHING)[0]
    # A link from a page to itself changes the address here, and not yet what the browser shows of it.
    if st.query_params.get(name) != value or now not in (None, value):
        st.query_params[name] = value
    if now != value:
        st.session_state[f"{key}@{name}"] = (value, now, time.monotonic())


def _own(place: str, asked: str) -> bool:
    """Return whether this visit wrote *asked*: now, or so recently that the browser may not know the newer value
    yet."""
    now, before, since = st.session_state.get(place, NOTHING)
    return bool(asked == now or (asked == before and time.monotonic() - since < LATE))


def project_of_visit(names: Sequence[str]) -> str | None:
    """Return the one of *names* that this visit is about.

    It is the one that the address names, else the project of the visit, else the only one. None: the visitor has to be
    asked. If the address names none of *names*, the project of the visit does not replace it.
    """
    kept = asked_for("project", PROJECT) or st.session_state.get(PROJECT)
    if kept in names:
        return kept
    return names[0] if len(names) == 1 else None


def window_title(title: str, page: str) -> str:
    """Return the title of the browser's window on *page*, an address: page · project · Evenhand.

    *title*: of the page, in the visitor's language.
    """
    project = st.session_state.get(PROJECT) if page in PROJECT_PAGES else None
    if page == "projects":
        project = st.query_params.get("project")
    return " · ".join(part for part in (title, project, "Evenhand") if part)


def enter_project(name: str) -> None:
    """Make the project of this name the project of the visit and of the address."""
    st.session_state[PROJECT] = name
    keep("project", PROJECT, name)


def link_to(page: str, query: Mapping[str, str] | None) -> dict[str, str]:
    """Return the query of a link to *page*, an address: *query*, the project of this visit where the page is about one,
    and the language if the current address names it."""
    result = dict(query or {})
    if page in PROJECT_PAGES and "project" not in result and PROJECT in st.session_state:
        result["project"] = st.session_state[PROJECT]
    return result | ({"lang": st.query_params["lang"]} if "lang" in st.query_params else {})
