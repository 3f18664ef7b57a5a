"""Shares of people, one row each, in the caller's order: agreement with oneself, answers that are known."""

from typing import Any

import altair as alt
import pandas as pd

from core.charts.bias_distribution import Say, same
from core.charts.palette import LIGHT, Palette
from core.charts.style import styled
from core.errors import N_

ROW = 34  # pixels of a row


def shares_of_people(
    data: pd.DataFrame, *, title: str, description: str, say: Say = same, palette: Palette = LIGHT
) -> Any:
    """A point with its 95 % interval for each row of *data*: columns name, value, low, high, n.

    Shares of 1, drawn from 0 to 1; a row without a value has its name and a dash. Nobody is ranked.
    """
    shown = data.assign(
        written=[_share(v) for v in data["value"]],
        interval=[_between(*ends) for ends in data[["low", "high"]].itertuples(index=False)],
        place=[1.0] * len(data),
    )
    axis = alt.Axis(ticks=False, domain=False, grid=True, labelLimit=150, labelPadding=8)
    y = alt.Y(field="name", type="nominal", sort=None, title=None, axis=axis)
    percent = alt.Axis(labelExpr="format(datum.value * 100, '.0f') + ' %'", tickCount=5, grid=True)
    x = alt.X("value:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=percent)
    tips = [
        alt.Tooltip(f"{field}:N", title=say(name))
        for field, name in (
            ("name", N_("Annotator")), ("written", N_("Share")), ("interval", N_("95 % interval")), ("n", N_("Items")),
        )
    ]  # fmt: skip
    base = alt.Chart(shown, height=alt.Step(ROW)).encode(y=y, tooltip=tips)
    lines = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, color=palette.ink)
    points = base.transform_filter("isValid(datum.value)").mark_point(
        size=90, filled=True, opacity=1, color=palette.ink
    )
    words = base.mark_text(align="right", dy=-10, color=palette.soft, fontSize=12)
    layers = [
        lines.encode(x="low:Q", x2="high:Q"),
        points.encode(x=x),
        words.encode(x=alt.X("place:Q", scale=alt.Scale(domain=[0, 1])), text="written:N"),
    ]
    return styled(alt.layer(*layers), description, palette)


def _share(value: Any) -> str:
    return "—" if value is None or value != value else f"{100 * value:.1f} %"


def _between(low: Any, high: Any) -> str:
    return "—" if low is None or low != low else f"{100 * low:.1f} % – {100 * high:.1f} %"
