"""Charts of misgendering: the ways side by side, levels of variation, the Beta plane, the four forms at a slot.

Charts of people against the rule: shares with two errors, the four labels as bars. Data has `group` (a model: a
heading) and `label` (a pronoun set: a row under the heading), in the caller's order without a ranking. No pronoun has a
colour of its own: shapes and words distinguish ways, settings and models.
"""

from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.dots import Look, dot_rows, share_texts, shares_across, stacked
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import LEFT, RIGHT, styled, tooltips
from evenhand.core.errors import N_
from evenhand.core.human_vs_rule.apply_rule import CHOICES, NAMES
from evenhand.core.language import Say, same, share_text

ROW = 34  # pixels per row
APART = 11  # pixels between the ways of a row
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
WAYS = {
    "prob": N_("probability-based"),
    "gen": N_("generation-based, texts with a pronoun"),
    "published": N_("generation-based, as published"),
    "people": N_("people"),
}
LOOKS = {
    "prob": ("neutral", "square"),
    "gen": ("good", "circle"),
    "published": ("soft", "triangle-up"),
    "people": ("ink", "diamond"),
}  # a way has one shape in every chart
LEAST, MOST = 0.02, 50.0  # of the axes of the Beta plane, at least


def ways(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return the share of right verdicts by each way: columns group, label, way (of WAYS), value, low, high, n, reason.

    Shares of 1 from left (always misgendered) to right (never), the line is the 95% interval. A missing value is
    not drawn; the rest of its row is.
    """
    shown = share_texts(data).assign(
        series=[say(WAYS[way]) for way in data["way"]], count=[f"{n:,}" for n in data["n"]]
    )
    series = {say(name): LOOKS[way] for way, name in WAYS.items() if bool((data["way"] == way).any())}
    tips = {
        "group": N_("Model"), "label": N_("Pronouns"), "series": N_("Method used"), "value_text": N_("right"),
        "interval_text": N_("95% interval"), "count": N_("instances"),
    }  # fmt: skip
    x = shares_across(say(N_("share of right verdicts")), domain=False, ticks=False, labelPadding=6, orient="bottom")
    # Lines below each other, not on one another. Offsets of the grammar would count as rows of their own.
    look = Look(row=ROW + 8 * (len(series) > 2), apart=APART)
    return dot_rows(shown, x, tips=tips, say=say, look=look, series=series, description=description, palette=palette)


def levels(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return the shares of instances whose five verdicts are all alike, or of which one or two differ, as bars.

    Columns group, label, level ("0", "0.4", "0.49"), share (of 1), n; three rows a bar.
    """
    parts = {"0": N_("σ = 0: all five alike"), "0.4": N_("σ = 0.4: one differs"), "0.49": N_("σ = 0.49: two differ")}
    names = {level: say(part) for level, part in parts.items()}
    shown = data.assign(
        part=data["level"].map(names),
        share_text=[share_text(share) for share in data["share"]],
        written=[share_text(share) if share >= 0.08 else "" for share in data["share"]],
        count=[f"{n:,}" for n in data["n"]],
    )
    tips = {
        "group": N_("Model"), "label": N_("Pronouns"), "part": "σ", "share_text": N_("share"), "count": N_("instances"),
    }  # fmt: skip
    colours = dict(zip(names.values(), (palette.line, palette.good_fill, palette.good), strict=True))
    return stacked(
        shown, colours, title=say(N_("share of instances")), tips=tips, say=say, row=ROW, dark=[names["0.49"]],
        description=description, palette=palette,
    )  # fmt: skip


def alpha_beta(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Draw the Beta plane: columns group, label, alpha, beta (missing ones are left out), interval, n; log axes.

    Guides at alpha = 1, beta = 1 and alpha = beta. Right of the diagonal agreement is more common; where both are
    below 1 the ways agree or disagree outright.
    """
    shown = data.dropna(subset=["alpha", "beta"]).copy()
    known = pd.concat([shown["alpha"], shown["beta"]])
    low = min(LEAST, float(known.min()) / 1.5) if len(known) else LEAST
    high = max(MOST, float(known.max()) * 1.5) if len(known) else MOST
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(values=[v for v in (0.01, 0.1, 1, 10, 100, 1000) if low <= v <= high], format="~g", grid=False)
    x = alt.X("beta:Q", scale=scale, axis=axis, title="β")
    y = alt.Y("alpha:Q", scale=scale, axis=axis, title="α")
    for name in ("alpha", "beta"):
        shown[f"{name}_text"] = [f"{value:.3f}" for value in shown[name]]
    tips = tooltips({
        "group": N_("Model"), "label": N_("Pronouns"), "alpha_text": "α", "beta_text": "β",
        "interval": N_("95% interval"), "n": N_("instances"),
    }, say, n=",")  # fmt: skip
    groups = list(dict.fromkeys(data["group"]))
    shapes = alt.Scale(domain=groups, range=[SHAPES[n % len(SHAPES)] for n in range(len(groups))])
    legend = alt.Legend(title=None, orient="top", labelLimit=220, columns=1 if len(groups) > 2 else 2)
    base = alt.Chart(shown, height=420).encode(x=x, y=y, tooltip=tips)
    points = base.mark_point(size=110, filled=True, opacity=1, color=palette.good).encode(
        shape=alt.Shape("group:N", scale=shapes, legend=legend)
    )
    names = base.mark_text(align="left", dx=9, dy=-7, fontSize=12, color=palette.ink).encode(text=alt.Text("label:N"))
    guides = _guides(low, high, x, y, say, palette)
    return styled(alt.layer(*guides, points, names), description, palette)


def _guides(low: float, high: float, x: alt.X, y: alt.Y, say: Say, palette: Palette) -> list[Any]:
    def line(*ends: tuple[float, float]) -> Any:
        frame = pd.DataFrame([{"beta": beta, "alpha": alpha} for beta, alpha in ends])
        return alt.Chart(frame).mark_line(color=palette.soft, strokeDash=[5, 4], strokeWidth=1).encode(x=x, y=y)

    texts = [
        alt.Chart(pd.DataFrame([{"beta": beta, "alpha": alpha, "text": say(text)}]))
        .mark_text(align=align, baseline="middle", fontSize=12, color=palette.soft)
        .encode(x=x, y=y, text=alt.Text("text:N"))
        for beta, alpha, align, text in (
            (high * 0.9, low * 1.2, RIGHT, N_("agreement more common")),
            (low * 1.1, high * 0.8, LEFT, N_("disagreement more common")),
        )
    ]
    return [line((low, 1), (high, 1)), line((1, low), (1, high)), line((low, low), (high, high)), *texts]


def slot(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Draw the four forms at one slot as bars, the preferred one marked: columns form, share (of 1), preferred."""
    shown = data.assign(share_text=[share_text(share) for share in data["share"]])
    marked = shown["share_text"] + " · " + say(N_("preferred"))
    shown["text"] = marked.where(shown["preferred"].astype(bool), shown["share_text"])
    # Colours are in the scale, never in the data: a picture replaces colours of the scale by the light theme's.
    fills = alt.Scale(domain=[True, False], range=[palette.good, palette.neutral])
    axis = alt.Axis(title=None, ticks=False, domain=False, labelFontSize=14, labelPadding=8)
    base = alt.Chart(shown, height=alt.Step(38)).encode(
        y=alt.Y("form:N", sort=list(shown["form"]), axis=axis),
        x=alt.X("share:Q", scale=alt.Scale(domain=[0, 1.35]), axis=None),
        tooltip=tooltips({"form": N_("form"), "share_text": N_("share")}, say),
    )
    bars = base.mark_bar(height=20, cornerRadiusEnd=4).encode(color=alt.Color("preferred:N", scale=fills, legend=None))
    words = base.mark_text(align="left", dx=7, fontSize=13, color=palette.ink).encode(text=alt.Text("text:N"))
    return styled(alt.layer(bars, words), description, palette)


SETTING_ROW = 26  # pixels of a row with one point
SETTING_APART = 13  # pixels between the points of a row
SETTING_LOOKS = (
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
    series = {name: SETTING_LOOKS[n % len(SETTING_LOOKS)] for n, name in enumerate(dict.fromkeys(data["series"]))}
    x = shares_across(title, domain=False, ticks=False, labelPadding=6, orient="bottom")
    look = Look(row=SETTING_ROW + SETTING_APART * (len(series) - 1), size=80, apart=SETTING_APART)
    return dot_rows(shown, x, tips=tips, say=say, look=look, series=series, description=description, palette=palette)


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
        "group": N_("Model"), "label": N_("Pronouns"), "part": N_("Label"), "count": N_("Labels"),
        "share_text": N_("Share"),
    }  # fmt: skip
    fills = (palette.good_fill, palette.bad_fill, palette.line, palette.card)
    colours = {say(NAMES[choice]): fill for choice, fill in zip(CHOICES, fills, strict=True)}
    return stacked(
        shown, colours, title=say(N_("share of labels")), tips=tips, say=say, row=SETTING_ROW + 4,
        description=description, palette=palette,
    )  # fmt: skip
