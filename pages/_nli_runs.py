"""Jobs of the page Inference that go on or ended badly, and names for new runs."""

from datetime import UTC, datetime

import streamlit as st

from annotations import jobs
from annotations.nli_runs import nli_folder
from annotations.store import Store
from core.scoring_runs import FORBIDDEN, runs
from pages._jobs_views import show_job
from pages._widgets import _, open_store

LISTED = 10


def _own(store: Store) -> list[jobs.Job]:
    jobs.mark_interrupted(store)
    return [one for one in jobs.jobs(store) if one.command[:1] == ("nli",)]


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
        if st.session_state.get("nli_moving") and not going(store):
            st.session_state["nli_moving"] = False
            st.session_state["nli_finished"] = True
            st.rerun()


def free_name(store: Store, label: str) -> str:
    """A name for a run that is not taken: the model, the language, the day."""
    bare = "".join("-" if c in FORBIDDEN else c for c in label).strip(". ")[-60:] or "run"
    taken = {run.name for run in runs(nli_folder(store.path))}
    for one in jobs.jobs(store):
        if "--run" in one.command:
            taken.add(one.command[one.command.index("--run") + 1])
    name, number = f"{bare} {datetime.now(UTC):%Y-%m-%d}", 1
    while name in taken:
        number += 1
        name = f"{bare} {datetime.now(UTC):%Y-%m-%d} ({number})"
    return name
