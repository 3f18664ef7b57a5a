"""Progress: the work of annotators, missing items per pair and side, whether the quotas can be met."""

import streamlit as st

from evenhand.pages.progress.annotators import by_day, people, stalled
from evenhand.pages.progress.cells import cells
from evenhand.pages.progress.overview import current, for_reader, say_too_many, show_method, tiles
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.head import page_head
from evenhand.pages.ui.notices import say_how_they_count, say_unsettled
from evenhand.pages.ui.text import _

page_head("Each annotator's work, the items on the desks, and whether the remaining candidates can meet the quotas.")
with open_chosen_project() as (store, project):
    say_unsettled(store, project)
    say_too_many(store, project)
    found = current(store, project)
    tiles(project, found)
    found = for_reader(store, project, found)
    st.subheader(_("Annotators"))
    people(project, found)
    stalled(project, found)
    st.subheader(_("Decisions per day"))
    by_day(found)
    st.subheader(_("Pairs and sides") if project.kind == "sentences" else _("Strata"))
    say_how_they_count(store, project, found)
    cells(project, found)
    show_method(project, found)
