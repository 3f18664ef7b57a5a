"""How narrow an interval becomes with more labelled items: a line per sampling design."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.bias_curve import dashes, line_colours
from evenhand.core.charts.bias_distribution import Say, same
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import styled
from evenhand.core.errors import N_
from evenhand.core.sampling.labels_needed import Needed


def widths(
    found: Sequence[Needed], names: Mapping[str, str], width: float, *, description: str, say: Say = same,
    palette: Palette = LIGHT,
) -> Any:  # fmt: skip
    """The widths of *found* over the number of items, both on logarithms; the *width* that is wanted as a thin line."""
    rows = pd.DataFrame(table(found, names))
    designs = [names[one.design] for one in found]
    legend = alt.Legend(title=None, orient="top", columns=1, labelLimit=260, symbolStrokeWidth=2.5, symbolType="stroke")
    colours = alt.Scale(domain=designs, range=line_colours(len(designs), palette))
    x = alt.X(
        field="items", type="quantitative", title=say(N_("labelled items")), scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(grid=False, domain=False, ticks=False, values=sorted(set(rows["items"])), format=","),
    )  # fmt: skip
    y = alt.Y(
        field="width", type="quantitative", title=say(N_("width of the interval")),
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(domain=False, ticks=False, format=".0%", values=[0.02, 0.05, 0.1, 0.2, 0.3, 0.5]),
    )  # fmt: skip
    tips = [
        alt.Tooltip(field="design", type="nominal", title=say(N_("design"))),
        alt.Tooltip(field="items", type="quantitative", format=",", title=say(N_("labelled items"))),
        alt.Tooltip(field="width", type="quantitative", format=".1%", title=say(N_("width of the interval"))),
    ]
    base = alt.Chart(rows, height=300).encode(
        x=x, y=y, tooltip=tips, color=alt.Color(field="design", type="nominal", sort=None, scale=colours, legend=legend)
    )
    dash = alt.Scale(domain=designs, range=dashes(len(designs)))
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash(field="design", type="nominal", sort=None, scale=dash, legend=legend)
    )
    goal = alt.Chart(pd.DataFrame([{"width": width}])).mark_rule(color=palette.ink, strokeWidth=1).encode(y=y)
    return styled(alt.layer(goal, lines, base.mark_point(filled=True, size=40)), description, palette)


def table(found: Sequence[Needed], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """A row a design and number of items: design, items, width (0 to 1)."""
    return [{"design": names[one.design], "items": n, "width": wide} for one in found for n, wide in one.widths]
