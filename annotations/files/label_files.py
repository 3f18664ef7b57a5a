"""Files of labels: read row by row, CSV or JSON lines, as `export` wrote them; and which label came with which file."""

import json
import math
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from evenhand.annotations.database.store import Store, insert
from evenhand.annotations.files.detect import bad
from evenhand.annotations.guideline.drafts import clean_tags
from evenhand.annotations.guideline.scheme import FIRST, SECOND
from evenhand.annotations.guideline.versions import Place
from evenhand.annotations.items.gold import gold_of_file
from evenhand.annotations.labels.checks import parse_marks
from evenhand.annotations.labels.operations import MOST_SECONDS
from evenhand.annotations.queue.assignments import assign, next_turn
from evenhand.annotations.types import Form, Mark, Project
from evenhand.core.errors import N_, BadFile, BadLine, EvenhandError
from evenhand.core.files.archives import Member
from evenhand.core.files.readers import Row, Source, open_source, rows
from evenhand.core.files.timestamps import moment

LEAD = "lead"  # the desk of a label that the lead chose in a conflict
TAKEN_BACK = "undo"  # the desk of operations that undo the labels of a file
# The valid labels of a file.
_VALID = """
label_of_file JOIN label ON label.id = label_of_file.label
     JOIN assignment ON assignment.item = label.item AND assignment.annotator = label.annotator
         AND assignment.latest = label.id
WHERE label_of_file.file = ?
"""
# Labels of a file that the lead chose in a conflict: the valid row is a copy in the annotator's name.
_CHOSEN = f"""
label_of_file JOIN label AS mine ON mine.id = label_of_file.label AND mine.superseded = 1
     JOIN assignment ON assignment.item = mine.item AND assignment.annotator = mine.annotator
     JOIN label AS standing ON standing.id = assignment.latest AND standing.desk = '{LEAD}'
         AND standing.choice = mine.choice AND standing.reasons = mine.reasons
     LEFT JOIN label_of_file AS own ON own.label = standing.id
WHERE label_of_file.file = ? AND own.label IS NULL
"""
# The valid operation undid the label with its file in this database; it did not come from a file itself.
_UNDONE = f"""
SELECT assignment.op_id FROM assignment JOIN label ON label.op_id = assignment.op_id
     LEFT JOIN label_of_file AS own ON own.label = label.id
     JOIN label_of_file AS came ON came.label = :label
     JOIN label_file ON label_file.id = came.file AND label_file.undone IS NOT NULL
WHERE assignment.item = :item AND assignment.annotator = :annotator AND state = 'released'
    AND label.desk = '{TAKEN_BACK}' AND own.label IS NULL
"""
_MADE_HERE = """
label LEFT JOIN label_of_file AS own ON own.label = label.id
WHERE item = ? AND annotator = ifnull(?, annotator) AND own.label IS NULL
"""


@dataclass(frozen=True, slots=True)
class CameWith:
    """The file that a label came with, in this database or in the one that wrote a package.

    `program` wrote it, "" if that is not known. `undone`: when the import was undone, else None.
    """

    program: str
    file: str
    sha256: str
    created: str
    undone: str | None = None


@dataclass(frozen=True, slots=True)
class LabelFile:
    """An imported file of labels; `labels`: how many it brought."""

    id: int
    came: CameWith
    labels: int


@dataclass(frozen=True, slots=True)
class StoredLabel:
    """A label: row ids, the public id of its item, the name of its annotator, and its codes (`reasons`: JSON)."""

    id: int
    item: int
    annotator: int
    uid: str
    name: str
    choice: str | None
    reasons: str


@dataclass(frozen=True, slots=True)
class ValidLabel:
    """A valid label of a file. `operation`: that of its assignment; the others are row ids."""

    id: int
    item: int
    annotator: int
    guideline: int
    form_shown: str
    operation: str


def label_files(store: Store, project: Project) -> list[LabelFile]:
    """Return the files of labels of a project, oldest import first."""

    def label_file(id: int, labels: int, **came: Any) -> LabelFile:
        return LabelFile(id, CameWith(**came), labels)

    query = "SELECT id, labels, program, file, sha256, created, undone FROM label_file WHERE project = ? ORDER BY id"
    return store.rows(label_file, query, (project.id,))


def insert_label_file(store: Store, project: Project, came: CameWith) -> int:
    """Store a file without labels, in the caller's transaction; returns its row id."""
    return insert(store.db, "label_file", {"project": project.id, **asdict(came)})


def add_to_file(store: Store, file: int, label: int | None = None) -> None:
    """Count one more label of a file, and store which label it is; None: a gold label."""
    if label is not None:
        insert(store.db, "label_of_file", {"file": file, "label": label})
    store.db.execute("UPDATE label_file SET labels = labels + 1 WHERE id = ?", (file,))


def mark_undone(store: Store, file: int, moment: str) -> None:
    """Store when the undo of a file began, in the caller's transaction; a repeated undo keeps the first time."""
    store.db.execute("UPDATE label_file SET undone = coalesce(undone, ?) WHERE id = ?", (moment, file))


