"""The report of an import: counts, and every line that could not be used, as a list and a file."""

from typing import Any

import pandas as pd
import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import ImportReport
from evenhand.annotations.files.import_labels import LabelImport
from evenhand.annotations.files.package.write_package import NOT_STATED, GoldLabels, PackageImport
from evenhand.annotations.types import Project
from evenhand.core.language import Count
from evenhand.core.types import Problem
from evenhand.pages.ui.charts import csv_bytes, download
from evenhand.pages.ui.rail import show_next
from evenhand.pages.ui.sentences import problem_text, reason_name
from evenhand.pages.ui.text import _, caption, named, paragraph, plain, series
from evenhand.pages.ui.visitor import page_link

LISTED = 1_000  # problems on the page; the CSV has all that the report keeps
QUOTES = ("sentence", "text", "value")  # values of a problem that may quote a row


def next_steps(store: Store, project: Project) -> None:
    """After an import: the step that is next in the project, and others that may be."""
    where = {"project": project.name}
    first = show_next(store, project)
    others = {
        "pilot/page.py": (_("Pilot and guideline"), ":material/flag:"),
        "plan/page.py": (_("Labelling plan"), ":material/event_note:"),
        "review/page.py": (_("Review"), ":material/rate_review:"),
        "browse/page.py": (_("Browse"), ":material/search:"),
    }
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_("Or:"), width="content")
        for file, (label, icon) in others.items():
            if file != first:
                page_link(file, label=label, icon=icon, query_params=where)


def show_brought(brought: PackageImport, *, quoting: bool) -> None:
    """The report of a package: its items, then its labels and decisions."""
    if brought.items is not None:
        show_report(brought.items, quoting=quoting, place="items-")
    show_returned(brought.labels, heading=brought.items is None)
    if brought.gold.rows or brought.gold.left_out or brought.gold.withheld:
        _show_gold(brought.gold)


def _show_gold(report: GoldLabels) -> None:
    """The gold labels of a package, and what the package lacks."""
    numbers = (
        (_("Gold labels"), report.rows),
        (_("From labels"), report.here),
        (_("Imported as gold"), report.imported),
        (_("Kept from here"), report.kept),
        (_("Unusable"), report.rejected),
    )
    with st.container(horizontal=True):
        for name, number in numbers:
            st.metric(name, f"{number:,}", border=True, width=150)
    for text in missing_texts(report):
        st.caption(plain(text))


def missing_texts(report: GoldLabels) -> list[str]:
    """What does not come back from a package, in sentences with numbers."""
    texts = []
    if report.imported:
        text = _(
            "{number} gold {number:label came|labels came} without all single labels. Each holds until labels here"
            " decide."
        )
        texts.append(text.format(number=Count(report.imported)))
    if report.kept:
        text = _("{number} gold {number:label differs|labels differ} from the project, whose own stay.")
        texts.append(text.format(number=Count(report.kept)))
    if report.withheld:
        text = _("{number} {number:item has|items have} no gold label in the package, although the labels in it agree.")
        texts.append(text.format(number=Count(report.withheld)))
    if report.left_out and any(report.left_out.values()):
        text = _(
            "Not in the package: {labels} {labels:label|labels} of {annotators} {annotators:annotator|annotators} who"
            " did not consent; {comments} {comments:comment|comments} (theirs and private ones); some labels of"
            " {open_cases} open {open_cases:case|cases}."
        )
        texts.append(text.format(**{name: Count(number) for name, number in report.left_out.items()}))
    elif report.imported and report.left_out is None:
        texts.append(_(NOT_STATED))
    return texts


def show_returned(report: LabelImport, *, heading: bool = True, decisions: bool = True) -> None:
    """The report of imported labels and, if the file may hold them, decisions."""
    if heading:
        st.subheader(_("Report"), anchor=False)
    numbers = (
        (_("Labels read"), report.rows),
        (_("Imported"), report.imported),
        (_("Already present"), report.duplicates),
        (_("Unusable"), report.rejected),
        *([(_("Decisions and comments"), report.decisions)] if decisions else []),
    )
    with st.container(horizontal=True):
        for name, number in numbers:
            st.metric(name, f"{number:,}", border=True, width=150)
    if report.beside:
        text = _("{number} labels are stored but do not count: their annotators had decided otherwise here before.")
        st.caption(plain(text.format(number=f"{report.beside:,}")))
    _show_problems([_problem_row(one, quoting=False) for one in report.errors], report.rejected)


def show_report(report: ImportReport, *, quoting: bool = True, place: str = "") -> None:
    """The report of an import: counts, encoding, positions, and every line that could not be used.

    `quoting`: whether the list of those lines, which can be taken away, may quote them.
    """
    st.subheader(_("Report"), anchor=False)
    numbers = (
        (_("Rows"), report.rows),
        (_("Imported"), report.imported),
        (_("Duplicates"), report.duplicates),
        (_("Unusable"), report.rejected),
    )
    with st.container(horizontal=True):
        for name, number in numbers:
            st.metric(name, f"{number:,}", border=True, width=150)
    st.caption(plain(_report_text(report)))
    _show_problems([_problem_row(problem, quoting=quoting) for problem in report.errors], report.rejected, place)


def _show_problems(rows: list[dict[str, Any]], number: int, place: str = "") -> None:
    if not rows:
        return
    st.dataframe(pd.DataFrame(rows[:LISTED]), hide_index=True, key=f"{place}problems")
    if number > LISTED:
        caption("The first {shown} of {all} lines.", shown=f"{LISTED:,}", all=f"{number:,}")
    download(
        _("Unusable lines (CSV)"), lambda: csv_bytes(rows), "problems.csv", key=f"{place}problems-csv", type="secondary"
    )


def _report_text(report: ImportReport) -> str:
    parts = [_("Encoding: {encoding}.", encoding=report.encoding)]
    if report.spans:
        names = {
            "ok": _("correct"),
            "one_too_large": _("one too large"),
            "one_too_small": _("one too small"),
            "wrong": _("other error"),
        }
        counted = series(f"{names[status]} {number:,}" for status, number in report.spans.most_common())
        text = _("Positions in the file: {counted}.")
        if set(report.spans) != {"ok"}:
            text = _("Positions in the file: {counted}; all repaired.")
        parts.append(text.format(counted=counted))
    if report.repeated:
        text = _("Skipped because other tables in the archive contain the same rows: {files}.")
        parts.append(text.format(files=series(report.repeated)))
    if report.turned:
        parts.append(_("Duplicates with the two texts the other way round: {number}.", number=f"{report.turned:,}"))
    if report.odd_signs:
        counted = series(named(sign, f"{number:,}") for sign, number in sorted(report.odd_signs.items()))
        parts.append(_("Texts with unusual characters, kept unchanged: {counted}.", counted=counted))
    return paragraph(parts)


def _problem_row(problem: Problem, *, quoting: bool) -> dict[str, Any]:
    if not quoting:
        hidden = {key: "…" if key in QUOTES else value for key, value in problem.values.items()}
        problem = Problem(problem.file, problem.line, problem.reason, problem.message, hidden)
    row = {
        _("File"): problem.file,
        _("Line"): problem.line,
        _("Reason"): reason_name(problem.reason),
        _("Problem"): problem_text(problem),
    }
    return row | ({_("Sentence"): str(problem.values.get("sentence", ""))} if quoting else {})
