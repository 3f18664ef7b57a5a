"""What the page Ruler asks: the planted models and one of the visitor's, through the worker, remembered."""

from typing import TYPE_CHECKING

import streamlit as st

from core import inference
from core.version import VERSION
from pages._models_source import Source

if TYPE_CHECKING:
    from core.on_ruler import OnRuler
    from core.ruler import Mark


def scorer(model: str) -> inference.RemoteScorer:
    """The model in the inference process that all visitors share."""
    return inference.RemoteScorer(inference.shared(), model)


def planted_marks() -> "list[Mark]":
    """Every quantity of every planted model; once per version of the app."""
    return _planted_marks(VERSION)


@st.cache_data(max_entries=1, show_spinner=False)
def _planted_marks(version: str) -> "list[Mark]":
    from core.ruler import measure_marks

    return measure_marks(scorer)


def on_built_in(model: str) -> "OnRuler":
    """A model on the built-in neutral sentences; once per weights."""
    return _on_built_in(model, scorer(model).cache_key)


@st.cache_data(max_entries=20, show_spinner=False)
def _on_built_in(model: str, weights: str) -> "OnRuler":
    from core.on_ruler import on_built_in

    return on_built_in(model, scorer)


@st.cache_data(max_entries=20, show_spinner=False)
def on_run(source: Source, model: str) -> "OnRuler":
    """A model as a score run has it."""
    from core.on_ruler import on_scores
    from pages._models_numbers import frame_of

    return on_scores(frame_of(source), model, scorer, source=source.name)
