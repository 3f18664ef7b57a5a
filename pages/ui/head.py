"""The head of every page: its title, the store of this run, addresses that lead nowhere, known errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec
from urllib.parse import unquote, urlsplit

import streamlit as st

from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import Action
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError
from evenhand.core.language import explain
from evenhand.pages.ui.language import language
from evenhand.pages.ui.text import plain
from evenhand.pages.ui.visitor import check_page, require_here

Inputs = ParamSpec("Inputs")


def page_head(title: str, text: str = "") -> None:
    """The title of a page and one paragraph that says what it is for."""
    st.title(title)
    if text:
        st.write(text)


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


def in_one_sentence(part: Callable[Inputs, None]) -> Callable[Inputs, None]:
    """A part of a page that runs again by itself: the frame is not around it then, so it says a known error itself."""

    @wraps(part)
    def guarded(*args: Inputs.args, **kwargs: Inputs.kwargs) -> None:
        try:
            part(*args, **kwargs)
        except EvenhandError as error:
            show_error(error)

    return guarded
