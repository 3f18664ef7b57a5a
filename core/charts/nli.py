"""Charts of the inference measure: the score on its scale, labels per set, measures over bias rates.

Entailment, contradiction and neutral have colours of their own, none of them a side's, and are named on the bars.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.dots import Look, dot_rows, stacked
from evenhand.core.charts.lines import lines
from evenhand.core.charts.palette import LIGHT, LINES, Palette
from evenhand.core.charts.style import rule, tooltips
from evenhand.core.errors import N_
from evenhand.core.language import Say, same, share_text
from evenhand.core.nli.measure import MARKS, Inference
from evenhand.core.nli.types import LABELS, SETS

NAMES = {"entailment": N_("entailment"), "contradiction": N_("contradiction"), "neutral": N_("neutral")}


@dataclass(frozen=True, slots=True)
class Point:
    """A score on the scale; `low`, `high` are None for a number that came without interval."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    own: bool = False


def score_scale(points: Sequence[Point], *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return s of each model on 0 to 1, in the order given, with the four marks; a user's own models are filled."""
    columns = ["label", "value", "low", "high", "number", "hollow"]
    known = [(point.name, point.value, point.low, point.high, f"{point.value:.3f}", not point.own) for point in points]
    rows = pd.DataFrame(known, columns=columns)
    across = alt.Axis(values=[round(mark, 3) for mark, _ in MARKS], format=".3f", grid=False, ticks=False)
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("value:Q", scale=scale, axis=across, title=say(N_("s: 0 is ideal")))
    tips, look = {"label": N_("Model"), "number": "s"}, Look(row=38, limit=200)
    marks = [rule(x, mark, color=palette.line, strokeWidth=1.5) for mark, _ in MARKS]
    return dot_rows(rows, x, tips=tips, say=say, look=look, under=marks, description=description, palette=palette)


def label_colours(palette: Palette) -> dict[str, str]:
    """Return a colour for each label: teal, gold and the quiet grey of the theme."""
    known = LINES[palette.theme]
    gold = "#6f6600" if palette.theme == "light" else known[2]  # darker than the line, as numbers are written on it
    return {"entailment": known[1], "contradiction": gold, "neutral": palette.line}


def label_shares(inference: Inference, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return the labels of each set as one bar of 100%, in the order entailment, contradiction, neutral."""
    rows = []
    for name, counts in zip(SETS, inference.counts, strict=True):
        total = sum(counts)
        for label, count in zip(LABELS, counts, strict=True):
            share = count / total if total else 0.0
            written = share_text(share) if share >= 0.06 else ""
            rows.append((name, say(NAMES[label]), share, written, f"{count:,} / {total:,}"))
    data = pd.DataFrame(rows, columns=["label", "part", "share", "written", "rows"])
    colours = {say(NAMES[label]): colour for label, colour in label_colours(palette).items()}
    tips = {"label": N_("Set"), "part": N_("Label"), "rows": N_("Rows")}
    dark = [say(NAMES[label]) for label in ("entailment", "contradiction")]
    return stacked(
        data, colours, title=None, tips=tips, say=say, row=44, dark=dark, description=description, palette=palette
    )


def over_rates(
    rows: Sequence[Mapping[str, object]], *, description: str, say: Say = same, palette: Palette = LIGHT
) -> Any:
    """Return s and 1 - FN over the bias rate, each with its interval. *rows*: r, measure, value, low, high."""
    data = pd.DataFrame(rows)
    across = alt.Axis(grid=False, format=".1f", values=sorted(set(data["r"])), labelOverlap=True)
    x = alt.X("r:Q", scale=alt.Scale(domain=[0, 1]), axis=across, title=say(N_("bias rate r")))
    y = alt.Y("value:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5), title=None)
    titles = {"r": N_("bias rate r"), "measure": N_("measure"), "value": N_("value")}
    tips = tooltips(titles, say, r=".1f", value=".3f")
    return lines(
        data, x, y, "measure", tips=tips, height=380, columns=3, dots=True, band=True, description=description,
        palette=palette,
    )  # fmt: skip
