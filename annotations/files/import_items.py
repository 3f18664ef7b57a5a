"""Import of items, of an uploaded file: a table, or an archive of tables that may be encrypted.

A file is read twice: first checked, then stored in a batch that is invisible until it is complete.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import Columns, Layout, Rejections, Usable, detect_layout, problem_of, read_task
from evenhand.annotations.files.generations import ODD_SIGNS, generation_row, of_folder
from evenhand.annotations.files.other_tools.tasks import TASKS, Task
from evenhand.annotations.files.sentences import checked_text, mined_row, released_row, sentence_row
from evenhand.annotations.guideline.versions import compares
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.items.provenance import RUN, record_runs, run_facts
from evenhand.annotations.plan.recount import finish_recount
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadFile, BadLine, Refused
from evenhand.core.files.archives import TABLES, Member, is_archive, unpacked
from evenhand.core.files.display_paths import without_folders
from evenhand.core.files.readers import Row, Source, open_source, rows
from evenhand.core.text.keywords import occurrences
from evenhand.core.text.sentences import control_character
from evenhand.core.types import Problem


def read_row(source: Source, layout: Layout, row: Row) -> Usable:
    """Return the item of *row*. Raises BadLine with file, line and a reason code if the row cannot be used.

    Paths in columns that name files are shortened, so that no server path is stored. Different paths with the same
    short form are numbered.
    """
    try:
        if row.problem is not None:
            raise row.problem
        match layout.format:
            case "slguset":
                usable = released_row(source, row)
            case "generations":
                usable = generation_row(source, layout, row)
            case "candidates":
                usable = mined_row(source, row)
            case "sentences":
                usable = sentence_row(source, layout, row)
            case "label-studio" | "doccano" | "argilla":
                usable = _task_item(source, layout, row)
    except BadLine as error:
        raise error.at(source.name, row.line) from None
    item, places = usable.item, source.places
    file, extra = places(item.file), without_folders(item.extra, shortened=places)
    if file == item.file and extra == item.extra:
        return usable
    return replace(usable, item=replace(item, file=file, extra=extra))


def sentence_of(layout: Layout, row: Row) -> str:
    """Return the sentence of *row*, if it can be found."""
    values = task_of(layout, row).values if layout.format in TASKS else row.values
    value = values.get(layout.column, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def task_of(layout: Layout, row: Row) -> Task:
    """Return the task of *row*, which is of another labelling program's file."""
    return read_task(layout.format, row.values, layout.column)


def _task_item(source: Source, layout: Layout, row: Row) -> Usable:
    task = task_of(layout, row)
    if layout.columns is not None:
        return generation_row(source, layout, replace(row, values=task.values))
    values, column = task.values, layout.column
    if "sentence" not in values and column in values:  # as in the export as JSON lines
        values, column = {key: value for key, value in values.items() if key != column}, "sentence"
        values["sentence"] = task.values[layout.column]
    try:
        return sentence_row(source, Layout("sentences", column), replace(row, values=values))
    except BadLine as error:
        if error.reason not in ("several_keywords", "no_keyword"):
            raise
        # The word that an annotator marked, where it is one: of several keywords, or one in another word (男丁).
        text = checked_text(task.values.get(layout.column))
        marked = [candidate for candidate in occurrences(text) if (candidate.start, candidate.end) in task.words]
        if len(marked) != 1:
            raise
        extra = {name: value for name, value in values.items() if name != column}
        return Usable(NewItem(text, marked[0], source.name, row.line, extra))


SINGLE_TEXTS = N_(
    "{file} has a second text in the column {column}, but {project} holds single texts: import it into a project with"
    " the scheme “preference”, or choose no column for the second text (on the command line: --map second=)."
)
CHUNK_ROWS = 1_000
PREVIEWED = 10  # rows
QUOTED = 80  # characters of a bad sentence that a report quotes
SPANS = ("ok", "one_too_large", "one_too_small", "wrong")

Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Examined:
    """A file that was read to its end and is valid.

    `rows`: their number below the header; `usable`: whether at least one can become an item. `repeats`: every row of it
    is in other tables of the same archive too, so that it is not imported.
    """

    source: Source
    layout: Layout
    rows: int
    usable: bool
    repeats: bool = False


