"""Heatmaps: a number per cell, as text and as colour."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import styled, tooltips

Scale = Literal["more", "sides"]

UNDEFINED = "—"
CELL = 44  # pixels of the height of a row
TO = " – "
UPRIGHT = 34  # pixels of a column: names of narrower ones are upright, as slanted ones would cross each other
SLANT = 30  # degrees of names above columns: each ends at its column, so that the last is not cut at the right
# On a phone a cell is as narrow as a number: the ends of an interval are then one above the other, numbers shrink, and
# where they would run into each other only the colour and the tooltip are left.
NARROW = "bandwidth('x') < 80"
SIZE = "clamp((bandwidth('x') - 6) / (0.6 * max(4, length(datum._text))), 8, 13)"
FITTING = f"bandwidth('x') < 4 * length(datum._text) ? 0 : {SIZE}"


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
    mark: str | None = None,
    band: str | None = None,
    interval: tuple[str, str] | None = None,
    outlined: str | None = None,
    width: int = 600,
    row: int = CELL,
    signed: bool = False,
    palette: Palette = LIGHT,
) -> Any:
    """Return a chart with a cell per row of *data*: column `x` across, `y` down, the number `value` in the cell.

    `scale="more"`: from the card's colour to green, below 0 to red (agreement). `scale="sides"`: positive purple (leans
    male), negative orange (leans female), 0 the card's colour. `domain` is (least, most); by default the data's own,
    symmetric about 0 for "sides". A missing value is an em dash on grey. A cell whose column `mark` is true gets an
    asterisk; the text next to the chart must explain it. A cell whose value is not farther from 0 than its column
    `band` is dashed and its number faint: chance can explain
    the value. A cell whose column `outlined` is true has a strong border. `interval`: columns of both ends, in
    small type under the number.
    `width`: the approximate width in pixels, including the names of the rows. Names too long for their column are
    slanted. `titles`: names of columns for axes and tooltips; `tooltip`: further columns for tooltips. Rows keep their
    order and are `row` pixels high. `signed`: numbers have their sign also on the scale "more".
    """
    names = titles or {}
    numbers = pd.to_numeric(data[value], errors="coerce")
    shown = _with_texts(data, value, numbers, digits, mark, interval, tooltip, signed=signed or scale == "sides")
    shown["_place"] = shown[y].astype(str) + " × " + shown[x].astype(str)
    if band is not None:
        shown["_inside"] = numbers.abs() <= data[band]
    across, down = _axis_titles(names.get(x), names.get(y), data[y].nunique())
    # A step, not a height: Streamlit fits a fixed height together with the axis, and few rows would be squeezed flat.
    base = alt.Chart(shown, height=alt.Step(row)).encode(
        x=_position(alt.X, x, data[x], across, "top", width - _widest(data[y])),
        y=_position(alt.Y, y, data[y], down, "left"),
        tooltip=tooltips(_tips(x, y, value, tooltip, names)),
    )
    colour = alt.Color(field=value, type="quantitative", scale=_colours(numbers, scale, domain, palette), legend=None)
    layers = _layers(base, colour, palette, banded=band is not None, lifted=interval is not None, outlined=outlined)
    return styled(alt.layer(*layers), description, palette)


def clickable(chart: Any, columns: Sequence[str]) -> Any:
    """Return a heatmap whose cells can be clicked: the selection "cell" has the values of *columns* of a cell."""
    return chart.add_params(alt.selection_point(name="cell", fields=list(columns), on="click"))


def _tips(x: str, y: str, value: str, tooltip: Sequence[str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of tooltips with their names; row and column in one line if both have the same name."""
    alike = names.get(x, x) == names.get(y, y)
    places = {"_place": names.get(x, x)} if alike else {column: names.get(column, column) for column in (y, x)}
    return places | {"_text": names.get(value, value)} | {column: names.get(column, column) for column in tooltip}


def _axis_titles(across: str | None, down: str | None, rows: int) -> tuple[str | None, str | None]:
    """Return the titles of both axes; one title above the columns has both if the rows are too few for their own."""
    if across and down and _wide(down) > CELL * rows:
        return f"→ {across} · ↓ {down}", None
    return across, down


