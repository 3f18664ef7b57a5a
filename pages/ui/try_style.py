"""The look of the drawings of the page Try, in the colours of the visitor's theme."""

from string import Template

import streamlit as st

from core.charts.style import Palette, palette

SHEET = Template("""<style>
.st-key-text input, .st-key-template input { font-size: 1.35rem; padding: .55rem .8rem }

.st-key-model [data-tag], .st-key-model [data-tag] * { color: $paper }
.try-sentence { font-size: 1.6rem; line-height: 1.9; overflow-wrap: anywhere; white-space: pre-wrap }
.try-slot { border: 2px solid $ink; border-radius: 8px; padding: .02em .3em; margin: 0 .12em; white-space: nowrap }
.try-m { color: $male; font-weight: 700 }
.try-f { color: $female; font-weight: 700 }
.try-soft { color: $soft }
.try-big { font-size: 1.35rem; line-height: 1.45; font-weight: 700 }
.try-strip { font-size: 1.25rem; line-height: 2.5; overflow-wrap: anywhere; white-space: pre-wrap }
.try-push { border-radius: 5px; padding: .2em .14em; border-bottom: 3px solid; white-space: nowrap }
.try-push small { font-size: .62em; vertical-align: .35em; margin-left: .1em }
.try-list { display: grid; grid-template-columns: max-content 1fr max-content; gap: 5px 12px; align-items: center;
  font-size: .95rem }
.try-list i { display: block; height: 9px; border-radius: 5px; background: $neutral }
.try-facts { display: grid; grid-template-columns: 1fr max-content; gap: 3px 14px; font-size: .95rem }
.try-facts b { text-align: right; font-variant-numeric: tabular-nums; font-weight: 600 }
.try-mass { display: flex; height: 12px; border-radius: 6px; overflow: hidden; background: $line;
  margin: .5rem 0 .2rem }
.try-mass i { display: block; height: 100% }
</style>""")


def colours() -> Palette:
    """The palette of this visitor's theme."""
    return palette(st.context.theme.type)


def style() -> None:
    """Put the look on the page; once per run."""
    p = colours()
    names = ("paper", "ink", "male", "female", "soft", "neutral", "line")
    st.html(SHEET.substitute({name: getattr(p, name) for name in names}))
