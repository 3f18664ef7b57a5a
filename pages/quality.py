"""Quality: how steadily annotators judge, and how often they give the answer that the lead knows."""

import streamlit as st

from annotations.quality import quality
from core.errors import EvenhandError
from pages._quality_known import known_list, score_list, what_missed
from pages._quality_marking import mark_more
from pages._quality_oneself import differently, in_figures, second_labels, settings
from pages._quality_views import for_the_lead
from pages._widgets import _, choose_project, open_store, page_head, show_error

page_head(
    _("Quality"),
    _(
        "Does everybody judge as they did before, and as you would? For the lead: nothing of this page is shown to"
        " annotators."
    ),
)
with open_store() as store:
    project = choose_project(store)
    if project is None or not for_the_lead(store, project):
        st.stop()
    try:
        found = quality(store, project)
    except EvenhandError as error:
        show_error(error)
        st.stop()
    st.subheader(_("Agreement with oneself"))
    settings(project, found.consistency)
    if found.consistency.annotators:
        second_labels(found.consistency)
        in_figures(found.consistency)
        differently(store, project, found.consistency)
    st.subheader(_("Hidden gold"))
    score_list(project, found)
    what_missed(store, project, found)
    known_list(store, project, found)
    mark_more(store, project)
