"""My record: what is stored about one annotator. ?project=NAME&annotator=NAME opens it."""

import streamlit as st

from evenhand.annotations.record.entries import summary
from evenhand.pages.record.summary import ask_annotator, ask_consent, ask_groups, files, listed, show_log, show_summary
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import page_head

page_head(
    "Everything this project has stored about you: labels with times, changes and notes, opinions"
    " shown, and your thread with the lead. No labels by others."
)
with open_chosen_project() as (store, project):
    person = ask_annotator(store, project)
    if person is None:
        st.stop()
    found = summary(store, project, person)
    show_summary(project, found)
    files(project, person)
    show_log(store, person)
    ask_consent(store, project, person)
    ask_groups(store, project, person)
    st.header(_("Items"))
    listed(store, project, person)
