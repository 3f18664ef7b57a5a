"""Files that labels came with: which label came with which file, and what became of it."""

from dataclasses import dataclass
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.imported_gold import gold_of_file
from evenhand.annotations.queue.assignments import assign, next_turn
from evenhand.annotations.types import Project

LEAD = "lead"  # the desk of a label that the lead chose in a conflict
TAKEN_BACK = "undo"  # the desk of operations that undo the labels of a file
# The valid labels of a file.
_VALID = """
FROM label_of_file JOIN label ON label.id = label_of_file.label
     JOIN assignment ON assignment.item = label.item AND assignment.annotator = label.annotator
         AND assignment.latest = label.id
WHERE label_of_file.file = ?
"""
# Labels of a file that the lead chose in a conflict: the valid row is a copy in the annotator's name.
_CHOSEN = f"""
SELECT count(*) FROM label_of_file JOIN label AS mine ON mine.id = label_of_file.label AND mine.superseded = 1
     JOIN assignment ON assignment.item = mine.item AND assignment.annotator = mine.annotator
     JOIN label AS standing ON standing.id = assignment.latest AND standing.desk = '{LEAD}'
         AND standing.choice = mine.choice AND standing.reasons = mine.reasons
WHERE label_of_file.file = ? AND NOT EXISTS (SELECT 1 FROM label_of_file WHERE label = standing.id)
"""
# The valid operation undid the label with its file in this database; it did not come from a file itself.
_UNDONE = f"""
SELECT assignment.op_id FROM assignment JOIN label ON label.op_id = assignment.op_id
WHERE assignment.item = :item AND assignment.annotator = :annotator AND state = 'released'
    AND label.desk = '{TAKEN_BACK}'
    AND NOT EXISTS (SELECT 1 FROM label_of_file WHERE label_of_file.label = label.id)
    AND EXISTS (SELECT 1 FROM label_of_file JOIN label_file ON label_file.id = label_of_file.file
        WHERE label_of_file.label = :label AND label_file.undone IS NOT NULL)
"""
_MADE_HERE = """
SELECT 1 FROM label WHERE item = ? AND annotator = ifnull(?, annotator)
    AND NOT EXISTS (SELECT 1 FROM label_of_file WHERE label_of_file.label = label.id) LIMIT 1
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
    query = "SELECT id, labels, program, file, sha256, created, undone FROM label_file WHERE project = ? ORDER BY id"
    return store.rows(_label_file, query, (project.id,))


def _label_file(id: int, labels: int, **came: Any) -> LabelFile:
    return LabelFile(id, CameWith(**came), labels)


def insert_label_file(store: Store, project: Project, came: CameWith) -> int:
    """Store a file without labels, in the caller's transaction; returns its row id."""
    cursor = store.db.execute(
        "INSERT INTO label_file (project, program, file, sha256, created, undone) VALUES (?, ?, ?, ?, ?, ?)",
        (project.id, came.program, came.file, came.sha256, came.created, came.undone),
    )
    return int(cursor.lastrowid or 0)


def add_to_file(store: Store, file: int, label: int | None = None) -> None:
    """Count one more label of a file, and store which label it is; None: a gold label."""
    if label is not None:
        store.db.execute("INSERT INTO label_of_file (file, label) VALUES (?, ?)", (file, label))
    store.db.execute("UPDATE label_file SET labels = labels + 1 WHERE id = ?", (file,))


def mark_undone(store: Store, file: int, moment: str) -> None:
    """Store when the undo of a file began, in the caller's transaction; a repeated undo keeps the first moment."""
    store.db.execute("UPDATE label_file SET undone = coalesce(undone, ?) WHERE id = ?", (moment, file))


def valid_labels(store: Store, file: int, after: int, most: int) -> list[ValidLabel]:
    """Return up to *most* valid labels of a file with row ids above *after*, in the order of their ids."""
    query = (
        "SELECT label.id, label.item, label.annotator, label.guideline, label.form_shown,"
        f" assignment.op_id AS operation {_VALID} AND label_of_file.label > ? ORDER BY label_of_file.label LIMIT ?"
    )
    return store.rows(ValidLabel, query, (file, after, most))


def count_valid(store: Store, file: int) -> int:
    """Return how many labels and gold labels of a file are valid."""
    return int(store.value(f"SELECT count(*) {_VALID}", (file,))) + len(gold_of_file(store, file))


def count_chosen(store: Store, file: int) -> int:
    """Return how many labels of a file are valid because the lead chose them in a conflict."""
    return int(store.value(_CHOSEN, (file,)))


def count_labelled(store: Store, batch: int) -> int:
    """Return how many valid labels the items of a batch have."""
    query = (
        "SELECT count(*) FROM item JOIN assignment ON assignment.item = item.id"
        " WHERE item.batch = ? AND assignment.latest IS NOT NULL"
    )
    return int(store.value(query, (batch,)))


def label_of(store: Store, op_id: str | None) -> StoredLabel | None:
    """Return the label with an operation; None without one."""
    query = (
        "SELECT label.id, label.item, label.annotator, item.uid, annotator.name, choice, reasons FROM label"
        " JOIN item ON item.id = label.item JOIN annotator ON annotator.id = label.annotator WHERE op_id = ?"
    )
    return store.row(StoredLabel, query, (op_id,))


def is_labelled_here(store: Store, item: int, annotator: int | None = None) -> bool:
    """Return whether a label of an item, of one annotator if given, was made in this database."""
    return store.value(_MADE_HERE, (item, annotator)) is not None


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
