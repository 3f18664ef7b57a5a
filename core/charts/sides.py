"""Charts with the male word to the right and the female word to the left.

`balance`: which of two words a model prefers. Lengths are log10 ratios; the text says "how many times". Solid bar:
Bias_c. Hollow dot: Bias_c minus the lean of the pair itself (docs/model_bias.md#what-bias_c-mixes). The shaded strip is
|Bias_c| <= 0.3, the papers' "not obvious". `sides`: Bias_man and Bias_woman of several models with intervals and a
paper's values (Table 4), in log10, both at least 0 by definition (docs/methods.md#bias-of-a-model); rows keep their
order and are not ranked. `word_sides`: topic words; the length of a bar is the word's weight within its own side, and
the number next to the bar comes from the caller.
"""

import math
from dataclasses import replace
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.bias_distribution import SIGNED_LABEL
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import LEFT, RIGHT, haloed, palette_scale, rule, strip, styled, tooltips
from evenhand.core.errors import N_
from evenhand.core.language import Say, one_after_another, same, significant
from evenhand.core.sentence_bias.bias import OBVIOUS, odds, times

ROW = 58  # pixels per model: its name above, its bar below
LEAST_REACH = 2.4  # log10; a little more than "100 times" is always in view
ROOM = 0.9  # log10; for the words at the end of a bar
LONG = 3.0  # log10; the words of a longer bar are on its empty side, which has room
HEAD = -1  # the row of the two words
NUMBERS = ("bias_log10", "corrected_log10")


def balance(
    data: pd.DataFrame, *, male: str, female: str, description: str, say: Say = same, sided: bool = True,
    palette: Palette = LIGHT,
) -> Any:  # fmt: skip
    """Return a row per model of *data*: columns model, note, bias_log10, corrected_log10 (positive leans male).

    `bias_log10` may be infinite (the bar runs to the edge and says so) or missing ("undefined", no bar).
    `male`, `female` are the two words; `say` translates. *sided*: False for two words that are not a keyword pair: the
    words themselves are shown, without colours of a side.
    """
    own_words = None if sided else (male, female)
    palette = palette if sided else replace(palette, male=palette.ink, female=palette.ink)
    rows = _rows(data, say, own_words)
    reach = float(rows["reach"].iloc[0]) if len(rows) else LEAST_REACH
    order = [HEAD, *range(len(rows))]
    y, x = alt.Y("row:O", scale=alt.Scale(domain=order, padding=0), axis=None), _axis(reach, say)
    base = alt.Chart(rows, height=alt.Step(ROW)).encode(y=y, tooltip=tooltips(TIPS, say))
    own = alt.Color("colour:N", scale=palette_scale(palette), legend=None)
    stroke = alt.Stroke("dot_colour:N", scale=palette_scale(palette), legend=None)
    bars = base.transform_filter("isValid(datum.end)").mark_bar(size=14, cornerRadius=7, yOffset=12)
    known = base.transform_filter("isValid(datum.dot)").encode(x=alt.X("dot:Q"))
    dots = known.mark_point(
        shape="circle", size=150, strokeWidth=3, filled=False, fill=palette.card, opacity=1, yOffset=12
    )
    names = base.encode(x=alt.value(0), text=alt.Text("label:N"))
    layers = [
        strip(x, -OBVIOUS, OBVIOUS, color=palette.line, opacity=0.45),
        rule(x, 0, color=palette.ink, strokeWidth=2),
        bars.encode(x=x, x2=alt.X2("zero:Q"), color=own),
        known.mark_point(shape="circle", size=330, filled=True, color=palette.card, opacity=1, yOffset=12),
        dots.encode(stroke=stroke),
        *haloed(names, palette, align="left", dy=-10, fontSize=13),
        *_ends(base, rows, "short", own, 14),
        *_heads((male, female), y, say, palette, sided=sided),
    ]
    return styled(alt.layer(*layers), description, palette)


TIPS = {
    "model": N_("Model"),
    "words": N_("Ratio"),
    "log10_text": N_("Bias_c (log10)"),
    "corrected_text": N_("Bias_c minus the pair baseline (log10)"),
}


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def _signed(value: float | None) -> str:
    if value is None:
        return "—"
    return f"{value:+.3f}".replace("-", "−").replace("inf", "∞")


def _colour(value: float | None, *, sided: bool) -> str:
    """Return the name of a colour: the colour of the side, or of text for two words that are not a pair."""
    if value is None or times(value) == "1.0":
        return "soft"
    return "ink" if not sided else "male" if value > 0 else "female"


