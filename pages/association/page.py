"""Professions: does a profession make the model expect a man or a woman? Associations of person words (BEC-Pro)."""

import streamlit as st

from evenhand.pages.association.results import choose_view, show_results
from evenhand.pages.association.source import choose_set, show_corpus, show_start
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.visitor import open_store, page_head

page_head(
    "Does a profession make a model expect a man or a woman? Every sentence is run twice, with the"
    " profession visible and masked. The association is the natural log of the ratio of the two"
    " probabilities of the person word."
)
with open_store() as opened:
    view = choose_view(opened)
    if view == "measure":
        with st.container(border=True):
            chosen = choose_set()
            if chosen is not None:
                show_corpus(chosen)
        if chosen is not None:
            with st.container(border=True):
                show_start(opened, chosen)
follow("association")
if view == "results":
    with open_store() as opened:
        show_results(opened)
