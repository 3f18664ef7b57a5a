"""Check: what the papers print, worked out again from what else they print; and the same for numbers of one's own."""

import streamlit as st

from pages.published.views import claims, how_it_is_checked, own_numbers, tiles
from pages.ui.head import page_head
from pages.ui.language import _

page_head(
    _("Check of published numbers"),
    _(
        "Does what a paper prints follow from what else it prints? Here the numbers of the papers behind the measures"
        " are worked out again; every claim opens its calculation."
    ),
)
published, own = st.tabs([_("The papers"), _("Own numbers")], key="check")
with published:
    tiles()
    claims()
    how_it_is_checked()
with own:
    own_numbers()