def _rows(data: pd.DataFrame, say: Say, words: tuple[str, str] | None) -> pd.DataFrame:
    values = [tuple(_number(value) for value in pair) for pair in zip(*(data[name] for name in NUMBERS), strict=True)]
    known = [abs(value) for pair in values for value in pair if value is not None and math.isfinite(value)]
    reach = max(LEAST_REACH, max(known, default=0.0) + ROOM)
    rows = []
    for row, (model, note, (value, dot)) in enumerate(zip(data["model"], data["note"], values, strict=True)):
        place = {"row": row, "model": model, "label": f"{model}  {note}"}
        rows.append(_row(value, dot, reach, say, words) | place)
    return pd.DataFrame(rows)


def _row(
    value: float | None, dot: float | None, reach: float, say: Say, words: tuple[str, str] | None
) -> dict[str, object]:
    end = None if value is None else math.copysign(min(abs(value), reach), value)
    dot = None if dot is None or not math.isfinite(dot) else dot
    left = (end is not None and end < 0) != (value is not None and abs(value) > LONG)
    reached = [at for at in (end, dot, 0.0) if at is not None and (at <= 0 if left else at >= 0)]
    message, inside = odds(value, words)
    return {
        "reach": reach,
        "zero": 0,
        "end": end,
        "dot": dot,
        "colour": _colour(value, sided=words is None),
        "dot_colour": _colour(dot, sided=words is None),
        "text_at": min(reached) if left else max(reached),
        "left": left,
        "short": _short(value, say, words),
        "words": say(message).format(**inside),
        "log10_text": _signed(value),
        "corrected_text": _signed(dot),
    }


def _short(value: float | None, say: Say, words: tuple[str, str] | None) -> str:
    if value is None:
        return say(N_("undefined"))
    if math.isinf(value) and words:
        return say(N_("only {word}")).format(word=words[value < 0])
    if math.isinf(value):
        return say(N_("only the male word")) if value > 0 else say(N_("only the female word"))
    ratio = times(value)
    return say(N_("equal")) if ratio == "1.0" else say(N_("{times} times")).format(times=ratio)


