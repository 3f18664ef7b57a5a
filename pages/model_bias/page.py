"""Models side by side: how several models lean on the same sentences, and what their numbers mix."""

from typing import Literal, get_args

import streamlit as st

from evenhand.core.runs.records import Run
from evenhand.pages.model_bias.source import Settings, choose_models, choose_source, nothing_yet
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import page_head
from evenhand.pages.ui.score_files import ScoreFile, models_scored
from evenhand.pages.ui.text import _, inform

Section = Literal["overview", "distribution", "agreement", "groups", "extremes", "words", "audit", "report"]
SECTIONS: tuple[Section, ...] = get_args(Section)


def choose_section() -> Section:
    """Which section; kept in the address."""
    names: dict[Section, str] = {
        "overview": _("Overview"),
        "distribution": _("Distribution"),
        "agreement": _("Correlation"),
        "groups": _("Pairs"),
        "extremes": _("Extremes"),
        "words": _("Topic words"),
        "audit": _("Leaks"),
        "report": _("Report file"),
    }
    return choose(_("Section"), names, "section", address="section", heading=False)


def show_section(section: Section, source: ScoreFile, run: Run | None, models: list[str], settings: Settings) -> None:
    """Draw one section. Its views are imported here, so that the first section waits for no other."""
    if section == "overview":
        from evenhand.pages.model_bias.overview import show_overview

        show_overview(source, models, settings)
    elif section == "distribution":
        from evenhand.pages.model_bias.distribution import show_distribution

        show_distribution(source, models, settings)
    elif section == "agreement":
        from evenhand.pages.model_bias.correlation import show_agreement

        show_agreement(source, models, settings)
    elif section == "groups":
        from evenhand.pages.model_bias.pairs import show_groups

        show_groups(source, models, settings)
    elif section == "extremes":
        from evenhand.pages.model_bias.extremes import show_extremes

        show_extremes(source, models, settings)
    elif section == "words":
        from evenhand.pages.model_bias.topic_words import show_words

        show_words(source, models, settings)
    elif section == "audit":
        from evenhand.pages.model_bias.leaks import show_leaks

        show_leaks(source, models)
    else:
        from evenhand.pages.model_bias.overview import show_report

        show_report(source, run, models, settings)


page_head(
    "Which of two words do models prefer on the same sentences? Positive values lean towards the male"
    " word, negative values towards the female word. A single value may reflect word frequency alone:"
    " check the confounds too."
)
source, run = choose_source()
if source is None:
    nothing_yet()
    st.stop()
with st.spinner(_("Reading the scores …"), show_time=True):
    models = models_scored(source)
chosen, settings = choose_models(models)
section = choose_section()
if not chosen:
    inform("Choose at least one model above.", icon=":material/arrow_upward:")
    st.stop()
show_section(section, source, run, chosen, settings)
