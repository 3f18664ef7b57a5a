"""A finished comparison: the verdict and what it rests on, tables, pictures, items that moved, the report."""

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
    note_words,
    short,
    signed,
)
from evenhand.core.before_after.report import ModelsReport, RunsReport, read_record
from evenhand.core.before_after.run import built_in_language
from evenhand.core.runs.records import Run
from evenhand.pages.before_after.pictures import show_pictures
from evenhand.pages.before_after.start import COMPARISONS, built_in_label
from evenhand.pages.before_after.two_runs import change_cell, offer_appendix, show_runs_report
from evenhand.pages.ui.runs import choose_run, download_table, finished_at, offer_deletion, show_facts, show_notices
from evenhand.pages.ui.tables import Column, element, joined, number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, paragraph, plain, show_signature


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
        lines.append(element("p", note_words(report.remark, _), "also"))
    show_html(element("div", joined(lines), "concordance"))
    if report.left_out:
        st.caption(plain(left_out_text(report.left_out, _)))
    if report.notes:
        st.warning(plain(paragraph(note_words(note, _) for note in report.notes)))


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
