"""People against the rule: shares with two errors, the four labels as bars.

Data comes with `group` (a model: a heading) and `label` (a pronoun set: a row under it), in the caller's order; there
is no rank. Settings are told apart by shape and place, labels by words; no colour stands for a pronoun.
"""

from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.bias_distribution import Say, same
from evenhand.core.charts.dots import (
    Look,
    dot_rows,
    grouped_rows,
    headings,
    share_text,
    share_texts,
    shares_across,
)
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import styled
from evenhand.core.errors import N_
from evenhand.core.human_vs_rule.schemes import CHOICES, NAMES

ROW = 26  # pixels of a row with one point
APART = 13  # pixels between the points of a row
LOOKS = (
    ("ink", "circle"), ("good", "square"), ("neutral", "triangle-up"), ("bad", "diamond"), ("soft", "cross"),
)  # fmt: skip


def shares(data: pd.DataFrame, *, title: str, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return shares with their intervals over contexts and, thick and pale, plus or minus the published error.

    Columns group, label, series (a setting), value, low, high, se, published, n. A missing value is not drawn; the
    rest of its row is. Shares of 1 from left to right.
    """
    shown = share_texts(data).assign(
        se_text=[share_text(v) for v in data["se"]],
        published_text=[share_text(v) for v in data["published"]],
        band_low=(data["value"] - data["published"]).clip(lower=0.0),
        band_high=(data["value"] + data["published"]).clip(upper=1.0),
    )
    tips = {
        "group": N_("Model"), "label": N_("Pronouns"), "series": N_("Setting"), "value_text": N_("Share"),
        "interval_text": N_("95% interval"), "se_text": N_("Standard error over contexts"),
        "published_text": N_("Published standard error"), "n": N_("Generations"),
    }  # fmt: skip
    series = {name: LOOKS[n % len(LOOKS)] for n, name in enumerate(dict.fromkeys(data["series"]))}
    x = shares_across(title, domain=False, ticks=False, labelPadding=6, orient="bottom")
    look = Look(row=ROW + APART * (len(series) - 1), size=80, apart=APART)
    names = {field: say(name) for field, name in tips.items()}
    return dot_rows(shown, x, tips=names, look=look, series=series, description=description, palette=palette)


def counted(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """How often each of the four labels was given: stacked bars, the number written in each part that has room.

    Columns group, label, choice (a stored label), count; a row per choice.
    """
    shown, heads, y = grouped_rows(data)
    order = {choice: i for i, choice in enumerate(CHOICES)}
    shown = shown.assign(_order=shown["choice"].map(order)).sort_values(["place", "_order"], kind="stable")
    total = shown.groupby("place", sort=False)["count"].transform("sum")
    share = shown["count"] / total.where(total > 0)
    end = share.groupby(shown["place"], sort=False).cumsum()
    shown = shown.assign(
        share=share, start=end - share, end=end, middle=end - share / 2, total=total,
        choice_text=[say(NAMES[choice]) for choice in shown["choice"]],
        share_text=[share_text(v) for v in share],
        written=[str(n) if part >= 0.06 else "" for n, part in zip(shown["count"], share, strict=True)],
    ).drop(columns="_order")  # fmt: skip
    names = [say(NAMES[choice]) for choice in CHOICES]
    fills = [palette.good_fill, palette.bad_fill, palette.line, palette.card]
    tips = [
        alt.Tooltip("group:N", title=say(N_("Model"))),
        alt.Tooltip("label:N", title=say(N_("Pronouns"))),
        alt.Tooltip("choice_text:N", title=say(N_("Label"))),
        alt.Tooltip("count:Q", title=say(N_("Labels"))),
        alt.Tooltip("share_text:N", title=say(N_("Share"))),
    ]
    base = alt.Chart(shown, height=alt.Step(ROW + 4)).encode(y=y, tooltip=tips)
    legend = alt.Legend(title=None, orient="top", columns=2, symbolType="square", symbolStrokeWidth=1)
    bars = base.mark_bar(height=20, stroke=palette.soft, strokeWidth=0.6).encode(
        x=shares_across(
            say(N_("share of labels")), "start", domain=False, ticks=False, labelPadding=6, orient="bottom"
        ),
        x2=alt.X2("end:Q"),
        color=alt.Color("choice_text:N", scale=alt.Scale(domain=names, range=fills), legend=legend),
    )
    words = base.mark_text(fontSize=12, color=palette.ink).encode(x=alt.X("middle:Q"), text=alt.Text("written:N"))
    return styled(alt.layer(headings(heads, y, palette), bars, words), description, palette)
