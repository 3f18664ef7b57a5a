"""Which models are compared on which items, the start of the job, and a finished comparison: verdict and pictures."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from markupsafe import Markup, escape

from evenhand.annotations.before_after.blind import KIND
from evenhand.annotations.before_after.runs import BEFORE_AFTER
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.scoring_input import PROJECT
from evenhand.annotations.quantities.runs import run_estimates
from evenhand.core.before_after.appendix import (
    CAPTION,
    HEADS,
    ROLES,
    appendix,
    changed_row,
    interval,
    left_out_text,
    short,
    signed,
)
from evenhand.core.before_after.report import ModelsReport, RunsReport, read_record
from evenhand.core.before_after.run import BUILT_IN, built_in_language, built_in_name
from evenhand.core.before_after.settings import Settings
from evenhand.core.charts.bias_distribution import squares, two_models, two_models_say
from evenhand.core.charts.heatmap import heatmap
from evenhand.core.runs.records import Run
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import MARGINS
from evenhand.core.statistics.estimate import note_text
from evenhand.core.tune.report import model_of, tuned_runs
from evenhand.pages.before_after.two_runs import change_cell, offer_appendix, show_runs_report
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.choose import choose, choose_models, choose_project, every_model, language_name, warn_of_language
from evenhand.pages.ui.quantities import explained_all, quantity_number
from evenhand.pages.ui.runs import (
    RunPage,
    RunRequest,
    choose_run,
    download_table,
    finished_at,
    offer_deletion,
    own_runs,
    show_facts,
    show_notices,
    show_start_form,
)
from evenhand.pages.ui.tables import Column, element, joined, number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, language, paragraph, plain, series, show_signature
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import errors_shown

COMPARISONS = RunPage("comparisons", "before-after", form_key="ba-{part}", run_key="ba-{part}-{run}")
PLACE, TEXT = "ba-items-0", "ba-text-0"
ENDINGS = ["csv", "tsv", "jsonl", "json", "txt"]


def show_new(store: Store) -> None:
    """Show the form."""
    with st.container(border=True, key="ba-form"):
        names = [entry.name for entry in every_model()]
        tuned = own_runs(store, tuned_runs(store.path))
        own = [str(model_of(run)) for run in tuned]
        for key in ("before", "after"):
            if (asked := st.query_params.get(key)) and f"ba-{key}" not in st.session_state:
                st.session_state[f"ba-{key}"] = [asked]
        first = "demo-zh" if language() == "zh" else "demo-en"
        if tuned:  # the newest comes after, so what it was made of comes before
            first = str(tuned[0].facts("base").get("name") or first)
        before = _choose_role(_("Before"), [*names, *own], "ba-before", [first], _("The unchanged model; exactly one."))
        after = _choose_role(
            _("After"), [*own, *names], "ba-after", own[:1], _("The changed model, in one or several seeds.")
        )
        placebo = _choose_role(
            _("Placebos"), [*own, *names], "ba-placebo", [],
            _(
                "Trained for as long on the same texts, unswapped: one per model after, in the same order, or"
                " none."
            ),
        )  # fmt: skip
        request = None
        with errors_shown():
            request = _request(store, before, after, placebo)
        show_start_form(store, COMPARISONS, f"{short(after[0])}" if after else "before-after", request)


def built_in_label(written: str) -> str:
    """Return the name of the built-in items of a language."""
    return _("Built-in neutral sentences ({language})").format(language=language_name(written))


def _choose_role(label: str, names: list[str], key: str, first: list[str], help: str) -> tuple[str, ...]:
    return choose_models(list(dict.fromkeys(names)), key, first=first, help=help, label=label)


def _request(
    store: Store, before: tuple[str, ...], after: tuple[str, ...], placebo: tuple[str, ...]
) -> RunRequest[Settings] | None:
    written = built_in_language(BUILT_IN, before[0] if before else "") or "zh"
    kinds = {"built-in": built_in_label(written), "project": _("A project"), "file": _("A file")}
    kind = choose(_("Items"), kinds, "ba-source")
    project, uploads = None, list[Path]()
    items: str | None = built_in_name(written)
    if kind == "built-in":
        warn_of_language([*before, *after, *placebo], written)
    elif kind == "project":
        project = choose_project(store, kind="sentences")
        items = f"{PROJECT}{project.name}" if project else None
    elif kind == "file":
        path = choose_upload(_("File"), ENDINGS, key=PLACE)
        items = str(path) if path else None
        uploads += [path] if path else []
    text = choose_upload(
        _("Held-out text, one text per line"), ["txt", "gz"], key=TEXT,
        help=_(
            "Measures the cost of the change: how well each model predicts text that none of them was"
            " trained on."),
    )  # fmt: skip
    margin = st.number_input(
        _("Margin (log10)"), 0.0, 2.0, MARGINS["log10"], 0.01, key="ba-margin",
        help=_("Largest change of |Bias_c| that counts as negligible; 0: no test."),
    )  # fmt: skip
    if items is None or not before or not after:
        return None
    settings = Settings(
        items, before[0], after, placebo, text, round(margin or 0.0, 4), uid=project.uid if project else None,
    )  # fmt: skip
    title = _("Compare {before} with {after}").format(before=short(before[0]), after=series(map(short, after)))
    place = PLACE if kind == "file" else ""
    uploads += [text] if text else []
    return RunRequest(title, BEFORE_AFTER, settings, uploads=uploads, place=place, project=project)


@st.cache_data(max_entries=8, show_spinner=False)
def _table(path: str, changed: float) -> "pd.DataFrame":
    return pd.read_csv(path)


def show_pictures(run: Run, report: ModelsReport) -> None:
    """Show the three pictures, where there is anything to draw."""
    frame, role = _table(str(run.table), run.table.stat().st_mtime), _("placebo")
    names = {f"after_{i}": short(model.model) for i, model in enumerate(report.after, 1)}
    names |= {f"placebo_{i}": f"{short(model.model)} · {role}" for i, model in enumerate(report.placebo, 1)}
    if not names or frame["before"].notna().sum() == 0:
        return
    _show_scatter(report, frame)
    _show_differences(frame, names)
    _show_pairs(report)


def _show_scatter(report: ModelsReport, frame: "pd.DataFrame") -> None:
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
    bins = difference_bins(changes)
    first = next(iter(changes.values()))
    known = first[first == first]
    says = _("Absolute change of Bias_c (log10): median {half}, 90th percentile {tenth}.").format(
        half=f"{_quantile(known, 0.5):.2f}", tenth=f"{_quantile(known, 0.9):.2f}"
    )
    chart = differences(bins, description=says, say=_, palette=colours())
    show_chart(chart, bins, key="ba-differences", says=says)


def _quantile(values: Any, share: float) -> float:
    return float(np.quantile(np.abs(values), share)) if len(values) else 0.0


def _show_pairs(report: ModelsReport) -> None:
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
    """Show the finished comparison that is chosen, the newest at first."""
    st.header(_("Results"), anchor=False)
    runs = [run for run in COMPARISONS.finished(store) if run.record.get("kind") != KIND]
    if not runs:
        caption("No comparison yet. It needs a model before and a model after; the Tune a model page can create one.")
        return
    _show_run(choose_run(runs, "ba-run"))


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
    st.caption(plain(_(CAPTION)), help=explained_all(run_estimates("change", report)))
    show_pictures(run, report)
    _show_moved(report)
    with st.container(horizontal=True, vertical_alignment="center"):
        offer_appendix(lambda: appendix(report, _), report, run.name, f"ba-{{part}}-{run.name}")
        download_table(COMPARISONS, run)
        show_signature("\n".join(run.signatures))
        offer_deletion(COMPARISONS, run)


def _show_verdict(report: ModelsReport) -> None:
    number = quantity_number("run.change.effect:all", report.effect, interval(report.effect, say=_))
    effect = escape(_("Change in |Bias_c| (log10; below 0: leans less): {effect}.")).format(effect=number)
    what = _("beyond the placebo") if report.placebo else _("against the model before")
    seeds = _("seeds: {number}", number=len(report.after))
    lines = [element("p", _(report.outcome), "says"), element("p", effect, "also")]
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
        (short(model.model), _(ROLES[role]), *changed_row(model, partial(_change_cell, f"{role}/{model.model}")))
        for role, models in (("after", report.after), ("placebo", report.placebo))
        for model in models
    ]
    return table(heads, rows, kind="pinned")


def _change_cell(model: str, name: str, change: Estimate | None, form: str) -> Markup:
    return change_cell(change, form, f"run.change.{name}:{model}")


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
