"""Runs of the page Professions that go on or ended badly."""

import streamlit as st

from annotations import jobs
from annotations.store import Store
from pages._jobs_views import show_job
from pages._widgets import _, open_store

LISTED = 10


def _own(store: Store) -> list[jobs.Job]:
    jobs.mark_interrupted(store)
    return [one for one in jobs.jobs(store) if one.command[:1] == ("association",)]


def going(store: Store) -> bool:
    """Whether a run goes on."""
    return any(one.active for one in _own(store))


def follow() -> None:
    """What runs or waits and what ended without a result; the page starts over once nothing moves any more."""
    with open_store() as store:
        found = [one for one in _own(store) if one.state != "done"]
        if found:
            st.subheader(_("Not finished"), anchor=False)
        for one in found[:LISTED]:
            show_job(store, one)
        if st.session_state.get("professions_moving") and not going(store):
            st.session_state["professions_moving"] = False
            st.session_state["professions_finished"] = True
            st.rerun()
