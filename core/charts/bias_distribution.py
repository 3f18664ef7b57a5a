"""The distribution of Bias_c: a ridge per model over bins (figure 3 as density), the sentences in order (figure 3 by
sentence), and two models against each other in squares.

Data is counted before it goes to the browser: at most 400 sentences a model or about 1,600 squares. The axis is log10;
positive leans male, to the right or above. Dashed lines at -0.3 and 0.3: values between them are not "obvious"
(docs/methods.md#bias-of-a-model).
"""

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenhand.core.charts.dots import ABOVE_ROW, Look, dot_rows
from evenhand.core.charts.lines import lines
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import haloed, rule, strip, styled, tooltips
from evenhand.core.errors import N_
from evenhand.core.language import Say, one_after_another, same, share_text
from evenhand.core.sentence_bias.bias import OBVIOUS

Values = NDArray[np.float64]

WIDTHS = (0.05, 0.1, 0.15, 0.3)  # of a bin, log10; 0.3 is a border of each
MOST_BINS = 120  # per model
ROW = 112  # pixels per model in the ridges
BELOW = 48  # pixels for the axis, which are part of the height on a page
LEAST_REACH = 1.5  # log10; the axis is never shorter
PALE = 0.35  # opacity of what is not selected
TALLEST = 0.7  # of a row: the highest bin; the model's name and its shares are above it


def finite(values: Values) -> Values:
    """Return the values that are neither undefined (NaN) nor infinite."""
    return np.asarray(values[np.isfinite(values)], dtype=np.float64)


def bins(values: Mapping[str, Values], picked: Mapping[str, NDArray[np.bool_]] | None = None) -> pd.DataFrame:
    """Count Bias_c (log10) per model and bin: columns model, row, low, high, count, share, side, picked.

    *picked*: which values of a model are selected; the column `picked` counts these, without it everything is 0.

    Bins have one width for all models. They are closed on the side away from 0, so that exactly 0.3 is not obvious;
    0 itself counts to the first bin above it. The outermost bins hold everything beyond (`low` or `high` infinite).
    `side` is "male" above 0.3, "female" below -0.3, else "none". Undefined and infinite values are left out.
    """
    known = {model: finite(value) for model, value in values.items()}
    everything = np.abs(np.concatenate([*known.values(), np.zeros(1)]))
    reach = max(LEAST_REACH, float(np.quantile(everything, 0.998)))
    width = next((w for w in WIDTHS if 2 * reach / w <= MOST_BINS), WIDTHS[-1])
    steps = math.ceil(reach / width - 1e-9)
    edges = np.round(np.arange(1, steps + 1) * width, 10)
    rows = []
    for number, (model, entry) in enumerate(known.items()):
        chosen = np.zeros(len(entry), bool) if picked is None else picked[model][np.isfinite(values[model])]
        step = np.minimum(np.searchsorted(edges, np.abs(entry), side="left"), steps)
        for sign in (-1, 1):
            # Values beyond the last border count in the last bin.
            here = entry < 0 if sign < 0 else entry >= 0
            counts, some = (
                np.bincount(np.minimum(step[on], steps - 1), minlength=steps) for on in (here, here & chosen)
            )
            for k, count in enumerate(counts):
                near, far = float(edges[k] - width), float(edges[k])
                far = far if k < steps - 1 else math.inf
                rows.append((*_bin(model, number, sign, near, far, int(count), len(entry)), int(some[k])))
    columns = ["model", "row", "low", "high", "count", "share", "side", "picked"]
    kinds = {"low": float, "high": float, "share": float, "count": int, "row": int, "picked": int}
    return pd.DataFrame(rows, columns=columns).astype(kinds).sort_values(["row", "low"], ignore_index=True)


def _bin(model: str, number: int, sign: int, near: float, far: float, count: int, whole: int) -> tuple[Any, ...]:
    low, high = (near, far) if sign > 0 else (-far, -near)
    side = ("male" if sign > 0 else "female") if near >= OBVIOUS - 1e-9 else "none"
    return model, number, round(low, 10) + 0.0, round(high, 10) + 0.0, count, count / whole if whole else 0.0, side


