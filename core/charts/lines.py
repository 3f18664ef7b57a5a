"""Lines over an axis: the only builder of such charts. Colour and dashes distinguish the lines."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt
import pandas as pd

from evenhand.core.charts.palette import LIGHT, LINES, Palette
from evenhand.core.charts.style import rule, styled, tooltips
from evenhand.core.errors import N_
from evenhand.core.language import Say, same
from evenhand.core.sampling.labels_needed import Needed

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
    band: bool = False,
    under: Sequence[Any] = (),
) -> Any:
    """Return a line for each value of the column *series* of *data*, in their order; neither purple nor orange.

    *dots*: also a dot for each row; *steps*: from row to row in steps; *columns*: of the legend; *band*: the
    interval from the column `low` to `high`; *under*: layers below.
    """
    names = list(dict.fromkeys(data[series]))
    legend = alt.Legend(
        title=None, orient="top", columns=columns, labelLimit=260, symbolType="stroke", symbolStrokeWidth=2.5,
        symbolOpacity=1, symbolSize=420,
    )  # fmt: skip
    colours = alt.Scale(domain=names, range=line_colours(len(names), palette))
    colour = alt.Color(field=series, type="nominal", sort=None, legend=legend, scale=colours)
    patterns = alt.Scale(domain=names, range=dashes(len(names)))
    pattern = alt.StrokeDash(field=series, type="nominal", sort=None, legend=legend, scale=patterns)
    base = alt.Chart(data, height=height).encode(x=x, y=y, color=colour, tooltip=list(tips))
    form: Literal["step", "linear"] = "step" if steps else "linear"
    drawn = base.mark_line(strokeWidth=2.5, clip=True, interpolate=form).encode(strokeDash=pattern)
    points = [base.mark_point(filled=True, opacity=1, size=40)] if dots else []
    ends = [base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))] if band else []
    return styled(alt.layer(*under, *ends, drawn, *points), description, palette)


def line_colours(number: int, palette: Palette) -> list[str]:
    """Return a colour per line, in their order; after the sixth they begin again."""
    known = LINES[palette.theme]
    return [known[n % len(known)] for n in range(number)]


def dashes(number: int) -> list[list[int]]:
    """Return a dash pattern per line; with seven and more lines they shift, so that no two lines are alike."""
    return [DASHES[(n + n // len(DASHES)) % len(DASHES)] for n in range(number)]


def labels_per_day(
    rows: Sequence[Mapping[str, object]], *, description: str, say: Say = same, palette: Palette = LIGHT
) -> Any:
    """Draw *rows* with `day` (ISO date), `annotator`, `labels` as lines with a dot per day; names are data only."""
    # A date alone is read as UTC midnight; the scale has to be in UTC too, or the day may move.
    x = alt.X(
        field="day", type="temporal", timeUnit="utcyearmonthdate", title=None,
        axis=alt.Axis(format="%m-%d", grid=False, ticks=False, domain=False, labelOverlap=True, tickCount="day"),
    )  # fmt: skip
    axis = alt.Axis(domain=False, ticks=False, tickMinStep=1)
    y = alt.Y(field="labels", type="quantitative", title=say(N_("decisions")), axis=axis)
    tips = tooltips({"day": N_("day"), "annotator": N_("annotator"), "labels": N_("decisions")}, say, labels=",")
    data = pd.DataFrame(list(rows))
    return lines(data, x, y, "annotator", tips=tips, height=260, dots=True, description=description, palette=palette)


def widths(
    found: Sequence[Needed], names: Mapping[str, str], width: float, *, description: str, say: Say = same,
    palette: Palette = LIGHT,
) -> Any:  # fmt: skip
    """Draw the widths of *found* over the number of items, on logarithms, and the wanted *width* as a thin line."""
    rows = table(found, names)
    scale, numbers = alt.Scale(type="log", nice=False), sorted(set(rows["items"]))
    axis = alt.Axis(grid=False, domain=False, ticks=False, values=numbers, format=",")
    x = alt.X("items:Q", title=say(N_("labelled items")), scale=scale, axis=axis)
    axis = alt.Axis(domain=False, ticks=False, format=".0%", values=[0.02, 0.05, 0.1, 0.2, 0.3, 0.5])
    y = alt.Y("width:Q", title=say(N_("width of the interval")), scale=scale, axis=axis)
    titles = {"design": N_("design"), "items": N_("labelled items"), "width": N_("width of the interval")}
    tips, wanted = tooltips(titles, say, items=",", width=".1%"), rule(y, width, color=palette.ink, strokeWidth=1)
    return lines(
        rows, x, y, "design", tips=tips, height=300, dots=True, under=[wanted], description=description, palette=palette
    )


def table(found: Sequence[Needed], names: Mapping[str, str]) -> pd.DataFrame:
    """Return a row for each design and number of items: design, items, width (0 to 1)."""
    rows = [(names[needed.design], items, width) for needed in found for items, width in needed.widths]
    return pd.DataFrame(rows, columns=["design", "items", "width"])


MOST_TICKS = 8  # up to this number, a tick per look at held-out text
KINDS = {"loss": N_("training"), "held_out_loss": N_("held-out text")}


def loss_curve(
    points: Sequence[Mapping[str, Any]], *, description: str, say: Say = same, palette: Palette = LIGHT
) -> Any:
    """Draw *points* with `step`, `loss`, `held_out_loss` (-ln p of a token) as two lines, one of them dashed."""
    known = [(kind, point) for kind in KINDS for point in points if point.get(kind) is not None]
    rows = [(point["step"], point[kind], say(KINDS[kind])) for kind, point in known]
    looks = sorted({int(point["step"]) for point in points})
    axis = alt.Axis(grid=False, labelOverlap=True, format=",d", values=looks)
    if len(looks) > MOST_TICKS:
        axis = alt.Axis(grid=False, labelOverlap=True, format=",d", tickMinStep=1, tickCount=MOST_TICKS)
    x, loss = alt.X("step:Q", title=say(N_("step")), axis=axis), N_("loss (−ln p per token)")
    y = alt.Y("value:Q", title=say(loss), scale=alt.Scale(zero=False))
    tips = tooltips({"kind": " ", "step": N_("step"), "value": loss}, say, value=".4f")
    data = pd.DataFrame(rows, columns=["step", "value", "kind"])
    return lines(
        data, x, y, "kind", tips=tips, height=240, columns=2, dots=True, description=description, palette=palette
    )