def valid_labels(store: Store, file: int, after: int, most: int) -> list[ValidLabel]:
    """Return up to *most* valid labels of a file with row ids above *after*, in the order of their ids."""
    query = (
        "SELECT label.id, label.item, label.annotator, label.guideline, label.form_shown,"
        f" assignment.op_id AS operation FROM {_VALID} AND label_of_file.label > ? ORDER BY label_of_file.label LIMIT ?"
    )
    return store.rows(ValidLabel, query, (file, after, most))


def count_valid(store: Store, file: int) -> int:
    """Return how many labels and gold labels of a file are valid."""
    return store.count(_VALID, (file,)) + len(gold_of_file(store, file))


def count_chosen(store: Store, file: int) -> int:
    """Return how many labels of a file are valid because the lead chose them in a conflict."""
    return store.count(_CHOSEN, (file,))


def count_labelled(store: Store, batch: int) -> int:
    """Return how many valid labels the items of a batch have."""
    rows = "item JOIN assignment ON assignment.item = item.id WHERE item.batch = ? AND assignment.latest IS NOT NULL"
    return store.count(rows, (batch,))


def label_of(store: Store, op_id: str | None) -> StoredLabel | None:
    """Return the label with an operation; None without one."""
    query = (
        "SELECT label.id, label.item, label.annotator, item.uid, annotator.name, choice, reasons FROM label"
        " JOIN item ON item.id = label.item JOIN annotator ON annotator.id = label.annotator WHERE op_id = ?"
    )
    return store.row(StoredLabel, query, (op_id,))


def is_labelled_here(store: Store, item: int, annotator: int | None = None) -> bool:
    """Return whether a label of an item, of one annotator if given, was made in this database."""
    return store.has(_MADE_HERE, (item, annotator))


def undoing_operation(store: Store, label: StoredLabel) -> str | None:
    """Return the operation that undid a label with its file, if it is the last one of its annotator on the item."""
    values = {"label": label.id, "item": label.item, "annotator": label.annotator}
    operation: str | None = store.value(_UNDONE, values)
    return operation


def valid_operation(store: Store, item: int, annotator: int) -> str | None:
    """Return the valid operation of an annotator on an item; None before the first."""
    query = "SELECT op_id FROM assignment WHERE item = ? AND annotator = ?"
    operation: str | None = store.value(query, (item, annotator))
    return operation


def point_assignment(store: Store, project: Project, item: int, person: int) -> None:
    """Let the assignment point to the valid label, as `annotations.labels.operations` does."""
    query = (
        "SELECT id, choice, after_reveal, op_id, desk, revision, created FROM valid_label"
        " WHERE item = ? AND annotator = ? ORDER BY id"
    )
    rows = store.rows(dict[str, Any], query, (item, person))
    if not rows:
        return
    last, unseen = rows[-1], [row for row in rows if not row["after_reveal"]]
    latest, blind = (part[-1]["id"] if part and part[-1]["choice"] is not None else None for part in (rows, unseen))
    revealed = next((row["created"] for row in rows if row["after_reveal"]), None)
    next_turn(store.db, project.id, person)
    assign(
        store.db,
        {
            "item": item, "annotator": person, "project": project.id,
            "state": "labelled" if latest else "released", "skips": None, "latest": latest, "blind": blind,
            "revealed": revealed, **{key: last[key] for key in ("op_id", "desk", "revision")},
        },
    )  # fmt: skip


