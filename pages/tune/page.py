"""Tune: change a model with texts, swapped or not, as a job; what came of each, and what it cost."""

import streamlit as st

from pages.tune.results import show_finished, show_under_way
from pages.tune.start import choose_how, choose_model_and_texts, show_start
from pages.ui.head import open_store, page_head
from pages.ui.jobs import follow
from pages.ui.language import _

page_head(
    _("Tune a model"),
    _(
        "Train a model further on texts whose gender is swapped, or take a direction out of it, and get a model of your"
        " own. Whether that helped, and what it cost, is the question of the page Before and after. The job runs in"
        " the background; you can close this page."
    ),
)
with open_store() as opened:
    with st.container(border=True):
        chosen = choose_model_and_texts(opened)
    with st.container(border=True):
        how = choose_how(chosen)
        show_start(opened, chosen, how)
follow("tune")
with open_store() as opened:
    show_under_way(opened)
    show_finished(opened)
