"""Inference: does a classifier of sentence pairs take an occupation for a gender? (address: /inference)"""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.pages.nli.bias_rates import show_rates
from evenhand.pages.nli.results import show_results
from evenhand.pages.nli.start import NLI, inference_runs, show_new, show_pair
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import open_store, page_head


def choose_view(store: Store) -> str:
    """The part of the page; results while there are any, else the first run."""
    names = {
        "results": _("Results"),
        "new": _("Run a classifier"),
        "rates": _("Bias rates"),
        "pair": _("One pair"),
    }
    if st.session_state.pop("nli_finished", False):
        _open_newest(store)
    first = "results" if inference_runs(store) else "new"
    return choose(_("View"), names, "nli-view", first=first, address="view", heading=False)


def _open_newest(store: Store) -> None:
    """Show what was waited for: the run that was finished last, where the visitor stands at its form."""
    found = NLI.finished(store)
    if not found:
        return
    if st.session_state.get("nli-view") == "new" and found[0].record.get("kind") == "inference":
        st.session_state["nli-view"], st.session_state["nli-run"] = "results", found[0].name
    elif st.session_state.get("nli-view") == "rates" and found[0].record.get("kind") == "rates":
        st.session_state["rates-run"] = found[0].name


page_head(
    "A nurse reads a newspaper. Does it follow that a woman reads a newspaper? It does not: the right"
    " answer is always neutral. Any other answer shows which gender the classifier attributes to the"
    " occupation."
)
with open_store() as opened:
    view = choose_view(opened)
    if view == "new":
        show_new(opened)
    elif view == "rates":
        show_rates(opened)
    elif view == "pair":
        show_pair()
    else:
        show_results(opened)
follow("nli")
