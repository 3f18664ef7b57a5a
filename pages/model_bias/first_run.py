"""While nothing has been scored: what to do, and a run of the demo sentences at a click."""

import streamlit as st

from evenhand.annotations.jobs import jobs
from evenhand.core.errors import N_, Notice
from evenhand.core.resources import table
from evenhand.pages.ui.charts import csv_bytes
from evenhand.pages.ui.head import in_one_sentence, open_store
from evenhand.pages.ui.jobs import start_command
from evenhand.pages.ui.language import _
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.score_files import score_runs
from evenhand.pages.ui.text import plain, series
from evenhand.pages.ui.visitor import page_link

DEMO_MODELS = ("demo-zh", "random-zh")
BUSY = ("waiting", "running")


def nothing_yet() -> None:
    """Say what is missing and what to do."""
    with st.container(border=True):
        st.subheader(_("No scores yet"))
        st.write(
            _(
                "This page compares models on the same sentences. First score a data set with one or more"
                " models; the run then appears in the list above. Or open a score file."
            )
        )
        _first_run()
        page_link("scoring/page.py", label=_("Score sentences"), icon=":material/playlist_play:")


@st.fragment(run_every="2s")
@in_one_sentence
def _first_run() -> None:
    if score_runs():
        st.rerun()
    with open_store() as store:
        mine = [job for job in jobs.jobs(store) if job.uid == st.session_state.get("demo-scores")]
    running = bool(mine) and mine[0].state in BUSY
    text = _("Score the {n} demo sentences with {models}")
    label = text.format(n=len(table("demo_sentences")), models=series(DEMO_MODELS))
    if st.button(plain(label), key="score-demo", icon=":material/play_arrow:", type="primary", disabled=running):
        _score_demo()
        st.rerun(scope="fragment")
    if running:
        st.caption(_("The two models are scoring the sentences; this page continues by itself."))
    elif mine:
        st.caption(_("Scoring failed; see the Jobs page for the reason."))


@asks("start_jobs")
def _score_demo() -> None:
    """A job of its own, as the page Score would start it."""
    sentences = csv_bytes([{"sentence": row["text"]} for row in table("demo_sentences")])
    models = [part for model in DEMO_MODELS for part in ("--model", model)]
    with open_store() as store:
        path = str(jobs.keep_upload(store, "demo-sentences.csv", sentences))
        command = ["score", *models, "--run", _("Demo sentences"), "--column", "sentence", "--json", "--", path]
        st.session_state["demo-scores"] = start_command(store, command, Notice(N_("Score the demo sentences"))).uid