def shares(found: pd.DataFrame) -> pd.DataFrame:
    """Return for each model of `bins` the shares male, female and none (0 to 1), in the order of the models."""
    table = found.pivot_table(index="model", columns="side", values="share", aggfunc="sum", sort=False)
    return table.reindex(columns=["male", "none", "female"], fill_value=0.0).reset_index()


def without_value(found: pd.DataFrame) -> set[str]:
    """Return the models of `bins` that have no finite value at all."""
    counts = found.groupby("model")["count"].sum()
    return set(counts.index[counts == 0])


def ridges(
    found: pd.DataFrame,
    *,
    description: str,
    say: Say = same,
    notes: Mapping[str, str] | None = None,
    click: str | None = None,
    brush: str | None = None,
    palette: Palette = LIGHT,
) -> Any:
    """Draw a row for each model of `bins`: bars coloured by side, the two obvious shares at the ends.

    The tallest bin of a model fills its row; its area is all sentences.

    *notes* are words behind a model's name; *click* names a selection that gives model, low and high of a bin, *brush*
    one of a span of values. If some sentences are picked, the bars of all others are pale.
    """
    models = list(dict.fromkeys(found["model"]))
    shown = _drawn(found, say)
    reach = float(max(shown["to"].max(), -shown["from"].min())) if len(shown) else LEAST_REACH
    x = _axis(reach, say)
    y = alt.Scale(domain=[0, max(1, len(models))], reverse=True, nice=False)
    base = alt.Chart(shown, height=max(1, len(models)) * ROW + BELOW)
    colours = alt.Scale(domain=["male", "none", "female"], range=[palette.male, palette.neutral, palette.female])
    bars = base.mark_rect(stroke=palette.paper, strokeWidth=0.6).encode(
        x=x,
        x2=alt.X2("to:Q"),
        y=alt.Y("bottom:Q", scale=y, axis=None),
        y2=alt.Y2("top:Q"),
        color=alt.Color("side:N", scale=colours, legend=None),
        tooltip=tooltips(TIPS, say),
    )
    fields = ["model", "low_text", "high_text"]
    clicks = [alt.selection_point(name=click, fields=fields, on="click", toggle=False)] if click else []
    bars = bars.add_params(*clicks, *([alt.selection_interval(name=brush, encodings=["x"])] if brush else []))
    some = bool((shown["picked"] > 0).any())
    solid = bars.transform_filter("datum.picked > 0").encode(y2=alt.Y2("picked_top:Q"))
    bars = bars.encode(opacity=alt.value(PALE if some else 1))
    floors = alt.Chart(pd.DataFrame({"bottom": [row + 0.94 for row in range(len(models))]}))
    floors = floors.mark_rule(color=palette.neutral, strokeWidth=1)
    layers = [
        strip(x, -OBVIOUS, OBVIOUS, color=palette.line, opacity=0.4),
        *_borders(x, palette),
        floors.encode(y=alt.Y("bottom:Q", scale=y, axis=None)),
        bars,
        *([solid] if some else []),
        *(_names(models, found, y, notes or {}, palette) if models else []),
    ]
    return styled(alt.layer(*layers), description, palette)


def _borders(axis: alt.X | alt.Y, palette: Palette) -> list[Any]:
    """Return the two borders of obvious bias, and 0."""
    borders = [rule(axis, at, color=palette.soft, strokeWidth=1, strokeDash=[4, 4]) for at in (-OBVIOUS, OBVIOUS)]
    return [*borders, rule(axis, 0, color=palette.soft, strokeWidth=1)]


TIPS = {
    "model": N_("Model"),
    "range": N_("Bias_c (log10)"),
    "count_text": N_("Sentences"),
    "share_text": N_("Share"),
}


