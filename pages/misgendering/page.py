"""Misgendering: what a model finds likely against what it writes, and what people say of it."""

from typing import Literal

import streamlit as st

from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import page_head
from evenhand.pages.ui.text import _

Section = Literal["results", "new", "try", "published", "which"]


def choose_section() -> Section:
    """Which section; kept in the address."""
    names: dict[Section, str] = {
        "results": _("Results"),
        "new": _("Start a run"),
        "try": _("How it works"),
        "published": _("Published numbers"),
        "which": _("Choosing a method"),
    }
    return choose(_("Section"), names, "section", address="section", heading=False)


def show_section(section: Section) -> None:
    """Draw one section."""
    if section == "results":
        from evenhand.pages.misgendering.results import show_results

        show_results()
    elif section == "new":
        from evenhand.pages.misgendering.start import show_new

        show_new()
    elif section == "try":
        _show_conversions()
    elif section == "published":
        from evenhand.pages.misgendering.published import show_published

        show_published()
    else:
        from evenhand.pages.misgendering.which_way import show_which

        show_which()


def _show_conversions() -> None:
    """How it works: a template as each way asks it, the slot's least disagreement, a text rewritten for every set."""
    from evenhand.pages.misgendering.conversions import show_rewriting, show_slot, show_template

    st.subheader(_("One template, both methods"), anchor=False)
    show_template()
    st.divider()
    st.subheader(_("At the slot: how often must the two methods disagree?"), anchor=False)
    show_slot()
    st.divider()
    st.subheader(_("A TANGO text, probability-based"), anchor=False)
    show_rewriting()


page_head(
    "Does a model use a person's pronouns? Two methods answer this: which form the model finds most"
    " probable, and which form it writes. The page shows both and how far they agree."
)
show_section(choose_section())
