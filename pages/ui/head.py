"""The head of every page: its title, the store of this run, addresses that lead nowhere, known errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import unquote, urlsplit

import streamlit as st

from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import Action
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError
from evenhand.core.language import explain
from evenhand.pages.catalogue import page_at
from evenhand.pages.ui.text import _, language, plain
from evenhand.pages.ui.visitor import check_page, page_here, require_here

Inputs = ParamSpec("Inputs")
Result = TypeVar("Result")


def page_head(text: str) -> None:
    """The title of the page that runs, and one paragraph that says in the visitor's language what it is for."""
    st.title(_(page_at(page_here()).title))
    st.write(_(text))


@contextmanager
def open_store(project: Project | None = None, action: Action | None = None) -> Iterator[Store]:
    """The database for this run of the page; never keep it longer.

    Whatever is done with one project names it here: callbacks, fragments and downloads run without the page around
    them. Raises NotAllowed if the visitor may not be on this page, may not be there with *project*, or may not do
    *action* in it.
    """
    with stores.borrow() as store:
        check_page(store, project)
        if action is not None:
            require_here(store, action, project)
        yield store


def unknown_address(url: str | None, shown: str, base: str = "") -> str | None:
    """What an address asks for that is no page; None where it leads to the page that is shown.

    *url* is the visitor's address, *shown* the path of the page that opened, *base* the folder the app is served in.
    """
    path = unquote(urlsplit(url or "").path).strip("/")
    base = base.strip("/")
    path = path.removeprefix(base).strip("/") if base else path
    return path if path and path != shown else None


def show_error(error: EvenhandError) -> None:
    """A known error as one sentence in the visitor's language; its values are shown as they are."""
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

    *now*: a value that changes whenever the result may. *compute* must not ask who the visitor is.
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
