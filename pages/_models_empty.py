"""The page Models before anything was scored: how to come by scores, and a first run with a click."""

import streamlit as st

from pages._widgets import _


def nothing_yet() -> None:
    """Say what is missing and what to do."""
    with st.container(border=True):
        st.subheader(_("No scores yet"))
        st.write(
            _(
                "This page compares models on the same sentences. Score a data set with one or more models first; "
                "the run then stands in the list above. Or open a file of scores."
            )
        )
        st.page_link("score.py", label=_("Score sentences"), icon=":material/speed:")
