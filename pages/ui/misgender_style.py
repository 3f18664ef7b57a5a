"""The look of the page Misgendering, in the colours of the visitor's theme."""

from string import Template

import streamlit as st

from core.charts.style import Palette, palette

SHEET = Template("""<style>
.mg-table { width: 100%; border-collapse: collapse; font-size: 14px; line-height: 1.5 }
.mg-table th, .mg-table td { text-align: left; vertical-align: top; padding: 7px 14px 7px 0;
  border-bottom: 1px solid $line }
.mg-table th { color: $soft; font-weight: 500; font-size: 13px }
.mg-table td.n { font-variant-numeric: tabular-nums; white-space: nowrap }
.mg-table .soft { color: $soft }
.mg-wide { overflow-x: auto }
@media (max-width: 640px) { .mg-table { min-width: 36em } }
.mg-cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 250px), 1fr)); gap: 14px }
.mg-card { border: 1px solid $line; border-radius: 10px; padding: 14px 16px; background: $card; font-size: 15px;
  line-height: 1.6 }
.mg-card h4 { margin: 0 0 2px; padding: 0; font-size: 16px; font-weight: 650 }
.mg-card .ask { color: $soft; margin: 0 0 8px }
.mg-card dl { margin: 0; padding: 0 }
.mg-card dt { font-weight: 600; margin-top: 8px } .mg-card dd { margin: 0; padding: 0 }
.mg-text { font-size: 15px; line-height: 1.8; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 6px }
.mg-text b { font-weight: 700; border-bottom: 2px solid $good; color: $good }
.mg-text .gone { color: $soft; text-decoration: line-through }
.mg-label { color: $soft; font-size: 13px; margin: 0 }
</style>""")


def colours() -> Palette:
    """The palette of this visitor's theme."""
    return palette(st.context.theme.type)


def style() -> None:
    """Put the look on the page; once per run."""
    p = colours()
    st.html(SHEET.substitute({name: getattr(p, name) for name in ("line", "soft", "card", "good")}))
