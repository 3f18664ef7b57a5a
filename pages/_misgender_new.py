"""New run: a set, models, how many generations; one job that asks both ways."""

import streamlit as st

from pages._widgets import _


def start_first() -> None:
    """The button of the empty page."""
    st.button(
        _("Start with the built-in set and model"), key="start-first", type="primary", icon=":material/play_arrow:"
    )


def show_new() -> None:
    """The form."""
