"""Import of labels: appended as they were made, so that agreement is the same as where they come from.

A file of known answers has one row an item, by its id or its text, with the choice that is right.
"""

import json
import sqlite3
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import Rejections, guess_columns, problem_of
from evenhand.annotations.files.label_files import (
    CameWith,
    LabelRow,
    StoredLabel,
    add_to_file,
    insert_label_file,
    label_files,
    label_of,
    point_assignment,
    text_value,
    undoing_operation,
    valid_operation,
)
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.items.batch import id_and_length, items, uid_of_hash
from evenhand.annotations.items.batch import item as one_item
from evenhand.annotations.items.changes import look_again
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.labels.checks import (
    check_answers,
    check_codes,
    check_flag,
    check_marks,
    mark_kinds,
    parse_marks,
)
from evenhand.annotations.labels.operations import check_ids, insert_label
from evenhand.annotations.labels.read import FILE_DESK, FORM_DESK, PACKAGE
from evenhand.annotations.projects.annotators import add_annotators, annotators
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import N_, BadFile, BadLine, EvenhandError, NotFound, Refused
from evenhand.core.files.readers import Source, open_source, rows
from evenhand.core.files.timestamps import moment, timestamp
from evenhand.core.text.sentences import text_hash
from evenhand.core.types import Problem

CHUNK = 500  # rows per transaction
LONGEST_NOTE = 4_000
OTHER_NAME = N_("This label already exists under a name other than {name}. To import it, export the file with names.")
# The errors that a value of another type raises.
NOT_TAKEN = (
    sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError, OverflowError, KeyError, TypeError,
    ValueError, AttributeError,
)  # fmt: skip


