"""Jobs: long work that goes on while pages are closed."""

import streamlit as st

from annotations.jobs import jobs
from pages.ui.head import in_one_sentence, open_store, page_head
from pages.ui.jobs import show_job
from pages.ui.language import _

EVERY_S = 2


@in_one_sentence
def show_jobs() -> None:
    with open_store() as store:
        jobs.mark_interrupted(store)
        found = jobs.jobs(store)
        for job in found:
            show_job(store, job)
        # Once nothing moves any more, the page stops asking.
        if st.session_state.get("jobs_moving") and not any(job.active for job in found):
            st.session_state["jobs_moving"] = False
            st.rerun()


page_head(
    _("Jobs"),
    _("Work that takes longer than a page should wait, such as importing a large file, runs here on its own."),
)
with open_store() as opened:
    jobs.mark_interrupted(opened)
    all_jobs = jobs.jobs(opened)
if not all_jobs:
    st.info(_("There are no jobs. A large file that you import on the page Projects becomes one."))
moving = st.session_state["jobs_moving"] = any(job.active for job in all_jobs)
st.fragment(show_jobs, run_every=EVERY_S if moving else None)()
