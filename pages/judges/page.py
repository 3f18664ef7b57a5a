"""Judges: the rule, models, servers and files that label in addition to people. For the lead, with their prompts and
drift."""

import streamlit as st

from evenhand.pages.judges.against_people import current, for_the_lead, show_against
from evenhand.pages.judges.rates import show_rates
from evenhand.pages.judges.run import show_start
from evenhand.pages.judges.versions import show_versions
from evenhand.pages.ui.choose import choose_project
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.results import open_view
from evenhand.pages.ui.text import _, inform
from evenhand.pages.ui.visitor import open_store, page_head

page_head(
    "The pronoun rule, a model or a server labels alongside people. Only the lead sees a judge's"
    " labels; they do not affect gold labels."
)
with open_store() as store:
    project = choose_project(store)
    if project is None or not for_the_lead(store, project):
        st.stop()
    parts = {
        "run": _("Run a judge"),
        "people": _("Against people"),
        "rates": _("Rates"),
        "versions": _("Prompts and drift"),
    }
    with open_view(parts, "judges-part", address="part") as part:
        if part == "run":
            show_start(store, project)
        else:
            with st.spinner(_("Comparing the labels …"), show_time=False):
                found = current(store, project)
            if not found.judges:
                inform("No judge has labelled anything here yet. Start one under Run a judge.", icon=":material/info:")
            elif part == "people":
                show_against(store, project, found)
            elif part == "rates":
                show_rates(store, project, found)
            else:
                show_versions(store, project, found)
follow("judge")
