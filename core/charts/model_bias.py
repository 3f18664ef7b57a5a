"""Bias_man and Bias_woman of several models, back to back, with intervals and a paper's values (Table 4).

The axis is log10: the male word's side runs to the right, the female word's to the left; both are at least 0 by
definition (SPEC 1.7). Rows keep the order in which they come: there is no rank.
"""

from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.bias_distribution import SIGNED_LABEL
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import palette_scale, styled
from evenhand.core.errors import N_
from evenhand.core.language import Say, one_after_another, same

ROW = 66  # pixels per model: its name above, its two bars below
LEAST = 0.5  # log10; the axis is never shorter
ROOM = 1.32  # of the longest bar: for the numbers at its end

Row = dict[str, Any]


def sides(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """A row per model of *data*: columns model, note, reference and, for man and woman each, value, low, high, paper.

    `man`, `woman` (log10, >= 0, or missing), `man_low`, `man_high`, `woman_low`, `woman_high` (the 95% interval or
    missing), `man_paper`, `woman_paper` (log10, a hollow diamond, or missing); `reference` marks the untrained model,
    whose bars are grey.
    """
    rows = [row for number, one in enumerate(data.to_dict("records")) for row in _sides(number, one, say)]
    shown = pd.DataFrame(rows, columns=COLUMNS)
    reach = max([LEAST, *(abs(v) for name in ("end", "far", "paper") for v in shown[name].dropna())]) * ROOM
    y = alt.Y("model_row:O", scale=alt.Scale(domain=list(range(len(data))), padding=0), axis=None)
    x = _axis(reach, say)
    tips = [alt.Tooltip(f"{name}:N", title=say(title)) for name, title in TIPS.items()]
    base = alt.Chart(shown, height=alt.Step(ROW)).encode(y=y, tooltip=tips)
    own = alt.Color("colour:N", scale=palette_scale(palette), legend=None)
    bars = base.transform_filter("isValid(datum.end)").mark_bar(size=18, yOffset=11)
    spans = base.transform_filter("isValid(datum.near)").encode(x=alt.X("near:Q"), x2=alt.X2("far:Q"))
    papers = base.transform_filter("isValid(datum.paper)").encode(x=alt.X("paper:Q"))
    diamond: dict[str, Any] = {"shape": "diamond", "fill": palette.card, "stroke": palette.ink, "strokeWidth": 2.2}
    names = alt.Chart(_names(data)).encode(x=alt.value(0), y=y, text=alt.Text("label:N"))
    text: dict[str, Any] = {"align": "left", "dy": -13, "fontSize": 13, "fontWeight": "bold"}
    zero = alt.Chart(pd.DataFrame([{"end": 0.0}])).mark_rule(color=palette.soft, strokeWidth=1.5)
    layers = [
        bars.encode(x=x, x2=alt.X2("zero:Q"), color=own),
        *(
            spans.mark_rule(strokeWidth=width, color=ink, yOffset=11)
            for width, ink in ((5, palette.paper), (2, palette.ink))
        ),
        papers.mark_point(size=120, opacity=1, yOffset=11, **diamond),
        *_numbers(base, shown, own),
        zero.encode(x=x),
        names.mark_text(stroke=palette.paper, strokeWidth=5, strokeJoin="round", **text),
        names.mark_text(color=palette.ink, **text),
    ]
    return styled(alt.layer(*layers), description, palette)


COLUMNS = [
    *("model", "model_row", "side", "zero", "end", "near", "far", "paper", "colour", "text", "text_at", "left"),
    *("value_text", "interval_text", "paper_text"),
]
TIPS = {
    "model": N_("Model"),
    "side": N_("Side"),
    "value_text": N_("Mean bias of this side (log10)"),
    "interval_text": N_("95% interval"),
    "paper_text": N_("Table 4 of the paper, converted from ln (log10)"),
}
SIDES = (("man", 1, N_("male word")), ("woman", -1, N_("female word")))


def _sides(number: int, one: Row, say: Say) -> list[Row]:
    rows = []
    for name, sign, words in SIDES:
        value, low, high = (_number(one.get(key)) for key in (name, f"{name}_low", f"{name}_high"))
        paper = _number(one.get(f"{name}_paper"))
        whole = low is not None and high is not None
        ends = [at for at in (value, high if whole else None, paper) if at is not None]
        colour = "neutral" if one.get("reference") else "male" if sign > 0 else "female"
        rows.append(
            {
                "model": one["model"],
                "model_row": number,
                "side": say(words),
                "zero": 0.0,
                "end": None if value is None else sign * value,
                "near": sign * low if whole and low is not None else None,
                "far": sign * high if whole and high is not None else None,
                "paper": None if paper is None else sign * paper,
                "colour": colour,
                "text": "—" if value is None else f"{value:.3f}",
                "text_at": sign * max(ends, default=0.0),
                "left": sign < 0,
                "value_text": "—" if value is None else f"{value:.4f}",
                "interval_text": f"{low:.4f} – {high:.4f}" if whole else "—",
                "paper_text": "—" if paper is None else f"{paper:.4f}",
            }
        )
    return rows


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def _axis(reach: float, say: Say) -> alt.X:
    gap = "\u2003·\u2003"
    title = "◀ " + say(N_("female word")) + f"{gap}log10{gap}" + say(N_("male word")) + " ▶"
    axis = alt.Axis(
        labelExpr=SIGNED_LABEL, tickCount=7, grid=True, gridDash=[4, 4], domain=False, ticks=False, labelPadding=6
    )
    return alt.X("end:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis, title=title)


def _names(data: pd.DataFrame) -> pd.DataFrame:
    notes = data["note"] if "note" in data.columns else [""] * len(data)
    labels = [f"{model}  {note}".strip() for model, note in zip(data["model"], notes, strict=True)]
    return pd.DataFrame({"model_row": range(len(data)), "label": labels})


def _numbers(base: Any, shown: pd.DataFrame, own: Any) -> list[Any]:
    layers = []
    for left in (True, False):
        if bool((shown["left"] == left).any()):
            some = base.transform_filter(f"datum.left == {str(left).lower()}")
            align, gap = ("right", -10) if left else ("left", 10)
            text = some.mark_text(align=align, dx=gap, dy=12, fontSize=13, fontWeight="bold")
            layers.append(text.encode(x=alt.X("text_at:Q"), text=alt.Text("text:N"), color=own))
    return layers


def sides_says(data: pd.DataFrame, *, say: Say = same) -> str:
    """What the chart shows: per model both sides in log10, and in how far the two differ."""
    text = N_("{model}: {man} towards the male word, {woman} towards the female word (log10).")
    dash = "—"
    parts = []
    for one in data.to_dict("records"):
        man, woman = _number(one.get("man")), _number(one.get("woman"))
        values = {
            "man": dash if man is None else f"{man:.3f}",
            "woman": dash if woman is None else f"{woman:.3f}",
        }
        parts.append(say(text).format(model=one["model"], **values))
    return one_after_another(parts)
