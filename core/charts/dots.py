"""A dot with its 95% interval on each row: shares of people, leaks, ratios; the marks that other charts share.

Rows stand in the caller's order: nobody is ranked. Colour never says anything alone: a form, a place or a word
says it too.
"""

from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.bias_distribution import Say, same
from evenhand.core.charts.heatmap import UNDEFINED
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import styled
from evenhand.core.errors import N_

PERCENT = "format(datum.value * 100, '.4~f') + '%'"  # as many decimals as the tick has
PERSON_ROW = 34  # pixels of a row
LEAK_ROW = 44  # the name above, the mark below
DOWN = 12  # from the middle of such a row to its mark
TIMES_ROW = 44
LEAST, MOST = 1 / 64, 64.0  # ends of an axis of ratios at most: an interval that reaches beyond is cut there
TICKS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64)


def interval_lines(base: Any, *, low: str = "low", high: str = "high", width: float = 2, **look: Any) -> Any:
    """The interval of each row of *base* as a line; nothing where it has none. Its colour: *look* or an encoding."""
    lines = base.transform_filter(f"isValid(datum.{low})").mark_rule(strokeWidth=width, **look)
    return lines.encode(x=alt.X(f"{low}:Q"), x2=alt.X2(f"{high}:Q"))


def dots(base: Any, x: alt.X, *, size: int = 90, filled: bool = True, where: str = "", **look: Any) -> Any:
    """The value of each row of *base* as a dot at *x*; nothing where it is missing, or *where* does not hold."""
    field = x.shorthand.partition(":")[0]
    known = base.transform_filter(f"isValid(datum.{field})")
    known = known.transform_filter(where) if where else known
    return known.mark_point(size=size, filled=filled, opacity=1, **look).encode(x=x)


def share_axis(**look: Any) -> alt.Axis:
    """An axis of shares from 0 to 100%."""
    return alt.Axis(labelExpr=PERCENT, tickCount=5, **look)


def share_text(value: Any) -> str:
    """A share of 1 as `12.3%`; a dash where it is missing."""
    return UNDEFINED if value is None or pd.isna(value) else f"{100 * float(value):.1f}%"


def share_interval_text(low: Any, high: Any) -> str:
    """Both ends of an interval of a share; a dash where there is none."""
    return UNDEFINED if low is None or pd.isna(low) else f"{share_text(low)} – {share_text(high)}"


def grouped_rows(data: pd.DataFrame, *, padding: float, limit: int) -> tuple[pd.DataFrame, pd.DataFrame, alt.Y]:
    """Rows under headings: (the data with a place of its own per row, the headings, the axis).

    *data* has `group` (a heading) and `label` (a row under it). Places are labels made unique by invisible characters,
    since the same label returns under every heading. *padding*: between rows; *limit*: pixels of a label.
    """
    places: dict[tuple[str, str], str] = {}
    sort: list[str] = []
    heads: list[dict[str, str]] = []
    for group in dict.fromkeys(data["group"]):
        head = "\u200b" * (len(sort) + 1)
        heads.append({"group": str(group), "place": head})
        sort.append(head)
        for label in dict.fromkeys(data.loc[data["group"] == group, "label"]):
            places[group, label] = f"{label}" + "\u200b" * (len(sort) + 1)
            sort.append(places[group, label])
    # The invisible characters are not written: a picture on a machine without the page's font gives each a width, and
    # a label that is wider than the limit ends in dots.
    bare = "replace(datum.label, /\u200b/g, '')"
    look: dict[str, Any] = {"labelPadding": 8, "labelLimit": limit, "labelFontSize": 13, "labelExpr": bare}
    axis = alt.Axis(title=None, ticks=False, domain=False, grid=False, **look)
    y = alt.Y("place:N", sort=sort, scale=alt.Scale(domain=sort, padding=padding), axis=axis)
    found = [places[group, label] for group, label in data[["group", "label"]].itertuples(index=False)]
    return data.assign(place=found), pd.DataFrame(heads), y


def headings(heads: pd.DataFrame, y: alt.Y, palette: Palette, down: int = 4) -> Any:
    """The headings of `grouped_rows`; one without a name takes its place and is not written."""
    named = heads[heads["group"] != ""]
    base = alt.Chart(named if len(named) else heads)
    text = base.mark_text(align="left", fontSize=13, fontWeight="bold", color=palette.ink, dy=down)
    return text.encode(x=alt.value(0), y=y, text=alt.Text("group:N"))


