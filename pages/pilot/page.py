"""Pilot and guideline: pilots, their tags, and the next version of the guideline."""

from evenhand.pages.pilot.guideline import show_guideline
from evenhand.pages.pilot.pilots import show_pilots, show_tags
from evenhand.pages.ui.choose import choose, open_chosen_project
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import errors_shown, page_head

page_head(
    "First, all annotators label the same few items. Then turn their tags into criteria and publish the next version of"
    " the guideline."
)
with open_chosen_project() as (store, project):
    SECTIONS = {"pilot": _("Pilot"), "tags": _("From tags to criteria"), "guideline": _("Next version")}
    part = choose(_("Page section"), SECTIONS, "pilot_part", address="part", heading=False)
    with errors_shown():
        {"pilot": show_pilots, "tags": show_tags, "guideline": show_guideline}[part](store, project)
