"""Topic words of two sides, back to back: the words of the female side to the left, of the male side to the right.

The length of a bar is the word's weight within its own side; the number beside it is what the caller says.
"""

from typing import Any, Literal

import altair as alt
import pandas as pd

from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import styled
from evenhand.core.errors import N_
from evenhand.core.language import Say, same, significant

ROW = 36
Align = Literal["left", "right"]
ENDS: tuple[tuple[str, Align], ...] = (("male", "left"), ("female", "right"))


def word_sides(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Bars of *data*: columns side (male, female), word, weight (> 0), tip; best first within a side."""
    shown = data.copy()
    shown["place"] = shown.groupby("side", sort=False).cumcount()
    most = shown.groupby("side")["weight"].transform("max").where(lambda m: m > 0, 1.0)
    sign = shown["side"].map({"male": 1, "female": -1}).astype(float)
    shown["end"] = sign * (0.04 + 0.96 * shown["weight"] / most)
    shown["zero"] = 0.0
    shown["text_at"] = 0.03 * sign
    shown["weight_text"] = [significant(weight, 4) for weight in shown["weight"]]
    rows = int(shown["place"].max()) + 1 if len(shown) else 1
    y = alt.Y("place:O", scale=alt.Scale(domain=list(range(-1, rows)), padding=0.16), axis=None)
    x = alt.X("end:Q", scale=alt.Scale(domain=[-1.04, 1.04], nice=False), axis=None)
    tips = [
        alt.Tooltip("word:N", title=say(N_("Word"))),
        alt.Tooltip("weight_text:N", title=say(N_("Weight"))),
        alt.Tooltip("tip:N", title=say(N_("Contrast with the other side"))),
    ]
    base = alt.Chart(shown, height=alt.Step(ROW)).encode(y=y, tooltip=tips)
    fills = alt.Scale(domain=["male", "female"], range=[palette.male_fill, palette.female_fill])
    bars = base.mark_bar(cornerRadius=5).encode(
        x=x, x2=alt.X2("zero:Q"), color=alt.Color("side:N", scale=fills, legend=None)
    )
    layers = [bars]
    for side, align in ENDS:
        if bool((shown["side"] == side).any()):
            some = base.transform_filter(f"datum.side == '{side}'")
            text = some.mark_text(align=align, fontSize=14, fontWeight="bold", color=palette.ink)
            layers.append(text.encode(x=alt.X("text_at:Q"), text=alt.Text("word:N")))
    layers += _heads(y, say, palette)
    return styled(alt.layer(*layers), description, palette)


def _heads(y: alt.Y, say: Say, palette: Palette) -> list[Any]:
    heads: tuple[tuple[str, Align, float, str], ...] = (
        ("◀ " + say(N_("female word")), "right", -0.03, palette.female),
        (say(N_("male word")) + " ▶", "left", 0.03, palette.male),
    )
    return [
        alt.Chart(pd.DataFrame([{"place": -1, "text": text, "end": at}]))
        .mark_text(align=align, fontSize=13, fontWeight="bold", color=colour)
        .encode(x=alt.X("end:Q"), y=y, text=alt.Text("text:N"))
        for text, align, at, colour in heads
    ]


def words_say(data: pd.DataFrame, *, say: Say = same) -> str:
    """What `word_sides` shows: the words of both sides, best first."""
    words = {side: "、".join(data.loc[data["side"] == side, "word"]) or "—" for side in ("male", "female")}
    text = N_(
        "Topic words of sentences that lean obviously towards the female word: {female}. Towards the male word: {male}."
    )
    return say(text).format(**words)
