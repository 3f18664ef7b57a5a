"""Browse: every item of a project, one item's history and comments. ?project=NAME&item=ID opens one."""

import streamlit as st

from evenhand.pages.browse.cell import of_cell, show_cell
from evenhand.pages.browse.filters import ask
from evenhand.pages.browse.item import reader_here, show_item
from evenhand.pages.browse.results import show_list, show_log
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.notices import say_unsettled
from evenhand.pages.ui.visitor import page_head

page_head(
    "All items of a project: find items by words, attributes or labels, read their history, and"
    " discuss them with the annotators."
)
with open_chosen_project() as (store, project):
    reader = reader_here(store, project)
    if uid := st.query_params.get("item"):
        show_item(store, project, uid, reader)
        st.stop()
    if reader is None:
        show_cell(store, project)
    show_list(store, project, of_cell(store, project, ask(store, project, reader)))
    if reader is None:
        say_unsettled(store, project)
        show_log(store, project)
