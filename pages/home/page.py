"""Home: the pipeline with live counts, the pages, open work."""

import streamlit as st

from annotations.projects.projects import projects
from pages.home.pipeline import show_pipeline, show_places, show_project
from pages.ui.head import open_store, page_head
from pages.ui.language import _

page_head(
    _("Home"),
    _(
        "Curate sentences in which a male and a female word fit equally well, judge what models write, and see which"
        " way a model leans."
    ),
)
with open_store() as store:
    show_pipeline(store)
    st.subheader(_("What waits"))
    found = projects(store)
    if not found:
        st.info(_("There is no project yet. Create one, or make the demo project, on the page Projects."))
    for project in found:
        show_project(store, project)
st.subheader(_("What can be done here"))
show_places()
