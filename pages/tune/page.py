"""Tune: change a model with texts, swapped or not, as a job; what came of each, its figures, card and ways on."""

import streamlit as st

from evenhand.pages.tune.results import show_finished, show_under_way
from evenhand.pages.tune.start import choose_how, choose_model_and_texts, show_start
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.visitor import open_store, page_head

page_head(
    "Continue training a model on gender-swapped texts, or remove a gender direction from it. The Before and"
    " after page shows whether this helped and what it cost. The job runs in the background; you can close"
    " this page."
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
