"""Human against rule: what people say of what models wrote, and what the first-pronoun rule says of the same."""

import streamlit as st

from evenhand.annotations.guideline.versions import refuse_own_scheme
from evenhand.pages.human_vs_rule import charts
from evenhand.pages.human_vs_rule.differences import differences
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import open_store, page_head

page_head(
    "How often do annotators and the first-pronoun rule agree, and where do they differ? The rule"
    " uses only the first pronoun; annotators read the whole text. Only fully labelled generations"
    " are shown."
)
with open_store() as store:
    project = charts.chosen_project(store)
    if project is None:
        st.stop()
    refuse_own_scheme(store, project)
    with st.spinner(_("Comparing the labels …"), show_time=False):
        found = charts.current(store, project)
    if not charts.nothing_yet(found):
        with st.container(key="human-vs-rule"):
            charts.tiles(found)
        st.header(_("By model, pronouns and setting"))
        charts.by_cell(found)
        left, right = st.columns(2, gap="large")
        with left:
            st.header(_("The four labels"))
            charts.four_labels(found)
        with right:
            st.header(_("Labels vs. rule"))
            charts.confusion(found)
        st.header(_("Where they differ"))
        differences(store, project, found)
        charts.weighted_back(found)
    if found.generations:
        st.header(_("Repetition"))
        charts.repeated(found)
    charts.show_method(found)
