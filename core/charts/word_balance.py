"""The balance: which of two words a model would rather write, one bar per model, the male word on the right.

Lengths are log10 ratios, words are "how many times". Solid bar: Bias_c. Hollow dot: Bias_c less the lean of the
pair itself (SPEC 6.1). The shaded strip is |Bias_c| <= 0.3, the papers' "not obvious".
"""

import math
from dataclasses import replace
from typing import Any, Literal

import altair as alt
import pandas as pd

from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import palette_scale, styled
from evenhand.core.errors import N_
from evenhand.core.language import Say, one_after_another, same
from evenhand.core.sentence_bias.bias import OBVIOUS, odds, times

ROW = 58  # pixels per model: its name above, its bar below
LEAST_REACH = 2.4  # log10; a little more than "100 times" is always in view
ROOM = 0.9  # log10; for the words at the end of a bar
LONG = 3.0  # log10; the words of a longer bar stand on its empty side, where there is room
HEAD = -1  # the row of the two words
NUMBERS = ("bias_log10", "corrected_log10")

Align = Literal["left", "right"]


def balance(
    data: pd.DataFrame,
    *,
    male: str,
    female: str,
    description: str,
    say: Say = same,
    guess: float | None = None,
    sided: bool = True,
    palette: Palette = LIGHT,
) -> Any:
    """A row per model of *data*: columns model, note, bias_log10, corrected_log10 (positive leans male).

    `bias_log10` may be infinite (the bar runs to the edge and says so) or missing ("undefined", no bar).
    `male`, `female` are the two words; `say` translates; `guess` (log10) draws a line for what was guessed. *sided*:
    False for two words that are no pair: they are named as they are, without colours of a side.
    """
    own_words = None if sided else (male, female)
    palette = palette if sided else replace(palette, male=palette.ink, female=palette.ink)
    rows = _rows(data, say, guess, own_words)
    reach = float(rows["reach"].iloc[0]) if len(rows) else LEAST_REACH
    order = [HEAD, *range(len(rows))]
    y, x = alt.Y("row:O", scale=alt.Scale(domain=order, padding=0), axis=None), _axis(reach, say, palette)
    tips = [alt.Tooltip(f"{name}:N", title=say(title)) for name, title in TIPS.items()]
    base = alt.Chart(rows, height=alt.Step(ROW)).encode(y=y, tooltip=tips)
    has_bar, has_dot = "isValid(datum.end)", "isValid(datum.dot)"
    named: dict[str, Any] = {"scale": palette_scale(palette), "legend": None}
    own = alt.Color("colour:N", **named)
    bars = base.transform_filter(has_bar).mark_bar(size=14, cornerRadius=7, yOffset=12)
    dots = base.transform_filter(has_dot).mark_point(
        shape="circle", size=150, strokeWidth=3, filled=False, fill=palette.card, opacity=1, yOffset=12
    )
    halos = base.transform_filter(has_dot).mark_point(
        shape="circle", size=330, filled=True, color=palette.card, opacity=1, yOffset=12
    )
    names = base.encode(x=alt.value(0), text=alt.Text("label:N"))
    text: dict[str, Any] = {"align": "left", "dy": -10, "fontSize": 13}
    layers = [
        *_ground(reach, x, y, palette),
        bars.encode(x=x, x2=alt.X2("zero:Q"), color=own),
        *_guess_line(guess, x, say, palette),
        halos.encode(x=alt.X("dot:Q")),
        dots.encode(x=alt.X("dot:Q"), stroke=alt.Stroke("dot_colour:N", **named)),
        # A long name on a narrow screen reaches over the line of zero: paper around its letters keeps it readable.
        names.mark_text(stroke=palette.paper, strokeWidth=5, strokeJoin="round", **text),
        names.mark_text(color=palette.ink, **text),
        *_ends(rows, base, own),
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
    """Return the name of a colour: that of the side, or of text for two words that are no pair."""
    if value is None or times(value) == "1.0":
        return "soft"
    return "ink" if not sided else "male" if value > 0 else "female"


def _rows(data: pd.DataFrame, say: Say, guess: float | None, words: tuple[str, str] | None) -> pd.DataFrame:
    values = [tuple(_number(value) for value in pair) for pair in zip(*(data[name] for name in NUMBERS), strict=True)]
    known = [abs(value) for pair in values for value in (*pair, guess) if value is not None and math.isfinite(value)]
    reach = max(LEAST_REACH, max(known, default=0.0) + ROOM)
    rows = []
    for row, (model, note, (value, dot)) in enumerate(zip(data["model"], data["note"], values, strict=True)):
        place = {"row": row, "model": model, "label": f"{model}  {note}"}
        rows.append(_row(value, dot, reach, say, words) | place)
    return pd.DataFrame(rows)


def _row(
    value: float | None, dot: float | None, reach: float, say: Say, words: tuple[str, str] | None
) -> dict[str, Any]:
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
        "text_left": left,
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


def _axis(reach: float, say: Say, palette: Palette) -> alt.X:
    step = 1 if reach < 3.5 else 2 if reach < 7 else math.ceil(reach / 3)
    ticks = [k for k in range(-math.floor(reach), math.floor(reach) + 1) if k % step == 0]
    names = {k: say(N_("equal")) if k == 0 else say(N_("{times} times")).format(times=_power(abs(k))) for k in ticks}
    label = " : ".join(f"datum.value == {k} ? '{name}'" for k, name in names.items()) + " : ''"
    axis = alt.Axis(
        values=ticks, labelExpr=label, grid=True, gridDash=[4, 4], domain=False, ticks=False, labelOverlap=True
    )
    return alt.X("end:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis, title=None)


def _power(exponent: int) -> str:
    return f"{10**exponent:,}" if exponent < 4 else f"10^{exponent}"


def _ground(reach: float, x: alt.X, y: alt.Y, palette: Palette) -> list[Any]:
    strip = alt.Chart(pd.DataFrame([{"end": -OBVIOUS, "to": OBVIOUS}])).mark_rect(color=palette.line, opacity=0.45)
    zero = alt.Chart(pd.DataFrame([{"end": 0.0}])).mark_rule(color=palette.ink, strokeWidth=2)
    return [strip.encode(x=x, x2=alt.X2("to:Q")), zero.encode(x=x)]


def _guess_line(guess: float | None, x: alt.X, say: Say, palette: Palette) -> list[Any]:
    if guess is None:
        return []
    line = alt.Chart(pd.DataFrame([{"end": guess, "text": say(N_("your guess"))}])).encode(x=x)
    rule = line.mark_rule(color=palette.ink, strokeWidth=2, strokeDash=[2, 3]).encode(
        y=alt.value(ROW), y2=alt.value("height")
    )
    word = line.mark_text(color=palette.ink, fontSize=12, fontWeight="bold", dy=-3, baseline="bottom")
    return [rule, word.encode(y=alt.value(ROW), text=alt.Text("text:N"))]


def _ends(rows: pd.DataFrame, base: Any, own: Any) -> list[Any]:
    layers = []
    places: tuple[tuple[bool, Align, int], ...] = ((True, "right", -14), (False, "left", 14))
    for left, align, gap in places:
        if len(rows) and bool((rows["text_left"] == left).any()):
            words = base.transform_filter(f"datum.text_left == {str(left).lower()}")
            text = words.mark_text(align=align, dx=gap, dy=12, fontSize=13, fontWeight="bold")
            layers.append(text.encode(x=alt.X("text_at:Q"), text=alt.Text("short:N"), color=own))
    return layers


def _heads(words: tuple[str, str], y: alt.Y, say: Say, palette: Palette, *, sided: bool) -> list[Any]:
    right, left = words
    if sided:
        right, left = say(N_("male word {word}")).format(word=right), say(N_("female word {word}")).format(word=left)
    sides: tuple[tuple[str, Align, Any, str], ...] = (
        (f"◀ {left}", "left", 0, palette.female),
        (f"{right} ▶", "right", "width", palette.male),
    )
    return [
        alt.Chart(pd.DataFrame([{"row": HEAD, "text": text}]))
        .mark_text(align=align, dy=-8, fontSize=14, fontWeight="bold", color=colour)
        .encode(x=alt.value(at), y=y, text=alt.Text("text:N"))
        for text, align, at, colour in sides
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
