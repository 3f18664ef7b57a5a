"""Projects: sentences, a guideline, annotators, and exports."""

import streamlit as st

from core.errors import NotFound
from pages.projects.annotators import show_people
from pages.projects.export import show_export
from pages.projects.import_.files import show_files
from pages.projects.import_.imports import show_imports
from pages.projects.new import show_form
from pages.projects.overview import show_guideline, show_quotas, show_summary
from pages.projects.projects import NEW, leave, opened, settings_line, show_list
from pages.projects.settings import show_settings
from pages.projects.skipped import show_aside
from pages.ui.choose import choose
from pages.ui.head import open_store, page_head, show_error
from pages.ui.language import _
from pages.ui.text import plain
from pages.ui.visitor import own_project

SECTIONS = {
    "files": (_("Files"), show_files),
    "imports": (_("Imports"), show_imports),
    "guideline": (_("Guideline"), show_guideline),
    "people": (_("People"), show_people),
    "aside": (_("Set aside"), show_aside),
    "quotas": (_("Quotas"), show_quotas),
    "export": (_("Export"), show_export),
    "settings": (_("Settings"), show_settings),
}


def show_project(name: str) -> None:
    with open_store() as store:
        try:
            found = own_project(store, name)
        except NotFound as error:
            leave()
            show_error(error)
            show_list(store)
            return
        st.button(_("All projects"), key="back", icon=":material/arrow_back:", type="tertiary", on_click=leave)
        st.header(plain(found.name), anchor=False)
        st.caption(plain(settings_line(store, found)))
        show_summary(store, found)
        parts = {
            part: words for part, (words, _view) in SECTIONS.items() if part != "quotas" or found.kind != "generations"
        }
        section = choose(_("Part of the project"), parts, "section", address="section", heading=False)
        SECTIONS[section][1](store, found)


page_head(
    _("Projects"),
    _("A project holds sentences or what models wrote, the guideline for judging it, and the people who judge."),
)
if name := opened():
    show_project(name)
elif st.query_params.get("view") == NEW:
    show_form()
else:
    with open_store() as store:
        show_list(store)
