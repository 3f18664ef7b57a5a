"""Charts of counts: words of a set before and after, balance of pairs, lengths, characters, sources; the funnel of a
corpus, sentences after each step and per keyword pair before and after the filters."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import LEFT, RIGHT, palette_scale, styled, tooltips
from evenhand.core.errors import N_
from evenhand.core.language import Say, same, share_text

ROW, BAR = 24, 15  # pixels of a word
PAIR = 34  # pixels of a pair
FONT, DIGIT = 12, 6.2  # pixels: height of numbers, width of a digit
GAP = 8
LEAST = 40  # pixels for the bars, also in a narrow chart
MOST_BARS = 60  # of a histogram
TALL = 220


def before_after_points(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Draw a row for each word of *data*.

    Columns: pair, word, side (male, female, ""), before (or None), after, share, low, high.

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
    room = _room(rows["words"])
    right = "max(76, 0.24 * width)" if lined else "0"
    bars = f"max({LEAST}, width - {room} - {right})"
    scale = alt.Scale(domain=[0, max(1.0, float(rows["tall"].max()))], range=[0, alt.expr(bars)], nice=False)
    y = _rows_down("name", list(rows["name"]), palette)
    titles = {
        "word": N_("Word"), "side_name": N_("Side"), "words": N_("Accepted / candidates"),
        "share_text": N_("Acceptance rate of decided"),
    }  # fmt: skip
    base = alt.Chart(rows, height=alt.Step(ROW)).encode(y=y, tooltip=tooltips(titles, say))
    known = base.transform_filter("isValid(datum.before)").mark_bar(height=BAR, opacity=0.5, cornerRadiusEnd=3)
    layers = [
        known.encode(x=_across("before", scale), color=_named("pale", palette)),
        base.mark_bar(height=BAR, cornerRadiusEnd=3).encode(x=_across("after", scale), color=_named("colour", palette)),
        _numbers(base, "words", palette).encode(x=_across("tall", scale)),
    ]
    if lined:
        layers += _points(base, f"{bars} + {room}", palette)
    chart = alt.layer(*layers).resolve_scale(x="independent")
    return styled(chart, description, palette)


SIDES = {"male": N_("male word"), "female": N_("female word")}


def _across(field: str, scale: alt.Scale, axis: alt.Axis | None = None, title: str | None = None) -> alt.X:
    return alt.X(field=field, type="quantitative", scale=scale, axis=axis, title=title)


def _numbers(base: Any, field: str, palette: Palette, *, left: bool = False) -> Any:
    """Return the texts after the bars, or before bars that run to the left."""
    text = base.mark_text(align=RIGHT if left else LEFT, dx=-GAP if left else GAP, fontSize=FONT, color=palette.ink)
    return text.encode(text=alt.Text(field=field))


def _room(texts: Iterable[str]) -> int:
    """Return the pixels that the longest of some texts takes; Chinese characters are as wide as high."""
    wide = [sum(FONT if ord(character) > WIDE_FROM else DIGIT for character in text) for text in texts]
    return math.ceil(max(wide, default=0)) + 2 * GAP


def _counts(row: dict[Any, Any]) -> str:
    after, before = int(row["after"]), row["before"]
    return f"{after:,}" if pd.isna(before) else f"{after:,} / {int(before):,}"


def _named(field: str, palette: Palette) -> alt.Color:
    return alt.Color(field=field, type="nominal", scale=palette_scale(palette), legend=None)


def _unlike(data: pd.DataFrame) -> list[str]:
    """Return the names of the rows: the words; a word of two pairs is followed by its pair."""
    twice = data["word"].duplicated(keep=False)
    named = zip(data["word"], data["pair"], twice, strict=True)
    return [f"{word} ({pair})" if again else str(word) for word, pair, again in named]


def _rows_down(field: str, order: list[str], palette: Palette, size: int = 13, limit: int = 180) -> alt.Y:
    axis = alt.Axis(
        ticks=False, domain=False, labelOverlap=False, labelColor=palette.ink, labelFontSize=size, labelPadding=8,
        labelLimit=limit,
    )  # fmt: skip
    return alt.Y(field=field, type="nominal", title=None, sort=order, axis=axis)


def _points(base: Any, start: str, palette: Palette) -> list[Any]:
    """Return the share of each word as a point with its interval, in a strip with 0, 50 and 100%."""
    scale = alt.Scale(domain=[0, 1], range=[alt.expr(start), alt.expr("width - 20")], nice=False)
    axis = alt.Axis(
        orient="top", values=[0, 0.5, 1], labelExpr="datum.value * 100 + '%'", grid=True, gridDash=[3, 3],
        domain=False, ticks=False, title=None, labelPadding=2,
    )  # fmt: skip
    known = base.transform_filter("isValid(datum.share)")
    lines = known.mark_rule(color=palette.soft, strokeWidth=2, opacity=0.7)
    points = known.mark_point(filled=True, size=42, opacity=1, stroke=palette.ink)
    return [
        lines.encode(x=_across("low", scale, axis), x2=alt.X2(field="high")),
        points.encode(x=_across("share", scale, axis), color=_named("colour", palette)),
    ]


def pair_balance(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Draw a row for each pair of *data*: columns pair, male, female (counts), share (male of both), low, high, p_holm.

    Purple from the left is the male word, orange the female one; the upright line is 1:1, the dark bar the 95%
    interval of the share. Both counts are written outside the bars.
    """
    rows = data.assign(
        zero=0.0,
        one=1.0,
        male_text=[f"{n:,}" for n in data["male"]],
        female_text=[f"{n:,}" for n in data["female"]],
    )
    ends = [alt.expr(str(_room(rows["male_text"]))), alt.expr(f"width - {_room(rows['female_text'])}")]
    scale = alt.Scale(domain=[0, 1], range=ends, nice=False)
    y = _rows_down("pair", list(data["pair"]), palette)
    titles = {
        "pair": N_("Keyword pair"), "male_text": N_("male word"), "female_text": N_("female word"),
        "share_text": N_("Share of the male word"), "p_text": N_("p against 1:1 (Holm)"),
    }  # fmt: skip
    base = alt.Chart(rows, height=alt.Step(PAIR)).encode(y=y, tooltip=tooltips(titles, say))
    axis = alt.Axis(
        values=[0, 0.25, 0.5, 0.75, 1], labelExpr="datum.value * 100 + '%'", grid=False, domain=False, ticks=False
    )
    title = say(N_("share of the male word"))
    zero, one, low, share = (_across(name, scale, axis, title) for name in ("zero", "one", "low", "share"))
    known = base.transform_filter("isValid(datum.share)")
    half = alt.Chart(pd.DataFrame([{"half": 0.5}])).mark_rule(color=palette.ink, strokeDash=[4, 3], strokeWidth=1.5)
    male = base.mark_text(align="right", dx=-6, fontSize=FONT, color=palette.ink)
    female = base.mark_text(align="left", dx=6, fontSize=FONT, color=palette.ink)
    layers = [
        known.mark_bar(height=18, color=palette.male_fill).encode(x=zero, x2=alt.X2(field="share")),
        known.mark_bar(height=18, color=palette.female_fill).encode(x=share, x2=alt.X2(field="one")),
        half.encode(x=_across("half", scale, axis, title)),
        known.mark_rule(color=palette.ink, strokeWidth=1.5).encode(x=low, x2=alt.X2(field="high")),
        *(
            known.mark_tick(color=palette.ink, size=9, thickness=1.5).encode(x=_across(end, scale, axis, title))
            for end in ("low", "high")
        ),
        male.encode(x=zero, text=alt.Text(field="male_text")),
        female.encode(x=one, text=alt.Text(field="female_text")),
    ]
    return styled(alt.layer(*layers), description, palette)


