"""How it works: the slot and its least disagreement, live; how texts are converted between the ways."""

import streamlit as st

from pages._misgender_slot import show_slot
from pages._widgets import _


def show_try() -> None:
    """The sliders, then the conversions."""
    st.subheader(_("At the slot: how often must the two ways disagree?"), anchor=False)
    show_slot()
