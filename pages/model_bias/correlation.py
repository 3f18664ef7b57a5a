"""Model and model (figure 4): correlation and same direction as heatmaps, and two models against each other."""

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from evenhand.core.charts.bias_distribution import squares, two_models, two_models_say
from evenhand.core.charts.heatmap import heatmap
from evenhand.core.model_bias import Groups, unit_of
from evenhand.core.report.figures import correlation_reading
from evenhand.core.report.numbers import interval, signed_number
from evenhand.core.report.several_models import TITLE, reading, rows_of_differences, rows_over_seeds
from evenhand.pages.model_bias.selection import NAME, Pick, chart_key, links_of, picked, rows_of_pick, take_click
from evenhand.pages.model_bias.source import (
    Settings,
    ask_margins,
    at_once,
    choose_seeds,
    correlations,
    differences,
    rows_for,
    show_sentences,
    signs,
    summary,
)
from evenhand.pages.ui.charts import caption_with_files, colours, range_says, show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import percent
from evenhand.pages.ui.results import choose_selection, show_conclusion, show_method
from evenhand.pages.ui.runs import ScoreFile
from evenhand.pages.ui.text import _, caption, in_brackets, inform, plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

BORDERS = ("a_low", "a_high", "b_low", "b_high")


def show_agreement(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """Show two heatmaps; a click on a cell opens its two models below."""
    if len(models) < 2:
        inform("Choose at least two models under Change.", icon=":material/arrow_upward:")
        return
    head, matrices, two, below = (st.container() for _place in range(4))
    with below:
        groups = choose_seeds(models)
    settings = at_once(settings)
    clicked = None
    with matrices:
        # Names that do not fit next to a half-wide square, or squares too small for numbers: one below the other.
        wide = len(models) > 4 or max(map(len, models)) > 18 or picked(models) is not None
        left, right = (st.container(), st.container()) if wide or len(models) == 2 else st.columns(2, gap="large")
        with left:
            clicked = _correlation(source, models, settings, groups, head)
        with right:
            clicked = _same_side(source, models, settings, groups) or clicked
    with two:
        _two(source, models, settings, clicked)
    with below:
        if groups:
            _over_seeds(source, settings, groups)
        show_method(
            _(
                "Even two models that know only word frequency correlate. Subtracting the pair mean"
                " leaves the effect of the contexts."
            ),
            _(
                "Two unrelated models agree on half of the sentences by chance, or on more if both lean the same way"
                " overall."
            ),
            signature="\n".join(dict.fromkeys(rows_for(source, models)["signature"])),
        )


def _correlation(
    source: ScoreFile, models: list[str], settings: Settings, groups: Groups, head: "DeltaGenerator"
) -> tuple[str, str] | None:
    """Show the correlation of every two models; in *head* the conclusion."""
    kinds = {"pearson": "Pearson", "spearman": "Spearman"}
    with st.container(horizontal=True, vertical_alignment="center"):
        method = choose(_("Correlation"), kinds, "correlation", heading=False)
        corrected = st.toggle(_("Minus the pair mean"), value=True, key="correlation-corrected")
    result = correlations(source, models, settings, method, corrected)
    says = _correlation_says(result, groups, kinds[method])
    with head:
        show_conclusion(says)
    below = correlation_reading(result, _)
    return _clickable(result, says, key="models-correlation", value=_("correlation"), low=-1.0, below=below)


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
    return _clickable(result, says, key="models-signs", value=_("share"), low=0.0)


def _clickable(
    found: pd.DataFrame, says: str, *, key: str, value: str, low: float, below: str | None = None
) -> tuple[str, str] | None:
    """Show a number for every two models as a heatmap; return the two that were clicked. Of two models, a sentence."""
    if found["a"].nunique() <= 2:
        caption_with_files(says if below is None else below, found, key=f"{key}-file")
        return None
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
    clicked = show_chart(chart, found, key=key, says=says, click="cell", file=f"{key}-file", below=below)
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
    _against(source, models, settings, table, (a, b))
    place = st.container()  # as wide as the page: its five columns are read side by side
    _disagreements(source, rows, table, a, b)
    # Last, because it takes longest.
    with place:
        _differences(source, a, b, settings)


def _against(
    source: ScoreFile, models: list[str], settings: Settings, table: pd.DataFrame, names: tuple[str, str]
) -> None:
    """Show two models against each other; a square is selected by a click or in the list below."""
    first, second = (table[name].to_numpy(float) for name in names)
    selection, chosen = picked(models), None
    if selection is not None:
        chosen = table.index.get_level_values("row").isin(rows_of_pick(source, selection, settings)["row"].unique())
    says = two_models_say(first, second, names, say=_)
    found = squares(first, second, chosen)
    chart = two_models(found, *names, description=says, say=_, click="square", palette=colours())
    key, data = chart_key("two-models"), found.drop(columns="picked").assign(a=names[0], b=names[1])
    clicked = show_chart(chart, data, key=key, says=says, click="square", file="two-models-file")
    take_click(key, clicked, Pick("square", names, tuple(clicked[name] for name in BORDERS)) if clicked else None)
    names_of = {}
    for row in found.sort_values("count", ascending=False, kind="stable").to_dict("records"):
        square = Pick("square", names, tuple(row[name] for name in BORDERS))
        names_of[square.address] = in_brackets(square.words(), row["count"])
    choose_selection(
        _("Show the sentences of"), names_of, NAME, index=None, placeholder=_("a square, the fullest first"), width=420,
    )  # fmt: skip


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


def _disagreements(source: ScoreFile, rows: pd.DataFrame, table: pd.DataFrame, a: str, b: str) -> None:
    both = table.dropna()
    both = both[np.isfinite(both).all(axis=1)]
    chosen = both[np.sign(both[a]) * np.sign(both[b]) < 0]
    st.markdown(f"**{_('Where the two models disagree most')}**")
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
    show_sentences(listed, key="two-sentences", says=says, links=links_of(source))
