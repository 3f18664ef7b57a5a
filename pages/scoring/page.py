"""Score: a whole file or project through several models, as a job; what runs and what is done."""

import streamlit as st

from evenhand.pages.scoring.view import choose_how, choose_source, show_finished, show_first_rows, show_start
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.visitor import open_store, page_head

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