@dataclass(slots=True)
class ImportReport(Rejections):
    """The result of an import. `spans` counts published positions by how they compare with the true ones.

    See docs/methods.md#released-file.

    `repeated`: tables that were left out because other tables of the archive have the same rows. `odd_signs`: how many
    generations hold each of ODD_SIGNS; they are imported unchanged. `turned`: how many duplicates have the texts of a
    stored comparison in reverse order.
    """

    encoding: str
    format: str
    rows: int = 0
    imported: int = 0
    duplicates: int = 0
    spans: Counter[str] = field(default_factory=Counter)
    runs: list[dict[str, Any]] = field(default_factory=list)  # mining runs of the lines
    repeated: list[str] = field(default_factory=list)
    odd_signs: Counter[str] = field(default_factory=Counter)
    turned: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the report as `import --json` prints it; messages are English."""
        errors = self.errors_json()
        for error, problem in zip(errors, self.errors, strict=True):
            # Text of models about people does not go into logs and results of jobs.
            if self.format != "generations" and problem.values.get("sentence"):
                error["sentence"] = problem.values["sentence"]
        names = ("rows", "imported", "duplicates", "rejected", "encoding", "format", "repeated", "turned")
        return {name: getattr(self, name) for name in names} | {
            "spans": {status: self.spans[status] for status in SPANS},
            "reasons": dict(self.reasons),
            "errors": errors,
            "errors_left_out": self.rejected - len(errors),
            "odd_signs": dict(self.odd_signs),
        }


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One row of a preview: the item, or the problem; `text` is the sentence as in the file."""

    line: int
    text: str
    item: NewItem | None
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class Preview:
    """The first rows of a file and its layout."""

    encoding: str
    format: str
    column: str
    columns: tuple[str, ...]
    rows: tuple[PreviewRow, ...]


def examine(
    path: Path | str,
    *,
    format: str = "auto",
    column: str | None = None,
    name: str | None = None,
    wished: Columns | None = None,
) -> Examined:
    """Read *path* to its end without storing anything.

    `wished`: the meaning of columns of a file of generations. Raises BadFile for an invalid file: no text, no end of
    the last line, broken quotes, truncated JSON, missing columns.
    """
    source = open_source(path, name)
    chosen = detect_layout(source, format, column, wished)
    count, usable = 0, False
    for row in rows(source):
        count += 1
        with suppress(BadLine):
            usable = usable or bool(read_row(source, chosen, row))
    return Examined(source, chosen, count, usable)


def check_file(examined: Examined | Sequence[Examined]) -> ImportReport:
    """Return the problems that an import of a file would report.

    It stores nothing, so no line counts as imported or duplicate.
    """
    files = [examined] if isinstance(examined, Examined) else list(examined)
    report, files = _begin_report(files)
    for file in files:
        for _ in _chunks(file, report, None, file.rows):
            pass
    return report


def preview(
    path: Path | str,
    *,
    format: str = "auto",
    column: str | None = None,
    name: str | None = None,
    wished: Columns | None = None,
) -> Preview:
    """Return the first ten rows of *path* with their keywords and problems; it stores nothing.

    Raises BadFile as `examine` does, for problems of these rows.
    """
    source = open_source(path, name)
    chosen = detect_layout(source, format, column, wished)
    shown = []
    for row in islice(rows(source), PREVIEWED):
        text = sentence_of(chosen, row)
        try:
            shown.append(PreviewRow(row.line, text, read_row(source, chosen, row).item, None))
        except BadLine as error:
            shown.append(PreviewRow(row.line, text, None, _problem(error, text)))
    return Preview(source.encoding, chosen.format, chosen.column, source.columns, tuple(shown))


