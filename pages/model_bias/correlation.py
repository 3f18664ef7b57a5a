"""Model and model (figure 4), two models against each other; pairs and sides: each measure by group and model."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from evenhand.core.charts.bias_distribution import squares, two_models, two_models_say
from evenhand.core.charts.heatmap import heatmap
from evenhand.core.model_bias import Groups, Summary, unit_of
from evenhand.core.model_bias.nulls import many_intervals
from evenhand.core.model_bias.summary import Grouping
from evenhand.core.report.figures import correlation_reading
from evenhand.core.report.numbers import interval, plain_number, signed_number
from evenhand.core.report.several_models import TITLE, reading, rows_of_differences, rows_over_seeds
from evenhand.core.statistics import Estimate
from evenhand.pages.model_bias.source import (
    GROUP_RESAMPLES,
    Settings,
    ask_margins,
    at_once,
    choose_seeds,
    correlations,
    differences,
    grouped,
    rows_for,
    show_largest,
    show_sentences,
    signs,
    summary,
)
from evenhand.pages.ui.charts import colours, range_says, show_chart
from evenhand.pages.ui.choose import choose, switch
from evenhand.pages.ui.numbers import note_text, percent
from evenhand.pages.ui.runs import ScoreFile
from evenhand.pages.ui.text import _, caption, inform, paragraph, plain


@st.fragment
def show_agreement(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """Show two heatmaps; a click on a cell opens its two models below."""
    if len(models) < 2:
        inform("Choose at least two models above.", icon=":material/arrow_upward:")
        return
    groups = choose_seeds(models)
    settings = at_once(settings)
    # Names that do not fit next to a half-wide square, or squares too small for numbers: one below the other.
    wide = len(models) > 4 or max(map(len, models)) > 18
    left, right = (st.container(), st.container()) if wide else st.columns(2, gap="large")
    with left:
        st.header(_("Correlation"))
        clicked = _correlation(source, models, settings, groups)
    with right:
        st.header(_("Same direction"))
        clicked = _same_side(source, models, settings, groups) or clicked
    _two(source, models, settings, clicked)
    if groups:
        _over_seeds(source, settings, groups)


def _correlation(source: ScoreFile, models: list[str], settings: Settings, groups: Groups) -> tuple[str, str] | None:
    kinds = {"pearson": "Pearson", "spearman": "Spearman"}
    with st.container(horizontal=True, vertical_alignment="center"):
        method = choose(_("Correlation"), kinds, "correlation", heading=False)
        corrected = switch(
            _("Minus the pair mean"),
            value=True,
            key="correlation-corrected",
            explained=_(
                "Even two models that know only word frequency correlate. Subtracting the pair mean"
                " leaves the effect of the contexts."
            ),
        )
    result = correlations(source, models, settings, method, corrected)
    says = paragraph((_correlation_says(result, groups, kinds[method]), correlation_reading(result, _)))
    return _clickable(result, says, key="models-correlation", value=_("correlation"), low=-1.0)


def _correlation_says(found: pd.DataFrame, groups: Groups, kind: str) -> str:
    pairs = _each_once(found, groups).dropna(subset="value")
    if pairs.empty:
        return _("No two models share enough sentences for a correlation.")
    most, least = pairs.loc[pairs["value"].idxmax()], pairs.loc[pairs["value"].idxmin()]
    if len(pairs) == 1:
        return _("{kind}, sentence by sentence: {value}.", kind=kind, value=signed_number(most["value"], 2))
    text = _("{kind}, sentence by sentence: highest {high} ({a}, {b}), lowest {low} ({c}, {d}).")
    high, low = signed_number(most["value"], 2), signed_number(least["value"], 2)
    return text.format(kind=kind, high=high, a=most["a"], b=most["b"], low=low, c=least["a"], d=least["b"])


def _each_once(found: pd.DataFrame, groups: Groups) -> pd.DataFrame:
    """Return every two models once, without those that are seeds of one model."""
    order = {name: n for n, name in enumerate(dict.fromkeys(found["a"]))}
    unlike = found["a"].map(lambda a: unit_of(a, groups)) != found["b"].map(lambda b: unit_of(b, groups))
    return found[(found["a"].map(order) < found["b"].map(order)) & unlike]


def _same_side(source: ScoreFile, models: list[str], settings: Settings, groups: Groups) -> tuple[str, str] | None:
    result = signs(source, models, settings)
    pairs = _each_once(result, groups).dropna(subset="value")
    says = _("No two models both have a non-zero value on any sentence.")
    if len(pairs) == 1:
        says = _("Both prefer the same word on {share} of the sentences.", share=percent(pairs["value"].iloc[0]))
    elif len(pairs):
        same = _("Share of sentences on which both prefer the same word")
        says = range_says(same, pairs, percent, "a", "b")
    caption(
        "Two unrelated models agree on half of the sentences by chance, or on more if both lean the same way overall."
    )
    return _clickable(result, says, key="models-signs", value=_("share"), low=0.0)


def _clickable(found: pd.DataFrame, says: str, *, key: str, value: str, low: float) -> tuple[str, str] | None:
    shown = found.assign(interval=[interval(a, b, 2) or "—" for a, b in zip(found["low"], found["high"], strict=True)])
    titles = {"a": _("Model"), "b": _("Model"), "value": value, "interval": _("95% interval"), "n": _("Sentences")}
    titles["band"] = _("null band (±)")
    chart = heatmap(
        shown,
        "b",
        "a",
        "value",
        description=says,
        domain=(low, 1.0) if bool((found["value"] < 0).any()) or low == 0 else (0.0, 1.0),
        titles=titles,
        tooltip=("interval", "n", *(name for name in ("chance", "band") if name in found)),
        band="band" if "band" in found and bool(found["band"].notna().any()) else None,
        width=270,
        palette=colours(),
    )
    chart = chart.add_params(alt.selection_point(name="cell", fields=["a", "b"], on="click"))
    clicked = show_chart(chart, found, key=key, says=says, click="cell", file=f"{key}-file")
    return (clicked["a"], clicked["b"]) if clicked else None


def _two(source: ScoreFile, models: list[str], settings: Settings, clicked: tuple[str, str] | None) -> None:
    st.header(_("Comparison of two models"))
    if clicked and clicked != st.session_state.get("two-clicked"):
        # Only a new click: what was chosen by hand afterwards stays.
        st.session_state["two-clicked"] = clicked
        st.session_state["two-a"], st.session_state["two-b"] = clicked
    for key, first in (("two-a", models[0]), ("two-b", models[1])):
        if st.session_state.get(key) not in models:
            st.session_state[key] = first
    left, right = st.columns(2)
    a = left.selectbox(_("Horizontal axis"), models, key="two-a")
    b = right.selectbox(_("Vertical axis"), models, key="two-b")
    if a == b:
        inform("Choose two different models.")
        return
    rows = rows_for(source, [a, b], settings)
    table = rows.pivot(index=["row", "sentence"], columns="model", values="bias_log10").reindex(columns=[a, b])
    square = _against(table, a, b)
    place = st.container()  # as wide as the page: its five columns are read side by side
    _sentences_of(rows, table, a, b, square)
    # Last, because it takes longest.
    with place:
        _differences(source, a, b, settings)


def _against(table: pd.DataFrame, a: str, b: str) -> dict[str, float] | None:
    first, second = table[a].to_numpy(float), table[b].to_numpy(float)
    says = two_models_say(first, second, (a, b), say=_)
    found = squares(first, second)
    chart = two_models(found, a, b, description=says, say=_, click="square", palette=colours())
    rows = found.assign(a=a, b=b)
    return show_chart(chart, rows, key="two-models", says=says, click="square", file="two-models-file")


def _differences(source: ScoreFile, a: str, b: str, settings: Settings) -> None:
    title = _(TITLE).format(a=a, b=b)
    st.markdown(f"**{plain(title)}**")
    margins = ask_margins("difference-margin")
    with st.spinner(_("Resampling the same sentences for both models …"), show_time=True):
        found = differences(source, a, b, settings)
    st.dataframe(rows_of_differences(found, margins, _), hide_index=True, key="differences")
    for line in reading(found, margins, _):
        st.caption(plain(line))


def _over_seeds(source: ScoreFile, settings: Settings, groups: Groups) -> None:
    """Show each measure of a model as the mean over its seeds."""
    st.header(_("Means over seeds"))
    for name, seeds in groups.items():
        st.markdown(f"**{plain(name)}**")
        with st.spinner(_("Computing the intervals …"), show_time=True):
            found = [summary(source, seed, settings) for seed in seeds]
        st.dataframe(rows_over_seeds(found, _), hide_index=True, key=f"over-seeds-{name}")


def _sentences_of(rows: pd.DataFrame, table: pd.DataFrame, a: str, b: str, square: dict[str, float] | None) -> None:
    both = table.dropna()
    both = both[np.isfinite(both).all(axis=1)]
    if square:
        inside = _in_square(both[a], square["a_low"], square["a_high"])
        inside &= _in_square(both[b], square["b_low"], square["b_high"])
        chosen = both[inside]
        title = _("Sentences in this cell")
    else:
        chosen = both[np.sign(both[a]) * np.sign(both[b]) < 0]
        title = _("Where the two models disagree most")
    st.markdown(f"**{title}**")
    if chosen.empty:
        caption("None.")
        return
    apart = (chosen[a] - chosen[b]).abs().sort_values(ascending=False, kind="stable")
    first = rows[rows["model"] == a].set_index(["row", "sentence"]).loc[apart.index].reset_index()
    second = rows[rows["model"] == b].set_index(["row", "sentence"]).loc[apart.index].reset_index()
    # The rows of both models of a sentence follow each other.
    order = np.arange(2 * len(first)).reshape(2, -1).T.ravel()
    listed = pd.concat([first, second], ignore_index=True).iloc[order]
    says = _("{n} sentences; {a} first, then {b}.", n=f"{len(apart):,}", a=a, b=b)
    show_sentences(listed, key="two-sentences", says=says)


def _in_square(values: "pd.Series[float]", low: float, high: float) -> "pd.Series[bool]":
    return (values >= low - 1e-9) & (values < high - 1e-9)


@st.fragment
def show_groups(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """Show a heatmap, groups down and models across; a click on a cell lists its sentences."""
    by, measure = _ask()
    with st.spinner(_("Computing the intervals of each group …"), show_time=True):
        values = {model: grouped(source, model, by, settings) for model in models}
    rows = [_row(model, entry, measure) for model in models for entry in values[model]]
    data = _in_order(pd.DataFrame(rows), models)
    if data.empty:
        inform("The file does not say which word the source had, so there are no sides to compare.")
        return
    data["shown"] = [group_name(by, name) for name in data["group"]]
    says = _says(data, measure)
    means = [entry.signed_mean for model in models for entry in values[model]]
    tested = many_intervals(means) if measure == "signed_mean" else None
    chart = _chart(data, says, measure, by)
    chart = chart.add_params(alt.selection_point(name="cell", fields=["group", "model"], on="click"))
    says = paragraph([says, note_text(tested.sentence)]) if tested else says
    clicked = show_chart(chart, data.drop(columns="shown"), key="groups-chart", says=says, click="cell", file="groups")
    text = _("95% t intervals over the units of each group; {n} resamples where a group has more than 400 units.")
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
    """Return a group as the visitor reads it."""
    if by == "side":
        return _("male word in the source") if name == "male" else _("female word in the source")
    if by == "masks":
        return _("1 mask") if name == "1" else _("{n} masks", n=name)
    return name


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
        width=900,
        palette=colours(),
    )


def _says(data: pd.DataFrame, measure: str) -> str:
    if not data["value"].notna().any():
        return _("No group has a value.")
    write = percent if measure == "mass" else signed_number if measure == "signed_mean" else plain_number
    says = range_says(_("Values"), data, write, "shown", "model")
    lost = int(data["value"].isna().sum())
    return paragraph((says, _("{n} cells have no value.", n=lost))) if lost else says


def _clicked(source: ScoreFile, settings: Settings, by: Grouping, chosen: dict[str, str]) -> None:
    rows = rows_for(source, [chosen["model"]], settings)
    rows = rows[rows[by].astype(str) == chosen["group"]]
    title = _("Sentences: {group}, {model}", group=group_name(by, chosen["group"]), model=chosen["model"])
    st.header(plain(title))
    show_largest(rows, "cell-sentences", _("This cell belongs to another file or setting. Click again."))