def shares_of_people(
    data: pd.DataFrame, *, title: str, description: str, say: Say = same, palette: Palette = LIGHT
) -> Any:
    """Agreement with oneself, or answers that are known: columns name, value, low, high, n.

    Shares of 1, drawn from 0 to 1; a row without a value has its name and a dash.
    """
    shown = data.assign(
        written=[share_text(v) for v in data["value"]],
        interval=[share_interval_text(*ends) for ends in data[["low", "high"]].itertuples(index=False)],
        place=[1.0] * len(data),
    )
    axis = alt.Axis(ticks=False, domain=False, grid=True, labelLimit=150, labelPadding=8)
    y = alt.Y(field="name", type="nominal", sort=None, title=None, axis=axis)
    x = alt.X("value:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=share_axis(grid=True))
    tips = [
        alt.Tooltip(f"{field}:N", title=say(name))
        for field, name in (
            ("name", N_("Annotator")), ("written", N_("Share")), ("interval", N_("95% interval")), ("n", N_("Items")),
        )
    ]  # fmt: skip
    base = alt.Chart(shown, height=alt.Step(PERSON_ROW)).encode(y=y, tooltip=tips)
    words = base.mark_text(align="right", dy=-10, color=palette.soft, fontSize=12)
    layers = [
        interval_lines(base, color=palette.ink),
        dots(base, x, color=palette.ink),
        words.encode(x=alt.X("place:Q", scale=alt.Scale(domain=[0, 1])), text=alt.Text("written:N")),
    ]
    return styled(alt.layer(*layers), description, palette)


def leak_shares(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Shares of leaking sentences: columns end, toward, stratum, name, share, low, high, leaks, judged.

    Shares are 0 to 1; a row without a share (nothing judged) has its name and no dot. Extremes are filled dots in the
    colour of their end, ordinary sentences hollow ones: the form says it as well as the colour.
    """
    rows = data.reset_index(drop=True).copy()
    for column in ("share", "low", "high"):
        rows[column] = pd.to_numeric(rows[column], errors="coerce").astype(float)  # Altair writes NaN as null
    colours = {"both": palette.ink, "male": palette.male, "female": palette.female}
    rows["colour"] = [colours[str(toward)] for toward in rows["toward"]]
    rows["label"] = [f"{end} · {name}" for end, name in zip(rows["end"], rows["name"], strict=True)]
    rows["count"] = [f"{leaks}/{judged}" for leaks, judged in zip(rows["leaks"], rows["judged"], strict=True)]
    rows["words"] = rows["label"] + "\u2003" + rows["count"]
    rows["row"] = range(len(rows))
    base = alt.Chart(rows, height=alt.Step(LEAK_ROW)).encode(
        y=alt.Y("row:O", scale=alt.Scale(domain=list(range(len(rows))), padding=0), axis=None),
        tooltip=[
            alt.Tooltip("label:N", title=say(N_("sentences"))),
            alt.Tooltip("count:N", title=say(N_("leaks / judged"))),
            alt.Tooltip("share:Q", title=say(N_("share")), format=".1%"),
        ],
    )
    axis = share_axis(gridDash=[3, 3])
    x = alt.X("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis, title=say(N_("share of leaks")))
    own = alt.Color("colour:N", scale=None)
    look: dict[str, Any] = {"size": 140, "yOffset": DOWN}
    full = dots(base, x, where="datum.stratum == 'extreme'", **look)
    hollow = dots(base, x, where="datum.stratum != 'extreme'", filled=False, fill=palette.card, strokeWidth=2.5, **look)
    words = base.mark_text(align="left", dy=-9, fontSize=13).encode(x=alt.value(2), text=alt.Text("words:N"), color=own)
    lines = interval_lines(base, width=3, yOffset=DOWN)
    layers = [lines.encode(color=own), full.encode(color=own), hollow.encode(stroke=own), words]
    return styled(alt.layer(*layers), description, palette)


def times(data: pd.DataFrame, *, description: str, titles: dict[str, str], palette: Palette = LIGHT) -> Any:
    """How many times as often, on a logarithmic axis with 1 marked.

    Columns name, times (ratio, above 0, or missing), low, high, side (male, female or ""). A ratio of 0 stands at the
    left end. Missing: no point, the name stays. `titles`: what the columns are called for people.
    """
    rows = data.assign(
        at=[_cut(value) for value in data["times"]],
        from_=[_cut(value) for value in data["low"]],
        to=[_cut(value) for value in data["high"]],
        colour=[{"male": palette.male, "female": palette.female}.get(side, palette.neutral) for side in data["side"]],
    )
    known = [value for column in ("at", "from_", "to") for value in rows[column] if value is not None]
    reach = max([2.0, *(max(value, 1 / value) for value in known)])
    reach = min(MOST, 2 ** _whole_power(reach))
    ticks = [tick for tick in TICKS if 1 / reach <= tick <= reach]
    names = {tick: f"{tick:g}" if tick >= 1 else f"1/{round(1 / tick)}" for tick in ticks}
    label = " : ".join(f"abs(datum.value - {tick}) < 1e-9 ? '{name}'" for tick, name in names.items()) + " : ''"
    axis = alt.Axis(values=ticks, labelExpr=label, gridDash=[4, 4], domain=False, ticks=False)
    scale = alt.Scale(type="log", domain=[1 / reach, reach], nice=False, clamp=True)
    x = alt.X("at:Q", scale=scale, axis=axis, title=titles.get("times"))
    look = alt.Axis(ticks=False, domain=False, labelColor=palette.ink, labelFontSize=14, labelPadding=10)
    order = list(dict.fromkeys(data["name"]))  # also of rows that nothing is drawn in
    y = alt.Y(field="name", type="nominal", sort=order, scale=alt.Scale(domain=order), title=None, axis=look)
    tips = [alt.Tooltip(field=name, type="nominal", title=title) for name, title in titles.items() if name in rows]
    own = alt.Color(field="colour", type="nominal", scale=None)
    base = alt.Chart(rows, height=alt.Step(TIMES_ROW)).encode(y=y, tooltip=tips, color=own)
    layers = [
        alt.Chart(pd.DataFrame([{"at": 1.0}])).mark_rule(color=palette.ink, strokeWidth=2).encode(x=x),
        interval_lines(base, low="from_", high="to", width=4, opacity=0.55, strokeCap="round"),
        dots(base, x, size=150),
    ]
    return styled(alt.layer(*layers), description, palette)


def _cut(value: Any) -> float | None:
    if value is None or pd.isna(value):
        return None
    return min(MOST, max(LEAST, float(value)))


def _whole_power(reach: float) -> int:
    power = 1
    while 2**power < reach - 1e-9:
        power += 1
    return power