def _drawn(found: pd.DataFrame, say: Say) -> pd.DataFrame:
    """Return the bins that hold something, with where they are drawn and what a tooltip says."""
    shown = found[found["count"] > 0].copy()
    # The outermost bins are drawn as wide as the others; their tooltip says what they hold.
    width = (found["high"] - found["low"]).min()
    shown["from"] = shown["low"].where(np.isfinite(shown["low"]), shown["high"] - width)
    shown["to"] = shown["high"].where(np.isfinite(shown["high"]), shown["low"] + width)
    shown["bottom"] = shown["row"] + 0.94
    # Each row has its own height: a narrow model would press the others flat.
    most = shown.groupby("row")["share"].transform("max")
    # At least a hairline: users must be able to see and click a bin with one sentence.
    shown["top"] = shown["bottom"] - (TALLEST * shown["share"] / most).clip(lower=0.012)
    shown["picked_top"] = shown["bottom"] - (shown["bottom"] - shown["top"]) * shown["picked"] / shown["count"]
    shown["range"] = [_range(low, high, say) for low, high in zip(shown["low"], shown["high"], strict=True)]
    shown["count_text"] = [f"{n:,}" for n in shown["count"]]
    shown["share_text"] = [share_text(part) for part in shown["share"]]
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
    """Return a log ratio with its sign, as short as possible: +0.3, −1.25, 0."""
    text = f"{number:+z.2f}" if round(number, 1) != round(number, 2) else f"{number:+z.1f}"
    return "0" if number == 0 else text.replace("-", "−")


