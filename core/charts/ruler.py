"""The ruler: an axis with marks at 0, +-0.3 and +-1, with the values of one model, its nulls and references.

Nothing is ranked: rows keep their order, and a longer distance from 0 is only a longer distance.
"""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.dots import ABOVE_ROW, DOWN, NUMBERS, Look, dot_rows
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import rule, strip
from evenhand.core.errors import N_
from evenhand.core.language import Say, same

LEAST_REACH = 1.25  # log10: the marks at +-1 are always in view
MARKS = (-1.0, -0.3, 0.0, 0.3, 1.0)
HEAD = -1  # the row of the planted marks


def ruler(
    data: pd.DataFrame, *, description: str, planted: Sequence[float] = (), sizes: bool = False, say: Say = same,
    palette: Palette = LIGHT,
) -> Any:  # fmt: skip
    """Return a chart with a row per row of *data*: name, kind, value, low, high, null_low, null_high, text (log10).

    kind "model": a dot with its 95% interval, and the middle 95% of its null as a band behind the dot; "signed": the
    same in the colour of its side (positive leans male); "reference": a hollow diamond with its interval. Missing
    numbers are not drawn. `text` follows the name and has the numbers, or the reason for none. `planted`: measured
    values of planted models, ticks on the edge of the ruler. `sizes`: values without a direction, on an axis from 0.
    """
    rows = data.assign(
        label=data["name"] + "\u2003" + data["text"],
        colour=[_colour(kind, value) for kind, value in zip(data["kind"], data["value"], strict=True)],
        hollow=data["kind"] == "reference",
        ink=data["kind"].map({"reference": "soft"}).fillna("ink"),
        shape=data["kind"].map({"reference": "diamond"}).fillna("circle"),
    ).rename(columns={"null_low": "band_low", "null_high": "band_high"})
    numbers = pd.to_numeric(pd.Series(rows[list(NUMBERS)].to_numpy().ravel()), errors="coerce")
    known = [abs(value) for value in numbers if math.isfinite(value)]
    reach = max(LEAST_REACH, max(known, default=0.0) * 1.08)
    least = 0.0 if sizes else -reach
    x = _axis(least, reach, say, palette)
    look = Look(row=ABOVE_ROW, above=True, size=130, line=3, first=HEAD if planted else 0)
    return dot_rows(
        rows, x, tips={"name": N_("quantity"), "text": N_("value (log10)")}, say=say, look=look,
        under=_marks(least, x, palette), over=_planted(planted, say, palette) if planted else (),
        description=description, palette=palette,
    )  # fmt: skip


def _colour(kind: str, value: float | None) -> str:
    if kind == "reference":
        return "soft"
    if kind != "signed" or value is None or not abs(value) >= 0.0005:  # NaN too
        return "ink"
    return "male" if value > 0 else "female"


def _axis(least: float, most: float, say: Say, palette: Palette) -> alt.X:
    further = [sign * float(k) for k in range(2, math.floor(most) + 1) for sign in (-1, 1)]
    names = "datum.value == 0 ? '0' : (datum.value > 0 ? '+' : '−') + format(abs(datum.value), '~')"
    title = "◀ " + say(N_("leans female")) + " · log10 · " + say(N_("leans male")) + " ▶"
    if least == 0:
        names, title = "format(datum.value, '~')", say(N_("magnitude in log10, without direction"))
    axis = alt.Axis(
        values=[mark for mark in (*MARKS, *further) if mark >= least], labelExpr=names, grid=False, ticks=True,
        tickSize=8, tickColor=palette.soft, domain=True, domainWidth=2, domainColor=palette.soft, labelOverlap=False,
    )  # fmt: skip
    return alt.X("value:Q", scale=alt.Scale(domain=[least, most], nice=False), axis=axis, title=title)


def _marks(least: float, x: alt.X, palette: Palette) -> list[Any]:
    pale = strip(x, max(least, -0.3), 0.3, color=palette.line, opacity=0.45)
    shown = [mark for mark in MARKS if mark >= least]
    return [pale, *(rule(x, mark, color=palette.soft, opacity=0.7, strokeWidth=1 + (mark == 0)) for mark in shown)]


def _planted(planted: Sequence[float], say: Say, palette: Palette) -> list[Any]:
    y = alt.Y("row:O", axis=None)
    ticks = alt.Chart(pd.DataFrame([{"row": HEAD, "value": value} for value in planted])).mark_point(
        shape="triangle-down", size=90, filled=True, color=palette.ink, opacity=1, yOffset=DOWN
    )
    words = alt.Chart(pd.DataFrame([{"row": HEAD, "text": say(N_("▼ planted models as measured"))}])).mark_text(
        align="left", dy=-9, fontSize=12, color=palette.soft
    )
    return [ticks.encode(x=alt.X("value:Q"), y=y), words.encode(x=alt.value(2), y=y, text=alt.Text("text:N"))]
