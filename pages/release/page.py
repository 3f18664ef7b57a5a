"""Release: what is still missing, making one as a job, and the releases there are with their files."""

import streamlit as st

from evenhand.pages.release.releases import show_checks, show_follow_ups, show_form, show_releases, show_rights
from evenhand.pages.ui.choose import choose_project
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.notices import say_unsettled
from evenhand.pages.ui.visitor import may, open_store, page_head

page_head(
    "Freeze the data set in its current state, with labels, hard cases, data sheet and method section."
    " A release never changes; the project continues."
)
with open_store() as opened:
    project = choose_project(opened)
    if project is not None:
        say_unsettled(opened, project)
        if may(opened, "release", project):
            before, after = st.columns(2, gap="large")
            with before:
                ready = show_checks(opened, project)
            with after:
                show_rights(opened, project)
                show_form(opened, project, ready=ready)
if project is not None:
    with open_store() as opened:
        if makes := may(opened, "release", project):
            follow("release")
            follow("hub")
        show_releases(opened, project)
        if project.kind == "sentences" and makes:
            show_follow_ups(opened, project)
