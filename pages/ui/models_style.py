"""The look of the page Models: the table and the sentences, in the colours of the visitor's theme."""

import streamlit as st

from core.charts.style import Palette, palette
from core.report.sentences import style as list_style
from core.report.table import style as table_style


def colours() -> Palette:
    """The palette of this visitor's theme."""
    return palette(st.context.theme.type)


def style() -> None:
    """Put the look on the page; once per run."""
    p = colours()
    chosen = f".st-key-models [data-tag], .st-key-models [data-tag] * {{ color: {p.paper} }}"
    st.html(f"<style>{table_style(p)}{list_style(p)}{chosen}</style>")
