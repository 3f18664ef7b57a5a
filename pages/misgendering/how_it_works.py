"""How it works: a template as each way asks it, a text rewritten for every set, and the slot's least disagreement."""

import streamlit as st

from pages.misgendering.at_the_slot import show_slot
from pages.misgendering.conversions import show_rewriting, show_template
from pages.ui.language import _


def show_try() -> None:
    """The conversions, then the sliders."""
    st.subheader(_("One template, both ways"), anchor=False)
    show_template()
    st.divider()
    st.subheader(_("At the slot: how often must the two ways disagree?"), anchor=False)
    show_slot()
    st.divider()
    st.subheader(_("A text of TANGO by probability"), anchor=False)
    show_rewriting()
