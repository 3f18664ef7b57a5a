"""How many times as often: a ratio with its interval per row, on a logarithmic axis with 1 marked."""

from typing import Any

import altair as alt
import pandas as pd

from core.charts.palette import LIGHT, Palette
from core.charts.style import styled

ROW = 44  # pixels
LEAST, MOST = 1 / 64, 64.0  # ends of the axis at most: an interval that reaches beyond is cut there
TICKS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64)


def times(data: pd.DataFrame, *, description: str, titles: dict[str, str], palette: Palette = LIGHT) -> Any:
    """A row per row of *data*: columns name, times (ratio, above 0, or missing), low, high, side (male, female or "").

    Rows keep their order. A ratio of 0 stands at the left end. Missing: no
    point, the name stays. `titles`: what the columns are called for people.
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
    y = alt.Y(
        field="name",
        type="nominal",
        sort=list(data["name"]),
        title=None,
        axis=alt.Axis(ticks=False, domain=False, labelColor=palette.ink, labelFontSize=14, labelPadding=10),
    )
    tips = [alt.Tooltip(field=name, type="nominal", title=title) for name, title in titles.items() if name in rows]
    base = alt.Chart(rows, height=alt.Step(ROW)).encode(y=y, tooltip=tips)
    own = alt.Color(field="colour", type="nominal", scale=None)
    one = alt.Chart(pd.DataFrame([{"at": 1.0}])).mark_rule(color=palette.ink, strokeWidth=2)
    layers = [
        one.encode(x=alt.X(field="at", type="quantitative", scale=scale, axis=axis, title=titles.get("times"))),
        base.mark_rule(strokeWidth=4, opacity=0.55, strokeCap="round").encode(
            x=alt.X(field="from_", type="quantitative", scale=scale), x2=alt.X2(field="to"), color=own
        ),
        base.mark_point(filled=True, size=150, opacity=1).encode(
            x=alt.X(field="at", type="quantitative", scale=scale), color=own
        ),
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
