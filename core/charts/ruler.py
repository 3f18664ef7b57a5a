"""The ruler: an axis with its marks 0, +-0.3, +-1, and on it the values of one model beside nulls and references.

Nothing is ranked: rows keep their order, and a longer distance from 0 is only a longer distance.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.dots import dots, interval_lines
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import styled
from evenhand.core.errors import N_

ROW = 48  # pixels: the name above, the mark below
DOWN = 13  # from the middle of a row to its mark
LEAST_REACH = 1.25  # log10: the marks at +-1 are always in view
MARKS = (-1.0, -0.3, 0.0, 0.3, 1.0)
HEAD = -1  # the row of the planted marks
NUMBERS = ("value", "low", "high", "null_low", "null_high")

Say = Callable[[str], str]


def _same(text: str) -> str:
    return text


def ruler(
    data: pd.DataFrame,
    *,
    description: str,
    planted: Sequence[float] = (),
    sizes: bool = False,
    say: Say = _same,
    palette: Palette = LIGHT,
) -> Any:
    """A row per row of *data*: columns name, kind, value, low, high, null_low, null_high, text (numbers in log10).

    kind "model": a dot with its 95% interval, the middle 95% of its null as a band behind it; "signed" the same in
    the colour of its side (positive leans male); "reference": a hollow diamond with its interval. Missing numbers are
    not drawn; `text` stands behind the name and says the numbers, or why there is none. `planted`: what the planted
    models came back as, ticks on the edge of the ruler. `sizes`: values without a direction, on an axis from 0.
    """
    rows = _rows(data, palette)
    known = [abs(v) for name in NUMBERS for v in rows[name] if math.isfinite(v)]
    reach = max(LEAST_REACH, max(known, default=0.0) * 1.08)
    order = [*([HEAD] if planted else []), *range(len(rows))]
    y = alt.Y("row:O", scale=alt.Scale(domain=order, padding=0), axis=None)
    x = _axis(0.0 if sizes else -reach, reach, say, palette)
    base = alt.Chart(rows, height=alt.Step(ROW)).encode(y=y, tooltip=_tips(say))
    band = base.transform_filter("isValid(datum.null_low)").mark_bar(
        size=18, color=palette.neutral, opacity=0.35, cornerRadius=3, yOffset=DOWN
    )
    own = alt.Color("colour:N", scale=None)
    layers = [
        *_marks(0.0 if sizes else -reach, palette),
        band.encode(x=alt.X("null_low:Q"), x2=alt.X2("null_high:Q")),
        interval_lines(base, width=3, yOffset=DOWN).encode(color=own),
        *_points(base, own, palette),
        # A halo: the marks of the ruler run behind the words, not through them.
        _named(base, stroke=palette.paper, strokeWidth=5, strokeJoin="round"),
        _named(base),
        *_planted(planted, y, say, palette),
    ]
    layers[1] = layers[1].encode(x=x)
    return styled(alt.layer(*layers), description, palette)


def _named(base: Any, **look: Any) -> Any:
    text = base.mark_text(align="left", dy=-9, fontSize=13, **look)
    colour = alt.Color("ink:N", scale=None)
    return text.encode(x=alt.value(2), text=alt.Text("label:N"), **({} if look else {"color": colour}))


def _rows(data: pd.DataFrame, palette: Palette) -> pd.DataFrame:
    rows = data.reset_index(drop=True).copy()
    for name in NUMBERS:
        numbers = pd.to_numeric(rows[name], errors="coerce").astype(float)
        rows[name] = numbers.where(numbers.map(math.isfinite))  # a column of floats: Altair writes its NaN as null
    rows["row"] = range(len(rows))
    rows["label"] = rows["name"] + "\u2003" + rows["text"]
    rows["ink"] = [palette.soft if kind == "reference" else palette.ink for kind in rows["kind"]]
    rows["colour"] = [
        palette.soft if kind == "reference" else _colour(kind, value, palette)
        for kind, value in zip(rows["kind"], rows["value"], strict=True)
    ]
    return rows


def _colour(kind: str, value: float, palette: Palette) -> str:
    if kind != "signed" or not abs(value) >= 0.0005:  # NaN too
        return palette.ink
    return palette.male if value > 0 else palette.female


def _axis(least: float, most: float, say: Say, palette: Palette) -> alt.X:
    further = [sign * float(k) for k in range(2, math.floor(most) + 1) for sign in (-1, 1)]
    names = "datum.value == 0 ? '0' : (datum.value > 0 ? '+' : '−') + format(abs(datum.value), '~')"
    title = "◀ " + say(N_("leans female")) + " · log10 · " + say(N_("leans male")) + " ▶"
    if least == 0:
        names, title = "format(datum.value, '~')", say(N_("magnitude in log10, without direction"))
    axis = alt.Axis(
        values=[mark for mark in (*MARKS, *further) if mark >= least],
        labelExpr=names,
        grid=False,
        ticks=True,
        tickSize=8,
        tickColor=palette.soft,
        domain=True,
        domainWidth=2,
        domainColor=palette.soft,
        labelOverlap=False,
    )
    return alt.X("at:Q", scale=alt.Scale(domain=[least, most], nice=False), axis=axis, title=title)


def _marks(least: float, palette: Palette) -> list[Any]:
    strip = alt.Chart(pd.DataFrame([{"at": max(least, -0.3), "to": 0.3}])).mark_rect(color=palette.line, opacity=0.45)
    shown = [mark for mark in MARKS if mark >= least]
    lines = pd.DataFrame([{"at": mark, "wide": 2.0 if mark == 0 else 1.0} for mark in shown])
    rules = alt.Chart(lines).mark_rule(color=palette.soft, opacity=0.7)
    return [
        strip.encode(x=alt.X("at:Q"), x2=alt.X2("to:Q")),
        rules.encode(x=alt.X("at:Q"), strokeWidth=alt.StrokeWidth("wide:Q", scale=None)),
    ]


def _points(base: Any, own: alt.Color, palette: Palette) -> list[Any]:
    x = alt.X("value:Q")
    look: dict[str, Any] = {"size": 130, "yOffset": DOWN}
    hollow: dict[str, Any] = {"filled": False, "shape": "diamond", "strokeWidth": 2.5, "fill": palette.card}
    circles = dots(base, x, where="datum.kind != 'reference'", shape="circle", **look)
    diamonds = dots(base, x, where="datum.kind == 'reference'", **hollow, **look)
    return [circles.encode(color=own), diamonds.encode(stroke=own)]


def _planted(planted: Sequence[float], y: alt.Y, say: Say, palette: Palette) -> list[Any]:
    if not planted:
        return []
    text = say(N_("▼ planted models as measured"))
    ticks = alt.Chart(pd.DataFrame([{"row": HEAD, "at": value} for value in planted])).mark_point(
        shape="triangle-down", size=90, filled=True, color=palette.ink, opacity=1, yOffset=DOWN
    )
    words = alt.Chart(pd.DataFrame([{"row": HEAD, "label": text}])).mark_text(
        align="left", dy=-9, fontSize=12, color=palette.soft
    )
    return [ticks.encode(x=alt.X("at:Q"), y=y), words.encode(x=alt.value(2), y=y, text=alt.Text("label:N"))]


TIPS = {
    "name": N_("quantity"),
    "text": N_("value (log10)"),
}


def _tips(say: Say) -> list[alt.Tooltip]:
    return [alt.Tooltip(field=name, type="nominal", title=say(title)) for name, title in TIPS.items()]
