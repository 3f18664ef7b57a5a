"""Distribution on the page Models (figure 3): a ridge per model, or the sentences in order; a click lists sentences."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from evenhand.core.charts.bias_distribution import curve_says, curves, distribution_says, ridges
from evenhand.pages.model_bias.numbers import at_once, bins_of, curve_of, rows_for, show_sentences
from evenhand.pages.model_bias.overview import notes
from evenhand.pages.model_bias.source import Settings
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.choose import choose, switch
from evenhand.pages.ui.score_files import ScoreFile
from evenhand.pages.ui.text import _, caption, in_brackets, inform, plain


@st.fragment
def show_distribution(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """Two drawings of the same values, and what was clicked."""
    settings = at_once(settings)
    looks = {"density": _("Density"), "order": _("By sentence")}
    with st.container(horizontal=True, vertical_alignment="center"):
        look = choose(_("Chart type"), looks, "distribution", heading=False)
        corrected = switch(
            _("Minus the pair mean"),
            key="distribution-corrected",
            explained=_("Subtracts the mean Bias_c of the keyword pair in the same model and data (prior correction)."),
        )
    if look == "order":
        _in_order(source, models, settings, corrected)
    else:
        _density(source, models, settings, corrected)


def _in_order(source: ScoreFile, models: list[str], settings: Settings, corrected: bool) -> None:
    points = curve_of(source, models, settings, corrected)
    says = curve_says(points, say=_)
    chart = curves(points, description=says, say=_, palette=colours())
    show_chart(chart, _signed_rows(points, source), key="by-sentence", says=says)
    caption("Each line shows all sentences of a model, sorted by Bias_c.")


def _density(source: ScoreFile, models: list[str], settings: Settings, corrected: bool) -> None:
    found = bins_of(source, models, settings, corrected)
    says = distribution_says(found, say=_)
    labels = {model: in_brackets("", note).strip() for model, note in notes(models).items()}
    chart = ridges(found, description=says, say=_, notes=labels, click="bin", palette=colours())
    clicked = show_chart(chart, _signed_rows(found, source), key="density", says=says, click="bin", file="density-file")
    caption(
        "Grey: one word is less than twice as likely as the other. Each row has its own vertical scale. Click"
        " a bar to see its sentences."
    )
    if clicked:
        _clicked(source, settings, clicked, corrected)


def _signed_rows(found: pd.DataFrame, source: ScoreFile) -> pd.DataFrame:
    """Numbers for a file, each with the signature of its model."""
    frame = rows_for(source, list(dict.fromkeys(found["model"])))
    known = frame.drop_duplicates("model").set_index("model")["signature"]
    return found.drop(columns="row", errors="ignore").assign(signature=found["model"].map(known))


def _clicked(source: ScoreFile, settings: Settings, chosen: dict[str, Any], corrected: bool) -> None:
    low, high = float(chosen["low_text"]), float(chosen["high_text"])
    rows = rows_for(source, [chosen["model"]], settings)
    values = rows["corrected_log10" if corrected else "bias_log10"]
    # Closed on the side away from 0, as the bins are.
    inside = (values > low) & (values <= high) if high > 0 else (values >= low) & (values < high)
    if low == 0:
        inside |= values == 0
    rows = rows[inside & np.isfinite(values)].sort_values("bias_log10", key=abs, ascending=False, kind="stable")
    st.subheader(plain(_("Sentences in this bar: {model}", model=chosen["model"])))
    if rows.empty:
        inform("This bar belongs to another file or setting. Click again.")
        return
    says = _("{n} sentences, largest value first.", n=f"{len(rows):,}")
    show_sentences(rows, key="bar-sentences", says=says)
