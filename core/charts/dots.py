"""A dot with its 95% interval on each row: the one builder of such charts, and shares, leaks and ratios drawn with it.

Rows are in the caller's order: nobody is ranked. Colour never says anything alone: a form, a place or a word
says it too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.heatmap import UNDEFINED
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import palette_scale, styled
from evenhand.core.errors import N_
from evenhand.core.language import Say, same

PERCENT = "format(datum.value * 100, '.4~f') + '%'"  # as many decimals as the tick has
NUMBERS = ("value", "low", "high", "band_low", "band_high")
ABOVE_ROW, DOWN = 44, 12  # pixels of a row with its name above the dot; from the middle of such a row to its dot
LEAST, MOST = 1 / 64, 64.0  # ends of an axis of ratios at most: an interval that reaches beyond is cut there
TICKS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64)
Looks = Mapping[str, tuple[str, str]]  # name of a series -> the name of its colour in the palette, its shape


@dataclass(frozen=True, slots=True)
class Look:
    """The sizes of a chart of dots in pixels: of a row, a dot, the line of an interval, and the names on the axis.

    `faint`: opacity of intervals, 0 to 1. `above`: names are above the dots and not on an axis; the number of the first
    row is `first`. `apart`: between the series of a row.
    """

    row: int = 34
    size: int = 90
    line: float = 2
    limit: int = 150
    faint: float = 1
    above: bool = False
    first: int = 0
    apart: int = 11


def dot_rows(
    data: pd.DataFrame,
    x: alt.X,
    *,
    tips: Mapping[str, str],
    description: str,
    palette: Palette,
    look: Look = Look(),
    series: Looks | None = None,
    under: Sequence[Any] = (),
    over: Sequence[Any] = (),
) -> Any:
    """Return a chart with a row for each label of *data*: its name, a dot at `value` on *x*, the line `low` to `high`.

    *data* has `label`, `value`, `low`, `high` (missing: not drawn, the name stays) and may have `group` (a heading over
    its rows), `colour` and `ink` (of the mark and the name: fields of the palette, default ink), `hollow`, `shape`,
    `band_low` and `band_high` (a pale bar behind the dot) and `number` (written above the dot). *tips*: column -> its
    name for people. *series*: looks by the column `series`, drawn below each other, with a legend where there are
    several. *under*, *over*: further layers.
    """
    rows = _with_looks(data, series, look)
    if look.above:
        y = alt.Y("row:O", scale=alt.Scale(domain=list(range(look.first, len(rows))), padding=0), axis=None)
        heads = pd.DataFrame()
    else:
        rows, heads, y = grouped_rows(rows, limit=look.limit)
    tooltip = [alt.Tooltip(field=field, type="nominal", title=title) for field, title in tips.items()]
    base = alt.Chart(rows, height=alt.Step(look.row)).encode(y=y, tooltip=tooltip)
    layers = [
        *under,
        *([headings(heads, y, palette)] if len(heads) else []),
        *_marks(base, x, look, series, palette),
        *(_names(base, palette) if look.above else []),
        *([_written(base, palette)] if "number" in rows else []),
        *over,
    ]
    return styled(alt.layer(*layers), description, palette)


def _marks(base: Any, x: alt.X, look: Look, series: Looks | None, palette: Palette) -> list[Any]:
    """Return the bands, the intervals and the dots."""
    down = alt.ExprRef("datum.down")
    bar: dict[str, Any] = {"height": 12, "color": palette.neutral, "opacity": 0.3, "cornerRadius": 3}
    bands = base.transform_filter("isValid(datum.band_low)").mark_bar(yOffset=down, **bar)
    known = base.transform_filter("isValid(datum.low)")
    lines = known.mark_rule(strokeWidth=look.line, opacity=look.faint, yOffset=down)
    known = base.transform_filter("isValid(datum.value)")
    points = known.mark_point(size=look.size, strokeWidth=2, opacity=1, yOffset=down)
    looks = _looks(series, palette)
    return [
        bands.encode(x=alt.X("band_low:Q"), x2=alt.X2("band_high:Q")),
        lines.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=looks["color"]),
        points.encode(x=x, **looks),
    ]


def _with_looks(data: pd.DataFrame, series: Looks | None, look: Look) -> pd.DataFrame:
    """Return the rows with every column that a mark reads; numbers are finite floats or NaN, drawn as missing."""
    rows = data.reset_index(drop=True).copy()
    for name in NUMBERS:
        numbers = pd.to_numeric(rows[name], errors="coerce") if name in rows else pd.Series(float("nan"), rows.index)
        rows[name] = numbers.astype(float).replace([float("inf"), float("-inf")], float("nan"))
    rows["row"], down = range(len(rows)), DOWN if look.above else 0
    given = {name: rows.get(name, default) for name, default in DEFAULTS.items()}
    if series is not None:
        places = {name: down + look.apart * (n - (len(series) - 1) / 2) for n, name in enumerate(series)}
        given |= {"colour": rows["series"], "shape": rows["series"]}
        rows["down"] = rows["series"].map(places)
    else:
        rows["down"] = down
    rows = rows.assign(**given)
    return rows.assign(fill=rows["colour"].where(~rows["hollow"].astype(bool), "card"))


DEFAULTS = {"colour": "ink", "ink": "ink", "shape": "circle", "hollow": False}


def _looks(series: Looks | None, palette: Palette) -> dict[str, Any]:
    """Return colours and shapes of the dots: by their series, with a legend, or by the names that the data holds."""
    look: dict[str, Any] = {"scale": palette_scale(palette), "legend": None}
    shapes, fields = None, ("colour", "fill", "shape")
    if series is not None:
        fields = ("series", "series", "series")  # one field, so that there is one legend
        names = list(series)
        legend = alt.Legend(title=None, orient="top", symbolSize=110, columns=2, labelLimit=300)
        colours = alt.Scale(domain=names, range=[getattr(palette, colour) for colour, _ in series.values()])
        look = {"scale": colours, "legend": legend if len(names) > 1 else None}
        shapes = alt.Scale(domain=names, range=[shape for _, shape in series.values()])
    return {
        "color": alt.Color(f"{fields[0]}:N", **look),
        "fill": alt.Fill(f"{fields[1]}:N", **look),
        "shape": alt.Shape(f"{fields[2]}:N", **look | {"scale": shapes}),
    }


def _names(base: Any, palette: Palette) -> list[Any]:
    """Return the names above the dots; paper around the letters keeps them readable over lines of the axis."""
    names = base.encode(x=alt.value(2), text=alt.Text("label:N"))
    look: dict[str, Any] = {"align": "left", "dy": -9, "fontSize": 13}
    ink = alt.Color("ink:N", scale=palette_scale(palette), legend=None)
    halo = names.mark_text(stroke=palette.paper, strokeWidth=5, strokeJoin="round", **look)
    return [halo, names.mark_text(**look).encode(color=ink)]


def _written(base: Any, palette: Palette) -> Any:
    """Return what is written above the dots, or at 0 where there is no dot."""
    at = base.transform_calculate(at="isValid(datum.value) ? datum.value : 0")
    return at.mark_text(dy=-13, fontSize=12, color=palette.soft).encode(x=alt.X("at:Q"), text=alt.Text("number:N"))


def rule(axis: alt.X | alt.Y, value: float, **look: Any) -> Any:
    """Return a line across the whole chart at *value* on *axis*."""
    line = alt.Chart(pd.DataFrame([{axis.shorthand.partition(":")[0]: float(value)}])).mark_rule(**look)
    return line.encode(x=axis) if isinstance(axis, alt.X) else line.encode(y=axis)


def share_axis(**look: Any) -> alt.Axis:
    """Return an axis of shares from 0 to 100%."""
    return alt.Axis(labelExpr=PERCENT, tickCount=5, **look)


def shares_across(title: str | None, field: str = "value", **look: Any) -> alt.X:
    """Return shares of 1 from left to right, whole."""
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=share_axis(**look))


def share_text(value: Any) -> str:
    """Return a share of 1 as `12.3%`; a dash where it is missing."""
    return UNDEFINED if value is None or pd.isna(value) else f"{100 * float(value):.1f}%"


def share_interval_text(low: Any, high: Any) -> str:
    """Return both ends of an interval of a share; a dash where there is none."""
    return UNDEFINED if low is None or pd.isna(low) else f"{share_text(low)} – {share_text(high)}"


def share_texts(data: pd.DataFrame) -> pd.DataFrame:
    """Return *data* with `value_text` and `interval_text`, for tooltips."""
    ends = data[["low", "high"]].itertuples(index=False)
    return data.assign(
        value_text=[share_text(value) for value in data["value"]],
        interval_text=[share_interval_text(*pair) for pair in ends],
    )


def grouped_rows(data: pd.DataFrame, *, limit: int = 150) -> tuple[pd.DataFrame, pd.DataFrame, alt.Y]:
    """Return the data with a place of its own per label, the headings, and the axis of rows under headings.

    *data* has `label` and may have `group` (a heading). Places are labels made unique by invisible characters, since
    the same label returns under every heading. *limit*: pixels of a label.
    """
    groups = list(data["group"] if "group" in data else [None] * len(data))
    places: dict[tuple[Any, str], str] = {}
    sort: list[str] = []
    heads: list[dict[str, str]] = []
    for group in dict.fromkeys(groups):
        if group is not None:
            heads.append({"group": str(group), "place": "\u200b" * (len(sort) + 1)})
            sort.append(heads[-1]["place"])
        for label in dict.fromkeys(label for label, of in zip(data["label"], groups, strict=True) if of == group):
            places[group, label] = f"{label}" + "\u200b" * (len(sort) + 1)
            sort.append(places[group, label])
    # The invisible characters are not written: a picture on a machine without the page's font gives each a width, and
    # a label that is wider than the limit ends in dots.
    bare = "replace(datum.label, /\u200b/g, '')"
    look: dict[str, Any] = {"labelPadding": 8, "labelLimit": limit, "labelFontSize": 13, "labelExpr": bare}
    axis = alt.Axis(title=None, ticks=False, domain=False, grid=False, labelOverlap=False, **look)
    y = alt.Y("place:N", sort=sort, scale=alt.Scale(domain=sort, padding=0.1), axis=axis)
    found = [places[pair] for pair in zip(groups, data["label"], strict=True)]
    return data.assign(place=found), pd.DataFrame(heads), y


def headings(heads: pd.DataFrame, y: alt.Y, palette: Palette) -> Any:
    """Return the headings of `grouped_rows`; one without a name takes its place and is not written."""
    named = heads[heads["group"] != ""]
    base = alt.Chart(named if len(named) else heads)
    text = base.mark_text(align="left", fontSize=13, fontWeight="bold", color=palette.ink, dy=4)
    return text.encode(x=alt.value(0), y=y, text=alt.Text("group:N"))


def shares_of_people(
    data: pd.DataFrame, *, title: str, description: str, say: Say = same, palette: Palette = LIGHT
) -> Any:
    """Return agreement with oneself, or answers that are known: columns name, value, low, high, n.

    Shares of 1, drawn from 0 to 1; a row without a value has its name and a dash.
    """
    shown = share_texts(data.assign(label=data["name"]))
    tips = {
        "name": say(N_("Annotator")), "value_text": say(N_("Share")), "interval_text": say(N_("95% interval")),
        "n": say(N_("Items")),
    }  # fmt: skip
    rows = shown.assign(number=shown["value_text"])
    return dot_rows(rows, shares_across(title), tips=tips, look=Look(row=38), description=description, palette=palette)


def leak_shares(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return shares of leaking sentences: columns end, toward, stratum, name, share, low, high, leaks, judged.

    Shares are 0 to 1; a row without a share (nothing judged) has its name and no dot. Extremes are filled dots in the
    colour of their end, ordinary sentences hollow ones: the form says it as well as the colour.
    """
    names = [f"{end} · {name}" for end, name in zip(data["end"], data["name"], strict=True)]
    counts = [f"{leaks}/{judged}" for leaks, judged in zip(data["leaks"], data["judged"], strict=True)]
    sides = ["ink" if toward == "both" else str(toward) for toward in data["toward"]]
    rows = data.assign(
        label=[f"{name}\u2003{count}" for name, count in zip(names, counts, strict=True)],
        value=data["share"], hollow=data["stratum"] != "extreme", colour=sides, ink=sides,
        name=names, count=counts, share_text=[share_text(share) for share in data["share"]],
    )  # fmt: skip
    tips = {
        "name": say(N_("sentences")), "count": say(N_("leaks / judged")), "share_text": say(N_("share")),
    }  # fmt: skip
    x = shares_across(say(N_("share of leaks")), gridDash=[3, 3])
    look = Look(row=ABOVE_ROW, above=True, size=140, line=3)
    return dot_rows(rows, x, tips=tips, look=look, description=description, palette=palette)


