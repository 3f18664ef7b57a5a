"""Charts with a dot and its 95% interval on each row: the builder, and charts of shares, leaks and ratios.

Rows keep the caller's order and are not ranked. Colour is never the only sign: a shape, a position or a word has the
same meaning.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.heatmap import UNDEFINED
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import haloed, palette_scale, rule, styled, tooltips
from evenhand.core.errors import N_
from evenhand.core.language import Say, same, share_ends, share_text

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
    say: Say = same,
    look: Look = Look(),
    series: Looks | None = None,
    under: Sequence[Any] = (),
    over: Sequence[Any] = (),
) -> Any:
    """Return a chart with a row for each label of *data*: its name, a dot at `value` on *x*, the line `low` to `high`.

    *data* has `label`, `value`, `low`, `high` (missing: not drawn, the name stays) and may have `group` (a heading over
    its rows), `colour` and `ink` (of the mark and the name: fields of the palette, default ink), `hollow`, `shape`,
    `band_low` and `band_high` (a pale bar behind the dot) and `number` (written above the dot). *tips*: column -> its
    name, which *say* translates. *series*: looks by the column `series`, drawn below each other, with a legend where
    there are several. *under*, *over*: further layers.
    """
    rows = _with_looks(data, series, look)
    if look.above:
        y = alt.Y("row:O", scale=alt.Scale(domain=list(range(look.first, len(rows))), padding=0), axis=None)
        heads = pd.DataFrame()
    else:
        rows, heads, y = grouped_rows(rows, limit=look.limit)
    base = alt.Chart(rows, height=alt.Step(look.row)).encode(y=y, tooltip=tooltips(tips, say))
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
    """Return the bands, the intervals and the dots: these by their series, with a legend, or by names in the data."""
    fields, scale, shapes, legend = ("colour", "fill", "shape"), palette_scale(palette), None, None
    if series is not None:
        fields, names = ("series", "series", "series"), list(series)  # one field, so that there is one legend
        scale = alt.Scale(domain=names, range=[getattr(palette, colour) for colour, _ in series.values()])
        shapes = alt.Scale(domain=names, range=[shape for _, shape in series.values()])
        if len(names) > 1:
            legend = alt.Legend(title=None, orient="top", symbolSize=110, columns=2, labelLimit=300)
    colour, fill, shape = (f"{field}:N" for field in fields)
    down, own = alt.ExprRef("datum.down"), alt.Color(colour, scale=scale, legend=legend)
    bands = base.transform_filter("isValid(datum.band_low)").mark_bar(
        yOffset=down, height=12, color=palette.neutral, opacity=0.3, cornerRadius=3
    )
    known = base.transform_filter("isValid(datum.low)")
    lines = known.mark_rule(strokeWidth=look.line, opacity=look.faint, yOffset=down)
    known = base.transform_filter("isValid(datum.value)")
    points = known.mark_point(size=look.size, strokeWidth=2, opacity=1, yOffset=down).encode(
        x=x, color=own, fill=alt.Fill(fill, scale=scale, legend=legend),
        shape=alt.Shape(shape, scale=shapes, legend=legend),
    )  # fmt: skip
    bands = bands.encode(x=alt.X("band_low:Q"), x2=alt.X2("band_high:Q"))
    return [bands, lines.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=own), points]


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


def _names(base: Any, palette: Palette) -> list[Any]:
    """Return the names above the dots; paper around the letters keeps them readable over lines of the axis."""
    names = base.encode(x=alt.value(2), text=alt.Text("label:N"))
    halo, text = haloed(names, palette, align="left", dy=-9, fontSize=13)
    return [halo, text.encode(color=alt.Color("ink:N", scale=palette_scale(palette), legend=None))]


def _written(base: Any, palette: Palette) -> Any:
    """Return the text above the dots, or at 0 in a row without a dot."""
    at = base.transform_calculate(at="isValid(datum.value) ? datum.value : 0")
    return at.mark_text(dy=-13, fontSize=12, color=palette.soft).encode(x=alt.X("at:Q"), text=alt.Text("number:N"))


def shares_across(title: str | None, field: str = "value", **look: Any) -> alt.X:
    """Return shares of 1 from left to right, whole, as 0 to 100%."""
    axis = alt.Axis(labelExpr=PERCENT, tickCount=5, **look)
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis)


def share_texts(data: pd.DataFrame) -> pd.DataFrame:
    """Return *data* with `value_text` and `interval_text`, for tooltips."""
    rows = data[["value", "low", "high"]].itertuples(index=False)
    return data.assign(
        value_text=[share_text(value) for value in data["value"]],
        interval_text=[share_ends(*row) or UNDEFINED for row in rows],
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
    axis = alt.Axis(
        title=None, ticks=False, domain=False, grid=False, labelOverlap=False, labelPadding=8, labelLimit=limit,
        labelFontSize=13, labelExpr=bare,
    )  # fmt: skip
    y = alt.Y("place:N", sort=sort, scale=alt.Scale(domain=sort, padding=0.1), axis=axis)
    result = [places[pair] for pair in zip(groups, data["label"], strict=True)]
    return data.assign(place=result), pd.DataFrame(heads), y


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
    rows, x = shown.assign(number=shown["value_text"]), shares_across(title)
    tips = {
        "name": N_("Annotator"), "value_text": N_("Share"), "interval_text": N_("95% interval"), "n": N_("Items"),
    }  # fmt: skip
    return dot_rows(rows, x, tips=tips, say=say, look=Look(row=38), description=description, palette=palette)


def leak_shares(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return shares of leaking sentences: columns end, toward, stratum, name, share, low, high, leaks, judged.

    Shares are 0 to 1; a row without a share (nothing judged) has its name and no dot. Extremes are filled dots in the
    colour of their end, ordinary sentences hollow ones: the form says it as well as the colour.
    """
    names = data["end"] + " · " + data["name"]
    counts = data["leaks"].astype(str) + "/" + data["judged"].astype(str)
    sides = ["ink" if toward == "both" else str(toward) for toward in data["toward"]]
    rows = data.assign(
        label=names + "\u2003" + counts, value=data["share"], hollow=data["stratum"] != "extreme", colour=sides,
        ink=sides, name=names, count=counts, share_text=[share_text(share) for share in data["share"]],
    )  # fmt: skip
    tips = {"name": N_("sentences"), "count": N_("leaks / labelled"), "share_text": N_("share")}
    x = shares_across(say(N_("share of leaks")), gridDash=[3, 3])
    look = Look(row=ABOVE_ROW, above=True, size=140, line=3)
    return dot_rows(rows, x, tips=tips, say=say, look=look, description=description, palette=palette)


