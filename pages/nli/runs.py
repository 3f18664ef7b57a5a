"""Which part of the page Inference is open."""

import streamlit as st

from annotations.database.store import Store
from core.runs.records import Run, runs_folder, runs_in
from pages.ui.choose import choose
from pages.ui.language import _


def inference_runs(store: Store, kind: str = "inference") -> list[Run]:
    """Finished runs of a kind (inference, rates), the newest first."""
    return [run for run in runs_in(runs_folder(store.path, "nli")) if run.record.get("kind") == kind]


def choose_view(store: Store) -> str:
    """The part of the page; results while there are any, else the first run."""
    names = {
        "results": _("Results"),
        "new": _("Ask a classifier"),
        "rates": _("Bias rates"),
        "pair": _("One pair"),
    }
    if st.session_state.pop("nli_finished", False):
        _open_newest(store)
    first = "results" if inference_runs(store) else "new"
    return choose(_("View"), names, "nli-view", first=first, address="view", heading=False)


def _open_newest(store: Store) -> None:
    """Show what was waited for: the run that was finished last, where the visitor stands at its form."""
    found = runs_in(runs_folder(store.path, "nli"))
    if not found:
        return
    if st.session_state.get("nli-view") == "new" and found[0].record.get("kind") == "inference":
        st.session_state["nli-view"], st.session_state["nli-run"] = "results", found[0].name
    elif st.session_state.get("nli-view") == "rates" and found[0].record.get("kind") == "rates":
        st.session_state["rates-run"] = found[0].name
