"""Mine: from raw text to a balanced queue of candidate sentences."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.pages.mining.pairs_check import show_pairs_check
from evenhand.pages.mining.runs import first_view, opened, show_run, show_runs, show_start
from evenhand.pages.mining.settings import ask_settings
from evenhand.pages.mining.trial import show_trial, try_out
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.corpus import ask_source
from evenhand.pages.ui.head import errors_shown, open_store, page_head
from evenhand.pages.ui.text import _, inform


def show_new(store: Store) -> None:
    st.subheader(_("Text"), anchor=False)
    _kind, source = ask_source("mine")
    settings = ask_settings()
    if source is None or settings is None:
        inform("Choose a text and the keyword pairs, then try them on the first 5 MB.")
        return
    show_pairs_check(source, settings.pairs)
    trying = st.toggle(_("Try the first 5 MB"), key="trying")
    show_start(store, source, settings)
    if trying:
        show_trial(try_out(source, settings))


page_head(
    "Choose a folder of text. For each keyword pair and side you get sentences ready for annotators,"
    " and a reason for every rejected sentence."
)
with open_store() as opened_store, errors_shown():
    if name := opened():
        show_run(opened_store, name)
    else:
        views = {"new": _("New run"), "runs": _("Runs")}
        if following := st.session_state.pop("mine_view_next", None):
            st.session_state["mine_view"] = following
        if choose(_("View"), views, "mine_view", first=first_view(opened_store), heading=False) == "runs":
            show_runs(opened_store)
        else:
            show_new(opened_store)