def _with_texts(
    data: pd.DataFrame,
    value: str,
    numbers: "pd.Series[float]",
    digits: int,
    mark: str | None,
    interval: tuple[str, str] | None,
    tooltip: Sequence[str],
    *,
    signed: bool,
) -> pd.DataFrame:
    """Return *data* with the text of each cell: its number, and the ends of its interval below it."""
    shown = data.assign(_text=[_written(n, digits, signed=signed) for n in numbers])
    if mark is not None:
        shown["_text"] = shown["_text"].where(~shown[mark].astype(bool), shown["_text"] + " *")
    shown[value] = numbers.astype(float)
    if interval is not None:
        low, high = interval
        ends = zip(data[low], data[high], strict=True)
        shown["_ends"] = [_written_ends(least, most, digits, signed=signed) for least, most in ends]
    for column in tooltip:  # as texts, since a tooltip shows all digits that the data have
        shown[column] = [_tooltip_text(value, digits) for value in shown[column]]
    return shown


def _tooltip_text(value: Any, digits: int) -> Any:
    """Return a number as text, with thousands where it is a whole one; everything else as it is."""
    if not isinstance(value, int | float | np.number) or isinstance(value, bool):
        return value
    number = float(value)
    return f"{number:,.0f}" if number.is_integer() else _written(number, digits, signed=False)


def _layers(
    base: Any, colour: alt.Color, palette: Palette, *, banded: bool, lifted: bool, outlined: str | None
) -> list[Any]:
    # A mark with a missing value is not drawn at all: the grey cells lie underneath.
    grey = base.mark_rect(color=palette.line, stroke=palette.paper, strokeWidth=2, cornerRadius=5)
    layers = [grey, base.mark_rect(stroke=palette.paper, strokeWidth=2, cornerRadius=5).encode(color=colour)]
    lift = alt.ExprRef(f"{NARROW} ? -11 : -6") if lifted else 0
    words = base.mark_text(fontSize=alt.ExprRef(FITTING), dy=lift, color=palette.ink)
    words = words.encode(text=alt.Text(field="_text", type="nominal"))
    if banded:  # dashes around the cells inside the band, and their numbers in a faint colour
        faint = alt.Scale(domain=[True, False], range=[palette.soft, palette.ink])
        words = words.encode(color=alt.Color("_inside:N", scale=faint, legend=None))
        dashed = base.transform_filter("datum._inside").mark_rect(
            fillOpacity=0, stroke=palette.soft, strokeWidth=1.5, strokeDash=[4, 3], cornerRadius=5
        )
        layers.append(dashed)
    ends = alt.ExprRef(f"{NARROW} ? split(datum._ends, '{TO}') : datum._ends")
    small = base.mark_text(fontSize=10, dy=alt.ExprRef(f"{NARROW} ? 4 : 11"), color=palette.soft, text=ends)
    if outlined is not None:
        border = base.mark_rect(fillOpacity=0, stroke=palette.ink, strokeWidth=3, cornerRadius=5)
        layers.append(border.transform_filter(f"datum['{outlined}']"))
    return [*layers, words, *([small] if lifted else [])]


def _written(number: float, digits: int, *, signed: bool) -> str:
    if pd.isna(number):
        return UNDEFINED
    # z: no minus sign before what rounds to 0.
    return f"{number:{'+' if signed else ''}z.{digits}f}".replace("-", "−")


def _written_ends(low: Any, high: Any, digits: int, *, signed: bool) -> str:
    if pd.isna(low) or pd.isna(high):
        return ""
    return f"{_written(low, digits, signed=signed)}{TO}{_written(high, digits, signed=signed)}"


def _position(channel: Any, field: str, values: "pd.Series[Any]", title: str | None, orient: str, room: int = 0) -> Any:
    order = [str(name) for name in dict.fromkeys(values)]
    look: dict[str, object] = {"labelAngle": 0}
    if orient == "top":  # on a telephone the columns are half as wide: *room* is a guess
        level = f"width >= {_widest(order) * len(order)}" if _widest(order) * len(order) <= room else "false"
        upright = f"width < {UPRIGHT * len(order)}"
        look = {
            "labelAngle": {"expr": f"{level} ? 0 : {upright} ? 90 : {SLANT}"},
            "labelAlign": {"expr": f"{level} ? 'center' : 'right'"},
            "labelBaseline": {"expr": f"!({level}) && {upright} ? 'middle' : 'bottom'"},
        }
    axis: Any = alt.Axis
    axis = axis(
        ticks=False, domain=False, grid=False, orient=orient, labelPadding=6, labelLimit=160, labelOverlap=False, **look
    )
    return channel(field=field, type="nominal", sort=order, title=title, axis=axis)


def _widest(names: Iterable[object]) -> int:
    """Return the pixels of the longest name; 0 without names."""
    return max((_wide(str(name)) for name in names), default=0)


def _wide(name: str) -> int:
    """Return about how many pixels a name takes; Chinese characters are twice as wide."""
    return sum(13 if unicodedata.east_asian_width(c) in "WF" else 7 for c in name) + 12


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
