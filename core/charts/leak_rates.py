"""Shares of leaking sentences: extremes beside ordinary sentences, for both ends and each."""

from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd

from core.charts.palette import LIGHT, Palette
from core.charts.style import styled
from core.errors import N_

ROW = 44  # pixels: the name above, the mark below
DOWN = 12  # from the middle of a row to its mark
Say = Callable[[str], str]


def _same(text: str) -> str:
    return text


def leak_shares(data: pd.DataFrame, *, description: str, say: Say = _same, palette: Palette = LIGHT) -> Any:
    """A dot with its 95 % interval per row: columns end, toward, stratum, name, share, low, high, leaks, judged.

    Shares are 0 to 1; a row without a share (nothing judged) has its name and no dot. Extremes are filled dots in the
    colour of their end, ordinary sentences hollow ones: the form says it as well as the colour.
    """
    rows = data.reset_index(drop=True).copy()
    for column in ("share", "low", "high"):
        rows[column] = pd.to_numeric(rows[column], errors="coerce").astype(float)  # Altair writes NaN as null
    colours = {"both": palette.ink, "male": palette.male, "female": palette.female}
    rows["colour"] = [colours[str(toward)] for toward in rows["toward"]]
    rows["label"] = [f"{end} · {name}" for end, name in zip(rows["end"], rows["name"], strict=True)]
    rows["count"] = [f"{leaks}/{judged}" for leaks, judged in zip(rows["leaks"], rows["judged"], strict=True)]
    rows["words"] = rows["label"] + "\u2003" + rows["count"]
    rows["row"] = range(len(rows))
    base = alt.Chart(rows, height=alt.Step(ROW)).encode(
        y=alt.Y("row:O", scale=alt.Scale(domain=list(range(len(rows))), padding=0), axis=None),
        tooltip=[
            alt.Tooltip("label:N", title=say(N_("sentences"))),
            alt.Tooltip("count:N", title=say(N_("leaks of judged"))),
            alt.Tooltip("share:Q", title=say(N_("share")), format=".1%"),
        ],
    )
    axis = alt.Axis(format=".0%", tickCount=5, gridDash=[3, 3])
    x = alt.X("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis, title=say(N_("share that leaks")))
    own = alt.Color("colour:N", scale=None)
    lines = base.mark_rule(strokeWidth=3, yOffset=DOWN).encode(x=alt.X("low:Q"), x2="high:Q", color=own)
    known = base.transform_filter("isValid(datum.share)")
    full = known.transform_filter("datum.stratum == 'extreme'").mark_point(
        size=140, filled=True, opacity=1, yOffset=DOWN
    )
    hollow = known.transform_filter("datum.stratum != 'extreme'").mark_point(
        size=140, filled=False, fill=palette.card, strokeWidth=2.5, opacity=1, yOffset=DOWN
    )
    words = base.mark_text(align="left", dy=-9, fontSize=13).encode(x=alt.value(2), text="words:N", color=own)
    layers = [lines, full.encode(x=x, color=own), hollow.encode(x=x, stroke=own), words]
    return styled(alt.layer(*layers), description, palette)
