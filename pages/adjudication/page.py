"""Adjudicate: items on which annotators differ, side by side; decide, or confirm the labels."""

import streamlit as st

from evenhand.annotations.adjudication.decisions import case, case_counts
from evenhand.annotations.agreement.disagreements import record_item_reveals
from evenhand.annotations.projects.projects import guideline
from evenhand.pages.adjudication import case as cases
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.visitor import may, page_head

page_head(
    "Fully labelled items on which annotators differ. Labels stay anonymous; every decision is stored"
    " permanently with its author and reason."
)
with open_chosen_project() as (store, project):
    counts = case_counts(store, project)
    if project.kind == "sentences" and may(store, "change_projects", project):
        cases.rule(store, project)
    reader = cases.at_the_desk(store, project)
    uid = cases.choose_case(store, project, counts, reader)
    if uid is None:
        st.stop()
    if reader is not None:
        record_item_reveals(store, reader, [uid])
    found, asked = case(store, project, uid), guideline(store, project)
    left, right = st.columns([3, 2], gap="large")  # the case and its decision in view together
    with left:
        cases.show_case(found, asked)
        cases.show_decisions(found, asked)
    with right:
        cases.decision(store, project, found, asked)
        cases.comment_list(store, project, found)
    cases.offer_decisions_file(store, project)
