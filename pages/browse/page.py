"""Browse: every item of a project, one item's history and comments. ?project=NAME&item=ID opens one."""

import streamlit as st

from evenhand.pages.browse.filters import ask
from evenhand.pages.browse.item import opened, show_item
from evenhand.pages.browse.log import show_log
from evenhand.pages.browse.results import show_list
from evenhand.pages.browse.talk import reader_here
from evenhand.pages.ui.choose import choose_project
from evenhand.pages.ui.head import open_store, page_head
from evenhand.pages.ui.language import _
from evenhand.pages.ui.notices import say_unsettled

page_head(
    _("Browse"),
    _(
        "All items of a project: find items by words, attributes or labels, read their history, and"
        " discuss them with the annotators."
    ),
)
with open_store() as store:
    project = choose_project(store)
    if project is None:
        st.stop()
    reader = reader_here(store, project)
    uid = opened()
    if uid is not None:
        show_item(store, project, uid, reader)
        st.stop()
    show_list(store, project, ask(store, project, reader))
    if reader is None:
        say_unsettled(store, project)
        show_log(store, project)
