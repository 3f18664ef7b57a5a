"""People against the rule: shares with two errors, the four labels as bars.

Data comes with `group` (a model: a heading) and `label` (a pronoun set: a row under it), in the caller's order; there
is no rank. Settings are told apart by shape and place, labels by words; no colour stands for a pronoun.
"""

from typing import Any

import pandas as pd

from evenhand.core.charts.dots import (
    Look,
    dot_rows,
    share_text,
    share_texts,
    shares_across,
)
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.stacked import stacked
from evenhand.core.errors import N_
from evenhand.core.human_vs_rule.schemes import CHOICES, NAMES
from evenhand.core.language import Say, same

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
    """Return how often each of the four labels was given as bars, the number written in each part that has room.

    Columns group, label, choice (a stored label), count; a row per choice.
    """
    total = data.groupby(["group", "label"], sort=False)["count"].transform("sum")
    share = data["count"] / total.where(total > 0)
    shown = data.assign(
        share=share,
        part=[say(NAMES[choice]) for choice in data["choice"]],
        share_text=[share_text(v) for v in share],
        written=[str(n) if part >= 0.06 else "" for n, part in zip(data["count"], share, strict=True)],
    )
    tips = {
        "group": say(N_("Model")), "label": say(N_("Pronouns")), "part": say(N_("Label")), "count": say(N_("Labels")),
        "share_text": say(N_("Share")),
    }  # fmt: skip
    fills = (palette.good_fill, palette.bad_fill, palette.line, palette.card)
    colours = {say(NAMES[choice]): fill for choice, fill in zip(CHOICES, fills, strict=True)}
    look: dict[str, Any] = {"row": ROW + 4, "description": description, "palette": palette}
    return stacked(shown, colours, title=say(N_("share of labels")), tips=tips, **look)
