"""Pairs, sides and mask widths of the page Models: each measure by group and model, with the sentences of a cell."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from evenhand.core.charts.heatmap import heatmap
from evenhand.core.model_bias import Summary
from evenhand.core.model_bias.nulls import many_intervals
from evenhand.core.model_bias.summary import Grouping
from evenhand.core.report.numbers import interval, plain_number, signed_number
from evenhand.core.statistics import Estimate
from evenhand.pages.model_bias.selection import NAME, Pick, chart_key, group_name, picked, take_click
from evenhand.pages.model_bias.source import GROUP_RESAMPLES, Settings, grouped, rows_for
from evenhand.pages.ui.charts import colours, range_says, show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import note_text, percent
from evenhand.pages.ui.results import choose_selection, show_conclusion, show_method
from evenhand.pages.ui.runs import ScoreFile
from evenhand.pages.ui.text import _, inform, paragraph


def show_groups(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """Show a heatmap, groups down and models across; a click on a cell, or the list below, selects its sentences."""
    head = st.container()
    by, measure, name = _ask(in_groups=bool((rows_for(source, models)["group"] != "").any()))
    with st.spinner(_("Computing the intervals of each group …"), show_time=True):
        values = {model: grouped(source, model, by, settings) for model in models}
    rows = [_row(model, entry, measure) for model in models for entry in values[model]]
    data = _in_order(pd.DataFrame(rows), models)
    if data.empty:
        inform("The file does not say which word the source had, so there are no sides to compare.")
        return
    data["shown"] = [group_name(by, name) for name in data["group"]]
    picks = {(group, model): Pick(by, (model,), group=group) for group, model in data[["group", "model"]].to_numpy()}
    selection = picked(models)
    data["picked"] = [one == selection for one in picks.values()]
    says = _says(data, measure, name)
    with head:
        show_conclusion(says)
    chart = _chart(data, says, measure, by)
    chart = chart.add_params(alt.selection_point(name="cell", fields=["group", "model"], on="click", toggle=False))
    means = [entry.signed_mean for model in models for entry in values[model]]
    tested = many_intervals(means) if measure == "signed_mean" else None
    below = note_text(tested.sentence) if tested else ""
    key, file = chart_key("groups-chart"), data.drop(columns=["shown", "picked"])
    clicked = show_chart(chart, file, key=key, says=says, click="cell", file="groups", below=below)
    take_click(key, clicked, picks.get((clicked["group"], clicked["model"])) if clicked else None)
    choose_selection(
        _("Show the sentences of"), {one.address: one.words() for one in picks.values()}, NAME, index=None,
        placeholder=_("a group and a model"), width=320,
    )  # fmt: skip
    text = _("95% t intervals over the units of each group; {n} resamples where a group has more than 400 units.")
    show_method(text.format(n=GROUP_RESAMPLES), signature="\n".join(dict.fromkeys(data["signature"])))


def _ask(*, in_groups: bool) -> tuple[Grouping, str, str]:
    """Return the grouping, and the measure with its name. *in_groups*: the file names groups of sentences."""
    groupings: dict[Grouping, str] = {"group": _("By group of the file")} if in_groups else {}
    groupings |= {
        "pair": _("By keyword pair"),
        "side": _("By source word"),
        "masks": _("By number of masks"),
    }
    measures = {
        "signed_mean": _("Signed mean"),
        "mean_abs": _("Mean magnitude"),
        "model_bias": "Model_bias",
        "bias_man": "Bias_man",
        "bias_woman": "Bias_woman",
        "side_auc": _("Side AUC"),
        "mass": _("Pair mass"),
    }
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = choose(_("Groups"), groupings, "groups-by", heading=False)
        measure = st.selectbox(
            _("Measure"), list(measures), format_func=measures.__getitem__, key="groups-measure", width=240
        )
    return by, measure, measures[measure]


def _row(model: str, one: Summary, measure: str) -> dict[str, object]:
    estimate = Estimate(one.pair_mass.median, units=one.pair_mass.n) if measure == "mass" else getattr(one, measure)
    return {
        "model": model,
        "group": one.group,
        "measure": measure,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "interval": interval(estimate.low, estimate.high, digits(measure), signed=measure == "signed_mean") or "—",
        "n": one.n,
        "reason": note_text(estimate.reason),
        "method": estimate.method,
        "drawn": one.intervals,
        "signature": one.signature,
    }


def digits(measure: str) -> int:
    """Return the decimals of a measure in the heatmap, and of its interval."""
    return 3 if measure == "mass" else 2


def _in_order(data: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    """Return rows with models in the visitor's order and groups in the order of their first appearance."""
    if data.empty:
        return data
    order = {name: n for n, name in enumerate(dict.fromkeys(data["group"]))}
    place = data["group"].map(order) * len(models) + data["model"].map({m: n for n, m in enumerate(models)})
    return data.iloc[place.argsort(kind="stable")].reset_index(drop=True)


def _chart(data: pd.DataFrame, says: str, measure: str, by: Grouping) -> Any:
    titles = {
        "shown": {"pair": _("keyword pair"), "side": _("side"), "masks": _("masks"), "group": _("group")}[by],
        "model": _("Model"),
        "value": _("value"),
        "interval": _("95% interval"),
        "n": _("Sentences"),
        "reason": _("reason for no value"),
    }
    least = 0.5 if measure == "side_auc" else 0.0
    known = data["value"].dropna()
    if measure == "side_auc":
        least = min(least, float(known.min()) if len(known) else least)
    return heatmap(
        data.drop(columns=["signature", "drawn"]),
        "model",
        "shown",
        "value",
        description=says,
        scale="sides" if measure == "signed_mean" else "more",
        domain=None if measure == "signed_mean" else (least, float(known.max()) if len(known) else 1.0),
        titles=titles,
        tooltip=("interval", "n", *(["reason"] if bool((data["reason"] != "").any()) else [])),
        digits=digits(measure),
        outlined="picked",
        width=900,
        palette=colours(),
    )


def _says(data: pd.DataFrame, measure: str, name: str) -> str:
    if not data["value"].notna().any():
        return _("No group has a value.")
    number = signed_number if measure == "signed_mean" else plain_number
    write = percent if measure == "mass" else lambda value: number(value, digits(measure))
    says = range_says(name, data, write, "shown", "model")
    lost = int(data["value"].isna().sum())
    return paragraph((says, _("{n} cells have no value.", n=lost))) if lost else says
