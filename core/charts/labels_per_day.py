"""Labels per day, a line per annotator, told apart by colour and by dashes."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.lines import lines
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.errors import N_
from evenhand.core.language import Say, same


def labels_per_day(
    rows: Sequence[dict[str, Any]], *, description: str, say: Say = same, palette: Palette = LIGHT
) -> Any:
    """*rows* with `day` (ISO date), `annotator` and `labels` as lines with a dot for each day; names are data only."""
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
    data = pd.DataFrame(list(rows))
    return lines(data, x, y, "annotator", tips=tips, height=260, dots=True, description=description, palette=palette)
