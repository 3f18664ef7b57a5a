"""Adjudicate: items on which annotators differ, side by side; decide, or confirm the labels."""

import streamlit as st

from evenhand.annotations.adjudication.decisions import case, case_counts
from evenhand.annotations.agreement.disagreements import record_item_reveals
from evenhand.annotations.projects.projects import guideline
from evenhand.pages.adjudication import case as cases
from evenhand.pages.adjudication import listing
from evenhand.pages.adjudication.many import decide_many, show_undo
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import may, page_head

page_head("Fully labelled items on which annotators differ. Labels stay anonymous.")
with open_chosen_project() as (store, project):
    counts = case_counts(store, project)
    if project.kind == "sentences" and may(store, "change_projects", project):
        cases.rule(store, project)
    reader = listing.at_the_desk(store, project)
    show_undo(store, project)
    listed, asked = listing.list_cases(store, project, counts, reader), guideline(store, project)
    if not listed.cases:
        st.stop()
    # Not at an open desk: what others labelled is recorded as seen, case by case.
    if listed.queue == "open" and len(listed.cases) > 1 and reader is None and st.toggle(_("Many at once"), key="many"):
        decide_many(store, project, asked, listed.cases)
        st.stop()
    uid = listing.choose_case(listed.cases, asked)
    if reader is not None:
        record_item_reveals(store, reader, [uid])
    found = case(store, project, uid)
    left, right = st.columns([3, 2], gap="large")  # the case and its decision in view together
    with left:
        cases.show_case(found, asked)
        cases.show_decisions(found, asked)
    with right:
        cases.decision(store, project, found, asked)
        cases.comment_list(store, project, found)
    cases.offer_decisions_file(store, project)
