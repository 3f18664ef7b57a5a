"""A model on the reference scale: what was planted, built-in models, and a model of the visitor."""

from typing import TYPE_CHECKING

import streamlit as st

from evenhand.core.models.planted.names import is_planted
from evenhand.core.version import VERSION
from evenhand.core.worker import client
from evenhand.core.worker.client import known_models
from evenhand.pages.ruler.picture import show_picture, show_reading
from evenhand.pages.ui.choose import choose, model_label, models_to_use
from evenhand.pages.ui.head import errors_shown
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.score_files import ScoreFile, models_scored, score_file, score_frame, score_runs
from evenhand.pages.ui.text import _, inform
from evenhand.pages.ui.visitor import page_link

if TYPE_CHECKING:
    from evenhand.core.ruler.own_model import OnRuler
    from evenhand.core.ruler.planted import Mark

FIRST = "demo-zh"


def show_model(marks: "list[Mark]") -> None:
    """Choose a model or a run; its picture, its nulls, its references."""
    st.subheader(_("What counts as large?"), anchor=False)
    with errors_shown():
        names = {"model": _("A model, on built-in neutral sentences"), "run": _("A model, from existing scores")}
        kind = choose(_("What to compare"), names, "ruler-kind", heading=False)
        found = _from_run() if kind == "run" else _by_name()
        if found is None:
            return
        trial_banner([found.model])
        offsets = [mark.measured.value for mark in marks if mark.quantity == "offset" and is_planted(mark.model)]
        show_picture(found, [value for value in offsets if value is not None])
        show_reading(found)


def _by_name() -> "OnRuler | None":
    names = [entry.name for entry in known_models() if entry.language == "zh"]
    asked = st.query_params.get("model")
    if "ruler-model" not in st.session_state:
        st.session_state["ruler-model"] = asked or (FIRST if FIRST in names else names[0])
    if st.session_state["ruler-model"] not in names:
        names = [*names, st.session_state["ruler-model"]]
    model = st.selectbox(
        _("Model"),
        names,
        key="ruler-model",
        accept_new_options=True,
        placeholder=_("Choose, or type a name on the Hugging Face Hub or a folder"),
    )
    if not models_to_use([model or ""]):
        return None
    st.query_params["model"] = model
    with st.spinner(_("Running {model} and the untrained model …").format(model=model), show_time=True):
        return on_built_in(model)


def _from_run() -> "OnRuler | None":
    known = {run.name: run for run in score_runs()}
    if not known:
        inform("There are no scores yet. Score a file first; the run then appears here.")
        page_link("scoring/page.py", label=_("Score a file"), icon=":material/playlist_play:")
        return None
    left, right = st.columns(2)
    name = left.selectbox(_("Scores"), list(known), key="ruler-run")
    source = score_file(known[name].table, name)
    model = right.selectbox(_("Model"), models_scored(source), key="ruler-run-model", format_func=model_label)
    if not model:
        return None
    with st.spinner(_("Computing intervals and reference values …"), show_time=True):
        return on_run(source, model)


def scorer(model: str) -> client.RemoteScorer:
    """The model in the inference process that all visitors share."""
    return client.RemoteScorer(client.shared(), model)


def planted_marks() -> "list[Mark]":
    """Every quantity of every planted model; once per version of the app."""
    return _planted_marks(VERSION)


@st.cache_data(max_entries=1, show_spinner=False)
def _planted_marks(version: str) -> "list[Mark]":
    from evenhand.core.ruler.planted import measure_marks

    return measure_marks(scorer)


def on_built_in(model: str) -> "OnRuler":
    """A model on the built-in neutral sentences; once per weights."""
    return _on_built_in(model, scorer(model).cache_key)


@st.cache_data(max_entries=20, show_spinner=False)
def _on_built_in(model: str, weights: str) -> "OnRuler":
    from evenhand.core.ruler.own_model import on_built_in

    return on_built_in(model, scorer)


@st.cache_data(max_entries=20, show_spinner=False)
def on_run(source: ScoreFile, model: str) -> "OnRuler":
    """A model as a score run has it."""
    from evenhand.core.ruler.own_model import on_scores

    return on_scores(score_frame(source), model, scorer, source=source.name)
