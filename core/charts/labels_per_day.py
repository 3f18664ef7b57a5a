"""Labels per day, a line per annotator, told apart by colour and by dashes."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.bias_curve import dashes, line_colours
from evenhand.core.charts.bias_distribution import Say, same
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import styled
from evenhand.core.errors import N_


def labels_per_day(
    rows: Sequence[dict[str, Any]], *, description: str, say: Say = same, palette: Palette = LIGHT
) -> Any:
    """*rows* with `day` (ISO date), `annotator` and `labels` as lines with a dot for each day; names are data only."""
    people = list(dict.fromkeys(row["annotator"] for row in rows))
    legend = alt.Legend(title=None, orient="top", columns=1, labelLimit=260, symbolStrokeWidth=2.5, symbolType="stroke")
    colours = alt.Scale(domain=people, range=line_colours(len(people), palette))
    # A date alone is read as UTC midnight; the scale has to be in UTC too, or the day may move.
    x = alt.X(
        field="day", type="temporal", timeUnit="utcyearmonthdate", title=None,
        axis=alt.Axis(format="%m-%d", grid=False, ticks=False, domain=False, labelOverlap=True, tickCount="day"),
    )  # fmt: skip
    y = alt.Y(
        field="labels",
        type="quantitative",
        title=say(N_("decisions")),
        axis=alt.Axis(domain=False, ticks=False, tickMinStep=1),
    )
    tips = [
        alt.Tooltip(field="day", type="nominal", title=say(N_("day"))),
        alt.Tooltip(field="annotator", type="nominal", title=say(N_("annotator"))),
        alt.Tooltip(field="labels", type="quantitative", format=",", title=say(N_("decisions"))),
    ]
    base = alt.Chart(pd.DataFrame(list(rows)), height=260).encode(
        x=x,
        y=y,
        tooltip=tips,
        color=alt.Color(field="annotator", type="nominal", sort=None, scale=colours, legend=legend),
    )
    dash = alt.Scale(domain=people, range=dashes(len(people)))
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash(field="annotator", type="nominal", sort=None, scale=dash, legend=legend)
    )
    return styled(alt.layer(lines, base.mark_point(filled=True, size=40)), description, palette)