FORMATS = ("labels", "package")
NEEDED = ("item", "annotator", "choice")
PLACES: dict[str, Place | None] = {FIRST: FIRST, SECOND: SECOND, "": None}
NO_FORM = N_("Items must be shown as original or masked, not {value}.")
NO_PLACE = N_("left must be first, second or empty, not {value}.")
T = TypeVar("T")
FORMS: dict[str, Form | None] = {"original": "original", "masked": "masked", "": None}


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One operation in a file of labels, for `import_labels`.

    `guideline` None: the newest version. `form_shown` None: the file does not say. `origin`, `app`, `came`: where the
    label came from, as a package records it ("", "", None: it does not).
    """

    line: int
    item: str
    annotator: str
    op_id: str
    choice: str | None
    reasons: tuple[str, ...] = ()
    extraneous: bool | None = None
    spans: tuple[Mark, ...] = ()
    note: str = ""
    seconds: float | None = None
    guideline: int | None = None
    after_reveal: bool = False
    form_shown: Form | None = None
    desk: str = ""
    revision: int = 0
    base: str | None = None
    superseded: bool = False
    created: str = ""
    tags: tuple[str, ...] = ()
    origin: str = ""
    app: str = ""
    came: CameWith | None = None
    left: Place | None = None  # of a comparison: which text was on the left; None: the file does not say


def is_labels(member: Member) -> bool:
    """Tell whether a table holds labels: it has their columns, and neither a text to judge nor a position in one."""
    columns = set(open_source(member.path, member.name).columns)
    return {*NEEDED, "op_id"} <= columns and not {"completion", "sentence", "句子"} & columns


def open_labels(path: Path | str, name: str | None = None) -> Source:
    """Open a file of labels as a source. Raises BadFile if columns are missing."""
    source = open_source(path, name)
    missing = [column for column in NEEDED if column not in source.columns]
    if missing and source.columns:
        message = N_("{file} is not a file of labels: it needs the columns {needed}. Its columns: {found}.")
        raise BadFile(message, file=source.name, needed=", ".join(NEEDED), found=", ".join(source.columns[:20]))
    return source


def label_rows_in(source: Source) -> Iterator[LabelRow | BadLine]:
    """Yield each row as a value, or its problem with file, line and a reason code."""
    for row in rows(source):
        try:
            if row.problem is not None:
                raise row.problem
            yield _label(row)
        except BadLine as error:
            yield error.at(source.name, row.line)
        except EvenhandError as error:  # of a mark or a tag
            yield BadLine(source.name, row.line, "label", error.message, **error.values)


def _label(row: Row) -> LabelRow:
    values = row.values
    item, annotator = (text_value(values, key) for key in ("item", "annotator"))
    if not item or not annotator:
        bad("label", N_("A label needs an item and an annotator."))
    choice, written = text_value(values, "choice") or None, text_value(values, "created")
    # A hand-made file has no ids of operations; the same row always gets the same id.
    known = json.dumps([item, annotator, choice, written])
    base = text_value(values, "base") or None
    return LabelRow(
        line=row.line, item=item, annotator=annotator, choice=choice, created=_moment(written), base=base,
        desk=text_value(values, "desk"),
        op_id=text_value(values, "op_id") or uuid.uuid5(uuid.NAMESPACE_OID, known).hex,
        reasons=_reasons(values.get("reasons")),
        extraneous=_flag(values, "extraneous"),
        spans=_spans(values.get("spans")),
        note=values["note"] if isinstance(values.get("note"), str) else "",
        seconds=_seconds(values.get("seconds")),
        guideline=_whole_number(values, "guideline"),
        after_reveal=bool(_flag(values, "after_reveal")),
        form_shown=_named(values, "form_shown", FORMS, NO_FORM),
        revision=_whole_number(values, "revision") or 0,
        superseded=bool(_flag(values, "superseded")),
        tags=clean_tags(_reasons(values.get("tags"))),
        origin=text_value(values, "origin"),
        app=text_value(values, "app"),
        came=_came(values),
        left=_named(values, "left", PLACES, NO_PLACE),
    )  # fmt: skip


def text_value(values: Mapping[str, Any], key: str) -> str:
    """Return a cell of a row as text without blanks around it; "" if there is none."""
    value = values.get(key)
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)


def _named(values: Mapping[str, Any], key: str, known: Mapping[str, T], message: str) -> T:
    text = text_value(values, key)
    if text not in known:
        bad("label", message, value=text[:40])
    return known[text]


def _flag(values: Mapping[str, Any], key: str) -> bool | None:
    text = text_value(values, key).lower()
    if text not in ("", "0", "1", "true", "false"):
        bad("label", N_("{key} must be 0, 1 or empty, not {value}."), key=key, value=text[:40])
    return None if not text else text in ("1", "true")


def _whole_number(values: Mapping[str, Any], key: str) -> int | None:
    text = text_value(values, key)
    if text and not (text.removeprefix("-").isdecimal() and len(text) < 19):
        bad("label", N_("{key} must be a whole number, not {value}."), key=key, value=text[:40])
    return int(text) if text else None


def _reasons(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(entry) for entry in value)
    return tuple(part.strip() for part in str(value or "").split(";") if part.strip())


def _spans(value: Any) -> tuple[Mark, ...]:
    try:
        return parse_marks(json.loads(value) if isinstance(value, str) and value.strip() else value or [])
    except (ValueError, RecursionError):
        bad("label", N_("The marks of a text must be a list such as {example}."), example='[[3, 6, "pronoun"]]')


def _seconds(value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 <= seconds < MOST_SECONDS:
        bad("label", N_("The time for a text must be a number of seconds, at least 0 and below one billion."))
    return seconds


def _came(values: Mapping[str, Any]) -> CameWith | None:
    """Return when and with which file a label came in; None outside packages, which alone have this."""
    if text_value(values, "origin") != "imported" or not text_value(values, "label_file_created"):
        return None
    program, file, sha256 = (text_value(values, key) for key in ("program", "label_file", "label_file_sha256"))
    created, undone = (_moment(text_value(values, f"label_file_{key}")) for key in ("created", "undone"))
    return CameWith(program, file, sha256, created, undone or None)


def _moment(text: str) -> str:
    result = moment(text)
    if text and result is None:
        message = N_("{value} is not a time between 1970 and 2099 such as 2026-01-31T09:30:00+00:00.")
        bad("label", message, value=text[:40])
    return result or ""
