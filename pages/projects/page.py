"""Projects: sentences, a guideline, annotators, and exports."""

import streamlit as st

from evenhand.core.errors import NotFound
from evenhand.pages.projects import projects
from evenhand.pages.projects.annotators import show_aside, show_people
from evenhand.pages.projects.export import show_export
from evenhand.pages.projects.import_.files import show_files
from evenhand.pages.projects.import_.imports import show_imports
from evenhand.pages.projects.settings import show_form, show_settings
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.text import _, plain
from evenhand.pages.ui.visitor import open_store, own_project, page_head, show_error

SECTIONS = {
    "files": (_("Files"), show_files),
    "imports": (_("Imports"), show_imports),
    "guideline": (_("Guideline"), projects.show_guideline),
    "people": (_("People"), show_people),
    "aside": (_("Set aside"), show_aside),
    "quotas": (_("Quotas"), projects.show_quotas),
    "export": (_("Export"), show_export),
    "settings": (_("Settings"), show_settings),
}


def show_head() -> None:
    page_head(
        "A project contains sentences or model generations, the guideline for labelling them, and the annotators."
    )


def show_project(name: str) -> None:
    with open_store() as store:
        try:
            project = own_project(store, name)
        except NotFound as error:
            projects.leave()
            show_head()
            show_error(error)
            projects.show_list(store)
            return
        st.button(_("All projects"), key="back", icon=":material/arrow_back:", type="tertiary", on_click=projects.leave)
        st.title(plain(project.name), anchor=False)
        st.caption(plain(projects.settings_line(store, project)))
        projects.show_summary(store, project)
        parts = {
            part: words
            for part, (words, _view) in SECTIONS.items()
            if part != "quotas" or project.kind != "generations"
        }
        section = choose(_("Project section"), parts, "section", address="section", heading=False)
        SECTIONS[section][1](store, project)


if name := projects.opened():
    show_project(name)
elif st.query_params.get("view") == projects.NEW:
    show_head()
    show_form()
else:
    show_head()
    with open_store() as store:
        projects.show_list(store)