def import_file(
    store: Store,
    project: Project,
    path: Path | str,
    *,
    format: str = "auto",
    column: str | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import the usable rows of *path* into *project*; the report lists the others.

    `name`: the name of the file, if an upload lies under another one; `progress(done, total)` counts rows. All or
    nothing: new items are invisible until the last row is stored, and an error or a cancel leaves the project
    unchanged. Raises BadFile for an invalid file, Refused if the project is of another kind or is archived.
    """
    return import_examined(store, project, examine(path, format=format, column=column, name=name), progress=progress)


def import_examined(
    store: Store,
    project: Project,
    examined: Examined | Sequence[Examined],
    *,
    progress: Progress | None = None,
    patience_s: float = 0.0,
    file: str = "",
) -> ImportReport:
    """Import files that `examine` has read, as `import_file` does; files of one archive named *file* are one import.

    *patience_s*: how many seconds to wait while another import runs in the project; then ImportBusy is raised.
    """
    files = [examined] if isinstance(examined, Examined) else list(examined)
    pairs = compares(store, project)
    for examined_file in files:
        _refuse_other_kind(project, examined_file, pairs)
    if project.archived is not None:
        raise Refused(N_("{project} is archived; unarchive it before importing."), project=project.name)
    places = files[0].source.places  # of all files: one archive is one import
    files = [
        replace(
            examined_file,
            source=replace(examined_file.source, places=places),
            layout=replace(examined_file.layout, compares=pairs),
        )
        for examined_file in files
    ]
    report, files = _begin_report(files)
    total = sum(examined_file.rows for examined_file in files)
    finish_recount(store, project)
    with Batch.begin_when_free(store, project, file or files[0].source.name, patience_s) as batch:
        for examined_file in files:
            added, duplicates = batch.add(chain.from_iterable(_chunks(examined_file, report, progress, total)))
            report.imported += added
            report.duplicates += duplicates
        report.turned = batch.turned
        if report.imported:
            batch.publish(
                lambda: record_runs(store, project, batch.id, report.runs, report.imported, report.duplicates)
            )
        else:
            batch.discard()
    return report


def _begin_report(files: Sequence[Examined]) -> tuple[ImportReport, list[Examined]]:
    """Return an empty report, and the files that do not repeat others."""
    read = [file for file in files if not file.repeats]
    repeated = [file.source.name for file in files if file.repeats]
    return ImportReport(read[0].source.encoding, read[0].layout.format, repeated=repeated), read


def _refuse_other_kind(project: Project, examined: Examined, pairs: bool) -> None:
    if project.kind != examined.layout.kind:
        message = N_("{project} holds {kind}, and {file} was read as {format}. Choose another project or format.")
        file, chosen = examined.source.name, examined.layout.format
        raise Refused(message, project=project.name, kind=project.kind, file=file, format=chosen)
    second = examined.layout.columns.named.get("second") if examined.layout.columns else None
    if second is not None and not pairs:
        raise Refused(SINGLE_TEXTS, file=examined.source.name, column=second, project=project.name)


def _chunks(examined: Examined, report: ImportReport, progress: Progress | None, total: int) -> Iterator[list[NewItem]]:
    remaining = rows(examined.source)
    seen: Counter[str] = Counter()
    while some := list(islice(remaining, CHUNK_ROWS)):
        chunk: list[NewItem] = []
        for row in some:
            try:
                usable = read_row(examined.source, examined.layout, row)
            except BadLine as error:
                report.note(_problem(error, sentence_of(examined.layout, row)))
            else:
                if examined.layout.format == "candidates" and (run := run_facts(row.values.get(RUN))):
                    report.runs.append(run)
                chunk.append(_disambiguate_paths(examined, usable.item, seen))
                if usable.span is not None:
                    report.spans[usable.span] += 1
                if examined.layout.format == "generations":
                    whole = "".join((usable.item.context or "", usable.item.text, usable.item.second or ""))
                    report.odd_signs.update(control_character(sign) or "" for sign in ODD_SIGNS if sign in whole)
        report.rows += len(some)
        yield chunk
        if progress is not None:
            progress(report.rows, total)


def _disambiguate_paths(examined: Examined, item: NewItem, seen: Counter[str]) -> NewItem:
    """Return *item*, with the number of its text in a published sample if a model wrote the same text there before."""
    columns = examined.layout.columns
    if item.key is None or columns is None or not {"template", "generation"} <= columns.named.keys():
        return item
    if item.extra.get("index"):
        return item
    seen[item.key] += 1
    number = seen[item.key]
    if number == 1:
        return item
    key = json.dumps([*json.loads(item.key)[:-1], number], ensure_ascii=False)
    return replace(item, key=key, extra=item.extra | {"index": number})


def _problem(error: BadLine, sentence: str) -> Problem:
    quoted = sentence if len(sentence) <= QUOTED else sentence[: QUOTED - 1] + "…"
    return problem_of(error, sentence=quoted)


TEXTS = (".txt", ".md")  # texts in an archive with tables: a data sheet, a licence


@contextmanager
def tables_in(path: Path | str, *, password: str | None = None) -> Iterator[list[Member]]:
    """Yield the tables of *path*: the file itself, those of a folder, or those of a ZIP, unpacked while the block runs.

    The tables of a folder, such as a release, are sorted by name, without hidden files. Raises NeedsPassword if the
    archive is encrypted, BadFile if it is damaged or holds no table.
    """
    path, name = Path(path), Path(path).name
    if not path.is_dir() and not is_archive(path):
        yield [Member(path, name)]
        return
    inside = [one.relative_to(path) for one in sorted(path.rglob("*")) if one.is_file()] if path.is_dir() else []
    seen = [Member(path / one, one.as_posix()) for one in inside if not any(part[0] == "." for part in one.parts)]
    with nullcontext(seen) if path.is_dir() else unpacked(path, password, name) as members:
        tables = [
            member
            for member in members
            if member.path.suffix.lower() in TABLES and member.path.suffix.lower() not in TEXTS
        ]
        if not tables:
            message = N_("{file} contains no table. Add CSV, TSV, JSON Lines or Excel files.")
            raise BadFile(message, file=name)
        yield tables


def examine_tables(
    members: list[Member], *, format: str = "auto", column: str | None = None, wished: Columns | None = None
) -> list[Examined]:
    """Examine every table (`examine`). Of several tables, one that lacks a wished column uses the guess."""
    fitting = [fitting_columns(member, wished, len(members)) for member in members]
    return without_second_copies(
        [
            examine(member.path, format=format, column=column, name=member.name, wished=columns)
            for member, columns in zip(members, fitting, strict=True)
        ]
    )


def without_second_copies(files: list[Examined]) -> list[Examined]:
    """Return *files* with a mark on those that repeat the rows of others.

    The archives of the published samples hold every row twice: by pronoun set, in a folder of each model, and again in
    tables of a model with all sets. The first are read, unless their folders do not name the model.
    """
    samples = [file for file in files if {"template", "generation"} <= _named(file).keys()]
    single = [sample for sample in samples if "model" not in _named(sample)]
    collated = [sample for sample in samples if "model" in _named(sample)]
    if not single or not collated:
        return files
    first, second = (
        (single, collated) if all(of_folder(examined.source.name) for examined in single) else (collated, single)
    )
    known = sum(map(_generations_of, first), Counter[tuple[str, str]]())
    copies = {examined.source.path for examined in second if _generations_of(examined) <= known}
    return [replace(file, repeats=file.source.path in copies) for file in files]


def _named(examined: Examined) -> Mapping[str, str]:
    return {} if examined.layout.columns is None else examined.layout.columns.named


def _generations_of(examined: Examined) -> Counter[tuple[str, str]]:
    """Count the rows of each template and text in the table."""
    named = _named(examined)
    return Counter(
        (str(row.values.get(named["template"])), str(row.values.get(named["generation"])))
        for row in rows(examined.source)
    )


def preview_tables(
    members: list[Member], *, format: str = "auto", column: str | None = None, wished: Columns | None = None
) -> Preview:
    """Return the first rows of the first table."""
    first, wished = members[0], fitting_columns(members[0], wished, len(members))
    return preview(first.path, format=format, column=column, name=first.name, wished=wished)


def fitting_columns(member: Member, wished: Columns | None, tables: int) -> Columns | None:
    """Return *wished* without columns that this table lacks; of a single table all, so that typos are reported."""
    if wished is None or tables == 1:
        return wished
    columns = {*open_source(member.path, member.name).columns, ""}
    return Columns({key: column for key, column in wished.named.items() if column in columns}, wished.fixed)
