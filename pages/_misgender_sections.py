"""The sections of the page Misgendering: only the one that is looked at is drawn; its views are imported here."""

from typing import Literal, get_args

import streamlit as st

from pages._widgets import _

Section = Literal["results", "new", "try", "published", "which"]
SECTIONS: tuple[Section, ...] = get_args(Section)


def choose_section() -> Section:
    """Which section; kept in the address."""
    names: dict[Section, str] = {
        "results": _("Results"),
        "new": _("Start a run"),
        "try": _("How it works"),
        "published": _("Published numbers"),
        "which": _("Which way fits"),
    }
    if st.session_state.get("section") not in SECTIONS:
        asked = st.query_params.get("section")
        st.session_state["section"] = asked if asked in SECTIONS else SECTIONS[0]
    chosen = st.segmented_control(
        _("Section"),
        SECTIONS,
        format_func=names.__getitem__,
        key="section",
        required=True,
        label_visibility="collapsed",
    )
    section = chosen or SECTIONS[0]
    st.query_params["section"] = section
    return section


def show_section(section: Section) -> None:
    """Draw one section."""
    if section == "results":
        from pages._misgender_results import show_results

        show_results()
    elif section == "new":
        from pages._misgender_new import show_new

        show_new()
    elif section == "try":
        from pages._misgender_try import show_try

        show_try()
    elif section == "published":
        from pages._misgender_published import show_published

        show_published()
    else:
        from pages._misgender_which import show_which

        show_which()
