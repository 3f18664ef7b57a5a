"""The look of the page Score: sentences with their keyword marked, in the colours of the visitor's theme."""

from string import Template

import streamlit as st

from core.charts.style import palette

SHEET = Template("""<style>
.st-key-score-models [data-tag], .st-key-score-models [data-tag] * { color: $paper }
ol.score-rows { list-style: none; margin: 0; padding: 0; font-size: 1rem; line-height: 1.75 }
.score-rows li { display: flex; gap: 14px; margin: 0; padding: 3px 0; border-top: 1px solid $line;
  overflow-wrap: anywhere }
.score-rows li:first-child { border-top: 0 }
.score-rows .no { color: $soft; min-width: 3ch; text-align: right; font-variant-numeric: tabular-nums }
.score-rows .m { color: $male; font-weight: 700; border-bottom: 2px solid }
.score-rows .f { color: $female; font-weight: 700; border-bottom: 2px solid }
.score-rows .why { color: $soft }
.score-facts { display: grid; grid-template-columns: minmax(0, max-content) repeat(3, max-content); gap: 3px 22px;
  font-size: .95rem; align-items: baseline }
.score-facts b { font-weight: 600; overflow-wrap: anywhere }
.score-facts .n { text-align: right; font-variant-numeric: tabular-nums }
.score-facts .h { color: $soft; font-size: .85rem }
@media (max-width: 640px) { .score-facts { gap: 3px 12px; font-size: .9rem } }
</style>""")


def style() -> None:
    """Put the look on the page; once per run."""
    p = palette(st.context.theme.type)
    names = ("paper", "soft", "line", "male", "female")
    st.html(SHEET.substitute({name: getattr(p, name) for name in names}))
