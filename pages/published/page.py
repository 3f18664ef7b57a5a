"""Check: what the papers print, worked out again from what else they print; and the same for numbers of one's own."""

import streamlit as st

from evenhand.pages.published.claims import how_it_is_checked, own_numbers, show_claims, show_totals
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import page_head

page_head(
    "Are the values that a paper reports consistent with each other? This page recalculates values"
    " from the papers behind the measures. Open a claim to see its calculation."
)
published, own = st.tabs([_("The papers"), _("Your own values")], key="check")
with published:
    show_totals()
    show_claims()
    how_it_is_checked()
with own:
    own_numbers()
