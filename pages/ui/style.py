"""The one style sheet of the app."""

from functools import cache
from pathlib import Path

import streamlit as st

from evenhand.core.charts.palette import css_variables

ROOT = Path(__file__).resolve().parents[2]
SHEETS = (ROOT / "pages" / "ui" / "style.css", ROOT / "core" / "report" / "report.css")


def show_style() -> None:
    """Put the style sheet on the page: once a run, before the page."""
    st.html(f"<style>{sheet()}</style>")


@cache
def sheet() -> str:
    """The colours as variables, then the looks of the pages and those that they share with the HTML report."""
    looks = "".join(file.read_text(encoding="utf-8") for file in SHEETS)
    return f":root{{{css_variables(dark=True)}}}\n{looks}"
