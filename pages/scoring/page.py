"""Score: a whole file or project through several models, as a job; what runs and what is done."""

import streamlit as st

from evenhand.pages.scoring.results import show_finished
from evenhand.pages.scoring.source import choose_source, show_first_rows
from evenhand.pages.scoring.start import choose_how, show_start
from evenhand.pages.ui.head import open_store, page_head
from evenhand.pages.ui.jobs import follow

page_head(
    "Every model scores every sentence of a file or project: which of the two words does it prefer at"
    " the slot? The job runs in the background; you can close this page."
)
with open_store() as opened:
    with st.container(border=True):
        chosen = choose_source(opened)
        if chosen is not None:
            show_first_rows(chosen)
    with st.container(border=True):
        how = choose_how(chosen)
        show_start(opened, chosen, how)
follow("score")
with open_store() as opened:
    show_finished(opened)
