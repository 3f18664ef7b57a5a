"""Models side by side: how several models lean on the same sentences, and what their numbers mix."""

import streamlit as st

from evenhand.pages.model_bias.source import choose_models, choose_source, nothing_yet
from evenhand.pages.ui.choose import choose, show_view
from evenhand.pages.ui.runs import models_scored
from evenhand.pages.ui.text import _, inform
from evenhand.pages.ui.visitor import page_head


def views() -> dict[str, tuple[str, str]]:
    """Return the title of each section and the function of this folder that draws it."""
    return {
        "overview": (_("Overview"), "overview:show_overview"),
        "distribution": (_("Distribution"), "overview:show_distribution"),
        "agreement": (_("Correlation"), "correlation:show_agreement"),
        "groups": (_("Pairs"), "correlation:show_groups"),
        "extremes": (_("Extremes"), "extremes:show_extremes"),
        "words": (_("Topic words"), "extremes:show_words"),
        "audit": (_("Leaks"), "leaks:show_leaks"),
        "report": (_("Report file"), "overview:show_report"),
    }


page_head(
    "Which of two words do models prefer on the same sentences? Positive values lean towards the male"
    " word, negative values towards the female word. A single value may reflect word frequency alone:"
    " check the confounds too."
)
source = choose_source()
if source is None:
    nothing_yet()
    st.stop()
with st.spinner(_("Reading the scores …"), show_time=True):
    models = models_scored(source)
chosen, settings = choose_models(models)
titles = {name: title for name, (title, _place) in views().items()}
section = choose(_("Section"), titles, "section", address="section", heading=False)
if not chosen:
    inform("Choose at least one model above.", icon=":material/arrow_upward:")
    st.stop()
show_view(f"model_bias.{views()[section][1]}", source, chosen, settings)
