"""Pictures of a comparison: each item before and after, how far items moved, and every word pair by model."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from evenhand.core.before_after.appendix import short
from evenhand.core.before_after.report import ModelsReport
from evenhand.core.runs.records import Run
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.text import _

if TYPE_CHECKING:
    import pandas as pd


@st.cache_data(max_entries=8, show_spinner=False)
def _table(path: str, changed: float) -> "pd.DataFrame":
    import pandas as pd

    return pd.read_csv(path)


def show_pictures(run: Run, report: ModelsReport) -> None:
    """The three pictures, where there is anything to draw."""
    frame, role = _table(str(run.table), run.table.stat().st_mtime), _("placebo")
    names = {f"after_{i}": short(model.model) for i, model in enumerate(report.after, 1)}
    names |= {f"placebo_{i}": f"{short(model.model)} · {role}" for i, model in enumerate(report.placebo, 1)}
    if not names or frame["before"].notna().sum() == 0:
        return
    _show_scatter(report, frame)
    _show_differences(frame, names)
    _show_pairs(report)


def _show_scatter(report: ModelsReport, frame: "pd.DataFrame") -> None:
    from evenhand.core.charts.bias_distribution import squares, two_models, two_models_say

    before, after = frame["before"].to_numpy(float), frame["after_1"].to_numpy(float)
    names = (_("before"), short(report.after[0].model))
    says = two_models_say(before, after, names, say=_)
    found = squares(before, after)
    show_chart(
        two_models(found, *names, description=says, say=_, palette=colours()), found, key="ba-scatter", says=says
    )


def _show_differences(frame: "pd.DataFrame", names: dict[str, str]) -> None:
    from evenhand.core.charts.before_after import difference_bins, differences

    changes = {name: (frame[column] - frame["before"]).to_numpy(float) for column, name in names.items()}
    found = difference_bins(changes)
    first = next(iter(changes.values()))
    known = first[first == first]
    says = _("Half of the items moved by less than {half} (log10), a tenth by more than {tenth}.").format(
        half=f"{_quantile(known, 0.5):.2f}", tenth=f"{_quantile(known, 0.9):.2f}"
    )
    chart = differences(found, description=says, say=_, palette=colours())
    show_chart(chart, found, key="ba-differences", says=says)


def _quantile(values: Any, share: float) -> float:
    import numpy as np

    return float(np.quantile(np.abs(values), share)) if len(values) else 0.0


def _show_pairs(report: ModelsReport) -> None:
    import pandas as pd

    from evenhand.core.charts.heatmap import heatmap

    rows = [
        {"pair": pair.pair, "model": short(model.model), "value": mean["mean"] if mean else None, "items": pair.items}
        for pair in report.by_pair
        for model in report.models
        for mean in [pair.models.get(model.model)]
    ]
    if not rows:
        return
    says = _(
        "Mean Bias_c (log10) of each word pair and model; purple leans towards the male word, orange towards"
        " the female word."
    )
    titles = {"pair": _("word pair"), "model": _("model"), "value": _("mean Bias_c (log10)"), "items": _("items")}
    chart = heatmap(
        pd.DataFrame(rows), "model", "pair", "value", description=says, scale="sides", titles=titles,
        tooltip=("items",), palette=colours(),
    )  # fmt: skip
    show_chart(chart, rows, key="ba-pairs", says=says)
