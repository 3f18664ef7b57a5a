"""Guideline: what a project asks of those who label and decide, as it is now, to read."""

import streamlit as st

from evenhand.annotations.projects.projects import guidelines
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.sentences import asked_as, desk_html, options_html
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import _, caption
from evenhand.pages.ui.visitor import page_head

page_head("The instructions for annotators and adjudicators in this project.")
with open_chosen_project() as (store, project):
    versions = guidelines(store, project)
    newest = versions[-1]
    caption("Version {version}, written {moment}.", version=newest.version, moment=moment(newest.created))
    show_html(desk_html(newest.text))
    about = dict(newest.scheme.about) if newest.scheme else {}
    left, right = st.columns(2, gap="large")
    with left:
        st.header(_("Choices"))
        show_html(options_html(newest.choices, about))
    with right:
        if newest.scheme is None:
            st.header(_("Reasons to reject") if project.kind == "sentences" else _("Criteria"))
            show_html(options_html(newest.reasons))
        if newest.scheme is not None and newest.reasons:
            st.header(_("Flags"))
            show_html(options_html(newest.reasons, about))
        if newest.scheme is not None and newest.scheme.spans:
            st.header(_("Kinds of spans"))
            show_html(options_html(newest.scheme.spans, about))
        if newest.scheme is not None and newest.scheme.questions:
            st.header(_("Questions"))
            show_html(options_html([asked_as(question) for question in newest.scheme.questions], about))
    if changed := [version for version in versions if version.changes]:
        st.header(_("What changed"))
        for guideline in reversed(changed):
            caption("Version {version}, written {moment}.", version=guideline.version, moment=moment(guideline.created))
            st.text(guideline.changes)
