"""Charts of the inference measure: the score on its scale, labels per set, measures over bias rates.

Entailment, contradiction and neutral have colours of their own, none of them a side's, and are named on the bars.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.bias_distribution import Say, same
from evenhand.core.charts.dots import Look, dot_rows, rule, share_axis
from evenhand.core.charts.palette import LIGHT, LINES, Palette
from evenhand.core.charts.style import styled
from evenhand.core.errors import N_
from evenhand.core.nli.measure import MARKS, Inference
from evenhand.core.nli.types import LABELS, SETS

# Pixels of axis and legend, which Streamlit counts to the height of a chart.
AROUND, LEGEND = 60, 40
NAMES = {"entailment": N_("entailment"), "contradiction": N_("contradiction"), "neutral": N_("neutral")}
MARK_NAMES = (
    N_("always neutral"),
    N_("random guessing"),
    N_("always one non-neutral label"),
    N_("always the stereotype"),
)


@dataclass(frozen=True, slots=True)
class Point:
    """A score on the scale; `low`, `high` are None for a number that came without interval."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    own: bool = False


def score_scale(points: Sequence[Point], *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return s of each model on 0 to 1, in the order given, with the four marks; models of one's own are filled."""
    rows = pd.DataFrame(
        [
            {
                "label": p.name, "value": p.value, "low": p.low, "high": p.high, "number": f"{p.value:.3f}",
                "hollow": not p.own,
            }
            for p in points
        ]
    )  # fmt: skip
    across = alt.Axis(values=[round(mark, 3) for mark, _ in MARKS], format=".3f", grid=False, ticks=False)
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("value:Q", scale=scale, axis=across, title=say(N_("s: 0 is ideal")))
    tips, look = {"label": say(N_("Model")), "number": "s"}, Look(row=38, limit=200)
    marks = [rule(x, mark, color=palette.line, strokeWidth=1.5) for mark, _ in MARKS]
    return dot_rows(rows, x, tips=tips, look=look, under=marks, description=description, palette=palette)


def label_colours(palette: Palette) -> dict[str, str]:
    """A colour per label: teal, gold and the quiet grey of the theme."""
    lines = LINES[palette.theme]
    gold = "#6f6600" if palette.theme == "light" else lines[2]  # darker than the line: numbers stand on it
    return {"entailment": lines[1], "contradiction": gold, "neutral": palette.line}


def label_shares(found: Inference, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """The labels of each set as one bar of 100%, in the order entailment, contradiction, neutral."""
    rows = []
    for name, counts in zip(SETS, found.counts, strict=True):
        total, left = sum(counts), 0.0
        for label, count in zip(LABELS, counts, strict=True):
            share = count / total if total else 0.0
            rows.append(
                {
                    "set": name, "label": say(NAMES[label]), "left": left, "right": left + share,
                    "middle": left + share / 2, "text": f"{100 * share:.0f}%" if share >= 0.06 else "",
                    "rows": f"{count:,} / {total:,}", "key": label, "dark": label != "neutral",
                }
            )  # fmt: skip
            left += share
    data = pd.DataFrame(rows)
    colours = label_colours(palette)
    domain = [say(NAMES[label]) for label in LABELS]
    scale = alt.Scale(domain=domain, range=[colours[label] for label in LABELS])
    percent = share_axis(grid=False)
    x = alt.X("left:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=percent, title=None)
    y = alt.Y("set:N", sort=list(SETS), axis=alt.Axis(domain=False, ticks=False), title=None)
    tips = [
        alt.Tooltip("set:N", title=say(N_("Set"))),
        alt.Tooltip("label:N", title=say(N_("Label"))),
        alt.Tooltip("rows:N", title=say(N_("Rows"))),
    ]
    legend = alt.Legend(orient="top", title=None)
    bars = alt.Chart(data).mark_bar(size=30, stroke=palette.paper, strokeWidth=1)
    bars = bars.encode(
        x=x, x2=alt.X2("right:Q"), y=y, color=alt.Color("label:N", scale=scale, legend=legend), tooltip=tips
    )
    ink = alt.condition("datum.dark", alt.value(palette.paper), alt.value(palette.ink))
    text = (
        alt.Chart(data)
        .mark_text(fontSize=12, fontWeight="bold")
        .encode(x=alt.X("middle:Q"), y=y, text=alt.Text("text:N"), color=ink)
    )
    return styled(alt.layer(bars, text).properties(height=150 + AROUND + LEGEND), description, palette)


def over_rates(rows: Sequence[dict[str, Any]], *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """s and 1 - FN over the bias rate, each with its interval. *rows*: r, measure, value, low, high."""
    data = pd.DataFrame(rows)
    names = list(dict.fromkeys(data["measure"]))
    lines = LINES[palette.theme]
    colours = alt.Scale(domain=names, range=[lines[1], lines[2], lines[5]][: len(names)])
    dashes = alt.Scale(domain=names, range=[[1, 0], [6, 3], [2, 2]][: len(names)])
    legend = alt.Legend(orient="top", title=None, symbolType="stroke", symbolOpacity=1)
    across = alt.Axis(grid=False, format=".1f", values=sorted(set(data["r"])), labelOverlap=True)
    x = alt.X("r:Q", scale=alt.Scale(domain=[0, 1]), axis=across, title=say(N_("bias rate r")))
    y = alt.Y("value:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5), title=None)
    colour = alt.Color("measure:N", scale=colours, legend=legend)
    tips = [alt.Tooltip("r:Q"), alt.Tooltip("measure:N"), alt.Tooltip("value:Q", format=".3f")]
    base = alt.Chart(data).encode(x=x, color=colour)
    bands = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title=None), y2=alt.Y2("high:Q"))
    dashed = alt.StrokeDash("measure:N", scale=dashes, legend=legend)
    drawn = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dashed)
    dots = base.mark_point(size=45, filled=True, opacity=1).encode(y=y, tooltip=tips)
    return styled(alt.layer(bands, drawn, dots).properties(height=280 + AROUND + LEGEND), description, palette)
