"""Mine: from raw text to a balanced queue of candidate sentences."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.pages.mining.results import show_run, show_runs, show_start
from evenhand.pages.mining.settings import ask_settings, show_pairs_check, show_trial, try_out
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.jobs import is_active
from evenhand.pages.ui.text import _, inform
from evenhand.pages.ui.uploads import ask_source
from evenhand.pages.ui.visitor import errors_shown, open_store, page_head


def show_new(store: Store) -> None:
    st.header(_("Text"), anchor=False)
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
    if name := st.query_params.get("run"):
        show_run(opened_store, name)
    else:
        views = {"new": _("New run"), "runs": _("Runs")}
        if following := st.session_state.pop("mine_view_next", None):
            st.session_state["mine_view"] = following
        first = "runs" if is_active(opened_store, "mine") else "new"
        if choose(_("View"), views, "mine_view", first=first, heading=False) == "runs":
            show_runs(opened_store)
        else:
            show_new(opened_store)
