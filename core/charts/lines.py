"""Lines over an axis: the one builder of such charts. Lines are told apart by colour and by dashes."""

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import pandas as pd

from evenhand.core.charts.palette import LINES, Palette
from evenhand.core.charts.style import styled

DASHES = ([1, 0], [9, 3], [3, 3], [10, 3, 2, 3], [1, 2], [6, 2, 1, 2, 1, 2])


def lines(
    data: pd.DataFrame,
    x: alt.X,
    y: alt.Y,
    series: str,
    *,
    tips: Sequence[alt.Tooltip],
    height: int,
    description: str,
    palette: Palette,
    columns: int = 1,
    dots: bool = False,
    steps: bool = False,
    band: tuple[str, str] | None = None,
    under: Sequence[Any] = (),
) -> Any:
    """Return a line for each value of the column *series* of *data*, in their order; neither purple nor orange.

    *dots*: also a dot for each row; *steps*: from row to row in steps; *columns*: of the legend; *band*: the
    columns of both ends of an interval; *under*: layers below.
    """
    names = list(dict.fromkeys(data[series]))
    legend = alt.Legend(
        title=None, orient="top", columns=columns, labelLimit=260, symbolType="stroke", symbolStrokeWidth=2.5,
        symbolOpacity=1, symbolSize=420,
    )  # fmt: skip
    own: dict[str, Any] = {"field": series, "type": "nominal", "sort": None, "legend": legend}
    colours = alt.Scale(domain=names, range=line_colours(len(names), palette))
    patterns = alt.Scale(domain=names, range=dashes(len(names)))
    base = alt.Chart(data, height=height).encode(x=x, y=y, color=alt.Color(scale=colours, **own), tooltip=list(tips))
    form: Literal["step", "linear"] = "step" if steps else "linear"
    drawn = base.mark_line(strokeWidth=2.5, clip=True, interpolate=form)
    drawn = drawn.encode(strokeDash=alt.StrokeDash(scale=patterns, **own))
    points = [base.mark_point(filled=True, opacity=1, size=40)] if dots else []
    ends = []
    if band is not None:
        low, high = band
        ends.append(base.mark_area(opacity=0.15).encode(y=alt.Y(f"{low}:Q"), y2=alt.Y2(f"{high}:Q")))
    return styled(alt.layer(*under, *ends, drawn, *points), description, palette)


def line_colours(number: int, palette: Palette) -> list[str]:
    """Return a colour per line, in their order; after the sixth they begin again."""
    known = LINES[palette.theme]
    return [known[n % len(known)] for n in range(number)]


def dashes(number: int) -> list[list[int]]:
    """Return a dash pattern per line; with seven and more lines they shift, so that no two lines are alike."""
    return [DASHES[(n + n // len(DASHES)) % len(DASHES)] for n in range(number)]
