"""Loss over the steps of a training run: on what is trained on, and on text that stays untouched."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.lines import lines
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.errors import N_
from evenhand.core.language import Say, same

MOST_TICKS = 8  # a tick a look at held-out text, where there are no more
KINDS = {"loss": N_("training"), "held_out_loss": N_("held-out text")}


def loss_curve(points: Sequence[dict[str, Any]], *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """*points* with `step`, `loss`, `held_out_loss` (-ln p of a token) as two lines, told apart by dashes too."""
    rows = [
        {"step": point["step"], "value": point[kind], "kind": say(name)}
        for kind, name in KINDS.items()
        for point in points
        if point.get(kind) is not None
    ]
    looks = sorted({int(point["step"]) for point in points})
    ticks: dict[str, Any] = {"values": looks}
    if len(looks) > MOST_TICKS:
        ticks = {"tickMinStep": 1, "tickCount": MOST_TICKS}
    x = alt.X("step:Q", title=say(N_("step")), axis=alt.Axis(grid=False, labelOverlap=True, format=",d", **ticks))
    y = alt.Y("value:Q", title=say(N_("loss (−ln p of a token)")), scale=alt.Scale(zero=False))
    tips = [
        alt.Tooltip("kind:N", title=" "),
        alt.Tooltip("step:Q", title=say(N_("step"))),
        alt.Tooltip("value:Q", format=".4f", title=say(N_("loss (−ln p of a token)"))),
    ]
    data = pd.DataFrame(rows, columns=["step", "value", "kind"])
    look: dict[str, Any] = {"height": 240, "columns": 2, "dots": True}
    return lines(data, x, y, "kind", tips=tips, description=description, palette=palette, **look)
