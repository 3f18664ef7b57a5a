"""Heatmaps: a number per cell, written in the cell and said by its colour."""

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import pandas as pd

from core.charts.style import LIGHT, Palette, styled

Scale = Literal["more", "sides"]

UNDEFINED = "—"
CELL = 44  # pixels of the height of a row


def heatmap(
    data: pd.DataFrame,
    x: str,
    y: str,
    value: str,
    *,
    description: str,
    scale: Scale = "more",
    domain: tuple[float, float] | None = None,
    titles: dict[str, str] | None = None,
    tooltip: Sequence[str] = (),
    digits: int = 2,
    palette: Palette = LIGHT,
) -> Any:
    """A cell per row of *data*: column `x` across, `y` down, the number `value` in it.

    `scale="more"`: from the card's colour to green, below 0 to red (agreement).
    `scale="sides"`: positive purple (leans male), negative orange (leans
    female), 0 the card's colour. `domain` is (least, most); by default the
    data's own, symmetric about 0 for "sides". A missing value is an em dash on
    grey. `titles` names columns for people (axes and tooltips); `tooltip` lists
    further columns to show. Rows keep the order in which they come.
    """
    names = titles or {}
    shown = data.copy()
    numbers = pd.to_numeric(shown[value], errors="coerce")
    sign = "+" if scale == "sides" else ""
    shown["_text"] = [UNDEFINED if pd.isna(n) else f"{n:{sign}.{digits}f}" for n in numbers]
    shown[value] = numbers.astype(object).where(numbers.notna(), None)
    base = alt.Chart(shown, height=alt.Step(CELL)).encode(
        x=alt.X(
            field=x, type="nominal", sort=None, title=names.get(x), axis=_axis("top", -30 if _long(shown[x]) else 0)
        ),
        y=alt.Y(field=y, type="nominal", sort=None, title=names.get(y), axis=_axis("left", 0)),
        tooltip=[
            alt.Tooltip(field="_text" if column == value else column, type="nominal", title=names.get(column, column))
            for column in (y, x, value, *tooltip)
        ],
    )
    fill = alt.condition(
        f"datum[{value!r}] === null",
        alt.value(palette.line),
        alt.Color(field=value, type="quantitative", scale=_colours(numbers, scale, domain, palette), legend=None),
    )
    cells = base.mark_rect(stroke=palette.paper, strokeWidth=2, cornerRadius=5).encode(color=fill)
    words = base.mark_text(fontSize=13, color=palette.ink).encode(text=alt.Text(field="_text", type="nominal"))
    return styled(alt.layer(cells, words), description, palette)


def _colours(
    numbers: "pd.Series[float]", scale: Scale, domain: tuple[float, float] | None, palette: Palette
) -> alt.Scale:
    known = numbers.dropna()
    least, most = domain or (float(known.min()) if len(known) else 0.0, float(known.max()) if len(known) else 1.0)
    if scale == "sides":
        reach = max(abs(least), abs(most)) or 1.0
        ends = [palette.female_fill, palette.card, palette.male_fill]
        return alt.Scale(domain=[-reach, 0, reach], range=ends, interpolate="rgb", clamp=True)
    most = max(most, least + 1e-9, 1e-9)
    if least < 0 < most:
        ends = [palette.bad_fill, palette.card, palette.good_fill]
        return alt.Scale(domain=[least, 0, most], range=ends, interpolate="rgb", clamp=True)
    return alt.Scale(domain=[least, most], range=[palette.card, palette.good_fill], interpolate="rgb", clamp=True)


def _axis(side: Literal["top", "left"], angle: int) -> alt.Axis:
    return alt.Axis(orient=side, labelAngle=angle, ticks=False, domain=False, grid=False, labelPadding=6)


def _long(names: "pd.Series[Any]") -> bool:
    distinct = {str(name) for name in names}
    return len(distinct) * max((len(name) for name in distinct), default=0) > 60
