"""Exports: the published layout, JSON lines, labels, a package and others. No file is left half-written."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO

from evenhand.annotations.database.events import EXPORTED, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import SLGUSET
from evenhand.annotations.files.export_formats import (
    ARCHIVES,
    ENDING,
    FRAME,
    ExportOptions,
    check_export,
    export_options,
)
from evenhand.annotations.files.generations import published_files
from evenhand.annotations.files.label_tables import (
    USE_OF,
    LeftOut,
    disaggregated_lines,
    item_lines_with_gold,
    json_lines,
    left_out,
    long_lines,
    publishable_row_count,
    soft_label_lines,
    wide_lines,
)
from evenhand.annotations.files.other_tools import write
from evenhand.annotations.files.package.write_package import package_files
from evenhand.annotations.files.sentences import stems_of
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.items.batch import items as stored_items
from evenhand.annotations.items.wanted_labels import open_recount
from evenhand.annotations.papers.blocks import Form
from evenhand.annotations.papers.datasheet import datasheet
from evenhand.annotations.plan.recount import finish_recount
from evenhand.annotations.projects.projects import counts, project_by_uid
from evenhand.annotations.text_policy import packed
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import N_, BadFile
from evenhand.core.files.atomic_file import new_file, refused, whole_path
from evenhand.core.files.csv_out import data_line, spreadsheet_lines
from evenhand.core.files.sandbox import run_bounded

SECONDS = 900  # of processor time, for an export that a page makes
CONFIG = "-config.xml"  # next to the tasks of Label Studio
RELEASED_HEADER = data_line(SLGUSET)


@dataclass(frozen=True, slots=True)
class ExportReport:
    """How many rows (items or labels, without header and canary) an export wrote, and where."""

    rows: int
    out: Path
    encrypted: bool = False
    left_out: LeftOut | None = None  # of a disaggregated file


def export_file(
    store: Store,
    project: Project,
    out: Path | str,
    *,
    format: str,
    items: str = "all",
    names: bool = False,
    history: bool = False,
    password: str | None = None,
    language: str = "en",
    spreadsheet: bool = False,
    author: str = "",
) -> ExportReport:
    """Write *project* to *out* and return how many rows the file has.

    `slguset`: the published four columns with the stems and the position of the word; `jsonl`: all fields of the
    items (an import of the file makes the same items with the same ids); `labels`: one row per item and annotator
    (`labels-wide`: one per item); `soft-labels`: the share of each choice per item; `disaggregated`: one row per blind
    label of annotators who consented (`disaggregated-training`: to the training of models); `published`: the samples
    of generations; `label-studio`: tasks with annotations, and their labelling configuration in a second file,
    -config.xml; `doccano`: a file for each annotator; `package`: the whole project; `datasheet`: its description as
    Markdown (`datasheet-tex`: LaTeX).

    *spreadsheet*: a CSV gets an apostrophe before every text that a spreadsheet would run as a formula; offsets do not
    count it. With a password the file is put into an AES-256 ZIP; *out* then ends in .zip. The file gets its name when
    it is complete. Raises BadFile if the file cannot be written, and Refused if the project is of another kind or its
    text may not be exported unencrypted. An event of *author* records what was written, with its hash.
    """
    wish = export_options(format, items=items, names=names, history=history, locked=bool(password), language=language)
    wish = replace(wish, spreadsheet=spreadsheet)
    check_export(project, wish)
    with _recounted(store, project) as stored_project:
        report = _write_export(store, stored_project, Path(out), wish, password)
        if use := USE_OF.get(wish.format):
            report = replace(report, left_out=left_out(store, stored_project, use))
    with report.out.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    record_export(store, project, wish, digest, encrypted=report.encrypted, author=author)
    return report


def record_export(
    store: Store, project: Project, wish: ExportOptions, sha256: str, *, encrypted: bool = False, author: str = ""
) -> None:
    """Store that *author* took a file out: which, whether with names, its hash."""
    if store.frozen:  # a database on a read-only disk
        return
    with store.write():
        record(
            store, project, EXPORTED, author=author, format=wish.format, items=wish.items, names=wish.names,
            history=wish.history, encrypted=encrypted, sha256=sha256,
        )  # fmt: skip


def _write_export(
    store: Store, project: Project, path: Path, wish: ExportOptions, password: str | None
) -> ExportReport:
    if password or wish.format in ARCHIVES:
        inner = path.name if path.suffix.lower() != ".zip" else path.stem + ENDING[wish.format]
        path = path if path.suffix.lower() == ".zip" else path.with_name(path.name + ".zip")
        with _bytes_of(path) as file:
            file.write(_archive(store, project, wish, inner, password))
        return ExportReport(export_row_count(store, project, wish), path, bool(password))
    written = 0
    with _bytes_of(path) as file:
        for line in export_lines(store, project, wish):
            file.write(line.encode())
            written += not line.startswith('{"canary":')
    if wish.format == "label-studio":
        with _bytes_of(path.with_name(path.stem + CONFIG)) as file:
            file.write(write.labelling_config(project, guideline(store, project)).encode())
    return ExportReport(written - FRAME.get(ENDING[wish.format], 0), path)


def made_elsewhere(store: Store, project: Project, wish: ExportOptions, name: str, password: str | None) -> bytes:
    """Return `export_bytes`, made in a child process, so that the server is not blocked."""
    return run_bounded(_exported, store.path, project, wish, name, password, file=name, seconds=SECONDS)


def counted_elsewhere(store: Store, project: Project, wish: ExportOptions) -> int:
    """Return `export_row_count`, counted in a child process, because it reads every label."""
    return run_bounded(_counted, store.path, project, wish, file=project.name, seconds=SECONDS)


def export_bytes(store: Store, project: Project, wish: ExportOptions, name: str, password: str | None) -> bytes:
    """Return the export as a ZIP, with a password or for a format of several files, else as one file.

    *name*: of that file. Raises as `export_lines` does.
    """
    check_export(project, wish)
    with _recounted(store, project) as stored_project:
        if password is not None or wish.format in ARCHIVES:
            return _archive(store, stored_project, wish, name, password)
        return "".join(export_lines(store, stored_project, wish)).encode()


def _exported(path: Path, project: Project, wish: ExportOptions, name: str, password: str | None) -> bytes:
    with Store.open(path) as store:
        return export_bytes(store, project, wish, name, password)


def _counted(path: Path, project: Project, wish: ExportOptions) -> int:
    with Store.open(path) as store:
        return export_row_count(store, project, wish)


@contextmanager
def _recounted(store: Store, project: Project) -> Iterator[Project]:
    """Open a read transaction in which every item is recounted; this store cannot write meanwhile."""
    while True:
        finish_recount(store, project)
        with store.read():
            if open_recount(store, project) is None:  # else a setting was changed in between
                yield project_by_uid(store, project.uid)
                return


def _archive(store: Store, project: Project, wish: ExportOptions, name: str, password: str | None) -> bytes:
    check_export(project, wish)
    if wish.format == "published":
        files = {each: "".join(rows) for each, rows in published_files(store, project, wish).items()}
    elif wish.format == "doccano":
        files = write.files_out(store, project, wish)
    elif wish.format == "package":
        files = package_files(store, project, wish)
    elif wish.format == "label-studio":
        config = write.labelling_config(project, guideline(store, project))
        files = {name: "".join(export_lines(store, project, wish)), Path(name).stem + CONFIG: config}
    else:
        files = {name: "".join(export_lines(store, project, wish))}
    contents = {each: text.encode() for each, text in files.items()}
    if password:
        return packed(contents, password)
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in contents.items():
            archive.writestr(each, content)
    return buffer.getvalue()


def export_row_count(store: Store, project: Project, wish: ExportOptions) -> int:
    """Return how many items, or labels, an export has."""
    if wish.format == "soft-labels" or wish.format in USE_OF:
        return publishable_row_count(store, project, wish.format)
    if wish.format.startswith("labels") and wish.format != "labels-wide":
        long = ExportOptions("labels-jsonl", wish.items, wish.names, wish.history, wish.locked)
        return sum(not line.startswith('{"canary":') for line in json_lines(store, project, long))
    project_counts = counts(store, project)
    return project_counts.items if wish.items == "all" else project_counts.accepted


def export_preview(store: Store, project: Project, wish: ExportOptions, *, limit: int = 10) -> str:
    """Return the beginning of the file: the header, if the format has one, and the first *limit* rows."""
    return "".join(islice(export_lines(store, project, wish), limit + (ENDING[wish.format] in FRAME)))


def export_lines(store: Store, project: Project, wish: ExportOptions) -> Iterator[str]:
    """Yield the lines of an export, header first; one item or label per line (a note may hold line breaks).

    Texts are not changed, so that offsets fit. *wish* may ask for a copy of a table for spreadsheet programs. Raises
    Refused for an export of several files, and for text that must not be exported unencrypted.
    """
    check_export(project, wish)
    lines = _format_lines(store, project, wish)
    yield from spreadsheet_lines(lines) if wish.spreadsheet and ENDING[wish.format] == ".csv" else lines


def _format_lines(store: Store, project: Project, wish: ExportOptions) -> Iterator[str]:
    match wish.format:
        case "labels":
            yield from long_lines(store, project, wish)
        case "labels-wide":
            yield from wide_lines(store, project, wish)
        case "labels-jsonl":
            yield from json_lines(store, project, wish)
        case "soft-labels":
            yield from soft_label_lines(store, project)
        case "disaggregated" | "disaggregated-training":
            yield from disaggregated_lines(store, project, USE_OF[wish.format])
        case "slguset":
            yield RELEASED_HEADER
            for item in stored_items(store, project, accepted_only=wish.items == "accepted"):
                yield released_line(item)
        case "datasheet" | "datasheet-tex":
            form: Form = "tex" if wish.format == "datasheet-tex" else "md"
            yield from datasheet(store, project, wish.language, form).splitlines(keepends=True)
        case "jsonl":
            yield from item_lines_with_gold(store, project, wish)
        case "label-studio":
            yield from write.tasks_out(store, project, wish)
        case _:
            raise BadFile(N_("This export is an archive of several files."))


@contextmanager
def _bytes_of(path: Path) -> Iterator[IO[bytes]]:
    """Yield the content of the file *path*. Raises BadFile, also for a database that cannot be read."""
    with refused(path), whole_path(path) as part, new_file(part) as file:
        yield file


def released_line(item: Item) -> str:
    """Return a sentence as a row in the published layout, below `RELEASED_HEADER`."""
    stem, counter_stem = stems_of(item)
    return data_line((item.text, json.dumps(item.word), stem, counter_stem))
