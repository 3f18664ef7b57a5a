"""Jobs: long work that goes on while pages are closed."""

import streamlit as st

from evenhand.pages.ui.head import open_store, page_head
from evenhand.pages.ui.jobs import follow, jobs_of
from evenhand.pages.ui.language import _

page_head(
    _("Jobs"),
    _("Tasks that take a while, such as importing a large file, run here in the background."),
)
with open_store() as opened:
    if not jobs_of(opened):
        st.info(_("No jobs. Importing a large file on the Projects page starts one."))
follow()
