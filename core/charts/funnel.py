"""The funnel of a corpus: sentences after each step, and per keyword pair before and after the filters."""

import math
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import styled
from evenhand.core.errors import N_
from evenhand.core.language import Say, same, significant

STEP = 30  # pixels of a row
BAR = 17
ROW = 26
SMALL = 8  # counts up to about here are drawn in proportion; larger ones by their logarithm

FONT, NARROW = 12, 5.8  # pixels: height of the numbers, width of a digit or letter
WIDE_FROM = 0x2E7F  # the first Chinese character stands behind it
GAP = 8  # pixels between a bar and its numbers
LEAST = 40  # pixels for the bars, even where the numbers then are cut


def funnel(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """A bar per step of *data*: columns `step` (name), `left` (sentences after it, 0 or more), `lost`, `flagged`.

    From top to bottom in the order of the rows. The pale end of a bar is
    what the step took away; flagged sentences are still there. The numbers
    have their room at the right however narrow the chart is.
    """
    words = [_words(row, say) for row in data.to_dict("records")]
    rows = data.assign(before=data["left"] + data["lost"], words=words)
    most = max(1.0, float(rows["before"].max())) if len(rows) else 1.0
    y = alt.Y(
        field="step",
        type="nominal",
        sort=None,
        title=None,
        axis=alt.Axis(ticks=False, domain=False, labelPadding=8, labelColor=palette.ink),
    )
    scale = alt.Scale(domain=[0, most], range=[0, alt.expr(f"max({LEAST}, width - {_width(words)})")], nice=False)
    tips = [
        alt.Tooltip(field="step", type="nominal", title=say(N_("Step"))),
        alt.Tooltip(field="left", type="quantitative", title=say(N_("sentences left")), format=","),
        alt.Tooltip(field="lost", type="quantitative", title=say(N_("removed")), format=","),
        alt.Tooltip(field="flagged", type="quantitative", title=say(N_("flagged")), format=","),
    ]
    base = alt.Chart(rows, height=alt.Step(STEP)).encode(y=y, tooltip=tips)
    taken = base.mark_bar(height=BAR, color=palette.bad_fill, opacity=0.75, cornerRadiusEnd=4).encode(
        x=alt.X(field="before", type="quantitative", scale=scale, axis=None)
    )
    left = base.mark_bar(height=BAR, color=palette.good, cornerRadiusEnd=4).encode(
        x=alt.X(field="left", type="quantitative", scale=scale, axis=None)
    )
    text = base.mark_text(align="left", dx=GAP, fontSize=FONT, color=palette.ink).encode(
        x=alt.X(field="before", type="quantitative", scale=scale, axis=None), text=alt.Text(field="words")
    )
    return styled(alt.layer(taken, left, text), description, palette)


def _words(row: dict[Any, Any], say: Say) -> str:
    left, lost, flagged = int(row["left"]), int(row["lost"]), int(row["flagged"])
    more = []
    if lost:
        share = "" if flagged else f", {significant(100 * lost / (left + lost))}%"  # both are too wide for a telephone
        more.append(f"−{lost:,}{share}")
    if flagged:
        more.append(say(N_("{number} flagged")).format(number=f"{flagged:,}"))
    if not more:
        return f"{left:,}"
    return say(N_("{text} ({more})")).format(text=f"{left:,}", more=say(N_("; ")).join(more))


def _width(words: list[str]) -> int:
    """Pixels that the longest of some texts takes; Chinese characters are as wide as the letters are high."""
    wide = [sum(FONT if ord(character) > WIDE_FROM else NARROW for character in text) for text in words]
    return math.ceil(max(wide, default=0)) + 2 * GAP


def before_after(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """A row per keyword pair of *data*: columns pair, male_before, male_after, female_before, female_after (counts).

    Female word to the left, male word to the right; pale: before the filters,
    solid: after. Lengths grow with log10(1 + count / 8), so that rare and
    common pairs can be seen together; the numbers are written beside.
    """
    rows = pd.DataFrame([row for record in data.to_dict("records") for row in _sides(record, say)])
    y = alt.Y(
        field="pair",
        type="nominal",
        sort=list(data["pair"]),
        title=None,
        axis=alt.Axis(ticks=False, domain=False, labelPadding=8, labelColor=palette.ink),
    )
    reach = max([1.0, *rows["before_length"].abs()]) if len(rows) else 1.0
    room = _width(list(rows["words"]) if len(rows) else [])
    ends = [alt.expr(f"min({room}, width / 2 - {LEAST})"), alt.expr(f"max(width - {room}, width / 2 + {LEAST})")]
    scale = alt.Scale(domain=[-reach, reach], range=ends, nice=False)
    tips = [
        alt.Tooltip(field="pair", type="nominal", title=say(N_("Keyword pair"))),
        alt.Tooltip(field="side", type="nominal", title=say(N_("side"))),
        alt.Tooltip(field="before", type="quantitative", title=say(N_("before the filters")), format=","),
        alt.Tooltip(field="after", type="quantitative", title=say(N_("after the filters")), format=","),
    ]
    base = alt.Chart(rows, height=alt.Step(ROW)).encode(y=y, tooltip=tips)
    layers = []
    for code, colour, fill in (
        ("male", palette.male, palette.male_fill),
        ("female", palette.female, palette.female_fill),
    ):
        own = base.transform_filter(f"datum.code == '{code}'")
        layers += _bars(own, scale, colour, fill, palette, left=code == "female")
    return styled(alt.layer(*layers), description, palette)


def _bars(base: Any, scale: alt.Scale, colour: str, fill: str, palette: Palette, *, left: bool) -> list[Any]:
    def at(field: str) -> alt.X:
        return alt.X(field=field, type="quantitative", scale=scale, axis=None)

    pale = base.mark_bar(height=BAR, color=fill, opacity=0.45, cornerRadiusEnd=4).encode(x=at("before_length"))
    solid = base.mark_bar(height=BAR, color=colour, cornerRadiusEnd=4).encode(x=at("after_length"))
    align = "right" if left else "left"
    text = base.mark_text(align=align, dx=-GAP if left else GAP, fontSize=FONT, color=palette.ink)
    return [pale, solid, text.encode(x=at("before_length"), text=alt.Text(field="words"))]


def _length(count: int) -> float:
    return math.log10(1 + count / SMALL)


def _sides(record: dict[Any, Any], say: Say) -> list[dict[str, Any]]:
    rows = []
    for code, sign, name in (("male", 1, N_("male word")), ("female", -1, N_("female word"))):
        before, after = int(record[f"{code}_before"]), int(record[f"{code}_after"])
        lengths = {"before_length": sign * _length(before), "after_length": sign * _length(after)}
        numbers = {"before": before, "after": after, "words": f"{after:,} / {before:,}"}
        rows.append({"pair": record["pair"], "code": code, "side": say(name), **numbers, **lengths})
    return rows
