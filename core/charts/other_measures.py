"""A measure of others as dots: the model, its untrained twin, the control and the printed value, on one scale.

The bar behind a dot is where 95 of 100 values lie if only chance decides; the line through it is the 95% interval. The
form of a mark says whose it is: filled circle the model, hollow circle the untrained one, square the control, diamond
what is printed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.dots import NUMBERS, Look, dot_rows
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import rule
from evenhand.core.errors import N_
from evenhand.core.language import Say, same

FORMS = {"model": "circle", "untrained": "circle", "control": "square", "published": "diamond"}
ROLE_NAMES = {
    "model": N_("model"),
    "untrained": N_("untrained"),
    "control": N_("control"),
    "published": N_("published"),
}
TITLES = {"percent": N_("percent"), "points": N_("percentage points"), "effect": N_("effect d"), "ln": N_("ln")}


def measure_dots(
    rows: Sequence[Mapping[str, object]], scale: str, neutral: float | None, *, description: str, say: Say = same,
    palette: Palette = LIGHT,
) -> Any:  # fmt: skip
    """*rows*: group, label, role, value, low, high, band_low, band_high; undefined is None.

    *scale*: percent, effect, ln.
    *neutral* is drawn as a line; None: there is no such value.
    """
    data = pd.DataFrame(rows)
    data[list(NUMBERS)] = data[list(NUMBERS)].apply(pd.to_numeric, errors="coerce").astype(float)
    shown = data.assign(
        text=[_written(*row) for row in data[["value", "low", "high"]].itertuples(index=False)],
        shape=[FORMS[role] for role in data["role"]],
        hollow=data["role"] == "untrained",
        colour=["neutral" if role == "published" else "ink" for role in data["role"]],
    )
    scale = "points" if scale == "percent" and neutral == 0 else scale
    known = [float(one) for one in data[list(NUMBERS)].to_numpy().ravel() if one == one]
    known = [*known, *([] if neutral is None else [neutral])] or [0.0, 1.0]
    room = 0.08 * (max(known) - min(known)) or 1.0
    domain = [0, 100] if scale == "percent" else [min(known) - room, max(known) + room]
    look = alt.Scale(domain=domain, nice=False, clamp=True)
    x = alt.X("value:Q", scale=look, title=say(TITLES[scale]), axis=alt.Axis(grid=True, tickCount=5))
    tips = {"label": N_("figure"), "text": N_("value")}
    under = [] if neutral is None else [rule(x, neutral, color=palette.ink, strokeDash=[4, 3])]
    size = Look(row=26, size=80, limit=170)
    return dot_rows(shown, x, tips=tips, say=say, look=size, under=under, description=description, palette=palette)


def _written(value: float, low: float, high: float) -> str:
    if value != value:
        return "—"
    return (f"{value:.2f} [{low:.2f}, {high:.2f}]" if low == low else f"{value:.2f}").replace("-", "−")
