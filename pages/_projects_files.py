"""Bringing a file into a project: its first rows with the found words, the import, the report."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from annotations import jobs
from annotations.formats.importing import ImportReport, Preview, examine, import_examined, preview
from annotations.formats.layouts import FORMATS
from annotations.store import Store
from annotations.types import Project
from core.errors import EvenhandError
from pages._projects_parts import preview_table, problem_text, reason_name, show
from pages._widgets import _, csv_bytes, plain, show_error

ENDINGS = ["csv", "tsv", "jsonl", "json", "txt"]
LISTED = 1_000  # problems on the page; the CSV has all that the report keeps


@dataclass(frozen=True, slots=True)
class Wish:
    """How a file should be read; `column` None: found by its name."""

    format: str = "auto"
    column: str | None = None


def show_files(store: Store, project: Project) -> None:
    """Upload, preview, import, report."""
    if project.archived:
        st.info(_("This project is archived. Bring it back before you import."))
        return
    st.caption(
        _(
            "CSV, TSV, JSON lines or plain text with a sentence a line; UTF-8 or GB18030. "
            "The released SlguSet file fits as it is."
        )
    )
    uploaded = st.file_uploader(_("File"), type=ENDINGS, key=_place(), label_visibility="collapsed")
    if uploaded is not None:
        try:
            path = _kept(store, uploaded)
            _show_file(store, project, path, large=jobs.is_large(uploaded.getvalue()))
        except EvenhandError as error:
            show_error(error)
    report = st.session_state.get(_report_key(project))
    if report is not None:
        show_report(report)


def _report_key(project: Project) -> str:
    return f"report-{project.uid}"


def _place() -> str:
    """The key of the place for a file; a new one after each import, so that it is empty again."""
    used = st.session_state.get("files_used", 0)
    return f"file-{used}" if used else "file"


def _used() -> None:
    st.session_state["files_used"] = st.session_state.get("files_used", 0) + 1
    del st.session_state["upload"]


def _kept(store: Store, uploaded: Any) -> Path:
    """Where the uploaded file lies; written once, not at every rerun."""
    known: tuple[str, str] | None = st.session_state.get("upload")
    if known is not None and known[0] == uploaded.file_id and Path(known[1]).exists():
        return Path(known[1])
    path = jobs.keep_upload(store, uploaded.name, uploaded.getvalue())
    st.session_state["upload"] = (uploaded.file_id, str(path))
    return path


def format_name(name: str) -> str:
    """An import format in words."""
    return {
        "auto": _("Find out"),
        "slguset": _("Released SlguSet columns"),
        "sentences": _("Sentences"),
        "candidates": _("Mined candidates"),
        "generations": _("Generations"),
    }[name]


def _show_file(store: Store, project: Project, path: Path, *, large: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(_("Format"), ("auto", *FORMATS), key="format", format_func=format_name, width=240)
        column = st.text_input(
            _("Column with the sentences"),
            key="column",
            width=240,
            help=_("Only where its name is none of sentence, text, 句子, 文本."),
        )
    wish = Wish(chosen, column.strip() or None)
    seen = preview(path, format=wish.format, column=wish.column)
    st.caption(plain(_described(seen)))
    show(preview_table(seen.rows))
    if large:
        st.caption(_("This is a large file: it is imported as a job, and you can go on working."))
    if st.button(_("Import"), key="import", type="primary", icon=":material/upload_file:"):
        if large:
            _start_job(store, project, path, wish)
        else:
            st.session_state[_report_key(project)] = import_with_bar(store, project, path, wish)
            jobs.drop_upload(store, path)
            _used()
            st.rerun()  # the counts above have changed


def _described(seen: Preview) -> str:
    text = _("Read as {format}, encoding {encoding}.").format(format=format_name(seen.format), encoding=seen.encoding)
    if seen.columns:
        columns = ", ".join(name if len(name) <= 40 else f"{name[:39]}…" for name in seen.columns[:12])
        text += " " + _("Columns: {columns}.").format(columns=columns)
    return text + " " + _("The first rows:")


def import_with_bar(store: Store, project: Project, path: Path, wish: Wish) -> ImportReport:
    """Import a small file while the visitor watches."""
    bar = st.progress(0.0, _("Reading the file"))
    examined = examine(path, format=wish.format, column=wish.column)

    def advance(done: int, total: int) -> None:
        text = _("{done} of {total} rows").format(done=f"{done:,}", total=f"{total:,}")
        bar.progress(done / total if total else 1.0, text)

    report = import_examined(store, project, examined, progress=advance)
    bar.empty()
    return report


def _start_job(store: Store, project: Project, path: Path, wish: Wish) -> None:
    options = ["--format", wish.format]
    if wish.column:
        options += ["--column", wish.column]
    # The id: the project may have another name by the time the job runs. "--": it may be named "--help".
    command = ["import", *options, "--project-uid", project.uid, "--json", "--", project.name, str(path)]
    title = _("Import {file} into {project}").format(file=path.name, project=project.name)
    jobs.start(store, command, title)
    _used()  # the file is the job's now
    st.success(_("The import runs as a job."))
    st.page_link("jobs.py", label=_("Jobs"), icon=":material/schedule:")


def show_report(report: ImportReport) -> None:
    """What an import did: counts, encoding, positions, and every line that could not be used."""
    st.subheader(_("Report"), anchor=False)
    numbers = (
        (_("Rows"), report.rows),
        (_("Imported"), report.imported),
        (_("Duplicates"), report.duplicates),
        (_("Not usable"), report.rejected),
    )
    with st.container(horizontal=True):
        for name, number in numbers:
            st.metric(name, f"{number:,}", border=True, width=150)
    st.caption(plain(_report_text(report)))
    if not report.errors:
        return
    rows = [_problem_row(problem) for problem in report.errors]
    st.dataframe(pd.DataFrame(rows[:LISTED]), hide_index=True, key="problems")
    if report.rejected > LISTED:
        st.caption(_("The first {shown} of {all} lines.").format(shown=f"{LISTED:,}", all=f"{report.rejected:,}"))
    st.download_button(
        _("Lines that could not be used (CSV)"),
        lambda: csv_bytes(rows),
        "problems.csv",
        "text/csv",
        key="problems-csv",
        on_click="ignore",
        icon=":material/download:",
    )


def _report_text(report: ImportReport) -> str:
    parts = [_("Encoding: {encoding}.").format(encoding=report.encoding)]
    if report.spans:
        names = {
            "ok": _("at the right place"),
            "one_too_large": _("one too large"),
            "one_too_small": _("one too small"),
            "wrong": _("elsewhere"),
        }
        counted = ", ".join(f"{names[status]} {number:,}" for status, number in report.spans.most_common())
        parts.append(_("Published positions: {counted}; all repaired.").format(counted=counted))
    return " ".join(parts)


def _problem_row(problem: Any) -> dict[str, Any]:
    return {
        _("File"): problem.file,
        _("Line"): problem.line,
        _("Reason"): reason_name(problem.reason),
        _("What is wrong"): problem_text(problem),
        _("Sentence"): str(problem.values.get("sentence", "")),
    }