def times(data: pd.DataFrame, *, description: str, titles: dict[str, str], palette: Palette = LIGHT) -> Any:
    """Return how many times as often, on a logarithmic axis with 1 marked.

    Columns name, times (ratio, above 0, or missing), low, high, side (male, female or ""). A ratio of 0 is at the
    left end. Missing: no point, the name stays. `titles`: what the columns are called for people.
    """
    rows = data.assign(
        label=data["name"],
        value=[_cut(value) for value in data["times"]],
        low=[_cut(value) for value in data["low"]],
        high=[_cut(value) for value in data["high"]],
        colour=[side or "neutral" for side in data["side"]],
    )
    known = [value for column in ("value", "low", "high") for value in rows[column].dropna()]
    reach = max([2.0, *(max(value, 1 / value) for value in known)])
    reach = min(MOST, 2 ** _whole_power(reach))
    ticks = [tick for tick in TICKS if 1 / reach <= tick <= reach]
    names = {tick: f"{tick:g}" if tick >= 1 else f"1/{round(1 / tick)}" for tick in ticks}
    label = " : ".join(f"abs(datum.value - {tick}) < 1e-9 ? '{name}'" for tick, name in names.items()) + " : ''"
    axis = alt.Axis(values=ticks, labelExpr=label, gridDash=[4, 4], domain=False, ticks=False)
    scale = alt.Scale(type="log", domain=[1 / reach, reach], nice=False, clamp=True)
    x = alt.X("value:Q", scale=scale, axis=axis, title=titles.get("times"))
    tips = {name: title for name, title in titles.items() if name in data}
    look, one = Look(row=44, size=150, line=4, faint=0.55), rule(x, 1.0, color=palette.ink, strokeWidth=2)
    return dot_rows(rows, x, tips=tips, look=look, under=[one], description=description, palette=palette)


def _cut(value: Any) -> float | None:
    if value is None or pd.isna(value):
        return None
    return min(MOST, max(LEAST, float(value)))


def _whole_power(reach: float) -> int:
    power = 1
    while 2**power < reach - 1e-9:
        power += 1
    return power
