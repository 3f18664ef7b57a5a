"""The look of the page Professions: masked sentences, tables and verdicts, in the colours of the visitor's theme."""

from string import Template

import streamlit as st

from core.charts.style import Palette, palette

SHEET = Template("""<style>
.st-key-professions-models [data-tag], .st-key-professions-models [data-tag] * { color: $paper }
ol.prof-rows { list-style: none; margin: 0; padding: 0; line-height: 1.7 }
.prof-rows li { display: flex; gap: 14px; padding: 4px 0; margin: 0; border-top: 1px solid $line;
  overflow-wrap: anywhere }
.prof-rows li:first-child { border-top: 0 }
.prof-rows .no { color: $soft; flex: none; min-width: 4ch; text-align: right; font-variant-numeric: tabular-nums }
.prof-rows .m { color: $male; font-weight: 700; border-bottom: 2px solid }
.prof-rows .f { color: $female; font-weight: 700; border-bottom: 2px solid }
.prof-rows .n { font-weight: 700; border-bottom: 2px dotted }
.prof-rows .p { border-bottom: 1px dashed $soft }
.prof-rows small { display: block; color: $soft; font-size: .82rem }
.prof-scroll { overflow-x: auto; border: 1px solid $line; border-radius: 12px; background: $card }
.prof-table { border-collapse: collapse; width: 100%; font-size: .92rem;
  font-variant-numeric: tabular-nums; color: $ink }
.prof-table th, .prof-table td { text-align: right; padding: .45rem .7rem; border-bottom: 1px solid $line;
  white-space: nowrap }
.prof-table th:first-child, .prof-table td:first-child { text-align: left; white-space: normal; min-width: 7.5rem }
.prof-table .l { text-align: left }
.prof-table thead th { color: $soft; font-weight: 500; font-size: .84rem; vertical-align: bottom }
.prof-table tr:last-child td { border-bottom: 0 }
.prof-table small { display: block; color: $soft; font-size: .8rem }
.prof-table .m { color: $male; font-weight: 650 } .prof-table .f { color: $female; font-weight: 650 }
.prof-verdicts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 12px }
.prof-verdict { border: 1px solid $line; border-radius: 12px; background: $card; padding: .8rem 1rem; color: $ink }
.prof-verdict h4 { margin: 0 0 .15rem; padding: 0; font-size: .95rem; font-weight: 650 }
.prof-verdict .asks { color: $soft; font-size: .85rem; margin: 0 0 .5rem }
.prof-verdict div + div { margin-top: .6rem }
.prof-table small.wrap { white-space: normal; max-width: 15rem; margin-left: auto }
.prof-verdict .outcome { font-weight: 650 }
.prof-verdict ul { margin: .35rem 0 0; padding-left: 1.1rem; font-size: .86rem; line-height: 1.5 }
.prof-verdict .why { color: $soft; font-size: .84rem; margin: .35rem 0 0 }
@media (max-width: 640px) { .prof-table { font-size: .84rem } .prof-table th, .prof-table td { padding: .4rem .5rem }
  .prof-table th:first-child, .prof-table td:first-child { min-width: 5.5rem } }
</style>""")


def colours() -> Palette:
    """The palette of this visitor's theme."""
    return palette(st.context.theme.type)


def style() -> None:
    """Put the look on the page; once per run."""
    p = colours()
    names = ("paper", "card", "ink", "soft", "line", "male", "female")
    st.html(SHEET.substitute({name: getattr(p, name) for name in names}))
