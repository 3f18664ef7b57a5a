"""Jobs: long work that goes on while pages are closed."""

import streamlit as st

from pages.ui.head import open_store, page_head
from pages.ui.jobs import follow, jobs_of
from pages.ui.language import _

page_head(
    _("Jobs"),
    _("Work that takes longer than a page should wait, such as importing a large file, runs here on its own."),
)
with open_store() as opened:
    if not jobs_of(opened):
        st.info(_("There are no jobs. A large file that you import on the page Projects becomes one."))
follow()
