"""Home: four entrances, and how far the sentences are."""

import streamlit as st

from evenhand.pages.home.view import show_entrances, show_pipeline
from evenhand.pages.ui.text import _, inform
from evenhand.pages.ui.visitor import may, open_store, own_projects, page_head

page_head(
    "Curate sentences in which a male and a female word fit equally well, label what models write, and measure which"
    " way a model leans."
)
with open_store() as store:
    found = own_projects(store)
    if not found and may(store, "create_projects"):
        inform("There are no projects yet. Create one, or create the demo project, on the Projects page.")
    elif not found and not may(store, "see_projects"):
        inform("You have no role in any project yet. A project lead can invite you.")
    show_entrances(store, found)
    counted = [project for project in found if may(store, "see_all_labels", project)]
    if may(store, "see_all_labels"):
        st.header(_("From texts to a data set"))
        show_pipeline(store, counted)
