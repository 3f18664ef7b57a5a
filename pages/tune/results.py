"""What the page Tune shows: the curve of what goes on, and each finished model with its figures, card and ways on."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs.kinds import run_name
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.runs import run_estimates
from evenhand.core.before_after.appendix import short
from evenhand.core.charts.lines import loss_curve
from evenhand.core.errors import N_
from evenhand.core.runs.records import Run, runs_folder
from evenhand.core.tune.report import (
    CURVE,
    RECORD,
    WORK,
    ProjectionReport,
    TrainingReport,
    TuneReport,
    delete_run,
    model_of,
    read_report,
    stopped_early,
    tuned_runs,
)
from evenhand.pages.ui.charts import colours, download, show_chart
from evenhand.pages.ui.jobs import jobs_of
from evenhand.pages.ui.quantities import explained_all, quantity_number
from evenhand.pages.ui.runs import finished_at, own_runs, show_facts, show_finished_runs
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, named, plain, series
from evenhand.pages.ui.visitor import asks_at_click, open_store, page_link

TIMES = (N_("before"), N_("after"))


def show_under_way(store: Store) -> None:
    """Show the curve so far of each run that is not finished."""
    for job in jobs_of(store, "tune"):
        name = run_name(job)
        if not job.active or not name:
            continue
        file = runs_folder(store.path, "tunes") / f".{name}{WORK}" / CURVE
        try:
            points = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError):
            continue  # it has not looked yet, or is writing
        _show_curve(points, f"under-way-{name}")


def show_finished(store: Store) -> None:
    """Show the finished models, the newest first."""
    nothing = _("No finished models yet. A finished model is a folder that can be used as a model on every page.")
    show_finished_runs(own_runs(store, tuned_runs(store.path)), _show_run, nothing)


def _show_run(run: Run) -> None:
    report = read_report(run.record) or TuneReport()
    text = _("{base}: {what}; finished {time}")
    values = {"base": short(report.base.name), "what": _change(report), "time": finished_at(run)}
    show_facts(run, text.format(**values))
    if early := stopped_early(report):
        st.caption(plain(_(early.message).format(**early.values)))
    show_html(_figures(report))
    st.caption(_("Held-out text: neither model was trained on it."), help=explained_all(run_estimates("tune", report)))
    if isinstance(report, TrainingReport):
        _show_curve(report.curve, f"curve-{run.name}")
    with st.container(horizontal=True, vertical_alignment="center"):
        page_link(
            "before_after/page.py", label=_("Before and after"), icon=":material/arrow_forward:",
            query_params={"before": report.base.name, "after": str(model_of(run))},
        )  # fmt: skip
        with st.popover(_("Model card"), icon=":material/description:", type="tertiary", key=f"card-{run.name}"):
            st.code((model_of(run) / "README.md").read_text(encoding="utf-8"), language=None, wrap_lines=True)
            caption("Model folder: {folder}", folder=model_of(run))
        record = (model_of(run) / RECORD).read_bytes
        download(_("Record (JSON)"), record, f"{run.name}.json", key=f"record-{run.name}")
        with st.popover(_("Delete"), icon=":material/delete:", type="tertiary", key=f"deleting-{run.name}"):
            caption("Deletes the model too.")
            st.button(_("Delete this run"), key=f"delete-{run.name}", on_click=_delete, args=(run.name,))


def _change(report: TuneReport) -> str:
    """Return in the visitor's language what was done to the model; `method_text` of its record says it in English."""
    if isinstance(report, ProjectionReport):
        text = _(
            "{method}: directions removed: {directions}; estimated from {pairs} sentences and their counterfactuals"
        )
        name = "SentenceDebias" if report.method == "sentence-debias" else "INLP"
        return text.format(method=name, directions=f"{report.directions:,}", pairs=f"{report.pairs:,}")
    kinds = {
        "none": _("trained on unswapped texts (placebo)"), "swap": _("trained on swapped texts"),
        "cda": _("trained on texts and their counterfactuals (CDA)"),
        "cds": _("trained on texts, about half of them swapped (CDS)"),
    }  # fmt: skip
    parts = [kinds.get(report.source.swap.mode, "")]
    if isinstance(report, TrainingReport):
        tuning = report.tuning
        rank = _("adapters of rank {rank}, merged", rank=tuning.lora)
        parts.append(rank if tuning.lora else _("all weights"))
        if tuning.dropout:
            parts.append(named(_("dropout"), " / ".join(f"{share:g}" for share in tuning.dropout)))
        parts.append(named(_("seed"), tuning.seed))
    return series(parts)


@asks_at_click("start_jobs")
def _delete(name: str) -> None:
    with open_store() as store:
        for run in own_runs(store, tuned_runs(store.path)):
            if run.name == name:
                delete_run(run)


def _figures(report: TuneReport) -> Markup:
    stated = run_estimates("tune", report)
    rows = [
        (_(ENTRIES[id_].name), *(quantity_number(f"{id_}:{time}", stated[f"{id_}:{time}"]) for time in TIMES))
        for id_ in dict.fromkeys(name.partition(":")[0] for name in stated)
    ]
    return table(number_columns([_("figure"), *(_(time) for time in TIMES)], (1, 2)), rows)


def _show_curve(points: Sequence[Mapping[str, Any]], key: str) -> None:
    if len(points) < 2:
        return
    first, last = points[0]["held_out_loss"], points[-1]["held_out_loss"]
    says = _("Loss on held-out text: {first} at step {start}, {last} at step {end}.").format(
        first=f"{first:.3f}", start=points[0]["step"], last=f"{last:.3f}", end=points[-1]["step"]
    )
    show_chart(loss_curve(points, description=says, say=_, palette=colours()), points, key=key, says=says)
