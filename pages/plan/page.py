"""Labelling plan: how many labels each item gets, the work that this takes, and which items come first."""

import streamlit as st

from evenhand.pages.plan import labels_per_item
from evenhand.pages.plan.sample import show_sample
from evenhand.pages.ui.choose import choose, open_chosen_project
from evenhand.pages.ui.notices import say_unsettled
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import errors_shown, page_head

page_head("How many labels does each item get, which items come first, and how many labels and hours will it take?")
with open_chosen_project() as (store, project):
    say_unsettled(store, project)
    sections = {"plan": _("Labels per item"), "sample": _("What to label next")}
    part = choose(_("Page section"), sections, "plan_part", address="part", heading=False)
    with errors_shown():
        if part == "sample":
            show_sample(store, project)
            st.stop()
        st.header(_("Workload forecast"), anchor=False)
        found = labels_per_item.ask_forecast(store, project)
        labels_per_item.show_waiting(store, project, found)
        labels_per_item.show_forecast(project, found)
        st.header(_("The plan"), anchor=False)
        labels_per_item.show_settings(store, project)
        labels_per_item.show_changes(store, project)
        labels_per_item.show_preregistration(store, project)
        if project.kind == "sentences":  # last: a row for each pair and side
            st.header(_("Candidates for the quotas"), anchor=False)
            labels_per_item.show_needed(found)
