"""What the page Reference scale asks: the planted models and one of the visitor's, through the worker, remembered."""

from typing import TYPE_CHECKING

import streamlit as st

from evenhand.core.version import VERSION
from evenhand.core.worker import client
from evenhand.pages.ui.score_files import ScoreFile, score_frame

if TYPE_CHECKING:
    from evenhand.core.ruler.own_model import OnRuler
    from evenhand.core.ruler.planted import Mark


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
