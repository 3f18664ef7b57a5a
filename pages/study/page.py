"""Studies by link: for the lead. A study, its link, who is where, what the pay comes to, codes, withdrawals."""

import streamlit as st

from annotations.study.studies import studies
from pages.study.new import show_new
from pages.study.study import show_study
from pages.ui.choose import choose, choose_project
from pages.ui.head import open_store, page_head, show_error
from pages.ui.language import _
from pages.ui.text import plain

page_head(
    _("Studies by link"),
    _("People from Prolific, Mechanical Turk or a list of your own: consent, a test, the desk, a code, no account."),
)
with open_store() as store:
    project = choose_project(store)
    if project is not None:
        if error := st.session_state.pop("study-error", None):
            show_error(error)
        found = {one.uid: one for one in studies(store, project)}
        if found:
            names = {uid: plain(one.name) for uid, one in found.items()}
            uid = choose(_("Study"), names, f"study-{project.uid}")
            show_study(store, project, found[uid])
        else:
            st.info(_("This project has no study yet."))
        show_new(store, project, open_at_first=not found)