@dataclass(slots=True)
class LabelImport(Rejections):
    """The report of an import of labels: `imported` are new, `duplicates` were stored already, `beside` are stored but
    not valid, because another label of the same annotator was first.
    """

    rows: int = 0
    imported: int = 0
    duplicates: int = 0
    beside: int = 0
    decisions: int = 0

    def add(self, other: "LabelImport") -> None:
        """Add the counts of another file."""
        for name in ("rows", "imported", "duplicates", "beside", "rejected", "decisions"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.reasons += other.reasons
        self.errors += other.errors


def store_labels(
    store: Store,
    project: Project,
    file: str,
    rows: Iterable[LabelRow | BadLine],
    *,
    since: str | None = None,
    program: str = "",
    sha256: str = "",
    rebuilt: bool = False,
) -> LabelImport:
    """Append the labels of a file to *project* in its order; unknown annotators are added.

    A label whose operation is stored already is a duplicate. If the annotator has labelled the item here, that label
    stays valid and the file's label is a conflict. `since`: the time at which an interrupted import of a package
    began; labels of this file stored after it belong to the same import. `program`, `sha256`: which program writes
    files of this layout, and the hash of the file; every label keeps them as its origin ("": not known).
    `rebuilt`: the file is of a package that makes the project, so labels keep the origin that it records.
    """
    report, source = LabelImport(), iter(rows)
    work = _LabelImporter(store, project, file, report, (program, sha256), rebuilt)
    if since is not None:
        work.go_on(since)
    while some := list(islice(source, CHUNK)):
        report.rows += len(some)
        for bad in (bad_line for bad_line in some if isinstance(bad_line, BadLine)):
            report.note(problem_of(bad))
        work.append([label_row for label_row in some if isinstance(label_row, LabelRow)])
    return report


class _LabelImporter:
    """The import of one file."""

    def __init__(
        self, store: Store, project: Project, file: str, report: LabelImport, origin: tuple[str, str], rebuilt: bool
    ) -> None:
        self.store, self.project, self.file, self.report, self.rebuilt = store, project, file, report, rebuilt
        self.restored: dict[CameWith, int] = {}  # files of the database that wrote the package -> row here
        self.origin = origin  # the program that wrote the file, and the hash of the file
        self.begun = timestamp()  # labels without a date of their own are not older
        self.versions = {guideline.version: guideline for guideline in guidelines(store, project)}
        self.people = {annotator.name: annotator.id for annotator in annotators(store, project, active=False)}
        self.label_file: int | None = None  # this import, once it has a label
        # (item, annotator) -> the operation that undid the label with its file
        self.again: dict[tuple[int, int], str] = {}
        self.mine: set[tuple[int, int]] = set()  # (item, annotator) whose valid operation came with this file

    def go_on(self, since: str) -> None:
        """Continue the import of this file that began after *since*, if there is one."""
        for file in label_files(self.store, self.project):
            if file.came.file == self.file and file.came.created >= since and file.came.undone is None:
                self.label_file = file.id

    def append(self, rows: list[LabelRow]) -> None:
        """Store some rows in one transaction and recount their items."""
        with self.store.write() as db:
            touched: dict[tuple[int, int], None] = {}  # in the order of the file
            for row in rows:
                try:
                    place = self._store(row)
                except BadLine as error:
                    self.report.note(problem_of(error))
                except EvenhandError as error:
                    self.report.note(Problem(self.file, row.line, "label", error.message, error.values))
                else:
                    if place is not None:
                        touched[place] = None
            for item, person in touched:
                point_assignment(self.store, self.project, item, person)
                recount_item(self.store, item)
            look_again(db, self.project.id)

    def _store(self, row: LabelRow) -> tuple[int, int] | None:
        """Insert the label; (item, annotator), or None for a duplicate."""
        found = id_and_length(self.store, self.project, row.item)
        if found is None:
            message = N_("This project has no item {item}. Import its items first, as JSON Lines or as a package.")
            raise BadLine(self.file, row.line, "no_item", message, item=row.item[:40])
        item, length = found
        name = row.annotator.strip()
        person = self.people.get(name)
        known = label_of(self.store, row.op_id)
        if known is not None:
            if known.item != item:
                raise Refused(N_("This id is already used by another operation."))
            if known.annotator != person:
                raise Refused(OTHER_NAME, name=name[:40])
            taken_back = self._taken_back(known)
            if taken_back is None:
                self.report.duplicates += 1
                return None
            # It had come with a file that was undone: import it again as a new operation.
            again = uuid.uuid5(uuid.NAMESPACE_OID, f"{row.op_id}|{taken_back}").hex
            row = replace(row, op_id=again, base=taken_back)
        check_ids(row.op_id, row.desk or FORM_DESK, row.revision)
        # The desk also says whether the form of the label is known: `labels.read.form_of`.
        unknown = row.form_shown is None and (row.choice is not None or not row.desk)
        row = replace(row, desk=FILE_DESK if unknown else row.desk or FORM_DESK)
        guideline = self._checked(row, length)
        if person is None:  # only with a label that can be stored: a file of another project adds no annotators
            add_annotators(self.store, self.project, [name])
            self.people = {
                annotator.name: annotator.id for annotator in annotators(self.store, self.project, active=False)
            }
            person = self.people[name]
        superseded = row.superseded or not self._may_stand(row, item, person)
        self.report.beside += superseded and not row.superseded
        values = {
            "op_id": row.op_id, "project": self.project.id, "item": item, "annotator": person,
            "guideline": guideline, "choice": row.choice, "reasons": json.dumps(list(dict.fromkeys(row.reasons))),
            "extraneous": None if row.extraneous is None else int(row.extraneous), "spans": json.dumps(row.spans),
            "note": row.note, "seconds": row.seconds, "form_shown": row.form_shown or "original",
            "after_reveal": int(row.after_reveal), "desk": row.desk, "revision": row.revision, "base": row.base,
            "superseded": int(superseded), "created": row.created or timestamp(),
            "tags": json.dumps(row.tags, ensure_ascii=False),
            "app": row.app if self.rebuilt and row.origin == "here" else None,
        }  # fmt: skip
        self._remember(insert_label(self.store.db, values, row.left), row)
        self.report.imported += 1
        return item, person

    def _remember(self, label: int, row: LabelRow) -> None:
        """Record that a label came with a file, so that the import can be undone (files/undo_import.py)."""
        if self.rebuilt and row.came is not None:
            file = self._restored_file(row.came)
        else:
            if self.label_file is None:
                program, sha256 = self.origin
                program = PACKAGE if self.rebuilt and row.origin else program
                came = CameWith(program, self.file, sha256, self.begun)
                self.label_file = insert_label_file(self.store, self.project, came)
            file = self.label_file
        add_to_file(self.store, file, label)

    def _restored_file(self, came: CameWith) -> int:
        """Return the row of a file that was imported into the database from which the package comes."""
        if came not in self.restored:
            files = label_files(self.store, self.project)
            same = (file.id for file in files if replace(file.came, undone=came.undone) == came)
            self.restored[came] = next(same, 0) or insert_label_file(self.store, self.project, came)
        return self.restored[came]

    def _taken_back(self, label: StoredLabel) -> str | None:
        """Return the operation that undid a label with its file, if that is the last one: see files/undo_import.py."""
        place = label.item, label.annotator
        if place not in self.again:
            operation = undoing_operation(self.store, label)
            if operation is None:
                return None
            self.again[place] = operation
            self.mine.add(place)
        return self.again[place]

    def _may_stand(self, row: LabelRow, item: int, person: int) -> bool:
        if (item, person) in self.mine:
            return True
        if valid_operation(self.store, item, person) in (None, row.base):
            self.mine.add((item, person))
            return True
        return False

    def _checked(self, row: LabelRow, length: int) -> int:
        """Return the guideline's row; raises Refused if the label does not fit it or cannot be stored."""
        version = max(self.versions) if row.guideline is None else row.guideline
        if version not in self.versions:
            raise Refused(N_("This guideline has no version {version}."), version=version)
        guideline = self.versions[version]
        check_codes(guideline, row.choice, row.reasons)
        if len(row.note) > LONGEST_NOTE:
            raise Refused(N_("The note exceeds {most} characters."), most=LONGEST_NOTE)
        check_answers(guideline, row.reasons, row.note, required=False)
        check_flag(guideline, row.extraneous)
        check_marks(row.spans, length, mark_kinds(guideline))
        return guideline.id


def check_shape(row: Mapping[str, Any]) -> None:
    """Raise ValueError for an invalid list or timestamp in a record of a package, which pages could not read.

    Raise Refused for invalid marks.
    """
    for key in ("reasons", "tags", "seen"):
        value = row.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise ValueError(f"{key}: {str(value)[:40]}")
    parse_marks(row.get("spans", []))
    for key in ("created", "begun", "closed", "revealed"):
        value = row.get(key)
        if value is not None and moment(value) is None:
            raise ValueError(f"{key}: {str(value)[:40]}")


TEXT_COLUMNS = ("text", "sentence", "句子", "文本")
CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class KnownReport:
    """How many items of a file got a known answer, and the rows that could not be used."""

    file: str
    marked: int
    problems: tuple[BadLine, ...]


def import_known_answers(
    store: Store, project: Project, path: Path | str, *, name: str | None = None, author: str = ""
) -> KnownReport:
    """Make every row of a file a known answer: column `choice`, and `item` (public id) or `text`.

    The text of a generation may be its completion, or its context and completion in one; a column `context` tells equal
    texts apart. `why` may explain the answer. CSV, TSV, JSON lines or a workbook. A row that cannot be used is
    reported; the others are imported. Raises BadFile if columns are missing or the file cannot be read.
    """
    source = open_source(path, name)
    finder, marked, problems = _ItemFinder(store, project, source), 0, []
    for row in rows(source):
        try:
            if row.problem is not None:
                raise row.problem
            uid = finder.item(row.values)
            choice = text_value(row.values, CHOICE)
            if not choice:
                raise BadLine(source.name, row.line, "choice", N_("The row has no choice."))
            set_known(store, project, uid, choice, why=text_value(row.values, "why"), author=author)
            marked += 1
        except EvenhandError as error:
            problems.append(BadLine(source.name, row.line, "known", error.message, **error.values))
    return KnownReport(source.name, marked, tuple(problems))


class _ItemFinder:
    """Finds the item that a row names by its id or its text."""

    def __init__(self, store: Store, project: Project, source: Source) -> None:
        """Raise BadFile if *source* lacks the columns of known answers."""
        self.store, self.project = store, project
        self.texts = [name for name in TEXT_COLUMNS if name in source.columns]
        self.context: str | None = None
        if project.kind == "generations":
            named = guess_columns(source.columns).named
            self.texts += [named[key] for key in ("completion", "generation") if key in named]
            self.context = named.get("context")
        if CHOICE not in source.columns or not ("item" in source.columns or self.texts):
            message = N_("{file} contains no known answers: it needs the columns {wanted} and choice. It has {found}.")
            columns = ", ".join(source.columns[:20]) or "–"
            raise BadFile(message, file=source.name, wanted="item / text", found=columns)

    def item(self, values: Mapping[str, Any]) -> str:
        """Return the public id of the item that a row names. Raises BadFile if it names none, or several."""
        if uid := text_value(values, "item"):
            return uid
        text = next((values[key] for key in self.texts if isinstance(values.get(key), str) and values[key].strip()), "")
        if not text:
            raise BadFile(N_("The row does not identify an item."))
        if self.project.kind == "generations":
            return self._generation(text, text_value(values, self.context or ""))
        stored_item = find_item(self.store, self.project, text) or find_item(self.store, self.project, text.strip())
        if stored_item is None:
            raise BadFile(N_("This project has no item with this text."))
        return stored_item.uid

    def _generation(self, text: str, context: str) -> str:
        result = self._generations.get(text.strip(), {})
        if context:
            result = {uid: of for uid, of in result.items() if of == context}
        if not result:
            raise BadFile(N_("This project has no item with this text."))
        if len(result) > 1:
            message = N_("{number} items have this text. Give the item's id, or add the column context.")
            raise BadFile(message, number=len(result))
        return next(iter(result))

    @cached_property
    def _generations(self) -> Mapping[str, Mapping[str, str]]:
        """Text of a completion, or context and completion -> public id and context of each item with that text."""
        generations: dict[str, dict[str, str]] = defaultdict(dict)
        for item in items(self.store, self.project):
            context = item.context or ""
            for text in (item.text, context + item.text):
                generations[text.strip()][item.uid] = context.strip()
        return generations


def find_item(store: Store, project: Project, asked: str) -> Item | None:
    """Return the item with that public id or, for sentences, with exactly that text; or None."""
    by_text = uid_of_hash(store, project, text_hash(asked)) if project.kind == "sentences" else None
    try:
        return one_item(store, project, by_text or asked)
    except NotFound:
        return None
