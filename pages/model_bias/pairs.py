"""Pairs and sides: each measure by keyword pair, by the word that the source had, or by number of masks, per model."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from evenhand.core.charts.heatmap import heatmap
from evenhand.core.model_bias import Summary
from evenhand.core.model_bias.many_intervals import many_intervals
from evenhand.core.model_bias.summary import Grouping
from evenhand.core.report.numbers import interval, percent, plain_number, signed_number
from evenhand.core.statistics import Estimate
from evenhand.pages.model_bias.numbers import GROUP_RESAMPLES, grouped, rows_for, show_sentences
from evenhand.pages.model_bias.source import Settings
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import note_text
from evenhand.pages.ui.score_files import ScoreFile
from evenhand.pages.ui.text import _, from_to, inform, paragraph, plain, series


@st.fragment
def show_groups(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """A heatmap, groups down and models across; a click on a cell lists its sentences."""
    by, measure = _ask()
    with st.spinner(_("Computing the intervals of each group …"), show_time=True):
        found = {model: grouped(source, model, by, settings) for model in models}
    rows = [_row(model, one, measure) for model in models for one in found[model]]
    data = _in_order(pd.DataFrame(rows), models)
    if data.empty:
        inform("The file does not say which word the source had, so there are no sides to compare.")
        return
    data["shown"] = [group_name(by, name) for name in data["group"]]
    says = _says(data, by, measure)
    tested = many_intervals([row["estimate"] for row in rows]) if measure == "signed_mean" else None
    chart = _chart(data, says, measure, by)
    chart = chart.add_params(alt.selection_point(name="cell", fields=["group", "model"], on="click"))
    says = paragraph([says, note_text(tested.sentence)]) if tested else says
    rows_shown = data.drop(columns=["estimate", "shown"])
    clicked = show_chart(chart, rows_shown, key="groups-chart", says=says, click="cell", file="groups")
    text = _("Intervals: 95%, t over the units of each group; {n} resamples where a group has more than 400 units.")
    st.caption(plain(text.format(n=GROUP_RESAMPLES)))
    if clicked and clicked["model"] in models:
        _clicked(source, settings, by, clicked)


def _ask() -> tuple[Grouping, str]:
    groupings: dict[Grouping, str] = {
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
    return by, measure


def group_name(by: Grouping, name: str) -> str:
    """A group as the visitor reads it."""
    if by == "side":
        return _("male word in the source") if name == "male" else _("female word in the source")
    if by == "masks":
        return _("1 mask") if name == "1" else _("{n} masks", n=name)
    return name


def _row(model: str, one: Summary, measure: str) -> dict[str, Any]:
    estimate = Estimate(one.pair_mass.median, units=one.pair_mass.n) if measure == "mass" else getattr(one, measure)
    return {
        "model": model,
        "group": one.group,
        "measure": measure,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "interval": interval(estimate.low, estimate.high, signed=measure == "signed_mean") or "—",
        "n": one.n,
        "reason": note_text(estimate.reason),
        "method": estimate.method,
        "estimate": estimate,
        "drawn": one.intervals,
        "signature": one.signature,
    }


def _in_order(data: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    """Models stay in the visitor's order, groups in that of the first model that has them."""
    if data.empty:
        return data
    order = {name: n for n, name in enumerate(dict.fromkeys(data["group"]))}
    place = data["group"].map(order) * len(models) + data["model"].map({m: n for n, m in enumerate(models)})
    return data.iloc[place.argsort(kind="stable")].reset_index(drop=True)


def _chart(data: pd.DataFrame, says: str, measure: str, by: Grouping) -> Any:
    titles = {
        "shown": {"pair": _("keyword pair"), "side": _("side"), "masks": _("masks")}[by],
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
        data.drop(columns=["estimate", "signature", "drawn"]),
        "model",
        "shown",
        "value",
        description=says,
        scale="sides" if measure == "signed_mean" else "more",
        domain=None if measure == "signed_mean" else (least, float(known.max()) if len(known) else 1.0),
        titles=titles,
        tooltip=("interval", "n", *(["reason"] if bool((data["reason"] != "").any()) else [])),
        digits=3 if measure == "mass" else 2,
        width=900,
        palette=colours(),
    )


def _says(data: pd.DataFrame, by: Grouping, measure: str) -> str:
    known = data.dropna(subset="value")
    if known.empty:
        return _("No group has a value.")
    most, least = known.loc[known["value"].idxmax()], known.loc[known["value"].idxmin()]
    write = percent if measure == "mass" else signed_number if measure == "signed_mean" else plain_number
    ends = ((write(one["value"]), series((group_name(by, one["group"]), one["model"]))) for one in (least, most))
    range_of_all = from_to(_("Values"), *ends)
    lost = len(data) - len(known)
    without = _("{n} cells have no value.", n=lost)
    return paragraph((range_of_all, without)) if lost else range_of_all


def _clicked(source: ScoreFile, settings: Settings, by: Grouping, chosen: dict[str, str]) -> None:
    rows = rows_for(source, [chosen["model"]], settings)
    rows = rows[rows[by].astype(str) == chosen["group"]]
    rows = rows.sort_values("bias_log10", key=abs, ascending=False, kind="stable", na_position="last")
    title = _("Sentences: {group}, {model}", group=group_name(by, chosen["group"]), model=chosen["model"])
    st.subheader(plain(title))
    if rows.empty:
        inform("This cell belongs to another file or setting. Click again.")
        return
    says = _("{n} sentences, largest value first.", n=f"{len(rows):,}")
    show_sentences(rows, key="cell-sentences", says=says)
