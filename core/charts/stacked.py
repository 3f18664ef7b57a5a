"""Bars of 100% cut into parts: the one builder of such charts. A part that has room bears its number."""

from collections.abc import Collection, Mapping
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.dots import grouped_rows, headings, shares_across
from evenhand.core.charts.palette import Palette
from evenhand.core.charts.style import styled


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
) -> Any:
    """Return a bar for each label of *data*, its parts in the order of *colours* (the name of a part -> its colour).

    *data*: `label`, `part`, `share` (of 1), `written` (in the part), and perhaps `group`, a heading. *tips*: column ->
    its name for people. *row*: pixels of a row. *dark*: parts whose colour needs light letters.
    """
    order = {part: number for number, part in enumerate(colours)}
    shown, heads, y = grouped_rows(data.assign(_order=data["part"].map(order)))
    shown = shown.sort_values(["place", "_order"], kind="stable").drop(columns="_order")
    end = shown.groupby("place", sort=False)["share"].cumsum()
    shown = shown.assign(start=end - shown["share"], end=end, middle=end - shown["share"] / 2)
    shown = shown.assign(dark=shown["part"].isin(list(dark)))
    tooltip = [alt.Tooltip(field=field, type="nominal", title=name) for field, name in tips.items()]
    base = alt.Chart(shown, height=alt.Step(row)).encode(y=y, tooltip=tooltip)
    legend = alt.Legend(title=None, orient="top", columns=2, symbolType="square", symbolStrokeWidth=1, labelLimit=260)
    colour = alt.Color("part:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=legend)
    x = shares_across(title, "start", domain=False, ticks=False, grid=False, labelPadding=6, orient="bottom")
    bars = base.mark_bar(height=row - 10, stroke=palette.soft, strokeWidth=0.6, cornerRadius=2)
    ink = alt.condition("datum.dark", alt.value(palette.card), alt.value(palette.ink))
    words = base.mark_text(fontSize=12).encode(x=alt.X("middle:Q"), text=alt.Text("written:N"), color=ink)
    heading = [headings(heads, y, palette)] if len(heads) else []
    return styled(alt.layer(*heading, bars.encode(x=x, x2=alt.X2("end:Q"), color=colour), words), description, palette)
