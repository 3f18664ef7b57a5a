"""The import of a file, uploaded or of the Hugging Face hub, into a project: first rows, import, report."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import streamlit as st

from evenhand.annotations.accounts.accounts import take_over_roles
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import FORMAT_NAMES, FORMATS, Columns, remember_columns
from evenhand.annotations.files.import_items import (
    ImportReport,
    Preview,
    examine_tables,
    import_examined,
    preview_tables,
    tables_in,
)
from evenhand.annotations.files.import_labels import LabelImport
from evenhand.annotations.files.label_files import is_labels
from evenhand.annotations.files.other_tools.import_tasks import TaskImport
from evenhand.annotations.files.package import write_package
from evenhand.annotations.guideline.versions import compares
from evenhand.annotations.hub.client import endpoint_name
from evenhand.annotations.hub.pull import Wanted, pull
from evenhand.annotations.imports.run import IMPORT, Settings
from evenhand.annotations.jobs import jobs
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Notice
from evenhand.core.files.archives import Member, NeedsPassword
from evenhand.core.files.readers import open_source
from evenhand.pages.projects.import_ import other_tools
from evenhand.pages.projects.import_.imports import next_steps, show_brought, show_report, show_returned
from evenhand.pages.ui.jobs import follow, start_job
from evenhand.pages.ui.sentences import preview_table
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import _, caption, paragraph, plain, series
from evenhand.pages.ui.uploads import choose_upload, empty_place
from evenhand.pages.ui.visitor import asks, errors_shown, page_link, show_error

MOST_BYTES = 200_000_000  # fetched while the visitor waits; the command takes ten times as much
FETCHED = "hub_file"  # in the session: (public id of the project, where the fetched file lies)


def fetched(project: Project) -> Path | None:
    """Return the file that was fetched for this project and not imported yet."""
    result = st.session_state.get(FETCHED)
    return result[1] if result and result[0] == project.uid and result[1].is_file() else None


def forget_fetched() -> None:
    """Forget the fetched file, after its import or when it is not wanted."""
    st.session_state.pop(FETCHED, None)


@asks("import_files")
def show_fetch(store: Store, project: Project) -> None:
    """Name, revision, part and split of a data set; the button fetches it."""
    with (
        st.expander(_("Import from the Hugging Face Hub"), icon=":material/cloud_download:"),
        st.form("hub", border=False),
    ):
        text = _("A data set at {endpoint}, or a project that Argilla uploaded there, whose responses become labels.")
        st.caption(plain(text.format(endpoint=endpoint_name())))
        repo = st.text_input(_("Data set on the Hub"), key="hub_repo", placeholder="OWNER/NAME", max_chars=200)
        with st.container(horizontal=True):
            revision = st.text_input(_("Revision"), key="hub_revision", placeholder="main", width=160)
            part = st.text_input(_("Configuration"), key="hub_part", placeholder="default", width=160)
            split = st.text_input(_("Split"), key="hub_split", placeholder="train", width=160)
            file = st.text_input(_("Or a single file"), key="hub_file_name", placeholder="data/*.csv", width=200)
        if st.form_submit_button(_("Download files"), icon=":material/download:"):
            chosen = (text.strip() or None for text in (revision, part, split, file))
            with errors_shown():
                _fetch(store, project, Wanted(repo, *chosen))
                st.rerun()


@asks("import_files")
def _fetch(store: Store, project: Project, wanted: Wanted) -> None:
    with st.spinner(_("Downloading …")), tempfile.TemporaryDirectory(prefix="evenhand-hub-") as folder:
        pulled = pull(wanted, Path(folder), most_bytes=MOST_BYTES)
        path = jobs.keep_upload(store, pulled.path.name, pulled.path.read_bytes())
    st.session_state[FETCHED] = (project.uid, path)


Reported: TypeAlias = ImportReport | LabelImport | write_package.PackageImport | TaskImport
PLACE = "file"
ENDINGS = ["csv", "tsv", "jsonl", "json", "txt", "xlsx", "zip"]


@dataclass(frozen=True, slots=True)
class FormState:
    """How a file should be read; `column` None: found by its name; `columns`: of generations."""

    format: str = "auto"
    column: str | None = None
    columns: Columns | None = None
    password: str | None = None

    def settings(self, project: Project, path: Path) -> Settings:
        """Return the settings of the import of a file."""
        columns = self.columns or Columns()
        named, fixed = (
            tuple(f"{name}={value}" for name, value in entry.items()) for entry in (columns.named, columns.fixed)
        )
        return Settings(project.name, path, self.format, self.column, named, fixed=fixed, uid=project.uid)


@asks("import_files")
def show_files(store: Store, project: Project) -> None:
    """Show the upload of a file, its preview, the import and its report."""
    if project.archived:
        st.info(_("This project is archived. Unarchive it before importing."))
        return
    st.caption(_what_fits(store, project))
    with errors_shown():
        path = choose_upload(_("File"), ENDINGS, key=PLACE, heading=False) or fetched(project)
        if path is None:
            show_fetch(store, project)
        else:
            _show_file(store, project, path, large=jobs.is_large(path))
    report = st.session_state.get(_report_key(project))
    if isinstance(report, write_package.PackageImport):
        show_brought(report, quoting=text_may_leave(project))
    elif isinstance(report, LabelImport):
        show_returned(report)
    elif isinstance(report, TaskImport):
        other_tools.show_switched(report, quoting=text_may_leave(project))
    elif report is not None:
        show_report(report, quoting=text_may_leave(project))
    if report is not None:
        next_steps(store, project)
    follow("import", project)  # texts of the page Generate come by such a job too


def _what_fits(store: Store, project: Project) -> str:
    if compares(store, project):
        return _(
            "CSV, TSV, JSON Lines or Excel with two texts per row, one in a column such as completion and one in a"
            " column such as second, with their context; labels or packages of this app; or a ZIP of these."
        )
    if project.kind == "generations":
        return _(
            "CSV, TSV, JSON Lines or Excel with a context and a completion per row; published samples;"
            " labels or packages of this app; or a ZIP of these."
        )
    return _(
        "CSV, TSV, JSON, or plain text with one sentence per line; UTF-8 or GB18030. The released SlguSet file and"
        " exports of Label Studio, doccano and Argilla can be used as they are; a package or release (ZIP) of this app"
        " brings its items, labels and decisions."
    )


def _report_key(project: Project) -> str:
    return f"report-{project.uid}"


def format_name(name: str) -> str:
    """Return an import format in words."""
    return _(FORMAT_NAMES[name])


def _show_file(store: Store, project: Project, path: Path, *, large: bool) -> None:
    try:
        with tables_in(path) as members:
            _show_tables(store, project, path, members, None, large=large)
        return
    except NeedsPassword:
        if (password := other_tools.ask_password()) is None:
            st.info(plain(_("{file} is encrypted. Enter its password to see the contents.").format(file=path.name)))
            return
    try:
        with tables_in(path, password=password) as members:
            _show_tables(store, project, path, members, password, large=large)
    except NeedsPassword as error:
        show_error(error)


def _show_tables(
    store: Store, project: Project, path: Path, members: list[Member], password: str | None, *, large: bool
) -> None:
    large = large or sum(member.path.stat().st_size for member in members) > jobs.LARGE_BYTES
    if not write_package.is_package(members) and (program := other_tools.tasks_in(members)) is not None:
        _offer_tasks(store, project, path, members, program, password, large=large)
        return
    if write_package.is_package(members) or is_labels(members[0]):
        _offer_labels(store, project, path, members, password, large=large)
        return
    if project.kind == "generations":
        wish = FormState("generations", None, other_tools.choose_columns(store, members), password)
        seen = preview_tables(members, format=wish.format, wished=wish.columns)
        st.caption(plain(_described(seen)))
        other_tools.show_texts(seen.rows)
    else:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            chosen = st.selectbox(_("Format"), ("auto", *FORMATS), key="format", format_func=format_name, width=240)
            column = st.text_input(
                _("Column containing the sentences"),
                key="column",
                width=240,
                help=_("Needed only if the column is not named sentence, text, 句子 or 文本."),
            )
        wish = FormState(chosen, column.strip() or None, None, password)
        seen = preview_tables(members, format=wish.format, column=wish.column)
        st.caption(plain(_described(seen)))
        show_html(preview_table(seen.rows))
    if large:
        st.caption(_("This is a large file: it is imported as a background job, and you can keep working."))
    if st.button(_("Import"), key="import", type="primary", icon=":material/upload_file:"):
        if wish.columns is not None:
            remember_columns(store.path, open_source(members[0].path, members[0].name).columns, wish.columns)
        if large:
            start_import(store, project, wish.settings(project, path), wish.password)
        else:
            report = import_with_bar(store, project, members, wish, path.name)
            _keep_report(store, project, path, report)


def _keep_report(store: Store, project: Project, path: Path, report: Reported) -> None:
    st.session_state[_report_key(project)] = report
    jobs.drop_upload(store, path)
    empty_place(PLACE)
    forget_fetched()
    st.rerun()  # the counts above have changed


def _offer_tasks(
    store: Store,
    project: Project,
    path: Path,
    members: list[Member],
    program: str,
    password: str | None,
    *,
    large: bool,
) -> None:
    """Show the mapping of names for tasks of another labelling program, and import the tasks on request."""
    wish = other_tools.ask_tasks(store, project, members, program, password)
    if large:
        st.caption(_("This is a large file: it is imported as a background job, and you can keep working."))
    if st.button(_("Import"), key="import", type="primary", icon=":material/upload_file:"):
        if large:
            start_import(store, project, wish.settings(project, path), wish.password)
        else:
            _keep_report(store, project, path, other_tools.import_tasks_now(store, project, members, wish, path.name))


@asks("import_files")
def _offer_labels(
    store: Store, project: Project, path: Path, members: list[Member], password: str | None, *, large: bool
) -> None:
    """Offer the import of a file of labels or of a package, which has no options."""
    whole = write_package.is_package(members)
    if whole:
        caption("This package contains the items, labels and decisions of a project. Existing data do not change.")
    else:
        st.caption(
            _("This file contains labels. They are added to the items of this project; existing labels do not change.")
        )
    if st.button(_("Import"), key="import", type="primary", icon=":material/upload_file:"):
        if large:
            settings = Settings(project.name, path, "package" if whole else "labels", uid=project.uid)
            start_import(store, project, settings, password)
        elif whole:
            brought = write_package.import_package(store, project.name, members, path.name)
            take_over_roles(store, project, brought.project)
            _keep_report(store, brought.project, path, brought)
        else:
            report = LabelImport()
            for member in members:
                report.add(write_package.import_package_labels(store, project, member, member.name))
            _keep_report(store, project, path, report)


def _described(seen: Preview) -> str:
    text = _("Read as {format}, encoding {encoding}.").format(format=format_name(seen.format), encoding=seen.encoding)
    told = [text]
    if seen.columns:
        columns = series(name if len(name) <= 40 else f"{name[:39]}…" for name in seen.columns[:12])
        told.append(_("Columns: {columns}.").format(columns=columns))
    return paragraph([*told, _("First rows:")])


@asks("import_files")
def import_with_bar(store: Store, project: Project, members: list[Member], wish: FormState, file: str) -> ImportReport:
    """Import a small file while the visitor watches."""
    with other_tools.import_bar() as advance:
        examined = examine_tables(members, format=wish.format, column=wish.column, wished=wish.columns)
        return import_examined(store, project, examined, progress=advance, file=file)


@asks("import_files")
def start_import(store: Store, project: Project, settings: Settings, password: str | None) -> None:
    """Import a file as a job."""
    title = Notice(N_("Import {file} into {project}"), {"file": settings.file.name, "project": project.name})
    secrets = {"EVENHAND_PASSWORD": password} if password else None
    start_job(store, IMPORT, settings, title, secrets=secrets, project=project)
    empty_place(PLACE)  # the file is the job's now
    forget_fetched()
    st.success(_("The import is running as a background job."))
    page_link("jobs/page.py", label=_("Jobs"), icon=":material/schedule:")
