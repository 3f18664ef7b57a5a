"""The numbers of the page Models, remembered per file, model and setting, and its sentences."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from markupsafe import Markup

from evenhand.core.report.table_lines import list_html
from evenhand.core.sentence_bias.bias import SideMeans
from evenhand.pages.model_bias.source import Settings
from evenhand.pages.ui.charts import downloads, foot
from evenhand.pages.ui.score_files import ScoreFile, score_frame
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import _, plain

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.core.model_bias import Summary
    from evenhand.core.statistics import Estimate

REMEMBERED = 24
GROUP_RESAMPLES = 500  # of each of up to 19 groups per model; the table of all sentences has 2,000
SHOWN = 10
FILE_COLUMNS = (
    *("row", "sentence", "pair", "keyword", "side", "model", "p_male", "p_female", "pair_mass", "bias_log10"),
    *("bias_ln", "corrected_log10", "status", "signature"),
)


def rows_for(source: ScoreFile, models: list[str], settings: Settings | None = None) -> "pd.DataFrame":
    """The rows of some models, without those under the chosen pair mass."""
    frame = score_frame(source)
    kept = frame["model"].isin(models)
    if settings is not None and settings.least_mass is not None:
        kept &= ~(frame["pair_mass"] < settings.least_mass)
    return frame[kept]


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def summary(source: ScoreFile, model: str, settings: Settings) -> "Summary":
    """One model in numbers, with intervals: the slow part, once per model and setting."""
    from evenhand.core.model_bias import rows_of, summarise

    rows = rows_of(score_frame(source), model)
    return summarise(rows, denominator=settings.denominator, least_mass=settings.least_mass)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def quick_means(source: ScoreFile, model: str, settings: Settings) -> SideMeans:
    """The side means without intervals: what can be drawn at once."""
    from evenhand.core.sentence_bias.bias import side_means

    rows = rows_for(source, [model], settings)
    return side_means(rows["bias_log10"].tolist(), denominator=settings.denominator)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def corrected_means(source: ScoreFile, model: str, settings: Settings) -> SideMeans:
    """The side means after prior correction, on the sentences that the settings keep."""
    from evenhand.core.model_bias import prior_corrected
    from evenhand.core.sentence_bias.bias import side_means

    rows = rows_for(source, [model], settings)
    return side_means(prior_corrected(rows).tolist(), denominator=settings.denominator)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def grouped(source: ScoreFile, model: str, by: Any, settings: Settings) -> "list[Summary]":
    """A summary per keyword pair, source side or mask width of one model."""
    from evenhand.core.model_bias import rows_of, summarise_by

    rows = rows_of(score_frame(source), model)
    how: dict[str, Any] = {"denominator": settings.denominator, "least_mass": settings.least_mass}
    return summarise_by(rows, by, resamples=GROUP_RESAMPLES, **how)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def bins_of(source: ScoreFile, models: list[str], settings: Settings, corrected: bool) -> "pd.DataFrame":
    """The counted distribution of some models."""
    from evenhand.core.charts.bias_distribution import bins

    return bins(values_of(source, models, settings, corrected))


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def curve_of(source: ScoreFile, models: list[str], settings: Settings, corrected: bool) -> "pd.DataFrame":
    """The sentences of some models in order, thinned out."""
    from evenhand.core.charts.bias_distribution import sorted_curve

    return sorted_curve(values_of(source, models, settings, corrected))


def values_of(source: ScoreFile, models: list[str], settings: Settings, corrected: bool) -> dict[str, Any]:
    """Bias_c (or the prior-corrected value) per model, in the order of *models*."""
    rows = rows_for(source, models, settings)
    column = "corrected_log10" if corrected else "bias_log10"
    return {model: rows.loc[rows["model"] == model, column].to_numpy() for model in models}


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def correlations(
    source: ScoreFile, models: list[str], settings: Settings, method: Any, corrected: bool
) -> "pd.DataFrame":
    """Correlation of every two models."""
    from evenhand.core.model_bias import correlation

    return ordered(correlation(rows_for(source, models, settings), method, corrected=corrected), models)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def signs(source: ScoreFile, models: list[str], settings: Settings) -> "pd.DataFrame":
    """How often every two models lean to the same side."""
    from evenhand.core.model_bias import sign_agreement

    return ordered(sign_agreement(rows_for(source, models, settings)), models)


def ordered(found: "pd.DataFrame", models: list[str]) -> "pd.DataFrame":
    """Rows of pairs of models (columns a, b) in the visitor's order."""
    place = {model: n for n, model in enumerate(models)}
    keys = found["a"].map(place) * len(models) + found["b"].map(place)
    return found.iloc[keys.argsort(kind="stable")].reset_index(drop=True)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def differences(source: ScoreFile, a: str, b: str, settings: Settings) -> "dict[str, Estimate]":
    """Each measure of model a minus that of b, paired."""
    from evenhand.core.model_bias import paired_differences

    rows = rows_for(source, [a, b], settings)
    return paired_differences(rows, a, b, denominator=settings.denominator)


def at_once(settings: Settings) -> Settings:
    """The settings of what needs no denominator, so that changing it reckons nothing again."""
    return replace(settings, denominator="side")


def show_sentences(rows: "pd.DataFrame", *, key: str, says: str) -> None:
    """The rows a few at a time, in the order in which they come, and all of them as a file."""
    pages = -(-len(rows) // SHOWN)
    if st.session_state.get(f"{key}-page", 1) > pages:
        st.session_state[f"{key}-page"] = 1
    start = SHOWN * (st.session_state.get(f"{key}-page", 1) - 1)
    sentence_list(rows.iloc[start : start + SHOWN])
    with foot():
        st.caption(plain(says))
        if pages > 1:
            st.pagination(pages, key=f"{key}-page")
        downloads(for_file(rows), key=key)


def for_file(rows: "pd.DataFrame") -> "pd.DataFrame":
    """The rows with the columns of a file; each number with its signature."""
    return rows[[name for name in FILE_COLUMNS if name in rows.columns]]


def sentence_list(rows: "pd.DataFrame", *, value: str = "bias_log10") -> None:
    """The sentences, one below the other."""
    written = list_html(rows.to_dict("records"), say=_, value=value)
    show_html(Markup(written))  # noqa: S704  # core.report escapes every text
