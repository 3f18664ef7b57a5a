"""The sentences of each model in the order of their Bias_c, a line per model (figure 3 by sentence).

At most 400 sentences per model go to the browser. The axis is log10; positive leans male and lies above.
"""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from evenhand.core.charts.bias_distribution import LEAST_REACH, SIGNED_LABEL, Values, axis_title, finite, signed
from evenhand.core.charts.lines import lines
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.errors import N_
from evenhand.core.language import Say, one_after_another, same
from evenhand.core.sentence_bias.bias import OBVIOUS

POINTS = 400  # of a curve, per model


def sorted_curve(values: Mapping[str, Values], *, points: int = POINTS) -> pd.DataFrame:
    """The sentences of each model in the order of their Bias_c: columns model, percent, bias_log10, rank, n.

    At most *points* sentences per model, evenly spaced, the first and the last among them; `percent` (0 to 100) is
    the share of sentences with no larger value. Undefined and infinite values are left out.
    """
    parts = []
    for model, found in values.items():
        ordered = np.sort(finite(found))
        n = len(ordered)
        at = np.unique(np.linspace(0, n - 1, min(points, n)).round().astype(int)) if n else np.zeros(0, dtype=int)
        rank = at + 1
        parts.append(
            pd.DataFrame({"model": model, "percent": 100 * rank / max(n, 1), "bias_log10": ordered[at], "rank": rank})
            .assign(n=n)
            .astype({"model": "str"})
        )
    columns = ["model", "percent", "bias_log10", "rank", "n"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def curves(
    points: pd.DataFrame,
    *,
    description: str,
    say: Say = same,
    palette: Palette = LIGHT,
) -> Any:
    """The sentences of `sorted_curve`, a line per model: the lean on the vertical axis, the male word above.

    Lines differ in colour and in dashes; neither purple nor orange, which stand for the two words.
    """
    reach = max(LEAST_REACH, float(points["bias_log10"].abs().quantile(0.995)) if len(points) else 0.0)
    scale = alt.Scale(domain=[-reach, reach], nice=False, clamp=True)
    axis = alt.Axis(domain=False, ticks=False, labelExpr=SIGNED_LABEL, labelPadding=6)
    y = alt.Y("bias_log10:Q", scale=scale, axis=axis, title=axis_title(say))
    across = alt.Axis(domain=False, ticks=False, grid=False, labelExpr="datum.value + '%'", values=[0, 25, 50, 75, 100])
    x = alt.X("percent:Q", scale=alt.Scale(domain=[0, 100], nice=False), axis=across, title=say(PERCENT_OF))
    shown = points.assign(value_text=[signed(value) for value in points["bias_log10"]])
    shown["percent_text"] = [f"{value:.1f}%" for value in shown["percent"]]
    tips = [
        alt.Tooltip("model:N", title=say(N_("Model"))),
        alt.Tooltip("percent_text:N", title=say(PERCENT_OF)),
        alt.Tooltip("value_text:N", title=say(N_("Bias_c (log10)"))),
    ]
    look: dict[str, Any] = {"height": 420, "columns": 2, "under": _fields(reach, y, palette)}
    return lines(shown, x, y, "model", tips=tips, description=description, palette=palette, **look)


PERCENT_OF = N_("Sentences of the model, sorted by Bias_c")


def _fields(reach: float, y: alt.Y, palette: Palette) -> list[Any]:
    """The upper field in the male word's tint, the lower in the female word's, between them nothing; 0 as a line."""
    fields = ((OBVIOUS, reach, palette.male_tint), (-reach, -OBVIOUS, palette.female_tint))
    grounds = [
        alt.Chart(pd.DataFrame([{"bias_log10": low, "to": high}]))
        .mark_rect(opacity=0.7, color=tint)
        .encode(y=y, y2=alt.Y2("to:Q"))
        for low, high, tint in fields
    ]
    borders = alt.Chart(pd.DataFrame([{"bias_log10": -OBVIOUS}, {"bias_log10": OBVIOUS}]))
    zero = alt.Chart(pd.DataFrame([{"bias_log10": 0.0}]))
    dashed = borders.mark_rule(color=palette.soft, strokeWidth=1, strokeDash=[4, 4])
    return [*grounds, dashed.encode(y=y), zero.mark_rule(color=palette.soft, strokeWidth=1).encode(y=y)]


def curve_says(points: pd.DataFrame, *, say: Say = same) -> str:
    """What `sorted_curve` shows: per model where it crosses 0, and its middle half."""
    text = N_("{model}: {share} of the sentences are below 0; the middle half lies between {low} and {high}.")
    parts = []
    for model, found in points.groupby("model", sort=False):
        below = found.loc[found["bias_log10"] < 0, "percent"].max()
        low, high = np.interp([25, 75], found["percent"], found["bias_log10"])
        share = "0%" if pd.isna(below) else f"{below:.0f}%"
        parts.append(say(text).format(model=model, share=share, low=signed(float(low)), high=signed(float(high))))
    return one_after_another(parts)
