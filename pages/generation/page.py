"""Generate: let a model write after contexts, as a job; what was written goes into a project for people to judge."""

import streamlit as st

from evenhand.pages.generation.results import show_finished
from evenhand.pages.generation.start import choose_contexts, choose_writer, show_first_contexts, show_start
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.visitor import open_store, page_head

page_head(
    "A model continues each context; annotators then judge what it wrote about the person concerned."
    " The job runs in the background; you can close this page."
)
with open_store() as opened:
    with st.container(border=True):
        chosen = choose_contexts()
        if chosen is not None:
            show_first_contexts(chosen)
    with st.container(border=True):
        show_start(opened, chosen, choose_writer(chosen))
follow("generate")
with open_store() as opened:
    show_finished(opened)