def times(data: pd.DataFrame, *, description: str, titles: dict[str, str], palette: Palette = LIGHT) -> Any:
    """Return how many times as often, on a logarithmic axis with 1 marked.

    Columns name, times (ratio, above 0, or missing), low, high, side (male, female or ""). A ratio of 0 is at the
    left end. Missing: no point, the name stays. `titles`: what the columns are called for people.
    """
    numbers = data[["times", "low", "high"]].apply(pd.to_numeric, errors="coerce").clip(LEAST, MOST)
    rows = data.assign(label=data["name"], colour=[side or "neutral" for side in data["side"]])
    rows = rows.assign(value=numbers["times"], low=numbers["low"], high=numbers["high"])
    known = numbers.to_numpy().ravel()
    farthest = max([2.0, *(max(value, 1 / value) for value in known if value == value)])
    reach = next(tick for tick in TICKS if tick >= min(MOST, farthest) - 1e-9)
    ticks = [tick for tick in TICKS if 1 / reach <= tick <= reach]
    names = {tick: f"{tick:g}" if tick >= 1 else f"1/{round(1 / tick)}" for tick in ticks}
    label = " : ".join(f"abs(datum.value - {tick}) < 1e-9 ? '{name}'" for tick, name in names.items()) + " : ''"
    axis = alt.Axis(values=ticks, labelExpr=label, gridDash=[4, 4], domain=False, ticks=False)
    scale = alt.Scale(type="log", domain=[1 / reach, reach], nice=False, clamp=True)
    x = alt.X("value:Q", scale=scale, axis=axis, title=titles.get("times"))
    tips = {name: title for name, title in titles.items() if name in data}
    look, one = Look(row=44, size=150, line=4, faint=0.55), rule(x, 1.0, color=palette.ink, strokeWidth=2)
    return dot_rows(rows, x, tips=tips, look=look, under=[one], description=description, palette=palette)


