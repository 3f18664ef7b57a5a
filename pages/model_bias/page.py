"""Models side by side: how several models lean on the same sentences, and what their numbers mix."""

import streamlit as st

from evenhand.pages.model_bias.selection import NAME, picked, show_selected
from evenhand.pages.model_bias.source import choose_models, choose_source, nothing_yet
from evenhand.pages.ui.choose import show_view
from evenhand.pages.ui.results import open_view, show_chip
from evenhand.pages.ui.runs import models_scored, result_bar
from evenhand.pages.ui.text import _, caption, inform
from evenhand.pages.ui.visitor import page_head


def views() -> dict[str, tuple[str, str]]:
    """Return the title of each section and the function of this folder that draws it."""
    return {
        "overview": (_("Overview"), "overview:show_overview"),
        "distribution": (_("Distribution"), "overview:show_distribution"),
        "agreement": (_("Correlation"), "correlation:show_agreement"),
        "groups": (_("Pairs"), "pairs:show_groups"),
        "extremes": (_("Extremes"), "extremes:show_extremes"),
        "words": (_("Topic words"), "extremes:show_words"),
        "audit": (_("Leaks"), "leaks:show_leaks"),
        "report": (_("Report file"), "overview:show_report"),
    }


LISTED = ("overview", "distribution", "agreement", "groups")  # views that list the selected sentences next to a chart
WHOLE = ("words", "audit", "report")  # views of all sentences
page_head(
    "Which of two words do models prefer on the same sentences? Positive values lean towards the male"
    " word, negative values towards the female word. A single value may reflect word frequency alone:"
    " check the confounds too."
)
bar = result_bar()
source = choose_source(bar)
if source is None:
    bar.say(_("No scores yet"))
    nothing_yet()
    st.stop()
with st.spinner(_("Reading the scores …"), show_time=True):
    models = models_scored(source)
with bar.change:
    chosen, settings = choose_models(models)
bar.say(source.name, chosen)
selection = picked(chosen)
if selection is not None:
    show_chip(selection.words(), NAME)
with open_view({name: title for name, (title, _place) in views().items()}, "section", address="section") as section:
    if not chosen:
        inform("Choose at least one model under Change.", icon=":material/arrow_upward:")
        st.stop()
    if selection is not None and section in WHOLE:
        caption("This view uses all sentences, not only the selected ones.")
    place = st.container()
    if selection is not None and section in LISTED:
        place, beside = st.columns([3, 2], gap="large")
        with beside:
            show_selected(source, selection, settings)
    with place:
        show_view(f"model_bias.{views()[section][1]}", source, chosen, settings)
