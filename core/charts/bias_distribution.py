"""How Bias_c is distributed: a ridge per model over bins (figure 3 as density).

What goes to the browser is counted first: never a point per sentence. The axis is log10; positive leans male, to the
right. Dashed lines at -0.3 and 0.3: what lies between is not "obvious" (SPEC 1.8).
"""

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import styled
from evenhand.core.errors import N_
from evenhand.core.language import Say, one_after_another, same
from evenhand.core.sentence_bias.bias import OBVIOUS

Values = NDArray[np.float64]

WIDTHS = (0.05, 0.1, 0.15, 0.3)  # of a bin, log10; 0.3 is a border of each
MOST_BINS = 120  # per model
ROW = 112  # pixels per model in the ridges
DASH = "—"
BELOW = 48  # pixels for the axis, which are part of the height on a page
LEAST_REACH = 1.5  # log10; the axis is never shorter
TALLEST = 0.7  # of a row: the highest bin; above it stand the model's name and its shares


def finite(values: Values) -> Values:
    """The values that are neither undefined (NaN) nor infinite."""
    return np.asarray(values[np.isfinite(values)], dtype=np.float64)


def bins(values: Mapping[str, Values]) -> pd.DataFrame:
    """Counts of Bias_c (log10) per model and bin: columns model, row, low, high, count, share, side.

    Bins have one width for all models. They are closed on the side away from 0, so that exactly 0.3 is not obvious;
    0 itself counts to the first bin above it. The outermost bins hold everything beyond (`low` or `high` infinite).
    `side` is "male" above 0.3, "female" below -0.3, else "none". Undefined and infinite values are left out.
    """
    known = {model: finite(found) for model, found in values.items()}
    everything = np.abs(np.concatenate([*known.values(), np.zeros(1)]))
    reach = max(LEAST_REACH, float(np.quantile(everything, 0.998)))
    width = next((w for w in WIDTHS if 2 * reach / w <= MOST_BINS), WIDTHS[-1])
    steps = math.ceil(reach / width - 1e-9)
    edges = np.round(np.arange(1, steps + 1) * width, 10)
    rows = []
    for number, (model, found) in enumerate(known.items()):
        step = np.minimum(np.searchsorted(edges, np.abs(found), side="left"), steps)
        for sign in (-1, 1):
            # Values beyond the last border count in the last bin.
            inside = np.minimum(step[found < 0 if sign < 0 else found >= 0], steps - 1)
            for k, count in enumerate(np.bincount(inside, minlength=steps)):
                near, far = float(edges[k] - width), float(edges[k])
                rows.append(_bin(model, number, sign, near, far if k < steps - 1 else math.inf, int(count), len(found)))
    columns = ["model", "row", "low", "high", "count", "share", "side"]
    kinds = {"low": float, "high": float, "share": float, "count": int, "row": int}
    return pd.DataFrame(rows, columns=columns).astype(kinds).sort_values(["row", "low"], ignore_index=True)


def _bin(model: str, number: int, sign: int, near: float, far: float, count: int, whole: int) -> tuple[Any, ...]:
    low, high = (near, far) if sign > 0 else (-far, -near)
    side = ("male" if sign > 0 else "female") if near >= OBVIOUS - 1e-9 else "none"
    return model, number, round(low, 10) + 0.0, round(high, 10) + 0.0, count, count / whole if whole else 0.0, side


def shares(found: pd.DataFrame) -> pd.DataFrame:
    """Per model of `bins`: the shares male, female and none (0 to 1), in the order of the models."""
    table = found.pivot_table(index="model", columns="side", values="share", aggfunc="sum", sort=False)
    return table.reindex(columns=["male", "none", "female"], fill_value=0.0).reset_index()


def without_value(found: pd.DataFrame) -> set[str]:
    """The models of `bins` that have no finite value at all."""
    counts = found.groupby("model")["count"].sum()
    return set(counts.index[counts == 0])


