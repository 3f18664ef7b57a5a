"""The frame of every page: navigation, language, theme."""

import streamlit as st

from pages._widgets import _, language

st.set_page_config(page_title="Evenhand", page_icon=":material/balance:", layout="wide")
language()
SECTIONS = {
    "": [st.Page("home.py", title=_("Home"), icon=":material/home:", default=True)],
    _("Curate"): [
        st.Page("projects.py", title=_("Projects"), icon=":material/folder_open:"),
        st.Page("review.py", title=_("Review"), icon=":material/rate_review:"),
        st.Page("agreement.py", title=_("Agreement"), icon=":material/handshake:"),
    ],
    _("Models"): [st.Page("try.py", title=_("Try a sentence"), icon=":material/balance:")],
    _("More"): [
        st.Page("jobs.py", title=_("Jobs"), icon=":material/schedule:"),
        st.Page("about.py", title=_("About"), icon=":material/info:"),
    ],
}
st.navigation(SECTIONS).run()
