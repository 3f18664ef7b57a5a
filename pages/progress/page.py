"""Progress: the work of annotators, missing items per pair and side, whether the quotas can be met."""

import streamlit as st

from evenhand.pages.progress import pairs, view
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.notices import say_how_they_count, say_unsettled
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import page_head

page_head("Each annotator's work, the items on the desks, and whether the remaining candidates can meet the quotas.")
with open_chosen_project() as (store, project):
    say_unsettled(store, project)
    view.say_too_many(store, project)
    now = view.current(store, project)
    view.tiles(project, now)
    found = view.for_reader(store, project, now.dashboard)
    st.header(_("Annotators"))
    view.people(project, found)
    view.stalled(project, found)
    st.header(_("Decisions per day"))
    view.by_day(found)
    st.header(_("Pairs and sides") if project.kind == "sentences" else _("Strata"))
    say_how_they_count(store, project, found)
    pairs.cells(project, found)
    view.show_method(project, found)
