"""Reports of imports, the imports of a project and their undo, and conflicts between files or desks to decide."""

from collections.abc import Callable, Mapping

import pandas as pd
import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files import undo_import as undoing
from evenhand.annotations.files.import_items import ImportReport
from evenhand.annotations.files.import_labels import LabelImport
from evenhand.annotations.files.package.write_package import NOT_STATED, GoldLabels, PackageImport
from evenhand.annotations.files.undo_import import Conflict, conflicts, exported_row, keep_first, take_second
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.core.language import Count
from evenhand.core.types import Problem, TableRow
from evenhand.pages.ui.charts import csv_bytes, download, downloads
from evenhand.pages.ui.jobs import start_job
from evenhand.pages.ui.numbers import DASH, moment
from evenhand.pages.ui.rail import show_next
from evenhand.pages.ui.sentences import problem_text, reason_name
from evenhand.pages.ui.text import _, caption, language, literal, named, paragraph, plain, series
from evenhand.pages.ui.visitor import asks, asks_at_click, confirmed, open_store, page_link, show_error

CONFLICTS_LISTED = 20


def kind_name(kind: str) -> str:
    """Return the kind of a conflict in words."""
    return {
        "label": _("two labels by one annotator"),
        "answer": _("two known answers"),
        "word": _("the same text with another keyword"),
        "text": _("the same id with another text"),
    }[kind]


def show_conflicts(store: Store, project: Project) -> None:
    """Show the conflicts between files, each with a choice of the label that counts."""
    st.header(_("Conflicts between files"), anchor=False)
    found = conflicts(store, project)
    if not found:
        caption("No conflicts: no file contradicts the project.")
        return
    caption("The first label counts. Keep it or use the other one; both remain stored.")
    if (error := st.session_state.pop("conflict_error", None)) is not None:
        show_error(error)
    downloads([exported_row(project, conflict) for conflict in found], key="conflicts")
    options = [option for guideline in guidelines(store, project) for option in guideline.options]
    names = {option.code: option.zh if language() == "zh" else option.en for option in options}
    for conflict in found[:CONFLICTS_LISTED]:
        _show(project, conflict, names)
    if len(found) > CONFLICTS_LISTED:
        caption(
            "The first {shown} of {all}; the file contains all of them.", shown=CONFLICTS_LISTED, all=f"{len(found):,}"
        )


def _in_words(said: str, names: Mapping[str, str]) -> str:
    return " · ".join(names.get(code, code) for code in said.split(" · "))


def _show(project: Project, conflict: Conflict, names: Mapping[str, str]) -> None:
    with st.container(border=True):
        about = kind_name(conflict.kind) + (f" · {conflict.annotator}" if conflict.annotator else "")
        st.caption(plain(about))
        literal(conflict.text)
        for place, (text, file) in zip(
            st.columns(2), ((conflict.first, conflict.first_file), (conflict.second, conflict.second_file)), strict=True
        ):
            with place:
                if text is None:
                    caption("The content of the other file is not in this database: packages with codes omit it.")
                    continue
                if not text:
                    caption("removed with its file: no valid label")
                    continue
                literal(_in_words(text, names) if conflict.kind in ("label", "answer") else text)
                if conflict.kind in ("label", "answer") or file:
                    st.caption(plain(file or _("at the desk")))
        with st.container(horizontal=True):
            st.button(
                _("Keep the first"), key=f"keep-{conflict.key}", icon=":material/check:", on_click=_decide,
                args=(project, conflict.key, False),
            )  # fmt: skip
            if conflict.kind in ("label", "answer"):
                st.button(
                    _("Use the other"), key=f"take-{conflict.key}", icon=":material/swap_horiz:", on_click=_decide,
                    args=(project, conflict.key, True),
                )  # fmt: skip


@asks_at_click("import_files")
def _decide(project: Project, key: str, other: bool) -> None:
    with open_store(project) as store:
        try:
            (take_second if other else keep_first)(store, project, key)
        except EvenhandError as error:
            st.session_state["conflict_error"] = error


AS_A_JOB = 20_000  # from so many rows on, the undo is a job
DONE = "import_taken_back"


