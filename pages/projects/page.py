"""Projects: sentences, a guideline, annotators, and exports."""

import streamlit as st

from annotations.database.store import Store
from annotations.projects.projects import project as find_project
from annotations.projects.projects import return_to_queue, set_aside_items
from annotations.types import Project
from core.errors import NotFound
from pages.projects.annotators import show_people
from pages.projects.export import show_export
from pages.projects.import_.files import show_files
from pages.projects.import_.imports import show_imports
from pages.projects.new import show_form
from pages.projects.overview import show_guideline, show_quotas, show_summary
from pages.projects.projects import NEW, leave, opened, settings_line, show_list
from pages.projects.settings import show_settings
from pages.ui.choose import choose
from pages.ui.head import open_store, page_head, show_error
from pages.ui.language import _
from pages.ui.text import literal, plain

LISTED = 50


def _hand_out(project: Project, uids: list[str]) -> None:
    with open_store() as store:
        for uid in uids:
            return_to_queue(store, project, uid)


def show_aside(store: Store, project: Project) -> None:
    """Items set aside, with a button to hand them out again."""
    found = set_aside_items(store, project)
    st.caption(_("A sentence is set aside when everybody who could label it has skipped it. It waits for you here."))
    if not found:
        st.info(_("No sentence is set aside."), icon=":material/check:")
        return
    for item in found[:LISTED]:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            literal(item.text)
            st.button(
                _("Hand out again"), key=f"hand-out-{item.uid}", icon=":material/replay:",
                on_click=_hand_out, args=(project, [item.uid]),
            )  # fmt: skip
    if len(found) > LISTED:
        st.caption(plain(_("The first {shown} of {all} sentences.").format(shown=LISTED, all=f"{len(found):,}")))
    if len(found) > 1:
        everything = [item.uid for item in found]
        st.button(_("Hand all out again"), key="hand-out-all", on_click=_hand_out, args=(project, everything))


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
            found = find_project(store, name)
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
if st.session_state.get("projects_view") == NEW:
    show_form()
elif name := opened():
    show_project(name)
else:
    with open_store() as store:
        show_list(store)