def ridges(
    found: pd.DataFrame,
    *,
    description: str,
    say: Say = same,
    notes: Mapping[str, str] | None = None,
    click: str | None = None,
    palette: Palette = LIGHT,
) -> Any:
    """A row per model of `bins`: bars coloured by side, the two obvious shares at the ends.

    The tallest bin of a model fills its row; its area is all sentences.

    *notes* are words behind a model's name; *click* names a selection that gives model, low and high of a bin.
    """
    models = list(dict.fromkeys(found["model"]))
    width = float(_inner(found).min()) if len(found) else WIDTHS[0]
    shown = _drawn(found, width, say)
    reach = float(max(shown["to"].max(), -shown["from"].min())) if len(shown) else LEAST_REACH
    x = _axis(reach, say)
    y = alt.Scale(domain=[0, max(1, len(models))], reverse=True, nice=False)
    base = alt.Chart(shown, height=max(1, len(models)) * ROW + BELOW)
    tips = [alt.Tooltip(f"{field}:N", title=say(title)) for field, title in TIPS.items()]
    colours = alt.Scale(domain=["male", "none", "female"], range=[palette.male, palette.neutral, palette.female])
    bars = base.mark_rect(stroke=palette.paper, strokeWidth=0.6).encode(
        x=x,
        x2=alt.X2("to:Q"),
        y=alt.Y("bottom:Q", scale=y, axis=None),
        y2=alt.Y2("top:Q"),
        color=alt.Color("side:N", scale=colours, legend=None),
        tooltip=tips,
    )
    if click:
        chosen = alt.selection_point(name=click, fields=["model", "low_text", "high_text"], empty=True, on="click")
        bars = bars.add_params(chosen).encode(opacity=alt.condition(chosen, alt.value(1), alt.value(0.35)))
    layers = [*_marks(x, palette), _grounds(len(models), y, palette), bars]
    layers += _names(models, found, y, dict(notes or {}), palette)
    return styled(alt.layer(*layers), description, palette)


TIPS = {
    "model": N_("Model"),
    "range": N_("Bias_c (log10)"),
    "count_text": N_("Sentences"),
    "share_text": N_("Share"),
}


def _inner(found: pd.DataFrame) -> "pd.Series[float]":
    width = found["high"] - found["low"]
    return width[np.isfinite(width)]


def _drawn(found: pd.DataFrame, width: float, say: Say) -> pd.DataFrame:
    shown = found[found["count"] > 0].copy()
    # The outermost bins are drawn as wide as the others; their tooltip says what they hold.
    shown["from"] = shown["low"].where(np.isfinite(shown["low"]), shown["high"] - width)
    shown["to"] = shown["high"].where(np.isfinite(shown["high"]), shown["low"] + width)
    shown["bottom"] = shown["row"] + 0.94
    # Each row has its own height: a narrow model would press the others flat.
    most = shown.groupby("row")["share"].transform("max")
    # Never thinner than a hair: a bin with one sentence must be there to be seen and clicked.
    shown["top"] = shown["bottom"] - (TALLEST * shown["share"] / most).clip(lower=0.012)
    shown["range"] = [_range(low, high, say) for low, high in zip(shown["low"], shown["high"], strict=True)]
    shown["count_text"] = [f"{n:,}" for n in shown["count"]]
    shown["share_text"] = [percent(share) for share in shown["share"]]
    # JSON has no infinity; a click gives these back.
    for name in ("low", "high"):
        shown[f"{name}_text"] = [f"{value:g}" for value in shown[name]]
    return shown.drop(columns=["low", "high"])


def _range(low: float, high: float, say: Say) -> str:
    if math.isinf(low):
        return say(N_("below {number}")).format(number=signed(high))
    if math.isinf(high):
        return say(N_("above {number}")).format(number=signed(low))
    return f"{signed(low)} … {signed(high)}"


def signed(number: float) -> str:
    """A log ratio with its sign, as short as it can be: +0.3, −1.25, 0."""
    text = f"{number:+z.2f}" if round(number, 1) != round(number, 2) else f"{number:+z.1f}"
    return "0" if number == 0 else text.replace("-", "−")


def percent(share: float) -> str:
    """A share of 1 as people read it: 43%, 7.5%, 0.25%."""
    if 1e-12 < share < 5e-6:
        return "< 0.001%"
    return f"{100 * share:.0f}%" if share >= 0.1 else "0%" if share <= 1e-12 else f"{100 * share:.2g}%"


