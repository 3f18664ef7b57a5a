"""Leaks: the section that sends extremes to annotators and shows what came back."""

import streamlit as st

from pages._models_numbers import rows_for
from pages._models_source import Source
from pages._widgets import _, open_store


def show_leaks(source: Source, models: list[str]) -> None:
    """Is an extreme value a lean of the model, or does the sentence give the answer away? People judge, blind."""
    try:
        from pages._audit_views import show_audit
    except ImportError:
        st.info(_("This section is not installed."))
        return
    with open_store() as store:
        show_audit(rows_for(source, models), store)
