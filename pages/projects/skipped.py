"""Items that everybody has skipped, which wait for the lead."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import return_to_queue, set_aside_items
from evenhand.annotations.types import Project
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.parts import asks, asks_at_click
from evenhand.pages.ui.text import literal, plain

LISTED = 50


@asks_at_click("change_projects")
def _hand_out(project: Project, uids: list[str]) -> None:
    with open_store(project) as store:
        for uid in uids:
            return_to_queue(store, project, uid)


@asks("change_projects")
def show_aside(store: Store, project: Project) -> None:
    """Items set aside, with a button to hand them out again."""
    found = set_aside_items(store, project)
    texts = project.kind == "generations"
    st.caption(
        _("A text is set aside when everybody who could label it has skipped it. It then waits here for you.")
        if texts
        else _("A sentence is set aside when everybody who could label it has skipped it. It then waits here for you.")
    )
    if not found:
        st.info(_("No text is set aside.") if texts else _("No sentence is set aside."), icon=":material/check:")
        return
    for item in found[:LISTED]:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            literal(item.whole_text)
            st.button(
                _("Hand out again"), key=f"hand-out-{item.uid}", icon=":material/replay:",
                on_click=_hand_out, args=(project, [item.uid]),
            )  # fmt: skip
    if len(found) > LISTED:
        st.caption(plain(_("The first {shown} of {all} sentences.").format(shown=LISTED, all=f"{len(found):,}")))
    if len(found) > 1:
        everything = [item.uid for item in found]
        st.button(_("Hand out all again"), key="hand-out-all", on_click=_hand_out, args=(project, everything))
