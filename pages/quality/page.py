"""Quality: retests and known answers."""

import streamlit as st

from evenhand.annotations.projects.steps import latest
from evenhand.annotations.quality.retest_agreement import quality
from evenhand.pages.quality.known_answers import known_list, mark_more, score_list, what_missed
from evenhand.pages.quality.retests import differently, for_the_lead, in_numbers, second_labels, settings
from evenhand.pages.ui.choose import choose_project
from evenhand.pages.ui.notices import say_unsettled
from evenhand.pages.ui.results import open_view
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import open_store, page_head, remembered

page_head(
    "Intra-annotator consistency and accuracy on known answers. Lead only: nothing on this page is shown to annotators."
)
with open_store() as store:
    project = choose_project(store)
    if project is None or not for_the_lead(store, project):
        st.stop()
    say_unsettled(store, project)
    found = remembered(latest(store), quality, project)
    parts = {"oneself": _("Retest agreement"), "known": _("Known answers")}
    with open_view(parts, "quality-part", address="part") as part:
        if part == "oneself":
            settings(found.consistency)
            if found.consistency.annotators:
                second_labels(found.consistency)
                in_numbers(found.consistency)
                differently(store, project, found.consistency)
        else:
            score_list(found)
            what_missed(store, project, found)
            known_list(store, project, found)
            mark_more(store, project)