def length_bars(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return a histogram of the lengths of texts. Columns of *data*: length, texts.

    More than 60 lengths are joined into equal steps; a step has its first length.
    """
    rows = binned(data)
    x = alt.X(
        field="length", type="quantitative", title=say(N_("characters")),
        axis=alt.Axis(grid=False, tickMinStep=1), scale=alt.Scale(nice=False, zero=False, padding=8),
    )  # fmt: skip
    tips = tooltips({"span": N_("Characters"), "texts": N_("Texts")}, say, texts=",")
    ends = zip(rows["length"], rows["to"] - 1, strict=True)
    spans = [str(int(first)) if first == last else f"{int(first)}–{int(last)}" for first, last in ends]
    rows = rows.assign(span=spans, zero=0)
    drawn = alt.Chart(rows).mark_rect(color=palette.neutral, stroke=palette.paper, strokeWidth=0.5)
    y = alt.Y(field="texts", type="quantitative", title=None, axis=alt.Axis(tickCount=5))
    drawn = drawn.encode(x=x, x2=alt.X2(field="to"), y=y, y2=alt.Y2(field="zero"), tooltip=tips)
    return styled(drawn.properties(height=TALL), description, palette)


def binned(data: pd.DataFrame) -> pd.DataFrame:
    """Count texts by length: columns length (first of the step), to (first of the next), texts."""
    if not len(data):
        return pd.DataFrame({"length": [], "to": [], "texts": []})
    least, most = int(data["length"].min()), int(data["length"].max())
    step = max(1, math.ceil((most - least + 1) / MOST_BARS))
    first = (data["length"] - least) // step * step + least
    rows = data.groupby(first)["texts"].sum().reset_index()
    rows.columns = pd.Index(["length", "texts"])
    return rows.assign(to=rows["length"] + step)


def bars(
    data: pd.DataFrame, *, description: str, titles: dict[str, str], palette: Palette = LIGHT, size: int = 13
) -> Any:
    """Draw a bar for each row of *data*: columns name, count.

    *titles*: the titles of both columns. *size*: of the names, in pixels.
    """
    rows = data.assign(text=[f"{count:,}" for count in data["count"]])
    most = max(1.0, float(rows["count"].max())) if len(rows) else 1.0
    scale = alt.Scale(domain=[0, most], range=[0, alt.expr(f"max({LEAST}, width - {_room(rows['text'])})")], nice=False)
    y, tips = _rows_down("name", list(rows["name"]), palette, size), {"name": titles["name"], "text": titles["count"]}
    base = alt.Chart(rows, height=alt.Step(ROW + 4)).encode(y=y, tooltip=tooltips(tips), x=_across("count", scale))
    drawn = base.mark_bar(height=BAR + 1, color=palette.neutral, cornerRadiusEnd=3)
    return styled(alt.layer(drawn, _numbers(base, "text", palette)), description, palette)


STEP = 30  # pixels of a row
FUNNEL_BAR, FUNNEL_ROW = 17, 26
SMALL = 8  # counts up to about here are drawn in proportion; larger ones by their logarithm
WIDE_FROM = 0x2E7F  # Chinese characters begin after it


def funnel(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return a bar per row of *data*: `step` (name), `left` (sentences after it, 0 or more), `lost`, `flagged`.

    Bars are in the order of the rows, from the top. The pale end of a bar
    is what the step removed; flagged sentences remain. The numbers have
    room at the right, also in a narrow chart.
    """
    words = [_words(row, say) for row in data.to_dict("records")]
    rows = data.assign(before=data["left"] + data["lost"], words=words)
    most = max(1.0, float(rows["before"].max())) if len(rows) else 1.0
    y = _rows_down("step", list(rows["step"]), palette, 12, 220)
    scale = alt.Scale(domain=[0, most], range=[0, alt.expr(f"max({LEAST}, width - {_room(words)})")], nice=False)
    titles = {"step": N_("Step"), "left": N_("sentences left"), "lost": N_("removed"), "flagged": N_("flagged")}
    tips = tooltips(titles, say, left=",", lost=",", flagged=",")
    base = alt.Chart(rows, height=alt.Step(STEP)).encode(y=y, tooltip=tips)
    taken = base.mark_bar(height=FUNNEL_BAR, color=palette.bad_fill, opacity=0.75, cornerRadiusEnd=4)
    left = base.mark_bar(height=FUNNEL_BAR, color=palette.good, cornerRadiusEnd=4)
    text = _numbers(base, "words", palette).encode(x=_across("before", scale))
    layers = taken.encode(x=_across("before", scale)), left.encode(x=_across("left", scale)), text
    return styled(alt.layer(*layers), description, palette)


def _words(row: dict[Any, Any], say: Say) -> str:
    left, lost, flagged = int(row["left"]), int(row["lost"]), int(row["flagged"])
    more = []
    if lost:
        share = "" if flagged else f", {share_text(lost / (left + lost))}"  # both are too wide for a telephone
        more.append(f"−{lost:,}{share}")
    if flagged:
        more.append(say(N_("{number} flagged")).format(number=f"{flagged:,}"))
    if not more:
        return f"{left:,}"
    return say(N_("{text} ({more})")).format(text=f"{left:,}", more=say(N_("; ")).join(more))


def before_after(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return a row per keyword pair of *data*: pair, male_before, male_after, female_before, female_after (counts).

    Female word to the left, male word to the right; pale: before the filters,
    solid: after. Lengths grow with log10(1 + count / 8), so that both rare and
    common pairs are visible; the numbers are next to the bars.
    """
    rows = pd.DataFrame([row for record in data.to_dict("records") for row in _sides(record, say)])
    y = _rows_down("pair", list(data["pair"]), palette, 12, 220)
    reach = max([1.0, *rows["before_length"].abs()]) if len(rows) else 1.0
    room = _room(rows["words"] if len(rows) else [])
    ends = [alt.expr(f"min({room}, width / 2 - {LEAST})"), alt.expr(f"max(width - {room}, width / 2 + {LEAST})")]
    scale = alt.Scale(domain=[-reach, reach], range=ends, nice=False)
    titles = {
        "pair": N_("Keyword pair"), "side": N_("side"), "before": N_("before the filters"),
        "after": N_("after the filters"),
    }  # fmt: skip
    tips = tooltips(titles, say, before=",", after=",")
    base = alt.Chart(rows, height=alt.Step(FUNNEL_ROW)).encode(y=y, tooltip=tips)
    layers = []
    for code in SIDES:
        own = base.transform_filter(f"datum.code == '{code}'")
        colour, fill = getattr(palette, code), getattr(palette, f"{code}_fill")
        before = own.encode(x=_across("before_length", scale))
        after = own.encode(x=_across("after_length", scale))
        layers += [
            before.mark_bar(height=FUNNEL_BAR, color=fill, opacity=0.45, cornerRadiusEnd=4),
            after.mark_bar(height=FUNNEL_BAR, color=colour, cornerRadiusEnd=4),
            _numbers(before, "words", palette, left=code == "female"),
        ]
    return styled(alt.layer(*layers), description, palette)


def _sides(record: dict[Any, Any], say: Say) -> Iterator[dict[str, object]]:
    for (code, name), sign in zip(SIDES.items(), (1, -1), strict=True):
        before, after = int(record[f"{code}_before"]), int(record[f"{code}_after"])
        ends = [sign * math.log10(1 + count / SMALL) for count in (before, after)]
        yield {
            "pair": record["pair"], "code": code, "side": say(name), "before": before, "after": after,
            "words": f"{after:,} / {before:,}", "before_length": ends[0], "after_length": ends[1],
        }  # fmt: skip
