"""A finished comparison: the verdict and what it rests on, tables, pictures, items that moved, the report."""

import json
from typing import Any

import streamlit as st

from evenhand.annotations.before_after.blind import KIND
from evenhand.annotations.database.store import Store
from evenhand.core.before_after.report import (
    CAPTION,
    appendix,
    in_points,
    interval,
    left_out_text,
    note_words,
    short,
    signed,
)
from evenhand.core.before_after.run import built_in_language
from evenhand.core.runs.records import Run
from evenhand.pages.before_after.pictures import show_pictures
from evenhand.pages.before_after.start import COMPARISONS, built_in_label
from evenhand.pages.before_after.two_runs import change_cell, show_runs_record, verdict_name
from evenhand.pages.ui.language import _
from evenhand.pages.ui.runs import choose_run, download_table, finished_at, offer_deletion, show_facts, show_notices
from evenhand.pages.ui.tables import Column, element, joined, number_columns, show_html, table
from evenhand.pages.ui.text import paragraph, plain, show_signature


def show_finished(store: Store) -> None:
    """The finished comparison that is chosen, the newest at first."""
    st.subheader(_("Results"), anchor=False)
    found = [run for run in COMPARISONS.finished(store) if run.record.get("kind") != KIND]
    if not found:
        st.caption(
            _("No comparison yet. It needs a model before and a model after; the Tune a model page can create one.")
        )
        return
    _show_run(choose_run(found, "ba-run"))


def _show_run(run: Run) -> None:
    record = run.record
    if "measures" in record:
        show_runs_record(record, run.name)
        offer_deletion(COMPARISONS, run)
        return
    if "effect" not in record:
        st.caption(_("This record contains no comparison."))
        return
    _show_verdict(record)
    source = run.source
    text = _("{name}; items: {items}; finished {time}")
    named = source.get("name", "")
    written = built_in_language(named, "")
    name = built_in_label(written) if written else named
    show_facts(run, text.format(items=f"{run.sentences:,}", name=name, time=finished_at(run)))
    show_notices(run)
    show_html(_models(record))
    st.caption(plain(_(CAPTION)))
    show_pictures(run)
    _show_moved(record)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            _("Report for an appendix"), lambda: appendix(record, _), f"{run.name}.md", "text/markdown",
            type="tertiary", on_click="ignore", key=f"ba-report-{run.name}", icon=":material/description:",
        )  # fmt: skip
        st.download_button(
            _("Record (JSON)"), lambda: json.dumps(record, ensure_ascii=False, indent=1), f"{run.name}.json",
            "application/json", type="tertiary", on_click="ignore", key=f"ba-record-{run.name}",
            icon=":material/download:",
        )  # fmt: skip
        download_table(COMPARISONS, run)
        show_signature("\n".join(run.signatures))
        offer_deletion(COMPARISONS, run)


def _show_verdict(record: dict[str, Any]) -> None:
    effect = _("Change in |Bias_c| (log10; below 0: leans less): {effect}.").format(
        effect=interval(record["effect"], say=_)
    )
    what = _("beyond the placebo") if record["placebo"] else _("against the model before")
    seeds = _("seeds: {number}").format(number=len(record["after"]))
    lines = [element("p", verdict_name(record), "says"), element("p", effect, "also")]
    lines.append(element("p", f"{what} · {seeds}", "also"))
    if record["effect"].get("low") is not None:
        lines.append(element("p", note_words(record["remark"], _), "also"))
    show_html(element("div", joined(lines), "concordance"))
    if apart := record.get("left_out"):
        st.caption(plain(left_out_text(apart, _)))
    if notes := record.get("notes"):
        st.warning(plain(paragraph(note_words(one, _) for one in notes)))


def _models(record: dict[str, Any]) -> Any:
    heads = [_("model"), _("role"), _("items"), _("magnitude before"), _("magnitude after"),
             _("change in magnitude"), _("shift towards the male word"),
             _("increase in held-out loss"), _("change in top-1 accuracy")]  # fmt: skip
    rows = []
    for role, name in (("after", _("after")), ("placebo", _("placebo"))):
        for one in record[role]:
            cost = one.get("cost") or {}
            sizes = ["—" if one[time] is None else f"{one[time]:.3f}" for time in ("before", "after")]
            rows.append(
                (short(one["model"]), name, f"{one['items']:,}", *sizes, change_cell(one["size"]),
                 change_cell(one["shift"]), change_cell(cost.get("rise")),
                 change_cell(in_points(cost.get("guesses")), "+z.2f"))
            )  # fmt: skip
    return table([Column(head, "number" if i > 1 else "short") for i, head in enumerate(heads)], rows, kind="pinned")


def _show_moved(record: dict[str, Any]) -> None:
    moved = record.get("moved") or []
    if not moved:
        return
    with st.expander(_("Items that moved most")):
        heads = number_columns([_("Sentence"), _("word pair"), _("before"), _("after"), _("change")], (2, 3, 4))
        rows = [
            (one["sentence"], one["pair"], *(signed(one[key]) for key in ("before", "after", "difference")))
            for one in moved
        ]  # fmt: skip
        show_html(table(heads, rows, kind="text"))
