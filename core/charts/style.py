"""The look of every chart: one font, data inside the chart, a description for screen readers.

Charts name their channels, `x=alt.X("value:Q")` and not `x="value:Q"`: to find the class for a string takes Altair
milliseconds.
"""

import html
from collections.abc import Mapping
from typing import Any, Literal

import altair as alt
import pandas as pd
import vl_convert
from altair.utils import schemapi

from evenhand.core.charts.palette import LIGHT, NAMES, Palette, colours
from evenhand.core.language import Say, same

# A chart is checked against the schema of Vega-Lite when it is drawn. Its parts would be too, each time one is made,
# which takes as long again.
schemapi.disable_debug_mode()
# The default theme writes the width and height into each chart that Vega-Lite takes anyway, and pages have other ones.
alt.theme.enable("none")

FONT = "Noto Sans CJK SC, Noto Sans SC, PingFang SC, Microsoft YaHei, sans-serif"
Align = Literal["left", "right"]
LEFT: Align = "left"
RIGHT: Align = "right"
WIDTH = 640  # pixels of a picture whose chart fills its container on the page


def styled(chart: Any, description: str, palette: Palette = LIGHT) -> Any:
    """Return *chart* (any Altair chart, also layered or joined) in the style of all charts.

    `description` is what a screen reader says instead of the picture: one
    sentence with the main numbers. Colours are set explicitly, because
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
        # A screen reader gets the description, not thousands of points or empty groups. Only what has a tooltip of its
        # own shows one: a band or a line would show the names of its columns.
        "mark": {"aria": False, "tooltip": None},
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
    return alt.Scale(domain=list(NAMES), range=[getattr(palette, name) for name in NAMES])


def tooltips(titles: Mapping[str, str], say: Say = same, **formats: str) -> list[alt.Tooltip]:
    """Return a tooltip for each column of *titles*, which are what people call it; *formats*: of those with numbers."""
    return [
        alt.Tooltip(field=name, type="quantitative", title=say(title), format=formats[name])
        if name in formats
        else alt.Tooltip(field=name, type="nominal", title=say(title))
        for name, title in titles.items()
    ]


def rule(axis: alt.X | alt.Y, value: float, **look: Any) -> Any:
    """Return a line across the whole chart at *value* on *axis*."""
    line = alt.Chart(pd.DataFrame([{axis.shorthand.partition(":")[0]: float(value)}])).mark_rule(**look)
    return line.encode(x=axis) if isinstance(axis, alt.X) else line.encode(y=axis)


def strip(axis: alt.X | alt.Y, low: float, high: float, **look: Any) -> Any:
    """Return a band across the whole chart from *low* to *high* on *axis*."""
    band = alt.Chart(pd.DataFrame([{axis.shorthand.partition(":")[0]: low, "to": high}])).mark_rect(**look)
    return band.encode(x=axis, x2=alt.X2("to:Q")) if isinstance(axis, alt.X) else band.encode(y=axis, y2=alt.Y2("to:Q"))


def haloed(base: Any, palette: Palette, **look: Any) -> list[Any]:
    """Return the text of *base* with paper around its letters, which keeps it readable over a line."""
    halo = base.mark_text(stroke=palette.paper, strokeWidth=5, strokeJoin="round", **look)
    return [halo, base.mark_text(color=palette.ink, **look)]


def _inline(chart: Any, known: dict[int, alt.InlineData]) -> Any:
    """Return *chart* with its data inside; layers that share a frame share the rows in *known*, by the frame's id."""
    chart = chart.copy(deep=False)
    if isinstance(chart.data, pd.DataFrame):
        frame = chart.data
        chart.data = known[id(frame)] = known.get(id(frame)) or _rows(frame)
    for part in ("layer", "hconcat", "vconcat", "concat"):
        inner = chart._get(part)
        if isinstance(inner, list):
            chart[part] = [_inline(entry, known) for entry in inner]
    if isinstance(chart._get("spec"), alt.TopLevelMixin):
        chart["spec"] = _inline(chart["spec"], known)
    return chart


def _rows(frame: pd.DataFrame) -> alt.InlineData:
    rows = alt.to_values(frame)["values"]
    # Altair turns the None of a column of objects into NaN, which is invalid in JSON and drawn as a number.
    return alt.InlineData(values=[{k: None if v != v else v for k, v in row.items()} for row in rows])


Format = Literal["svg", "png"]


def picture(chart: Any, format: Format, *, width: int = WIDTH, scale: float = 2.0) -> bytes:
    """Return *chart* as the bytes of an SVG or PNG file.

    A chart that was built for the dark theme is turned into the light colours.
    `width` (pixels) counts only where the chart has no width of its own;
    `scale` is the number of PNG pixels per pixel. Nothing is fetched: a chart
    whose data is an address raises ValueError. A PNG needs a font with Chinese
    characters on this machine; an SVG needs it where it is looked at.
    """
    spec = chart.to_dict(validate=False)  # as on pages: a check of this code, which the tests make
    theme = (spec.pop("usermeta", None) or {}).get("theme")
    if theme == "dark":
        spec = _recoloured(spec, colours())
    spec.setdefault("config", {})["background"] = LIGHT.card
    spec.pop("autosize", None)
    spec.setdefault("padding", 12)
    if ("layer" in spec or "mark" in spec) and spec.get("width") in (None, "container"):
        spec["width"] = width
    if format == "svg":
        svg: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
        # Vega leaves the description out; as the title of the picture a screen reader finds it.
        head, rest = svg.split(">", 1)
        return f"{head}><title>{html.escape(str(spec.get('description', '')))}</title>{rest}".encode()
    png: bytes = vl_convert.vegalite_to_png(spec, scale=scale, allowed_base_urls=[])
    return png


def _recoloured(part: Any, new: dict[str, str]) -> Any:
    if isinstance(part, dict):
        # Data stays as it is: a sentence may look like a colour.
        return {key: inner if key in ("datasets", "values") else _recoloured(inner, new) for key, inner in part.items()}
    if isinstance(part, list):
        return [_recoloured(inner, new) for inner in part]
    return new.get(part, part) if isinstance(part, str) else part
