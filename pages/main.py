"""The frame of every page: navigation, language, and what happens when a page meets a known error."""

import sqlite3
from pathlib import Path

import streamlit as st

from evenhand.annotations.database.pool import stores
from evenhand.annotations.permissions import OPEN, Person
from evenhand.core.errors import NOT_KEPT, UNWRITTEN, EvenhandError, Refused
from evenhand.core.language import LANGUAGES
from evenhand.pages.catalogue import PAGES
from evenhand.pages.ui.address import window_title
from evenhand.pages.ui.numbers import zone_name
from evenhand.pages.ui.rail import show_rail
from evenhand.pages.ui.tables import show_style
from evenhand.pages.ui.text import _, language, named, plain
from evenhand.pages.ui.visitor import is_presented, may_open, show_error, show_who, unknown_address, visitor
from evenhand.web.page_script import page_script

BRAND = Path(__file__).parent / "_brand"
NAMES = {"zh": "中文", "en": "English"}

st.set_page_config(page_icon=str(BRAND / "icon.svg"), layout="wide")
st.logo(str(BRAND / "logo.svg"), icon_image=str(BRAND / "icon.svg"), size="large")


def who_looks() -> Person:
    """Return the visitor; OPEN if the database cannot be read now.

    If the visitor comes back as another person, clear the session and run the page again.
    """
    try:
        with stores.borrow() as store:
            person = visitor(store)
    except (EvenhandError, sqlite3.Error):
        return OPEN  # each page reports the missing database itself; nothing can be read from it
    # A session of Streamlit can be continued under its id: its contents are for the person who filled it.
    if st.session_state.setdefault("account", person.account) != person.account:
        st.session_state.clear()
        st.rerun()
    return person


def keep_language() -> None:
    """Put the chosen language into the address, so that a link that is sent on opens in it."""
    st.query_params["lang"] = st.session_state["language"]


def show_sidebar(page: str, person: Person) -> None:
    """Show the rail, the language and the visitor next to *page*, an address."""
    with st.sidebar:
        show_rail(page)
        st.segmented_control(
            _("Language"),
            LANGUAGES,
            format_func=NAMES.__getitem__,
            key="language",
            required=True,
            on_change=keep_language,
            label_visibility="collapsed",
        )
        show_who(person)
        st.caption(plain(named(_("Time zone"), zone_name())))


person = who_looks()
pages = [
    st.Page(page.file, title=_(page.title), icon=page.symbol, url_path=page.address, default=not page.address)
    for page in PAGES
    if may_open(person, page.address)
]
page = st.navigation(pages, position="hidden")  # pages.ui.rail draws the links to them
st.session_state["open_pages"] = {entry.url_path for entry in pages}
st.session_state["page_address"] = page.url_path
# First of all, so that it is there when the page writes into its address.
# A screen reader picks its voice, and a font its shapes of Chinese characters, by this attribute.
CODE = "zh-CN" if language() == "zh" else "en"
st.html(f"<script>{page_script(CODE, chosen='lang' in st.query_params)}</script>", unsafe_allow_javascript=True)
if not is_presented():
    show_sidebar(page.url_path, person)
st.set_page_config(page_title=window_title(page.title, page.url_path))
show_style()
if unknown := unknown_address(st.context.url, page.url_path, st.get_option("server.baseUrlPath") or ""):
    st.warning(plain(_("There is no page {name}. This is the home page.").format(name=f"/{unknown}")))
try:
    page.run()
except EvenhandError as error:
    show_error(error)
except OSError as error:
    if error.errno not in UNWRITTEN:
        raise
    show_error(Refused(NOT_KEPT, why=error.strerror))
