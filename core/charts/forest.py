"""A forest plot: measures one below the other, each with its value, interval and number of items."""

from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.dots import ABOVE_ROW, Look, dot_rows
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import rule
from evenhand.core.errors import N_
from evenhand.core.language import Say, same

BETWEEN = "\u2003"  # between a name and its number


def forest(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return a row for each measure of *data*: name, value (at most 1), low, high, and `written` after the name.

    `n`: the number of items as text. A row without a value has its name and what is written. The axis begins at 0, or
    below it where a value or an interval does; 0 is then a line.
    """
    ends = data[["value", "low", "high"]].apply(pd.to_numeric, errors="coerce")
    least = min(0.0, float(ends.min().min())) if ends.notna().any().any() else 0.0
    scale = alt.Scale(domain=[least, 1], nice=False)
    x = alt.X(
        "value:Q", title=None, scale=scale, axis=alt.Axis(tickCount=5, gridDash=[3, 3], domain=False, ticks=False)
    )
    tips = {"name": N_("Measure"), "written": N_("Value"), "n": N_("Items")}
    zero = [rule(x, 0.0, color=palette.ink, strokeWidth=1)] if least < 0 else []
    rows = data.assign(label=data["name"] + BETWEEN + data["written"])
    look = Look(row=ABOVE_ROW, above=True, size=110, line=3)
    return dot_rows(rows, x, tips=tips, say=say, look=look, under=zero, description=description, palette=palette)