def _axis(reach: float, say: Say) -> alt.X:
    step = 0.5 if reach <= 2.2 else 1.0 if reach <= 6 else 2.0
    ticks = [round(k * step, 1) for k in range(-math.floor(reach / step), math.floor(reach / step) + 1)]
    axis = alt.Axis(values=ticks, grid=True, domain=False, ticks=False, labelPadding=6, labelExpr=SIGNED_LABEL)
    return alt.X("from:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis, title=axis_title(say))


# As many decimals as the tick has: with one for all, ticks at 0.05 and 0.1 would read alike.
SIGNED_LABEL = "abs(datum.value) < 1e-9 ? '0' : replace(format(datum.value, '+.6~f'), '-', '−')"


def axis_title(say: Say) -> str:
    """Return the title of the axis: the measure, with the word at each end."""
    gap = "\u2003·\u2003"  # spaces that are not folded into one
    return "◀ " + say(N_("female word")) + gap + say(N_("Bias_c (log10)")) + gap + say(N_("male word")) + " ▶"


def _names(
    models: list[str], found: pd.DataFrame, y: alt.Scale, notes: Mapping[str, str], palette: Palette
) -> list[Any]:
    """Draw each model's name at the top middle of its row, and its shares at both ends."""
    table, none = shares(found).set_index("model"), without_value(found)
    rows = []
    for row, model in enumerate(models):
        male, female = (
            "—" if model in none else share_text(float(table.at[model, side])) for side in ("male", "female")
        )
        rows.append((row + 0.08, f"{model} {notes.get(model, '')}".strip(), f"◀ {female}", f"{male} ▶"))
    base = alt.Chart(pd.DataFrame(rows, columns=["at", "name", "left", "right"]))
    base = base.encode(y=alt.Y("at:Q", scale=y, axis=None))
    ends = base.mark_text(align="left", color=palette.female, fontSize=13, baseline="top", fontWeight="bold")
    starts = base.mark_text(align="right", color=palette.male, fontSize=13, baseline="top", fontWeight="bold")
    room = alt.ExprRef("width - 150")  # without the shares
    named = base.encode(x=alt.datum(0), text=alt.Text("name:N"))
    return [
        *haloed(named, palette, align="center", limit=room, fontSize=13, baseline="top", fontWeight="bold"),
        ends.encode(x=alt.value(2), text=alt.Text("left:N")),
        starts.encode(x=alt.value("width"), text=alt.Text("right:N")),
    ]


def distribution_says(found: pd.DataFrame, *, say: Say = same) -> str:
    """Return a description of `bins`: per model the share of obvious sentences on each side."""
    text = N_(
        "{model}: {male} lean obviously towards the male word, {female} towards the female word, {none} neither way."
    )
    parts, none = [], without_value(found)
    for row in shares(found).to_dict("records"):
        if row["model"] in none:
            parts.append(say(N_("{model}: no sentence has a value.")).format(model=row["model"]))
            continue
        numbers = {name: share_text(float(row[name])) for name in ("male", "female", "none")}
        parts.append(say(text).format(model=row["model"], **numbers))
    return one_after_another(parts)


POINTS = 400  # of a curve, per model


def sorted_curve(values: Mapping[str, Values], *, points: int = POINTS) -> pd.DataFrame:
    """Sort the sentences of each model by Bias_c: columns model, percent, bias_log10, rank, n.

    At most *points* sentences per model, evenly spaced, the first and the last among them; `percent` (0 to 100) is
    the share of sentences with no larger value. Undefined and infinite values are left out.
    """
    parts = []
    for model, value in values.items():
        ordered = np.sort(finite(value))
        n = len(ordered)
        at = np.unique(np.linspace(0, n - 1, min(points, n)).round().astype(int)) if n else np.zeros(0, dtype=int)
        facts = {"percent": 100 * (at + 1) / max(n, 1), "bias_log10": ordered[at], "rank": at + 1, "n": n}
        parts.append(pd.DataFrame({"model": model, **facts}).astype({"model": "str"}))
    columns = ["model", "percent", "bias_log10", "rank", "n"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def curves(points: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Draw the sentences of `sorted_curve`, a line per model: Bias_c on the vertical axis, the male word above.

    Lines differ in colour and in dashes; neither purple nor orange, which stand for the two words.
    """
    reach = max(LEAST_REACH, float(points["bias_log10"].abs().quantile(0.995)) if len(points) else 0.0)
    scale = alt.Scale(domain=[-reach, reach], nice=False, clamp=True)
    axis = alt.Axis(domain=False, ticks=False, labelExpr=SIGNED_LABEL, labelPadding=6)
    y = alt.Y("bias_log10:Q", scale=scale, axis=axis, title=axis_title(say))
    across = alt.Axis(domain=False, ticks=False, grid=False, labelExpr="datum.value + '%'", values=[0, 25, 50, 75, 100])
    x = alt.X("percent:Q", scale=alt.Scale(domain=[0, 100], nice=False), axis=across, title=say(PERCENT_OF))
    shown = points.assign(value_text=[signed(value) for value in points["bias_log10"]])
    shown["percent_text"] = [share_text(value / 100) for value in shown["percent"]]
    tips = tooltips({"model": N_("Model"), "percent_text": PERCENT_OF, "value_text": N_("Bias_c (log10)")}, say)
    fields = ((OBVIOUS, reach, palette.male_tint), (-reach, -OBVIOUS, palette.female_tint))
    grounds = [strip(y, low, high, opacity=0.7, color=tint) for low, high, tint in fields]
    return lines(
        shown, x, y, "model", tips=tips, height=420, columns=2, under=[*grounds, *_borders(y, palette)],
        description=description, palette=palette,
    )  # fmt: skip


PERCENT_OF = N_("Sentences of the model, sorted by Bias_c")


def curve_says(points: pd.DataFrame, *, say: Say = same) -> str:
    """Return a description of `sorted_curve`: per model the share below 0, and the range of the middle half."""
    text = N_("{model}: {share} of the sentences are below 0; the middle half lies between {low} and {high}.")
    parts = []
    for model, found in points.groupby("model", sort=False):
        below = found.loc[found["bias_log10"] < 0, "percent"].max()
        low, high = np.interp([25, 75], found["percent"], found["bias_log10"])
        part = share_text(0.0 if pd.isna(below) else below / 100)
        parts.append(say(text).format(model=model, share=part, low=signed(float(low)), high=signed(float(high))))
    return one_after_another(parts)


SQUARES = 40  # along each axis, at most
STEPS = (0.05, 0.1, 0.2, 0.3, 0.5)  # log10


def squares(a: Values, b: Values, picked: NDArray[np.bool_] | None = None) -> pd.DataFrame:
    """Count sentences in squares of (Bias_c of a, Bias_c of b): columns a_low, a_high, b_low, b_high, count, picked.

    Only sentences that are finite in both. Values beyond the outermost squares count in these. *picked*: which
    sentences are selected; the column `picked` counts these.
    """
    both = np.isfinite(a) & np.isfinite(b)
    chosen = np.zeros(len(a), bool) if picked is None else picked
    a, b, chosen = a[both], b[both], chosen[both]
    everything = np.abs(np.concatenate([a, b, np.zeros(1)]))
    reach = max(LEAST_REACH, float(np.quantile(everything, 0.998)))
    step = next((step for step in STEPS if 2 * reach / step <= SQUARES), reach / (SQUARES / 2))
    last = math.ceil(reach / step - 1e-9)
    both_cells = pd.DataFrame({"x": cells(a, step, last), "y": cells(b, step, last), "picked": chosen.astype(int)})
    result = both_cells.groupby(["x", "y"])["picked"].agg(["size", "sum"]).reset_index()
    result = result.rename(columns={"size": "count", "sum": "picked"})
    for name, column in (("a", "x"), ("b", "y")):
        result[f"{name}_low"] = (result[column] * step).round(10)
        result[f"{name}_high"] = ((result[column] + 1) * step).round(10)
    return result[["a_low", "a_high", "b_low", "b_high", "count", "picked"]]


def cells(values: Values, step: float, last: int) -> NDArray[np.int64]:
    """Return the number of the step of each value, from -*last* to *last* - 1; values beyond count in the outermost."""
    # The epsilon keeps 0.3 / 0.1 = 2.9999999999999996 in the square that begins at 0.3.
    result: NDArray[np.int64] = np.clip(np.floor(values / step + 1e-9).astype(int), -last, last - 1)
    return result


def two_models(
    found: pd.DataFrame, a: str, b: str, *, description: str, say: Say = same, click: str | None = None,
    palette: Palette = LIGHT,
) -> Any:  # fmt: skip
    """Draw the `squares` of models *a* (across) and *b* (up); darker is more sentences, on a square-root scale.

    *click* names a selection that gives the four borders of a square. If some sentences are picked, squares without
    them are pale.
    """
    borders = found[["a_low", "a_high", "b_low", "b_high"]].abs().to_numpy()
    reach = float(borders.max()) if len(found) else LEAST_REACH
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = alt.Axis(labelExpr=SIGNED_LABEL, grid=True, domain=False, ticks=False, tickCount=7, labelPadding=6)
    what = say(N_("Bias_c (log10)"))
    x = alt.X("a_low:Q", scale=scale, axis=axis, title=f"{a} · {what}")
    y = alt.Y("b_low:Q", scale=scale, axis=axis, title=f"{b} · {what}")
    shown = found.assign(count_text=[f"{n:,}" for n in found["count"]])
    for name in ("a", "b"):
        ends = zip(found[f"{name}_low"], found[f"{name}_high"], strict=True)
        shown[f"range_{name}"] = [_range(low, high, say) for low, high in ends]
    tips = tooltips({"range_a": a, "range_b": b, "count_text": say(N_("Sentences"))})
    most = int(found["count"].max()) if len(found) else 1
    colours = alt.Scale(type="sqrt", domain=[0, most], range=[palette.line, palette.good], interpolate="rgb")
    drawn = alt.Chart(shown, height=440).mark_rect(stroke=palette.paper, strokeWidth=0.4)
    colour = alt.Color("count:Q", scale=colours, legend=None)
    drawn = drawn.encode(x=x, x2=alt.X2("a_high:Q"), y=y, y2=alt.Y2("b_high:Q"), color=colour, tooltip=tips)
    if click:
        fields = ["a_low", "a_high", "b_low", "b_high"]
        drawn = drawn.add_params(alt.selection_point(name=click, fields=fields, on="click", toggle=False))
    if len(found) and bool(found["picked"].any()):
        drawn = drawn.encode(opacity=alt.condition("datum.picked > 0", alt.value(1), alt.value(PALE)))
    return styled(alt.layer(*_quadrants(reach, x, y, palette), drawn), description, palette)


def _quadrants(reach: float, x: alt.X, y: alt.Y, palette: Palette) -> list[Any]:
    """Draw the fields in which both models prefer the same word, in its tint, and the two lines of 0."""
    fields = ((0.0, reach, palette.male_tint), (-reach, 0.0, palette.female_tint))
    grounds = [
        alt.Chart(pd.DataFrame([{"a_low": low, "a_high": high, "b_low": low, "b_high": high}]))
        .mark_rect(opacity=0.55, color=tint)
        .encode(x=x, x2=alt.X2("a_high:Q"), y=y, y2=alt.Y2("b_high:Q"))
        for low, high, tint in fields
    ]
    return [*grounds, *(rule(axis, 0, color=palette.soft, strokeWidth=1) for axis in (x, y))]


def two_models_say(a: Values, b: Values, names: tuple[str, str], *, say: Say = same) -> str:
    """Return a description of `two_models`: the share of sentences on which both models lean the same way."""
    both = np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    if not both.any():
        return say(N_("No sentence has a non-zero value from both models."))
    agree = float((np.sign(a[both]) == np.sign(b[both])).mean())
    text = N_("{a} and {b} lean towards the same word on {share} of the {n} sentences where both lean.")
    return say(text).format(a=names[0], b=names[1], share=share_text(agree), n=f"{int(both.sum()):,}")


STEP_WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # of a bin, log10
MOST_STEPS = 60
LEGEND_ROW = 16  # pixels; the height of a chart on a page includes its legend, one name below the other on any screen


def difference_bins(changes: dict[str, Values]) -> pd.DataFrame:
    """Count differences (log10) in bins of one width for all models: columns model, low, high, share, count."""
    known = {name: finite(values) for name, values in changes.items()}
    everything = np.abs(np.concatenate([*known.values(), np.zeros(1)]))
    reach = max(0.05, float(np.quantile(everything, 0.995)))
    width = next((step_width for step_width in STEP_WIDTHS if 2 * reach / step_width <= MOST_STEPS), STEP_WIDTHS[-1])
    last = math.ceil(reach / width)
    rows = []
    for name, values in known.items():
        counts = np.bincount(cells(values, width, last) + last, minlength=2 * last)
        rows += [
            {"model": name, "low": round((i - last) * width, 10), "high": round((i - last + 1) * width, 10),
             "count": int(count), "share": count / len(values)}
            for i, count in enumerate(counts)
        ]  # fmt: skip
    return pd.DataFrame(rows, columns=["model", "low", "high", "count", "share"])


def differences(found: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return the `difference_bins` as a line of steps for each model, distinguished by colour and dashes."""
    title = [say(N_("change of Bias_c (log10)")), say(N_("right: towards the male word"))]
    x = alt.X("middle:Q", axis=alt.Axis(labelExpr=SIGNED_LABEL, grid=False), title=title)
    y = alt.Y("share:Q", axis=alt.Axis(format="%", tickCount=4), title=say(N_("share of the items")))
    titles = {"model": " ", "low": N_("from"), "high": N_("to"), "count": N_("items")}
    shown = found.assign(middle=(found["low"] + found["high"]) / 2)
    height, zero = 280 + LEGEND_ROW * found["model"].nunique(), rule(x, 0, color=palette.soft)
    tips = tooltips(titles, say, low="+.2f", high="+.2f", count=",")
    return lines(
        shown, x, y, "model", tips=tips, height=height, steps=True, under=[zero], description=description,
        palette=palette,
    )  # fmt: skip


def changes(data: pd.DataFrame, *, title: str, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return differences with intervals, a row each, its name above: columns name, value, low, high, written.

    A row without an interval has a hollow dot; one without a value has its name only.
    """
    rows = data.assign(label=data["name"], hollow=data["low"].isna())
    numbers = rows[["value", "low", "high"]].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    reach = float(np.nanmax(np.abs(numbers), initial=0.01)) * 1.05
    x = alt.X("value:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), title=title,
              axis=alt.Axis(labelExpr=SIGNED_LABEL, tickCount=5, gridDash=[3, 3]))  # fmt: skip
    tips = {"name": N_("measure"), "written": N_("change")}
    look, zero = Look(row=ABOVE_ROW, above=True, size=110, line=3), rule(x, 0, color=palette.soft)
    return dot_rows(rows, x, tips=tips, say=say, look=look, under=[zero], description=description, palette=palette)
