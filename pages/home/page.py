"""Home: the pipeline with live counts, the pages, open work."""

import streamlit as st

from pages.home.pipeline import show_own_desk, show_pipeline, show_places, show_project
from pages.ui.head import open_store, page_head
from pages.ui.language import _
from pages.ui.visitor import may, own_projects

page_head(
    _("Home"),
    _(
        "Curate sentences in which a male and a female word fit equally well, judge what models write, and see which"
        " way a model leans."
    ),
)
with open_store() as store:
    found = own_projects(store)
    counted = [project for project in found if may(store, "see_all_labels", project)]
    if may(store, "see_all_labels"):
        show_pipeline(store, counted)
    st.subheader(_("What waits"))
    if not found and may(store, "create_projects"):
        st.info(_("There is no project yet. Create one, or make the demo project, on the page Projects."))
    elif not found:
        st.info(_("You have no role in a project yet. Whoever leads one can invite you."))
    for project in found:
        if project in counted:
            show_project(store, project, names=may(store, "see_names", project))
        else:
            show_own_desk(store, project)
st.subheader(_("What can be done here"))
show_places()
