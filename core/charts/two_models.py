"""Two models against each other: how many sentences have which two values of Bias_c, counted into squares.

Both axes are log10; positive leans male. Where both signs agree (upper right, lower left) both models prefer the same
word. At most about 1,600 squares go to the browser, never a point per sentence.
"""

import math
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from evenhand.core.charts.bias_distribution import LEAST_REACH, SIGNED_LABEL, Values, signed
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import styled
from evenhand.core.errors import N_
from evenhand.core.language import Say, same

SQUARES = 40  # along each axis, at most
STEPS = (0.05, 0.1, 0.2, 0.3, 0.5)  # log10


def squares(a: Values, b: Values) -> pd.DataFrame:
    """Counts of sentences in squares of (Bias_c of a, Bias_c of b): columns a_low, a_high, b_low, b_high, count.

    Only sentences that are finite in both. Values beyond the outermost squares count in these.
    """
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    everything = np.abs(np.concatenate([a, b, np.zeros(1)]))
    reach = max(LEAST_REACH, float(np.quantile(everything, 0.998)))
    step = next((step for step in STEPS if 2 * reach / step <= SQUARES), reach / (SQUARES / 2))
    last = math.ceil(reach / step - 1e-9)
    cells = pd.DataFrame({"x": _cells(a, step, last), "y": _cells(b, step, last)})
    found = cells.groupby(["x", "y"]).size().rename("count").reset_index()
    for name, column in (("a", "x"), ("b", "y")):
        found[f"{name}_low"] = (found[column] * step).round(10)
        found[f"{name}_high"] = ((found[column] + 1) * step).round(10)
    return found[["a_low", "a_high", "b_low", "b_high", "count"]]


def _cells(values: Values, step: float, last: int) -> Any:
    # The epsilon keeps 0.3 / 0.1 = 2.9999999999999996 in the square that begins at 0.3.
    return np.clip(np.floor(values / step + 1e-9).astype(int), -last, last - 1)


def two_models(
    found: pd.DataFrame,
    a: str,
    b: str,
    *,
    description: str,
    say: Say = same,
    click: str | None = None,
    palette: Palette = LIGHT,
) -> Any:
    """The `squares` of models *a* (across) and *b* (up); darker is more sentences, on a scale of roots.

    *click* names a selection that gives the four borders of a square.
    """
    reach = float(found[["a_high", "b_high"]].abs().to_numpy().max()) if len(found) else LEAST_REACH
    if len(found):
        reach = max(reach, float(found[["a_low", "b_low"]].abs().to_numpy().max()))
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = alt.Axis(labelExpr=SIGNED_LABEL, grid=True, domain=False, ticks=False, tickCount=7, labelPadding=6)
    what = say(N_("Bias_c (log10)"))
    x = alt.X("a_low:Q", scale=scale, axis=axis, title=f"{a} · {what}")
    y = alt.Y("b_low:Q", scale=scale, axis=axis, title=f"{b} · {what}")
    shown = found.assign(
        range_a=[f"{signed(low)} … {signed(high)}" for low, high in zip(found["a_low"], found["a_high"], strict=True)],
        range_b=[f"{signed(low)} … {signed(high)}" for low, high in zip(found["b_low"], found["b_high"], strict=True)],
        count_text=[f"{n:,}" for n in found["count"]],
    )
    tips = [
        alt.Tooltip("range_a:N", title=a),
        alt.Tooltip("range_b:N", title=b),
        alt.Tooltip("count_text:N", title=say(N_("Sentences"))),
    ]
    most = int(found["count"].max()) if len(found) else 1
    colours = alt.Scale(type="sqrt", domain=[0, most], range=[palette.line, palette.good], interpolate="rgb")
    cells = alt.Chart(shown, height=440).mark_rect(stroke=palette.paper, strokeWidth=0.4)
    colour = alt.Color("count:Q", scale=colours, legend=None)
    cells = cells.encode(x=x, x2=alt.X2("a_high:Q"), y=y, y2=alt.Y2("b_high:Q"), color=colour, tooltip=tips)
    if click:
        chosen = alt.selection_point(name=click, fields=["a_low", "a_high", "b_low", "b_high"], on="click")
        cells = cells.add_params(chosen).encode(opacity=alt.condition(chosen, alt.value(1), alt.value(0.4)))
    return styled(alt.layer(*_quadrants(reach, x, y, palette), cells), description, palette)


def _quadrants(reach: float, x: alt.X, y: alt.Y, palette: Palette) -> list[Any]:
    """The two fields in which both prefer the same word, in its tint; the two lines of 0."""
    fields = ((0.0, reach, palette.male_tint), (-reach, 0.0, palette.female_tint))
    grounds = [
        alt.Chart(pd.DataFrame([{"a_low": low, "a_high": high, "b_low": low, "b_high": high}]))
        .mark_rect(opacity=0.55, color=tint)
        .encode(x=x, x2=alt.X2("a_high:Q"), y=y, y2=alt.Y2("b_high:Q"))
        for low, high, tint in fields
    ]
    line: dict[str, Any] = {"color": palette.soft, "strokeWidth": 1}
    upright = alt.Chart(pd.DataFrame([{"a_low": 0.0}])).mark_rule(**line).encode(x=x)
    flat = alt.Chart(pd.DataFrame([{"b_low": 0.0}])).mark_rule(**line).encode(y=y)
    return [*grounds, upright, flat]


def two_models_say(a: Values, b: Values, names: tuple[str, str], *, say: Say = same) -> str:
    """What `two_models` shows: how many sentences both models lean the same way."""
    both = np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    if not both.any():
        return say(N_("No sentence has a non-zero value from both models."))
    agree = float((np.sign(a[both]) == np.sign(b[both])).mean())
    text = N_("{a} and {b} lean towards the same word on {share} of the {n} sentences where both lean.")
    return say(text).format(a=names[0], b=names[1], share=f"{100 * agree:.0f}%", n=f"{int(both.sum()):,}")
