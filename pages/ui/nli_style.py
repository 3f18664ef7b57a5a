"""The look of the page Inference."""

from string import Template

import streamlit as st

from core.charts.style import palette

SHEET = Template("""<style>
.nli-facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(135px, 1fr)); gap: 14px 22px;
  margin: 2px 0 8px }
.nli-facts > div { border-top: 2px solid $line; padding-top: 6px; display: flex; flex-direction: column }
.nli-facts .k { flex: 1 0 auto }
.nli-facts .k { color: $soft; font-size: .85rem; line-height: 1.35 }
.nli-facts .v { font-size: 1.5rem; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.3 }
.nli-facts .i { color: $soft; font-size: .85rem; font-variant-numeric: tabular-nums; min-height: 1.4em }
.nli-scroll { overflow-x: auto }
table.nli { border-collapse: collapse; width: 100%; font-size: .95rem }
table.nli th { color: $soft; font-weight: 400; font-size: .85rem; text-align: right; padding: 4px 10px;
  vertical-align: bottom }
table.nli td { text-align: right; padding: 4px 10px; border-top: 1px solid $line; font-variant-numeric: tabular-nums }
table.nli th:first-child, table.nli td:first-child { text-align: left; padding-left: 0; min-width: 8em }
table.nli .own td { font-weight: 600 }
table.nli .i { color: $soft; font-size: .85rem; white-space: nowrap }
.nli-bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: 8px 14px; align-items: center;
  max-width: 640px; margin: 4px 0 10px }
.nli-bars .b { background: $line; height: 12px; border-radius: 6px; overflow: hidden }
.nli-bars .b i { display: block; height: 100%; background: $ink }
.nli-bars .n { font-variant-numeric: tabular-nums; text-align: right }
.nli-bars .most { font-weight: 700 }
@media (max-width: 640px) { table.nli td, table.nli th { padding: 4px 5px; font-size: .85rem }
  .nli-facts .v { font-size: 1.25rem } .nli-facts { grid-template-columns: 1fr 1fr } }
</style>""")


def style() -> None:
    """Put the look on the page; once per run."""
    p = palette(st.context.theme.type)
    st.html(SHEET.substitute({name: getattr(p, name) for name in ("soft", "line", "ink")}))
