"""How far items moved between two models: a histogram of differences in log10, to the left towards the female word."""

import math
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from core.charts.bias_distribution import SIGNED_LABEL, Say, Values, finite, same
from core.charts.palette import LIGHT, Palette
from core.charts.style import styled
from core.errors import N_

WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # of a bin, log10
MOST_BINS = 60


def difference_bins(changes: dict[str, Values]) -> pd.DataFrame:
    """Counts of differences (log10) in bins of one width for all models: columns model, low, high, share, count."""
    known = {name: finite(values) for name, values in changes.items()}
    everything = np.abs(np.concatenate([*known.values(), np.zeros(1)]))
    reach = max(0.05, float(np.quantile(everything, 0.995)))
    width = next((one for one in WIDTHS if 2 * reach / one <= MOST_BINS), WIDTHS[-1])
    last = math.ceil(reach / width)
    rows = []
    for name, values in known.items():
        cells = np.clip(np.floor(values / width + 1e-9).astype(int), -last, last - 1)
        counts = np.bincount(cells + last, minlength=2 * last)
        rows += [
            {"model": name, "low": round((i - last) * width, 10), "high": round((i - last + 1) * width, 10),
             "count": int(count), "share": count / len(values)}
            for i, count in enumerate(counts)
        ]  # fmt: skip
    return pd.DataFrame(rows, columns=["model", "low", "high", "count", "share"])


def differences(found: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """The `difference_bins`, a row a model, one below the other."""
    axis = alt.Axis(labelExpr=SIGNED_LABEL, grid=False)
    x = alt.X("low:Q", axis=axis, title=say(N_("change of Bias_c (log10); right: towards the male word")))
    bars = alt.Chart(found, height=110).mark_bar(color=palette.neutral, binSpacing=1)
    bars = bars.encode(
        x=x, x2=alt.X2("high:Q"), y=alt.Y("share:Q", axis=alt.Axis(format="%", tickCount=3), title=None),
        tooltip=[alt.Tooltip("model:N", title=" "), alt.Tooltip("low:Q", format="+.2f", title=say(N_("from"))),
                 alt.Tooltip("high:Q", format="+.2f", title=say(N_("to"))),
                 alt.Tooltip("count:Q", title=say(N_("items")))],
    )  # fmt: skip
    rule = alt.Chart(pd.DataFrame([{"low": 0.0}])).mark_rule(color=palette.ink, strokeWidth=1).encode(x="low:Q")
    rows = [
        alt.layer(bars.transform_filter(alt.datum.model == model), rule).properties(title=model, width="container")
        for model in found["model"].drop_duplicates()
    ]
    chart = rows[0] if len(rows) == 1 else alt.vconcat(*rows).resolve_scale(x="shared")
    return styled(chart, description, palette)
