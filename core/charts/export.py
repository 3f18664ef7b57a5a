"""Pictures of charts, for papers and slides: always light, on white, with the font named in them."""

import html
from typing import Any, Literal

import vl_convert

from evenhand.core.charts.palette import LIGHT, colours
from evenhand.core.charts.style import WIDTH

Format = Literal["svg", "png"]


def picture(chart: Any, format: Format, *, width: int = WIDTH, scale: float = 2.0) -> bytes:
    """*chart* as the bytes of an SVG or PNG file.

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
