"""Adjudicate: items on which annotators differ, side by side; decide, or confirm the labels."""

import streamlit as st

from evenhand.annotations.adjudication.decisions import case, case_counts
from evenhand.annotations.agreement.disagreements import record_item_reveals
from evenhand.annotations.projects.projects import guideline
from evenhand.pages.adjudication.case import comment_list, decision, show_case, show_settlements
from evenhand.pages.adjudication.queue import at_the_desk, choose_case, offer_settlements, rule
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.head import page_head
from evenhand.pages.ui.visitor import may

page_head(
    "Fully labelled items on which annotators differ. Labels stay anonymous; every decision is stored"
    " permanently with its author and reason."
)
with open_chosen_project() as (store, project):
    counts = case_counts(store, project)
    if project.kind == "sentences" and may(store, "change_projects", project):
        rule(store, project)
    reader = at_the_desk(store, project)
    uid = choose_case(store, project, counts, reader)
    if uid is None:
        st.stop()
    if reader is not None:
        record_item_reveals(store, reader, [uid])
    found, asked = case(store, project, uid), guideline(store, project)
    left, right = st.columns([3, 2], gap="large")  # the case and its decision in view together
    with left:
        show_case(found, asked)
        show_settlements(found, asked)
    with right:
        decision(store, project, found, asked)
        comment_list(store, project, found)
    offer_settlements(store, project)
