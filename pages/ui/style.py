"""The one style sheet of the app, and the colours of the visitor's theme for charts."""

from functools import cache
from pathlib import Path

import streamlit as st

from evenhand.core.charts.palette import Palette, css_variables, palette

ROOT = Path(__file__).resolve().parents[2]
SHEETS = (ROOT / "pages" / "ui" / "style.css", ROOT / "core" / "report" / "report.css")


def colours() -> Palette:
    """The palette of this visitor's theme."""
    return palette(st.context.theme.type)


def show_style() -> None:
    """Put the style sheet on the page: once a run, before the page."""
    st.html(f"<style>{sheet()}</style>")


@cache
def sheet() -> str:
    """The colours as variables, then the looks of the pages and those that they share with the HTML report."""
    looks = "".join(file.read_text(encoding="utf-8") for file in SHEETS)
    return f":root{{{css_variables(dark=True)}}}\n{looks}"
