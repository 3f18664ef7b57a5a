"""Jobs on the page that starts them: what runs or waits, and what ended without a result and can be resumed."""

import streamlit as st

from annotations.database.store import Store
from annotations.jobs import jobs
from pages.ui.head import _, in_one_sentence, open_store
from pages.ui.jobs import show_job

EVERY_S = 2
LISTED = 20


def jobs_of(store: Store, command: str) -> list[jobs.Job]:
    """The jobs of one command, the newest first; one whose process is gone is marked as interrupted."""
    jobs.mark_interrupted(store)
    return [one for one in jobs.jobs(store) if one.command[:1] == (command,)]


def moving(store: Store, command: str) -> bool:
    """Whether a job of this command runs or waits."""
    return any(one.active for one in jobs_of(store, command))


def follow(command: str) -> None:
    """Show the jobs that are not done, again every two seconds while one of them moves.

    Once nothing moves any more the whole page starts over and finds
    `<command>_finished` set in the session.
    """
    with open_store() as store:
        going = st.session_state[f"{command}_moving"] = moving(store, command)
    st.fragment(_not_done, run_every=EVERY_S if going else None)(command)


@in_one_sentence
def _not_done(command: str) -> None:
    with open_store() as store:
        found = jobs_of(store, command)
        waiting = [one for one in found if one.state != "done"]
        if waiting:
            st.subheader(_("Not finished"), anchor=False)
        for one in waiting[:LISTED]:
            show_job(store, one)
        if st.session_state.get(f"{command}_moving") and not any(one.active for one in found):
            st.session_state[f"{command}_moving"] = False
            st.session_state[f"{command}_finished"] = True
            st.rerun()
