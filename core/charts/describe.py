"""Charts of the statistics of a set: words before and after, balance of pairs, lengths, characters, sources."""

import math
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import palette_scale, styled
from evenhand.core.errors import N_
from evenhand.core.language import Say, same

ROW, BAR = 24, 15  # pixels of a word
PAIR = 34  # pixels of a pair
FONT, DIGIT = 12, 6.2  # pixels: height of numbers, width of a digit
GAP = 8
LEAST = 40  # pixels for the bars, however narrow the chart
MOST_BARS = 60  # of a histogram
TALL = 220


def before_after_points(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """A row per word of *data*: columns pair, word, side (male, female, ""), before (or None), after, share, low, high.

    Bars are counts, all on one linear scale: pale before, solid after. The points to the right are `share` (0 to 1, of
    what was decided), with its 95% interval, and not joined, because words have no order; they are left out where no
    word has a share.
    """
    rows = data.assign(
        name=_unlike(data),
        tall=data[["before", "after"]].max(axis=1).fillna(0),
        words=[_counts(row) for row in data.to_dict("records")],
        colour=[side or "neutral" for side in data["side"]],
        pale=[f"{side}_fill" if side else "line" for side in data["side"]],
        side_name=[say(SIDES[side]) if side in SIDES else "" for side in data["side"]],
    )
    lined = bool(rows["share"].notna().any())
    room = math.ceil(max((DIGIT * len(text) for text in rows["words"]), default=0)) + 2 * GAP
    right = "max(76, 0.24 * width)" if lined else "0"
    bars = f"max({LEAST}, width - {room} - {right})"
    scale = alt.Scale(domain=[0, max(1.0, float(rows["tall"].max()))], range=[0, alt.expr(bars)], nice=False)
    y = _rows_down("name", list(rows["name"]), palette)
    base = alt.Chart(rows, height=alt.Step(ROW)).encode(y=y, tooltip=_word_tips(say))
    x = {name: alt.X(field=name, type="quantitative", scale=scale, axis=None) for name in ("before", "after", "tall")}
    layers = [
        base.transform_filter("isValid(datum.before)")
        .mark_bar(height=BAR, opacity=0.5, cornerRadiusEnd=3)
        .encode(x=x["before"], color=_named("pale", palette)),
        base.mark_bar(height=BAR, cornerRadiusEnd=3).encode(x=x["after"], color=_named("colour", palette)),
        base.mark_text(align="left", dx=GAP, fontSize=FONT, color=palette.ink).encode(
            x=x["tall"], text=alt.Text(field="words", type="nominal")
        ),
    ]
    if lined:
        layers += _points(base, f"{bars} + {room}", palette)
    chart = alt.layer(*layers).resolve_scale(x="independent")
    return styled(chart, description, palette)


SIDES = {"male": N_("male word"), "female": N_("female word")}


def _word_tips(say: Say) -> list[alt.Tooltip]:
    titles = {
        "word": N_("Word"),
        "side_name": N_("Side"),
        "words": N_("Kept / candidates"),
        "share_text": N_("Share kept of decided"),
    }
    return [alt.Tooltip(field=name, type="nominal", title=say(title)) for name, title in titles.items()]


def _counts(row: dict[Any, Any]) -> str:
    after, before = int(row["after"]), row["before"]
    return f"{after:,}" if pd.isna(before) else f"{after:,} / {int(before):,}"


def _named(field: str, palette: Palette) -> alt.Color:
    return alt.Color(field=field, type="nominal", scale=palette_scale(palette), legend=None)


def _unlike(data: pd.DataFrame) -> list[str]:
    """Names of the rows: the words; a word of two pairs with its pair."""
    twice = data["word"].duplicated(keep=False)
    named = zip(data["word"], data["pair"], twice, strict=True)
    return [f"{word} ({pair})" if again else str(word) for word, pair, again in named]


def _rows_down(field: str, order: list[str], palette: Palette, size: int = 13) -> alt.Y:
    look: dict[str, Any] = {"labelColor": palette.ink, "labelFontSize": size, "labelPadding": 8, "labelLimit": 180}
    axis = alt.Axis(ticks=False, domain=False, labelOverlap=False, **look)
    return alt.Y(field=field, type="nominal", title=None, sort=order, axis=axis)


def _points(base: Any, start: str, palette: Palette) -> list[Any]:
    """Return the share of each word as a point with its interval, in a strip with 0, 50 and 100%."""
    scale = alt.Scale(domain=[0, 1], range=[alt.expr(start), alt.expr("width - 20")], nice=False)
    axis = alt.Axis(
        orient="top", values=[0, 0.5, 1], labelExpr="datum.value * 100 + '%'", grid=True, gridDash=[3, 3],
        domain=False, ticks=False, title=None, labelPadding=2,
    )  # fmt: skip
    known = base.transform_filter("isValid(datum.share)")

    def at(name: str) -> alt.X:
        return alt.X(field=name, type="quantitative", scale=scale, axis=axis)

    return [
        known.mark_rule(color=palette.soft, strokeWidth=2, opacity=0.7).encode(x=at("low"), x2=alt.X2(field="high")),
        known.mark_point(filled=True, size=42, opacity=1, stroke=palette.ink).encode(
            x=at("share"), color=_named("colour", palette)
        ),
    ]


def pair_balance(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """A row per pair of *data*: columns pair, male, female (counts), share (male of both), low, high, p_holm.

    Purple from the left is the male word, orange the female one; the upright line is 1:1, the dark bar the 95%
    interval of the share. Both counts are written in the bars.
    """
    rows = data.assign(
        zero=0.0,
        one=1.0,
        male_text=[f"{n:,}" for n in data["male"]],
        female_text=[f"{n:,}" for n in data["female"]],
    )
    scale = alt.Scale(domain=[0, 1], nice=False)
    y = _rows_down("pair", list(data["pair"]), palette)
    titles = {
        "pair": N_("Keyword pair"),
        "male_text": N_("male word"),
        "female_text": N_("female word"),
        "share_text": N_("Share of the male word"),
        "p_text": N_("p against 1:1 (Holm)"),
    }
    tips = [alt.Tooltip(field=name, type="nominal", title=say(title)) for name, title in titles.items()]
    base = alt.Chart(rows, height=alt.Step(PAIR)).encode(y=y, tooltip=tips)
    axis = alt.Axis(
        values=[0, 0.25, 0.5, 0.75, 1], labelExpr="datum.value * 100 + '%'", grid=False, domain=False, ticks=False
    )
    title = say(N_("share of the male word"))

    def at(name: str) -> alt.X:
        return alt.X(field=name, type="quantitative", scale=scale, axis=axis, title=title)

    known = base.transform_filter("isValid(datum.share)")
    half = alt.Chart(pd.DataFrame([{"half": 0.5}])).mark_rule(color=palette.ink, strokeDash=[4, 3], strokeWidth=1.5)
    text: dict[str, Any] = {"fontSize": FONT, "color": palette.ink}
    layers = [
        known.mark_bar(height=18, color=palette.male_fill).encode(x=at("zero"), x2=alt.X2(field="share")),
        known.mark_bar(height=18, color=palette.female_fill).encode(x=at("share"), x2=alt.X2(field="one")),
        half.encode(x=alt.X(field="half", type="quantitative", scale=scale, axis=axis, title=title)),
        known.mark_rule(color=palette.ink, strokeWidth=3).encode(x=at("low"), x2=alt.X2(field="high")),
        base.mark_text(align="left", dx=6, **text).encode(x=at("zero"), text=alt.Text(field="male_text")),
        base.mark_text(align="right", dx=-6, **text).encode(x=at("one"), text=alt.Text(field="female_text")),
    ]
    return styled(alt.layer(*layers), description, palette)


def length_bars(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """How many texts have which length: columns length and texts; more than 60 lengths are put together in equal steps.

    The first length of a step stands for it.
    """
    rows = binned(data)
    x = alt.X(
        field="length", type="quantitative", title=say(N_("characters")),
        axis=alt.Axis(grid=False, tickMinStep=1), scale=alt.Scale(nice=False, zero=False, padding=8),
    )  # fmt: skip
    tips = [
        alt.Tooltip(field="span", type="nominal", title=say(N_("Characters"))),
        alt.Tooltip(field="texts", type="quantitative", title=say(N_("Texts")), format=","),
    ]
    rows = rows.assign(span=[_span(row) for row in rows.to_dict("records")], zero=0)
    drawn = alt.Chart(rows).mark_rect(color=palette.neutral, stroke=palette.paper, strokeWidth=0.5)
    y = alt.Y(field="texts", type="quantitative", title=None, axis=alt.Axis(tickCount=5))
    return styled(
        drawn.encode(x=x, x2=alt.X2(field="to"), y=y, y2=alt.Y2(field="zero"), tooltip=tips).properties(height=TALL),
        description,
        palette,
    )


def binned(data: pd.DataFrame) -> pd.DataFrame:
    """Columns length (first of the step), to (first of the next), texts."""
    if not len(data):
        return pd.DataFrame({"length": [], "to": [], "texts": []})
    least, most = int(data["length"].min()), int(data["length"].max())
    step = max(1, math.ceil((most - least + 1) / MOST_BARS))
    first = (data["length"] - least) // step * step + least
    rows = data.groupby(first)["texts"].sum().reset_index()
    rows.columns = pd.Index(["length", "texts"])
    return rows.assign(to=rows["length"] + step)


def _span(row: dict[Any, Any]) -> str:
    first, last = int(row["length"]), int(row["to"]) - 1
    return str(first) if first == last else f"{first}–{last}"


def bars(
    data: pd.DataFrame, *, description: str, titles: dict[str, str], palette: Palette = LIGHT, size: int = 13
) -> Any:
    """A bar per row of *data*: columns name, count; `titles`: what both are called. `size`: of the names, in pixels."""
    rows = data.assign(text=[f"{count:,}" for count in data["count"]])
    room = math.ceil(max((DIGIT * len(text) for text in rows["text"]), default=0)) + 2 * GAP
    most = max(1.0, float(rows["count"].max())) if len(rows) else 1.0
    scale = alt.Scale(domain=[0, most], range=[0, alt.expr(f"max({LEAST}, width - {room})")], nice=False)
    y = _rows_down("name", list(rows["name"]), palette, size)
    tips = [
        alt.Tooltip(field="name", type="nominal", title=titles["name"]),
        alt.Tooltip(field="text", type="nominal", title=titles["count"]),
    ]
    base = alt.Chart(rows, height=alt.Step(ROW + 4)).encode(
        y=y, tooltip=tips, x=alt.X(field="count", type="quantitative", scale=scale, axis=None)
    )
    drawn = base.mark_bar(height=BAR + 1, color=palette.neutral, cornerRadiusEnd=3)
    words = base.mark_text(align="left", dx=GAP, fontSize=FONT, color=palette.ink)
    return styled(alt.layer(drawn, words.encode(text=alt.Text(field="text"))), description, palette)