def stacked(
    data: pd.DataFrame,
    colours: Mapping[str, str],
    *,
    title: str | None,
    tips: Mapping[str, str],
    row: int,
    dark: Collection[str] = (),
    description: str,
    palette: Palette,
    say: Say = same,
) -> Any:
    """Return a bar for each label of *data*, its parts in the order of *colours* (the name of a part -> its colour).

    *data*: `label`, `part`, `share` (of 1), `written` (in the part), and perhaps `group`, a heading. *tips*: column ->
    its name, which *say* translates. *row*: pixels of a row. *dark*: parts whose colour needs light letters.
    """
    order = {part: number for number, part in enumerate(colours)}
    shown, heads, y = grouped_rows(data.assign(_order=data["part"].map(order)))
    shown = shown.sort_values(["place", "_order"], kind="stable").drop(columns="_order")
    end = shown.groupby("place", sort=False)["share"].cumsum()
    shown = shown.assign(start=end - shown["share"], end=end, middle=end - shown["share"] / 2)
    shown = shown.assign(dark=shown["part"].isin(list(dark)))
    base = alt.Chart(shown, height=alt.Step(row)).encode(y=y, tooltip=tooltips(tips, say))
    legend = alt.Legend(title=None, orient="top", columns=2, symbolType="square", symbolStrokeWidth=1, labelLimit=260)
    colour = alt.Color("part:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=legend)
    x = shares_across(title, "start", domain=False, ticks=False, grid=False, labelPadding=6, orient="bottom")
    bars = base.mark_bar(height=row - 10, stroke=palette.soft, strokeWidth=0.6, cornerRadius=2)
    ink = alt.condition("datum.dark", alt.value(palette.card), alt.value(palette.ink))
    words = base.mark_text(fontSize=12).encode(x=alt.X("middle:Q"), text=alt.Text("written:N"), color=ink)
    heading = [headings(heads, y, palette)] if len(heads) else []
    return styled(alt.layer(*heading, bars.encode(x=x, x2=alt.X2("end:Q"), color=colour), words), description, palette)


FORMS = {"model": "circle", "untrained": "circle", "control": "square", "published": "diamond"}
ROLE_NAMES = {
    "model": N_("model"),
    "untrained": N_("untrained"),
    "control": N_("control"),
    "published": N_("published"),
}
TITLES = {"percent": N_("percent"), "points": N_("percentage points"), "effect": N_("effect d"), "ln": N_("ln")}


def measure_dots(
    rows: Sequence[Mapping[str, object]], scale: str, neutral: float | None, *, description: str, say: Say = same,
    palette: Palette = LIGHT,
) -> Any:  # fmt: skip
    """Return a dot with its interval per row. *rows*: group, label, role, value, low, high, band_low, band_high.

    Undefined numbers are None. *scale*: percent, effect, ln.
    *neutral*: the neutral value, drawn as a line; None: the measure has none.
    """
    data = pd.DataFrame(rows)
    data[list(NUMBERS)] = data[list(NUMBERS)].apply(pd.to_numeric, errors="coerce").astype(float)
    shown = data.assign(
        text=[_value_text(*row) for row in data[["value", "low", "high"]].itertuples(index=False)],
        shape=[FORMS[role] for role in data["role"]],
        hollow=data["role"] == "untrained",
        colour=["neutral" if role == "published" else "ink" for role in data["role"]],
    )
    scale = "points" if scale == "percent" and neutral == 0 else scale
    known = [float(entry) for entry in data[list(NUMBERS)].to_numpy().ravel() if entry == entry]
    known = [*known, *([] if neutral is None else [neutral])] or [0.0, 1.0]
    room = 0.08 * (max(known) - min(known)) or 1.0
    domain = [0, 100] if scale == "percent" else [min(known) - room, max(known) + room]
    look = alt.Scale(domain=domain, nice=False, clamp=True)
    x = alt.X("value:Q", scale=look, title=say(TITLES[scale]), axis=alt.Axis(grid=True, tickCount=5))
    tips = {"label": N_("figure"), "text": N_("value")}
    under = [] if neutral is None else [rule(x, neutral, color=palette.ink, strokeDash=[4, 3])]
    size = Look(row=26, size=80, limit=170)
    return dot_rows(shown, x, tips=tips, say=say, look=size, under=under, description=description, palette=palette)


def _value_text(value: float, low: float, high: float) -> str:
    if value != value:
        return "—"
    return (f"{value:.2f} [{low:.2f}, {high:.2f}]" if low == low else f"{value:.2f}").replace("-", "−")