def _axis(reach: float, say: Say) -> alt.X:
    step = 0.5 if reach <= 2.2 else 1.0 if reach <= 6 else 2.0
    ticks = [round(k * step, 1) for k in range(-math.floor(reach / step), math.floor(reach / step) + 1)]
    axis = alt.Axis(values=ticks, grid=True, domain=False, ticks=False, labelPadding=6, labelExpr=SIGNED_LABEL)
    return alt.X("from:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis, title=axis_title(say))


# As many decimals as the tick has: with one for all, ticks at 0.05 and 0.1 would read alike.
SIGNED_LABEL = "abs(datum.value) < 1e-9 ? '0' : replace(format(datum.value, '+.6~f'), '-', '−')"


def axis_title(say: Say) -> str:
    """What the axis measures, and which end is which."""
    gap = "\u2003·\u2003"  # spaces that are not folded into one
    return "◀ " + say(N_("female word")) + gap + say(N_("Bias_c (log10)")) + gap + say(N_("male word")) + " ▶"


def _marks(x: alt.X, palette: Palette) -> list[Any]:
    """The strip of what is not obvious, its two borders and 0."""
    strip = alt.Chart(pd.DataFrame([{"from": -OBVIOUS, "to": OBVIOUS}])).mark_rect(color=palette.line, opacity=0.4)
    borders = alt.Chart(pd.DataFrame([{"from": -OBVIOUS}, {"from": OBVIOUS}]))
    zero = alt.Chart(pd.DataFrame([{"from": 0.0}])).mark_rule(color=palette.soft, strokeWidth=1)
    dashed = borders.mark_rule(color=palette.soft, strokeWidth=1, strokeDash=[4, 4])
    return [strip.encode(x=x, x2=alt.X2("to:Q")), dashed.encode(x=x), zero.encode(x=x)]


def _grounds(models: int, y: alt.Scale, palette: Palette) -> Any:
    floors = alt.Chart(pd.DataFrame({"bottom": [row + 0.94 for row in range(models)]}))
    return floors.mark_rule(color=palette.neutral, strokeWidth=1).encode(y=alt.Y("bottom:Q", scale=y, axis=None))


def _names(models: list[str], found: pd.DataFrame, y: alt.Scale, notes: dict[str, str], palette: Palette) -> list[Any]:
    """The model's name in the middle of the top of its row, its shares at the two ends."""
    if not models:
        return []
    table = shares(found).set_index("model")
    none = without_value(found)

    def share_text(model: str, side: str) -> str:
        return DASH if model in none else percent(float(table.at[model, side]))

    rows = [
        {
            "at": row + 0.08,
            "name": f"{model} {notes.get(model, '')}".strip(),
            "left": f"◀ {share_text(model, 'female')}",
            "right": f"{share_text(model, 'male')} ▶",
        }
        for row, model in enumerate(models)
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(y=alt.Y("at:Q", scale=y, axis=None))
    text: dict[str, Any] = {"fontSize": 13, "baseline": "top", "fontWeight": "bold"}
    name = text | {"align": "center", "limit": alt.ExprRef("width - 150")}  # without the shares
    return [
        # A halo, because the line of 0 runs through the name.
        base.mark_text(stroke=palette.paper, strokeWidth=5, strokeJoin="round", **name).encode(
            x=alt.datum(0), text=alt.Text("name:N")
        ),
        base.mark_text(color=palette.ink, **name).encode(x=alt.datum(0), text=alt.Text("name:N")),
        base.mark_text(align="left", color=palette.female, **text).encode(x=alt.value(2), text=alt.Text("left:N")),
        base.mark_text(align="right", color=palette.male, **text).encode(
            x=alt.value("width"), text=alt.Text("right:N")
        ),
    ]


def distribution_says(found: pd.DataFrame, *, say: Say = same) -> str:
    """What `bins` shows: per model the share of obvious sentences on each side."""
    text = N_(
        "{model}: {male} lean obviously towards the male word, {female} towards the female word, {none} neither way."
    )
    parts, none = [], without_value(found)
    for row in shares(found).to_dict("records"):
        if row["model"] in none:
            parts.append(say(N_("{model}: no sentence has a value.")).format(model=row["model"]))
            continue
        numbers = {name: percent(float(row[name])) for name in ("male", "female", "none")}
        parts.append(say(text).format(model=row["model"], **numbers))
    return one_after_another(parts)
