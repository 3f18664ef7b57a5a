"""The look of the page Generate: contexts and what was written after them, in the colours of the visitor's theme."""

from string import Template

import streamlit as st

from core.charts.style import palette

SHEET = Template("""<style>
ol.contexts { list-style: none; margin: 0; padding: 0; line-height: 1.6 }
.contexts li { margin: 0; padding: 6px 0; border-top: 1px solid $line; overflow-wrap: anywhere }
.contexts li:first-child { border-top: 0 }
.contexts .who { display: block; color: $soft; font-size: .85rem }
.contexts .before { color: $soft }
.contexts .after { color: $ink; white-space: pre-wrap }
.contexts .mark { display: inline-block; width: 1px; height: 1em; background: $ink;
  vertical-align: -2px; margin: 0 3px }
.designs { display: grid; grid-template-columns: repeat(3, max-content); gap: 3px 26px; font-size: .95rem;
  align-items: baseline }
.designs .n { text-align: right; font-variant-numeric: tabular-nums }
.designs .h { color: $soft; font-size: .85rem }
@media (max-width: 640px) { .designs { gap: 3px 12px; font-size: .9rem } }
</style>""")


def style() -> None:
    """Put the look on the page; once per run."""
    p = palette(st.context.theme.type)
    st.html(SHEET.substitute({name: getattr(p, name) for name in ("ink", "soft", "line")}))
