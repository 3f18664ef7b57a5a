"""A finished comparison: the verdict and what it rests on, tables, pictures, items that moved, the report."""

from typing import TYPE_CHECKING, Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.before_after.blind import KIND
from evenhand.annotations.database.store import Store
from evenhand.core.before_after.appendix import (
    CAPTION,
    HEADS,
    appendix,
    changed_row,
    interval,
    left_out_text,
    short,
    signed,
)
from evenhand.core.before_after.report import ModelsReport, RunsReport, read_record
from evenhand.core.before_after.run import built_in_language
from evenhand.core.runs.records import Run
from evenhand.core.statistics.estimate import note_text
from evenhand.pages.before_after.start import COMPARISONS, built_in_label
from evenhand.pages.before_after.two_runs import change_cell, offer_appendix, show_runs_report
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.runs import choose_run, download_table, finished_at, offer_deletion, show_facts, show_notices
from evenhand.pages.ui.tables import Column, element, joined, number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, paragraph, plain, show_signature

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
    from evenhand.core.charts.bias_distribution import difference_bins, differences

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


def show_finished(store: Store) -> None:
    """The finished comparison that is chosen, the newest at first."""
    st.subheader(_("Results"), anchor=False)
    found = [run for run in COMPARISONS.finished(store) if run.record.get("kind") != KIND]
    if not found:
        caption("No comparison yet. It needs a model before and a model after; the Tune a model page can create one.")
        return
    _show_run(choose_run(found, "ba-run"))


def _show_run(run: Run) -> None:
    report = read_record(run.record)
    if report is None:
        caption("This record contains no comparison.")
        return
    if isinstance(report, RunsReport):
        show_runs_report(report, run.name)
        offer_deletion(COMPARISONS, run)
        return
    _show_verdict(report)
    source = str(report.source.get("name", ""))
    written = built_in_language(source, "")
    text = _("{name}; items: {items}; finished {time}")
    name = built_in_label(written) if written else source
    show_facts(run, text.format(items=f"{run.sentences:,}", name=name, time=finished_at(run)))
    show_notices(run)
    show_html(_models(report))
    st.caption(plain(_(CAPTION)))
    show_pictures(run, report)
    _show_moved(report)
    with st.container(horizontal=True, vertical_alignment="center"):
        offer_appendix(lambda: appendix(report, _), report, run.name, f"ba-{{part}}-{run.name}")
        download_table(COMPARISONS, run)
        show_signature("\n".join(run.signatures))
        offer_deletion(COMPARISONS, run)


def _show_verdict(report: ModelsReport) -> None:
    effect = _("Change in |Bias_c| (log10; below 0: leans less): {effect}.", effect=interval(report.effect, say=_))
    what = _("beyond the placebo") if report.placebo else _("against the model before")
    seeds = _("seeds: {number}", number=len(report.after))
    lines = [element("p", _(report.verdict), "says"), element("p", effect, "also")]
    lines.append(element("p", f"{what} · {seeds}", "also"))
    if report.effect.low is not None:
        lines.append(element("p", note_text(report.remark, _), "also"))
    show_html(element("div", joined(lines), "concordance"))
    if report.left_out:
        st.caption(plain(left_out_text(report.left_out, _)))
    if report.notes:
        st.warning(plain(paragraph(note_text(note, _) for note in report.notes)))


def _models(report: ModelsReport) -> Markup:
    heads = [Column(_(head), "number" if i > 1 else "short") for i, head in enumerate(HEADS)]
    rows = [
        (short(model.model), role, *changed_row(model, change_cell))
        for role, models in ((_("after"), report.after), (_("placebo"), report.placebo))
        for model in models
    ]
    return table(heads, rows, kind="pinned")


def _show_moved(report: ModelsReport) -> None:
    if not report.moved:
        return
    with st.expander(_("Items that moved most")):
        heads = number_columns([_("Sentence"), _("word pair"), _("before"), _("after"), _("change")], (2, 3, 4))
        rows = [
            (item.sentence, item.pair, *map(signed, (item.before, item.after, item.difference)))
            for item in report.moved
        ]
        show_html(table(heads, rows, kind="text"))
