"""Home: a model's verdict on a sentence, own work, projects, and how far the sentences are."""

import streamlit as st

from evenhand.pages.home.view import show_pipeline, show_try, show_users, show_verdict, show_work
from evenhand.pages.ui.text import _, inform
from evenhand.pages.ui.visitor import may, open_store, own_projects

st.title(_("How language models treat gender"))
verdict = st.container(key="home-verdict")  # filled last: the first time a model has to be loaded
show_try()
with open_store() as store:
    found = own_projects(store)
    if not found and may(store, "create_projects"):
        inform("There are no projects yet. Create one, or create the demo project, on the Projects page.")
    elif not found and not may(store, "see_projects"):
        inform("You have no role in any project yet. A project lead can invite you.")
    show_work(store, found)
    with st.container(key="entrance-users", gap=None):
        show_users()
    counted = [project for project in found if may(store, "see_all_labels", project)]
    if may(store, "see_all_labels"):
        show_pipeline(store, counted)
with verdict:
    show_verdict()
