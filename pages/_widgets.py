"""The only shared UI: language, the store of this run, the head of a page, text shown as it is."""

import html
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from annotations.store import Store
from core.errors import EvenhandError
from core.language import LANGUAGES, Language, explain, translate


def language() -> Language:
    """The language of this visitor: ?lang=, else what was chosen, else the browser's."""
    asked = st.query_params.get("lang")
    if asked in LANGUAGES:
        st.session_state["language"] = asked
    if "language" not in st.session_state:
        st.session_state["language"] = "zh" if (st.context.locale or "en").lower().startswith("zh") else "en"
    chosen: Language = st.session_state["language"]
    return chosen


def _(text: str) -> str:
    """*text* in the visitor's language."""
    return translate(text, language())


@contextmanager
def open_store() -> Iterator[Store]:
    """The database for this run of the page; never keep it longer."""
    with Store.open() as store:
        yield store


def page_head(title: str, text: str = "") -> None:
    """The title of a page and one paragraph that says what it is for."""
    st.title(title)
    if text:
        st.write(text)


def show_error(error: EvenhandError) -> None:
    """A known error as one sentence in the visitor's language; its values are shown as they are."""
    st.error(explain(error, language()).replace("`", "'"))


def literal(text: str, *, size: str = "1rem") -> None:
    """Text from a file, exactly as it is: nothing in it is read as HTML or Markdown."""
    st.html(f'<span style="white-space:pre-wrap;font-size:{size}">{html.escape(text)}</span>')
