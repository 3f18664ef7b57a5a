"""Pilot and guideline: pilots, their tags, and the next version of the guideline."""

import streamlit as st

from evenhand.core.errors import EvenhandError
from evenhand.pages.pilot.guideline import show_guideline
from evenhand.pages.pilot.pilots import show_pilots
from evenhand.pages.pilot.tags import show_tags
from evenhand.pages.ui.choose import choose, choose_project
from evenhand.pages.ui.head import open_store, page_head, show_error
from evenhand.pages.ui.language import _

page_head(
    _("Pilot and guideline"),
    _(
        "Have everybody label the same few items first, turn their tags into criteria, and write the next"
        " version of the guideline."
    ),
)
with open_store() as store:
    project = choose_project(store)
    if project is None:
        st.stop()
    SECTIONS = {"pilot": _("Pilot"), "tags": _("From tags to criteria"), "guideline": _("Next version")}
    part = choose(_("Page section"), SECTIONS, "pilot_part", address="part", heading=False)
    try:
        {"pilot": show_pilots, "tags": show_tags, "guideline": show_guideline}[part](store, project)
    except EvenhandError as error:
        show_error(error)