@asks("import_files")
def show_imports(store: Store, project: Project) -> None:
    """Show every import with its date and rows; the effect of an undo is shown before the button."""
    imports = undoing.imports(store, project)
    st.caption(_("All imports, each of which can be undone. Annotators' work is never deleted."))
    if (done := st.session_state.pop(DONE, None)) is not None:
        st.success(plain(done), icon=":material/undo:")
    if not imports:
        st.info(_("No file has been imported yet. Import one under Files."))
        return
    st.dataframe(_rows(project, imports, moment), hide_index=True, key="imports")
    downloads(_rows(project, imports, lambda when: when or DASH), key="imports-list")
    open_ones = {import_.key: import_ for import_ in reversed(imports) if import_.undone is None or import_.unfinished}
    if open_ones:
        key = st.selectbox(
            _("Undo import"),
            list(open_ones),
            key=f"undo-{project.uid}-{len(open_ones)}",
            format_func=lambda one: f"{open_ones[one].file} · {moment(open_ones[one].created)} · {one}",
        )
        if key in open_ones:
            _offer(store, project, open_ones[key])
    st.divider()
    show_conflicts(store, project)


def _rows(project: Project, imports: list[undoing.Import], write: Callable[[str | None], str]) -> list[TableRow]:
    """Return the imports, the newest first, with moments as *write* has them."""
    return [
        {
            _("File"): import_.file,
            _("Contents"): _contents(import_, project),
            _("Rows"): import_.rows,
            _("Imported on"): write(import_.created),
            _("Undone on"): write(import_.undone),
            _("Name"): import_.key,
        }
        for import_ in reversed(imports)
    ]


def _contents(stored_import: undoing.Import, project: Project) -> str:
    if stored_import.gold:
        return _("gold labels")
    return _("annotators' labels") if stored_import.kind == "labels" else _kind(project)


def _kind(project: Project) -> str:
    return _("texts") if project.kind == "generations" else _("sentences")


def undo_text(stored_import: undoing.Import, done: undoing.UndoEffect) -> str:
    """Return in one sentence what undoing an import does, or did."""
    if stored_import.gold:
        text = _(
            "{labels} gold {labels:label is|labels are} removed; the project's own labels and decisions"
            " determine these items again."
        )
        return text.format(labels=Count(done.labels))
    if stored_import.kind == "labels":
        text = _("{labels} valid labels are removed; {kept} labels that are no longer valid stay as they are.")
        told = text.format(labels=f"{done.labels:,}", kept=f"{done.kept:,}")
        if not done.chosen:
            return told
        stay = _("{chosen} labels that you chose in conflicts still count, because you chose them.")
        return f"{told} {stay.format(chosen=f'{done.chosen:,}')}"
    text = _(
        "{deleted} untouched items are deleted; {hidden} are hidden with their {labels} labels. Importing"
        " the same text again restores them."
    )
    return text.format(deleted=f"{done.deleted:,}", hidden=f"{done.hidden:,}", labels=f"{done.labels:,}")


@asks("import_files")
def _offer(store: Store, project: Project, found: undoing.Import) -> None:
    expected = undo_text(found, undoing.undo_effect(store, project, found))
    st.write(plain(expected))
    if found.unfinished:
        st.caption(_("Undoing this import was interrupted. Continue to undo the rest."))
    act = _("Undo import of {file}").format(file=found.file)
    if not confirmed(_("Undo import"), expected, act, key="undo", icon=":material/undo:"):
        return
    if found.rows > AS_A_JOB:
        settings = undoing.Settings(project.name, found.key, yes=True, uid=project.uid)
        start_job(
            store, undoing.UNDO, settings, Notice(N_("Undo import of {file}"), {"file": found.file}), project=project
        )
        st.success(_("Started as a background job."))
        page_link("jobs/page.py", label=_("Jobs"), icon=":material/schedule:")
        return
    try:
        done = undoing.undo(store, project, found.key)
    except EvenhandError as error:
        show_error(error)
        return
    st.session_state[DONE] = named(found.file, undo_text(undoing.find_import(store, project, found.key), done))
    st.rerun()


