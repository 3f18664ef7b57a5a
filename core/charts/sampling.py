"""How narrow an interval becomes with more labelled items: a line per sampling design."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.dots import rule
from evenhand.core.charts.lines import lines
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.errors import N_
from evenhand.core.language import Say, same
from evenhand.core.sampling.labels_needed import Needed


def widths(
    found: Sequence[Needed], names: Mapping[str, str], width: float, *, description: str, say: Say = same,
    palette: Palette = LIGHT,
) -> Any:  # fmt: skip
    """The widths of *found* over the number of items, both on logarithms; the *width* that is wanted as a thin line."""
    rows = pd.DataFrame(table(found, names))
    x = alt.X(
        "items:Q", title=say(N_("labelled items")), scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(grid=False, domain=False, ticks=False, values=sorted(set(rows["items"])), format=","),
    )  # fmt: skip
    y = alt.Y(
        "width:Q", title=say(N_("width of the interval")),
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(domain=False, ticks=False, format=".0%", values=[0.02, 0.05, 0.1, 0.2, 0.3, 0.5]),
    )  # fmt: skip
    tips = [
        alt.Tooltip(field="design", type="nominal", title=say(N_("design"))),
        alt.Tooltip(field="items", type="quantitative", format=",", title=say(N_("labelled items"))),
        alt.Tooltip(field="width", type="quantitative", format=".1%", title=say(N_("width of the interval"))),
    ]
    look: dict[str, Any] = {"height": 300, "dots": True, "under": [rule(y, width, color=palette.ink, strokeWidth=1)]}
    return lines(rows, x, y, "design", tips=tips, description=description, palette=palette, **look)


def table(found: Sequence[Needed], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """A row a design and number of items: design, items, width (0 to 1)."""
    return [{"design": names[one.design], "items": n, "width": wide} for one in found for n, wide in one.widths]
