"""My record: what is stored about one annotator. ?project=NAME&annotator=NAME opens it."""

import streamlit as st

from evenhand.annotations.record.entries import summary
from evenhand.pages.record.summary import ask_annotator, ask_consent, ask_groups, files, listed, show_log, show_summary
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.results import open_view
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import page_head

page_head("Everything this project has stored about you, and nothing about the labels of others.")
with open_chosen_project() as (store, project):
    person = ask_annotator(store, project)
    if person is None:
        st.stop()
    titles = {"items": _("Items"), "work": _("Your work"), "use": _("Use of your labels"), "files": _("Files and log")}
    with open_view(titles) as view:
        if view == "items":
            listed(store, project, person)
        elif view == "work":
            show_summary(project, summary(store, project, person))
        elif view == "use":
            ask_consent(store, project, person)
            ask_groups(store, project, person)
        else:
            files(project, person)
            show_log(store, person)