LISTED = 1_000  # problems on the page; the CSV has all that the report keeps
QUOTES = ("sentence", "text", "value")  # values of a problem that may quote a row


def next_steps(store: Store, project: Project) -> None:
    """Show links to the next step of the project after an import, and to other pages."""
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
    """Show the report of a package: its items, then its labels and decisions."""
    if brought.items is not None:
        show_report(brought.items, quoting=quoting, place="items-")
    show_returned(brought.labels, heading=brought.items is None)
    if brought.gold.rows or brought.gold.left_out or brought.gold.withheld:
        numbers = (
            (_("Gold labels"), brought.gold.rows),
            (_("From labels"), brought.gold.here),
            (_("Imported as gold"), brought.gold.imported),
            (_("Project's own kept"), brought.gold.kept),
            (_("Unusable"), brought.gold.rejected),
        )
        with st.container(horizontal=True):
            for name, number in numbers:
                st.metric(name, f"{number:,}", border=True, width=150)
        for text in missing_texts(brought.gold):
            st.caption(plain(text))


def missing_texts(report: GoldLabels) -> list[str]:
    """Return what a package does not restore, in sentences with numbers."""
    texts = []
    if report.imported:
        text = _(
            "{number} gold {number:label came|labels came} without all individual labels. Each remains valid until"
            " labels in this project decide the item."
        )
        texts.append(text.format(number=Count(report.imported)))
    if report.kept:
        text = _("{number} gold {number:label differs|labels differ} from the project's own, which are kept.")
        texts.append(text.format(number=Count(report.kept)))
    if report.withheld:
        text = _("{number} {number:item has|items have} no gold label in the package, although the labels in it agree.")
        texts.append(text.format(number=Count(report.withheld)))
    if report.left_out and any(report.left_out.values()):
        text = _(
            "Not in the package: {labels} {labels:label|labels} by {annotators} {annotators:annotator|annotators} who"
            " did not consent; {comments} {comments:comment|comments} (by these annotators, or private); some labels of"
            " {open_cases} open {open_cases:case|cases}."
        )
        texts.append(text.format(**{name: Count(number) for name, number in report.left_out.items()}))
    elif report.imported and report.left_out is None:
        texts.append(_(NOT_STATED))
    return texts


def show_returned(report: LabelImport, *, heading: bool = True, decisions: bool = True) -> None:
    """Show the report of imported labels and, if the file may hold them, decisions."""
    if heading:
        st.header(_("Report"), anchor=False)
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
        text = _(
            "{number} labels are stored but do not count: their annotators had already labelled these items"
            " differently here."
        )
        st.caption(plain(text.format(number=f"{report.beside:,}")))
    _show_problems([_problem_row(error, quoting=False) for error in report.errors], report.rejected)


def show_report(report: ImportReport, *, quoting: bool = True, place: str = "") -> None:
    """Show the report of an import: counts, encoding, positions, and every unusable line.

    *quoting*: True if the downloadable list of unusable lines may quote them.
    """
    st.header(_("Report"), anchor=False)
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


def _show_problems(rows: list[TableRow], number: int, place: str = "") -> None:
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
        parts.append(_("Duplicates with the two texts swapped: {number}.", number=f"{report.turned:,}"))
    if report.odd_signs:
        counted = series(named(sign, f"{number:,}") for sign, number in sorted(report.odd_signs.items()))
        parts.append(_("Texts with unusual characters, kept unchanged: {counted}.", counted=counted))
    return paragraph(parts)


def _problem_row(problem: Problem, *, quoting: bool) -> TableRow:
    if not quoting:
        hidden = {key: "…" if key in QUOTES else value for key, value in problem.values.items()}
        problem = Problem(problem.file, problem.line, problem.reason, problem.message, hidden)
    row: TableRow = {
        _("File"): problem.file,
        _("Line"): problem.line,
        _("Reason"): reason_name(problem.reason),
        _("Problem"): problem_text(problem),
    }
    return row | ({_("Sentence"): str(problem.values.get("sentence", ""))} if quoting else {})
