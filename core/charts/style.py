"""How every chart looks: one font, data inside the chart, a description for screen readers.

Charts name their channels, `x=alt.X("value:Q")` and not `x="value:Q"`: to find the class for a string takes Altair
milliseconds.
"""

from dataclasses import fields
from typing import Any

import altair as alt
import pandas as pd
from altair.utils import schemapi

from evenhand.core.charts.palette import LIGHT, Palette

# A chart is checked against the schema of Vega-Lite when it is drawn. Its parts would be too, each time one is made,
# which takes as long again.
schemapi.disable_debug_mode()
# The default theme writes the width and height into each chart that Vega-Lite takes anyway, and pages have other ones.
alt.theme.enable("none")

FONT = "Noto Sans CJK SC, Noto Sans SC, PingFang SC, Microsoft YaHei, sans-serif"
WIDTH = 640  # pixels of a picture whose chart fills its container on the page


def styled(chart: Any, description: str, palette: Palette = LIGHT) -> Any:
    """*chart* (any Altair chart, also layered or joined) as all charts look here.

    `description` is what a screen reader says instead of the picture: one
    sentence with the main numbers. Colours are set in so many words, because
    a picture is drawn without the page's theme. The data goes into the chart:
    Altair's data transformers are global to all threads, and the page of
    another visitor could change them while this chart is drawn.
    """
    chart = _inline(chart, {})
    # Set one by one: `properties(...)` copies the chart with all its data.
    chart.description, chart.usermeta = description, {"theme": palette.theme}
    text = {"labelColor": palette.soft, "titleColor": palette.soft, "labelFont": FONT, "titleFont": FONT}
    # All at once: each `configure_...` of Altair copies the whole chart.
    chart.config = {
        "font": FONT,
        "background": "transparent",
        "view": {"stroke": None},
        "axis": text
        | {
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "gridColor": palette.line,
            "domainColor": palette.line,
            "tickColor": palette.line,
            "labelLimit": 220,
        },
        "legend": text | {"titleFontWeight": "normal", "symbolStrokeWidth": 2},
        "header": text,
        "title": {
            "color": palette.ink,
            "font": FONT,
            "fontSize": 14,
            "anchor": "start",
            "subtitleColor": palette.soft,
        },
    }
    return chart


def palette_scale(palette: Palette) -> alt.Scale:
    """Return the scale from the name of a colour, which data may hold, to the colour.

    A picture turns the colours of a scale into the light theme's, and leaves data as it is.
    """
    names = [field.name for field in fields(Palette) if field.name != "theme"]
    return alt.Scale(domain=names, range=[getattr(palette, name) for name in names])


def _inline(chart: Any, known: dict[int, alt.InlineData]) -> Any:
    """*chart* with its data inside; layers that share a frame share its rows, which *known* has by the frame's id."""
    chart = chart.copy(deep=False)
    if isinstance(chart.data, pd.DataFrame):
        frame = chart.data
        chart.data = known[id(frame)] = known.get(id(frame)) or _rows(frame)
    for part in ("layer", "hconcat", "vconcat", "concat"):
        inner = chart._get(part)
        if isinstance(inner, list):
            chart[part] = [_inline(one, known) for one in inner]
    if isinstance(chart._get("spec"), alt.TopLevelMixin):
        chart["spec"] = _inline(chart["spec"], known)
    return chart


def _rows(frame: pd.DataFrame) -> alt.InlineData:
    rows = alt.to_values(frame)["values"]
    # Altair leaves the None of a column of objects as NaN, which is no JSON and is drawn as a number.
    return alt.InlineData(values=[{k: None if v != v else v for k, v in row.items()} for row in rows])