def _axis(reach: float, say: Say) -> alt.X:
    step = 1 if reach < 3.5 else 2 if reach < 7 else math.ceil(reach / 3)
    ticks = [k for k in range(-math.floor(reach), math.floor(reach) + 1) if k % step == 0]
    powers = {k: f"{10 ** abs(k):,}" if abs(k) < 4 else f"10^{abs(k)}" for k in ticks}
    names = {k: say(N_("equal")) if k == 0 else say(N_("{times} times")).format(times=powers[k]) for k in ticks}
    label = " : ".join(f"datum.value == {k} ? '{name}'" for k, name in names.items()) + " : ''"
    axis = alt.Axis(
        values=ticks, labelExpr=label, grid=True, gridDash=[4, 4], domain=False, ticks=False, labelOverlap=True
    )
    return alt.X("end:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis, title=None)


def _ends(base: Any, rows: pd.DataFrame, text: str, colour: alt.Color, gap: int) -> list[Any]:
    """Return the column *text* at `text_at`, *gap* pixels from it: to its left where the column `left` says so."""
    return [
        base.transform_filter(f"datum.left == {str(left).lower()}")
        .mark_text(align=align, dx=apart, dy=12, fontSize=13, fontWeight="bold")
        .encode(x=alt.X("text_at:Q"), text=alt.Text(f"{text}:N"), color=colour)
        for left, align, apart in ((True, RIGHT, -gap), (False, LEFT, gap))
        if len(rows) and bool((rows["left"] == left).any())
    ]


def _heads(words: tuple[str, str], y: alt.Y, say: Say, palette: Palette, *, sided: bool) -> list[Any]:
    right, left = words
    if sided:
        right, left = say(N_("male word {word}")).format(word=right), say(N_("female word {word}")).format(word=left)
    ends = ((f"◀ {left}", LEFT, alt.value(0), palette.female), (f"{right} ▶", RIGHT, alt.value("width"), palette.male))
    return [
        alt.Chart(pd.DataFrame([{"row": HEAD, "text": text}]))
        .mark_text(align=align, dy=-8, fontSize=14, fontWeight="bold", color=colour)
        .encode(x=at, y=y, text=alt.Text("text:N"))
        for text, align, at, colour in ends
    ]


def balance_says(data: pd.DataFrame, *, say: Say = same, words: tuple[str, str] | None = None) -> str:
    """Say the balance: per model the ratio, and the ratio without the pair's own lean; *words* as for `odds`."""
    sentences = []
    for model, raw, raw_dot in zip(data["model"], data["bias_log10"], data["corrected_log10"], strict=True):
        value, dot = _number(raw), _number(raw_dot)
        message, inside = odds(value, words)
        sentence = say(N_("{name}: {value}")).format(name=model, value=say(message).format(**inside))
        if dot is not None and math.isfinite(dot):
            message, inside = odds(dot, words)
            rest = say(message).format(**inside)
            corrected = say(N_("Minus the pair baseline (hollow dot): {sentence}")).format(sentence=rest)
            sentence = one_after_another((sentence, corrected))
        sentences.append(sentence)
    return one_after_another(sentences)


TOPIC_ROW = 36


def word_sides(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Draw bars of *data*: columns side (male, female), word, weight (> 0), tip; the best first within a side."""
    shown = data.copy()
    shown["place"] = shown.groupby("side", sort=False).cumcount()
    most = shown.groupby("side")["weight"].transform("max").where(lambda m: m > 0, 1.0)
    sign = shown["side"].map({"male": 1, "female": -1}).astype(float)
    shown["end"] = sign * (0.04 + 0.96 * shown["weight"] / most)
    weights = [significant(weight, 4) for weight in shown["weight"]]
    shown = shown.assign(zero=0.0, text_at=0.03 * sign, weight_text=weights)
    rows = int(shown["place"].max()) + 1 if len(shown) else 1
    y = alt.Y("place:O", scale=alt.Scale(domain=list(range(-1, rows)), padding=0.16), axis=None)
    x = alt.X("end:Q", scale=alt.Scale(domain=[-1.04, 1.04], nice=False), axis=None)
    titles = {"word": N_("Word"), "weight_text": N_("Weight"), "tip": N_("Contrast with the other side")}
    base = alt.Chart(shown, height=alt.Step(TOPIC_ROW)).encode(y=y, tooltip=tooltips(titles, say))
    fills = alt.Scale(domain=["male", "female"], range=[palette.male_fill, palette.female_fill])
    bars = base.mark_bar(cornerRadius=5).encode(
        x=x, x2=alt.X2("zero:Q"), color=alt.Color("side:N", scale=fills, legend=None)
    )
    layers = [bars]
    for side, align in (("male", LEFT), ("female", RIGHT)):
        if bool((shown["side"] == side).any()):
            some = base.transform_filter(f"datum.side == '{side}'")
            text = some.mark_text(align=align, fontSize=14, fontWeight="bold", color=palette.ink)
            layers.append(text.encode(x=alt.X("text_at:Q"), text=alt.Text("word:N")))
    heads = (
        ("◀ " + say(N_("female word")), RIGHT, -0.03, palette.female),
        (say(N_("male word")) + " ▶", LEFT, 0.03, palette.male),
    )
    layers += [
        alt.Chart(pd.DataFrame([{"place": -1, "text": text, "end": at}]))
        .mark_text(align=align, fontSize=13, fontWeight="bold", color=colour)
        .encode(x=alt.X("end:Q"), y=y, text=alt.Text("text:N"))
        for text, align, at, colour in heads
    ]
    return styled(alt.layer(*layers), description, palette)


def words_say(data: pd.DataFrame, *, say: Say = same) -> str:
    """Return a description of `word_sides`: the words of both sides, best first."""
    words = {side: "、".join(data.loc[data["side"] == side, "word"]) or "—" for side in ("male", "female")}
    text = N_(
        "Topic words of sentences that lean obviously towards the female word: {female}. Towards the male word: {male}."
    )
    return say(text).format(**words)


MODEL_ROW = 66  # pixels per model: its name above, its two bars below
LEAST_SIDE = 0.5  # log10; the axis is never shorter
SIDE_ROOM = 1.32  # of the longest bar: for the numbers at its end


def sides(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Draw a row for each model of *data*, with the values, intervals and paper values of both sides.

    Columns: model, note, reference and for man and woman each value, low, high, paper.

    `man`, `woman` (log10, >= 0, or missing), `man_low`, `man_high`, `woman_low`, `woman_high` (the 95% interval or
    missing), `man_paper`, `woman_paper` (log10, a hollow diamond, or missing); `reference` marks the untrained model,
    whose bars are grey.
    """
    rows = [
        _side(number, entry, *side, say) for number, entry in enumerate(data.to_dict("records")) for side in SIDES
    ]  # fmt: skip
    shown = pd.DataFrame(rows, columns=COLUMNS)
    reach = max([LEAST_SIDE, *(abs(v) for name in ("end", "far", "paper") for v in shown[name].dropna())]) * SIDE_ROOM
    y = alt.Y("model_row:O", scale=alt.Scale(domain=list(range(len(data))), padding=0), axis=None)
    gap = "\u2003·\u2003"
    title = "◀ " + say(N_("female word")) + f"{gap}log10{gap}" + say(N_("male word")) + " ▶"
    axis = alt.Axis(
        labelExpr=SIGNED_LABEL, tickCount=7, grid=True, gridDash=[4, 4], domain=False, ticks=False, labelPadding=6
    )
    x = alt.X("end:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis, title=title)
    base = alt.Chart(shown, height=alt.Step(MODEL_ROW)).encode(y=y, tooltip=tooltips(SIDE_TIPS, say))
    own = alt.Color("colour:N", scale=palette_scale(palette), legend=None)
    bars = base.transform_filter("isValid(datum.end)").mark_bar(size=18, yOffset=11)
    spans = base.transform_filter("isValid(datum.near)").encode(x=alt.X("near:Q"), x2=alt.X2("far:Q"))
    papers = base.transform_filter("isValid(datum.paper)").encode(x=alt.X("paper:Q"))
    notes = data["note"] if "note" in data.columns else [""] * len(data)
    labels = [f"{model}  {note}".strip() for model, note in zip(data["model"], notes, strict=True)]
    names = alt.Chart(pd.DataFrame({"model_row": range(len(data)), "label": labels}))
    names = names.encode(x=alt.value(0), y=y, text=alt.Text("label:N"))
    layers = [
        bars.encode(x=x, x2=alt.X2("zero:Q"), color=own),
        *(spans.mark_rule(strokeWidth=w, color=ink, yOffset=11) for w, ink in ((5, palette.paper), (2, palette.ink))),
        papers.mark_point(
            size=120, opacity=1, yOffset=11, shape="diamond", fill=palette.card, stroke=palette.ink, strokeWidth=2.2
        ),
        *_ends(base, shown, "text", own, 10),
        rule(x, 0, color=palette.soft, strokeWidth=1.5),
        *haloed(names, palette, align="left", dy=-13, fontSize=13, fontWeight="bold"),
    ]
    return styled(alt.layer(*layers), description, palette)


COLUMNS = [
    *("model", "model_row", "side", "zero", "end", "near", "far", "paper", "colour", "text", "text_at", "left"),
    *("value_text", "interval_text", "paper_text"),
]
SIDE_TIPS = {
    "model": N_("Model"),
    "side": N_("Side"),
    "value_text": N_("Mean bias of this side (log10)"),
    "interval_text": N_("95% interval"),
    "paper_text": N_("Table 4 of the paper, converted from ln (log10)"),
}
SIDES = (("man", 1, N_("male word")), ("woman", -1, N_("female word")))


def _side(number: int, one: dict[Any, Any], name: str, sign: int, words: str, say: Say) -> tuple[object, ...]:
    """Return the values of `COLUMNS` for one side of a model."""
    value, low, high, paper = (_number(one.get(f"{name}{end}")) for end in ("", "_low", "_high", "_paper"))
    near, far = (None, None) if low is None or high is None else (low, high)
    signed = [None if at is None else sign * at for at in (value, near, far, paper)]
    colour = "neutral" if one.get("reference") else "male" if sign > 0 else "female"
    end = sign * max((at for at in (value, far, paper) if at is not None), default=0.0)
    return (
        one["model"], number, say(words), 0.0, *signed, colour, _decimals(value, 3), end, sign < 0, _decimals(value, 3),
        "—" if near is None else f"{near:.3f} – {far:.3f}", _decimals(paper, 3),
    )  # fmt: skip


def _decimals(value: float | None, decimals: int) -> str:
    return "—" if value is None else f"{value:.{decimals}f}"


def sides_says(data: pd.DataFrame, *, say: Say = same) -> str:
    """Return a description of `sides`: per model both sides in log10."""
    text = N_("{model}: {man} towards the male word, {woman} towards the female word (log10).")
    return one_after_another(
        [
            say(text).format(
                model=entry["model"], **{side: _decimals(_number(entry.get(side)), 3) for side, _, _ in SIDES}
            )
            for entry in data.to_dict("records")
        ]
    )
