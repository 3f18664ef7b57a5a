"""How far items moved between two models: a histogram of differences in log10, to the left towards the female word."""

import math
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from evenhand.core.charts.bias_distribution import SIGNED_LABEL, Values, cells, finite
from evenhand.core.charts.dots import ABOVE_ROW, Look, dot_rows
from evenhand.core.charts.lines import lines
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import rule, tooltips
from evenhand.core.errors import N_
from evenhand.core.language import Say, same

WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # of a bin, log10
MOST_BINS = 60
LEGEND_ROW = 16  # pixels; the height of a chart on a page includes its legend, one name below the other on any screen


def difference_bins(changes: dict[str, Values]) -> pd.DataFrame:
    """Counts of differences (log10) in bins of one width for all models: columns model, low, high, share, count."""
    known = {name: finite(values) for name, values in changes.items()}
    everything = np.abs(np.concatenate([*known.values(), np.zeros(1)]))
    reach = max(0.05, float(np.quantile(everything, 0.995)))
    width = next((one for one in WIDTHS if 2 * reach / one <= MOST_BINS), WIDTHS[-1])
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
    """Return the `difference_bins` as a line of steps for each model, told apart by colour and by dashes."""
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
