"""Finished runs of different models over the same items: what differs, with intervals, the verdict, the report."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.quantities.runs import run_estimates
from evenhand.core.before_after import appendix
from evenhand.core.before_after.report import ModelsReport, RunsReport
from evenhand.core.before_after.two_runs import SCALES, RunKind, Side, several_runs
from evenhand.core.runs.records import Run, runs_folder, runs_in
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.estimate import note_text
from evenhand.core.typed_json import to_json
from evenhand.pages.ui.charts import colours, download, show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.equivalence import margin_box
from evenhand.pages.ui.quantities import explained_all, quantity_number
from evenhand.pages.ui.runs import own_runs
from evenhand.pages.ui.tables import Column, below, element, joined, number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, named, paragraph, plain, show_signature
from evenhand.pages.ui.visitor import errors_shown


def show_two_runs(store: Store) -> None:
    """Show the choice of two runs, and what differs between them."""
    kinds: dict[RunKind, str] = {
        "associations": _("Professions"), "nli": _("NLI bias"), "misgendering": _("Misgendering"),
    }  # fmt: skip
    kind = choose(_("Kind of run"), kinds, "ba-kind", address="kind")
    runs = [run for run in own_runs(store, runs_in(runs_folder(store.path, kind))) if _is_comparable(kind, run)]
    if len(runs) < 2 and not any(len(run.models) > 1 for run in runs):
        caption("This needs two finished runs of this kind, by different models on the same items. Start them first.")
        return
    sides = {
        f"{run.name} · {appendix.short(model)}" if model else run.name: Side(run.table, model, run.record)
        for run in runs
        for model in (run.models or ("",))
    }
    with st.container(border=True, key="ba-runs"):
        first, after, placebos = _choose_sides(list(sides))
        margin = margin_box(SCALES[kind], f"ba-runs-margin-{kind}")
    if not after:
        caption("Choose at least one run after the change.")
        return
    chosen = [sides[first]], [sides[name] for name in after], [sides[name] for name in placebos]
    one, afters, others = ([_facts_of(side) for side in some] for some in chosen)
    with errors_shown():
        report = _compared(kind, one, afters, others, margin)
        show_runs_report(report, " ".join(dict.fromkeys(side.table.stem for some in chosen for side in some)))


def _choose_sides(names: list[str]) -> tuple[str, list[str], list[str]]:
    """Return the run before, those after and the placebos, by name."""
    before, after = st.columns(2)
    with before:
        first = st.selectbox(_("Before"), names, index=1, key="ba-run-before")
    with after:
        chosen = st.multiselect(
            _("After"), names, names[:1], key="ba-run-after", placeholder=_("Choose runs"),
            help=_("Several runs are seeds of the same change. With three or more, the interval is over seeds."),
        )  # fmt: skip
    placebos = st.multiselect(
        _("Placebos"), names, key="ba-run-placebos", placeholder=_("None"),
        help=_("Models trained on the same texts without the change. The effect is the change beyond theirs."),
    )  # fmt: skip
    return first, chosen, placebos


def _is_comparable(kind: RunKind, run: Run) -> bool:
    """Return False for rates of bias: they are in the folder of the inference runs and have no answers."""
    return kind != "nli" or run.record.get("kind") != "rates"


Facts = tuple[str, float, str, str]  # of a side: table, when it was written, model, record


def _facts_of(side: Side) -> Facts:
    return str(side.table), side.table.stat().st_mtime, side.model, json.dumps(side.record, ensure_ascii=False)


@st.cache_data(max_entries=8, show_spinner=False)
def _compared(
    kind: RunKind, before: list[Facts], after: list[Facts], placebos: list[Facts], margin: float | None
) -> RunsReport:
    [first], afters, others = (
        [Side(Path(path), model, json.loads(record)) for path, _changed, model, record in some]
        for some in (before, after, placebos)
    )
    return several_runs(kind, first, afters, others, margin=margin)


def show_runs_report(report: RunsReport, name: str) -> None:
    """Show the report of `several_runs`: verdict, doubts, every measure, shares, what moved, the appendix."""
    rows = appendix.measure_rows(report, _)
    lines = [element("p", _(report.verdict), "says"), element("p", named(rows[0][0], rows[0][4]), "also")]
    lines.append(element("p", appendix.beside_text(report, _), "also"))
    if report.measures[0].change.low is not None:
        lines.append(element("p", note_text(report.remark, _), "also"))
    show_html(element("div", joined(lines), "concordance"))
    st.warning(plain(paragraph(note_text(note, _) for note in report.notes)))
    if any(measure.change.value is not None for measure in report.measures):
        _show_changes(report, rows)
    heads = [Column(_(head), "number" if i else "") for i, head in enumerate(appendix.MEASURES)]
    stated, cells = run_estimates(f"compared {report.kind}", report), []
    for measure, (name, items, *numbers) in zip(report.measures, rows, strict=True):
        ids = [f"run.compared.{report.kind}.{time}:{measure.key}" for time in ("before", "after", "change")]
        values = [quantity_number(id_, stated[id_], text) for id_, text in zip(ids[:2], numbers, strict=False)]
        cells.append([name, items, *values, change_cell(stated[ids[2]], name=ids[2])])
    show_html(table(heads, cells, kind="pinned"))
    st.caption(plain(appendix.unit_text(report, _)), help=explained_all(stated))
    if shares := appendix.share_rows(report, _):
        show_html(table(number_columns([_(head) for head in appendix.SHARES], range(1, 5)), shares))
    _show_moved(report)
    with st.container(horizontal=True, vertical_alignment="center"):
        offer_appendix(lambda: appendix.runs_appendix(report, _), report, name, "ba-runs-{part}")
        show_signature("\n".join(model.signature or model.table for model in report.models))


def offer_appendix(text: Callable[[], str], report: ModelsReport | RunsReport, name: str, key: str) -> None:
    """Offer the buttons that download the report as text and as a record; *key* has a place for {part}."""
    icon = ":material/description:"
    download(_("Report for an appendix"), text, f"{name}.md", key=key.format(part="report"), icon=icon)
    download(
        _("Record (JSON)"),
        lambda: json.dumps(to_json(report), ensure_ascii=False, indent=1),
        f"{name}.json",
        key=key.format(part="record"),
    )


def change_cell(change: Estimate | None, form: str = "+z.3f", name: str = "") -> Markup:
    """Return a change with its interval, and why one is missing below it; *name*: the id and row of its quantity."""
    value, why = appendix.parts(change, form, _)
    cell = quantity_number(name, change, value) if change and name else value
    return Markup("{}{}").format(cell, below(why) if why else "")


def _show_changes(report: RunsReport, rows: list[list[str]]) -> None:
    from evenhand.core.charts.bias_distribution import changes

    values = [measure.change for measure in report.measures]
    data = pd.DataFrame(
        [
            {"name": row[0], "value": change.value, "low": change.low, "high": change.high,
             "written": row[4].partition(" (")[0]}
            for row, change in zip(rows, values, strict=True)
        ]
    )  # fmt: skip
    apart = sum(
        change.low is not None and change.high is not None and not change.low <= 0 <= change.high for change in values
    )
    says = _("{apart} of {all} intervals of changes exclude 0; expected false positives: {chance}.").format(
        apart=apart, all=len(values), chance=f"{0.05 * len(values):.1f}"
    )
    unit = _("change (ln)") if report.scale == "ln" else _("change (share, 0 to 1)")
    show_chart(changes(data, title=unit, description=says, say=_, palette=colours()), data, key="ba-changes", says=says)


def _show_moved(report: RunsReport) -> None:
    if not report.moved:
        return
    with st.expander(_("Items that moved most") if report.kind == "associations" else _("Items that changed")):
        heads = number_columns([_("Item"), _("before"), _("after")], (1, 2))
        rows = [(row.text, _value(row.before), _value(row.after)) for row in report.moved]
        show_html(table(heads, rows, kind="text"))


def _value(value: float | str) -> str:
    if isinstance(value, str):
        return _(value)
    return f"{value:g}" if value in (0.0, 1.0) else appendix.signed(value)
