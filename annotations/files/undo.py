"""Undo of an import of items or labels. What was recorded on its items meanwhile is never lost."""

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.conflicts import LEAD
from evenhand.annotations.files.import_labels import TAKEN_BACK, point_assignment
from evenhand.annotations.items.batch import BEING_IMPORTED
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.items.imported_gold import gold_of_file, holds_gold, take_gold_back
from evenhand.annotations.items.returned import look_again
from evenhand.annotations.items.withdrawn import clear_withdrawn, items_with_records, withdraw
from evenhand.annotations.labels.operations import insert_label
from evenhand.annotations.queue.assignments import withdraw_batch
from evenhand.annotations.queue.set_aside import update_set_aside
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Busy, NotFound, Refused
from evenhand.core.files.timestamps import timestamp

Progress = Callable[[int, int], object]  # (done, total) rows
CHUNK = 500  # labels per transaction
# The event of a finished undo of labels: {"file", "came": moment of the import, ...}. Older ones hold the row id in
# their database (`label_file`) instead of the moment.
DONE = "labels_undone"

FILES = """
SELECT id, file, created, undone, withdrawn FROM batch
WHERE project = ? AND (undone IS NOT NULL OR id IN (SELECT id FROM published_batch))
"""
STANDING = """
SELECT label.id, label.item, label.annotator, label.guideline, label.form_shown, assignment.op_id
FROM label_of_file JOIN label ON label.id = label_of_file.label
     JOIN assignment ON assignment.item = label.item AND assignment.annotator = label.annotator
         AND assignment.latest = label.id
WHERE label_of_file.file = ? AND label_of_file.label > ? ORDER BY label_of_file.label LIMIT ?
"""
# Labels of a file that the lead chose in a conflict: the valid row is a copy in the annotator's name.
CHOSEN = f"""
SELECT count(*) FROM label_of_file JOIN label AS mine ON mine.id = label_of_file.label AND mine.superseded = 1
     JOIN assignment ON assignment.item = mine.item AND assignment.annotator = mine.annotator
     JOIN label AS standing ON standing.id = assignment.latest AND standing.desk = '{LEAD}'
         AND standing.choice = mine.choice AND standing.reasons = mine.reasons
WHERE label_of_file.file = ? AND NOT EXISTS (SELECT 1 FROM label_of_file WHERE label = standing.id)
"""


@dataclass(frozen=True, slots=True)
class Import:
    """One import of items or labels into a project.

    `key` names it in commands ("items-3", "labels-2"). `rows`: items that are left of it, or labels that it brought.
    `gold`: the labels are gold labels that a package brought without the labels they were made of.
    `undone`: when it was undone. `unfinished`: the undo is running or was interrupted; repeating it continues it.
    """

    key: str
    kind: Literal["items", "labels"]
    id: int
    file: str
    created: str
    rows: int
    undone: str | None
    unfinished: bool = False
    gold: bool = False


@dataclass(frozen=True, slots=True)
class UndoEffect:
    """What an undo of an import would do now.

    Items: `deleted` have no records; `hidden` have some and stay stored as withdrawn. Labels: `labels` are valid ones
    that are hidden with their items, or undone; `kept` came with the file and are no longer valid; `chosen` are valid
    by a decision of the lead on a conflict (files/conflicts.py) and stay.
    """

    deleted: int = 0
    hidden: int = 0
    labels: int = 0
    kept: int = 0
    chosen: int = 0


def imports(store: Store, project: Project) -> list[Import]:
    """Every import of items or labels into a project, oldest first, undone ones too."""
    batches = store.db.execute(FILES, (project.id,)).fetchall()
    query = "SELECT count(*) FROM item WHERE batch = ?"
    found = [
        Import(
            f"items-{row}",
            "items",
            row,
            file,
            created,
            store.db.execute(query, (row,)).fetchone()[0],
            undone,
            half == 1,
        )
        for row, file, created, undone, half in batches
    ]
    files = store.db.execute(
        "SELECT id, file, created, labels, undone FROM label_file WHERE project = ?", (project.id,)
    ).fetchall()
    done = _finished(store, project) if any(row[4] for row in files) else set()
    found += [
        Import(
            f"labels-{row}",
            "labels",
            row,
            file,
            created,
            labels,
            undone,
            undone is not None and row not in done,
            holds_gold(store, row),
        )
        for row, file, created, labels, undone in files
    ]
    return sorted(found, key=lambda one: (one.created, one.kind, one.id))


def _finished(store: Store, project: Project) -> set[int]:
    # An imported event is about another database: it is older than a file of the same row id here.
    query = (
        "SELECT label_file.id FROM label_file JOIN event ON event.project = label_file.project AND action = ?"
        " AND json_extract(data, '$.file') = label_file.file AND event.created >= label_file.undone"
        " AND ifnull(json_extract(data, '$.came') = label_file.created,"
        " json_extract(data, '$.label_file') = label_file.id) WHERE label_file.project = ?"
    )
    return {row[0] for row in store.db.execute(query, (DONE, project.id))}


def find_import(store: Store, project: Project, key: str) -> Import:
    """The import with that key. Raises NotFound."""
    found = next((one for one in imports(store, project) if one.key == key.strip()), None)
    if found is None:
        message = N_("{project} has no import {key}. See the list of imports.")
        raise NotFound(message, project=project.name, key=key[:40])
    return found


def undo_effect(store: Store, project: Project, wanted: Import) -> UndoEffect:
    """What an undo of *wanted* would do now; changes nothing."""
    if wanted.kind == "labels":
        standing, chosen = _standing_labels(store, wanted.id), _chosen_labels(store, wanted.id)
        return UndoEffect(labels=standing, kept=wanted.rows - standing - chosen, chosen=chosen)
    if wanted.undone and not wanted.unfinished:
        return UndoEffect()
    hidden = len(items_with_records(store, wanted.id))
    return UndoEffect(deleted=wanted.rows - hidden, hidden=hidden, labels=_labels_on(store, wanted.id))


def _labels_on(store: Store, batch: int) -> int:
    query = (
        "SELECT count(*) FROM item JOIN assignment ON assignment.item = item.id"
        " WHERE item.batch = ? AND assignment.latest IS NOT NULL"
    )
    return int(store.db.execute(query, (batch,)).fetchone()[0])


def _standing_labels(store: Store, file: int) -> int:
    query = (
        "SELECT count(*) FROM label_of_file JOIN label ON label.id = label_of_file.label JOIN assignment"
        " ON assignment.item = label.item AND assignment.annotator = label.annotator"
        " AND assignment.latest = label.id WHERE label_of_file.file = ?"
    )
    return int(store.db.execute(query, (file,)).fetchone()[0]) + len(gold_of_file(store, file))


def _chosen_labels(store: Store, file: int) -> int:
    return int(store.db.execute(CHOSEN, (file,)).fetchone()[0])


def undo(store: Store, project: Project, key: str, *, author: str = "", progress: Progress | None = None) -> UndoEffect:
    """Undo the import *key* and return what that did. Raises NotFound, Refused if it was undone already.

    *progress* is called with (done, total) rows.
    """
    found = find_import(store, project, key)
    if found.kind == "labels":
        return undo_labels(store, project, found.id, author=author, progress=progress)
    return undo_import(store, project, found.id, author=author, progress=progress)


def undo_import(
    store: Store, project: Project, batch: int, *, author: str = "", progress: Progress | None = None
) -> UndoEffect:
    """Undo an import of items: one short transaction removes them from every page and count.

    Then items without records are deleted and the others are stored as withdrawn, some hundreds per transaction; an
    import of the same text restores them. If the app ends in between, a repeated undo, the next start or the next
    import continues. Raises NotFound for an unknown batch, Refused if it was undone already or while another import
    runs.
    """
    with store.write() as db:
        row = db.execute(f"SELECT file, undone, withdrawn FROM ({FILES}) WHERE id = ?", (project.id, batch)).fetchone()
        _check(project, f"items-{batch}", row, row[1] if row and not row[2] else None)
        (total,) = db.execute("SELECT count(*) FROM item WHERE batch = ?", (batch,)).fetchone()
        labels = _labels_on(store, batch)
        if not row[1]:
            _withdraw(store, project, batch, author, file=row[0], items=total, labels=labels)
    hidden = len(items_with_records(store, batch))  # items without records can get none from here on
    with suppress(Busy):  # the undo is done; the next import does the cleaning
        clear_withdrawn(store, batch, None if progress is None else lambda done: progress(min(done, total), total))
    return UndoEffect(deleted=total - hidden, hidden=hidden, labels=labels)


def _withdraw(store: Store, project: Project, batch: int, author: str, **data: Any) -> None:
    if store.db.execute(f"SELECT 1 FROM batch WHERE project = ? AND {BEING_IMPORTED}", (project.id,)).fetchone():
        raise Refused(N_("Another file is being imported into this project. Try again when the import is finished."))
    withdraw(store, project, batch)
    withdraw_batch(store.db, project.id, batch)
    record(store, project, "import_undone", author=author, batch=batch, **data, at=store.uid)


def _check(project: Project, key: str, row: tuple[Any, ...] | None, undone: str | None) -> None:
    if row is None:
        message = N_("{project} has no import {key}. See the list of imports.")
        raise NotFound(message, project=project.name, key=key)
    if undone:
        raise Refused(N_("The import of {file} was already undone on {when}."), file=row[0], when=undone[:10])


def undo_labels(
    store: Store, project: Project, file: int, *, author: str = "", progress: Progress | None = None
) -> UndoEffect:
    """Undo the valid labels of a file by appending undo operations of their annotators; nothing is deleted.

    Gold labels of a package no longer hold then, and the labels of the project decide. Labels that were replaced since
    are left alone. In short transactions of 500 labels; if the app ends in between, a
    repeated undo does the rest. Raises NotFound for an unknown file, Refused if it was undone already.
    """
    with store.write() as db:
        row = db.execute(
            "SELECT file, labels, undone, created FROM label_file WHERE id = ? AND project = ?", (file, project.id)
        ).fetchone()
        _check(project, f"labels-{file}", row, row[2] if row and file in _finished(store, project) else None)
        db.execute("UPDATE label_file SET undone = coalesce(undone, ?) WHERE id = ?", (timestamp(), file))
    last, total = 0, _standing_labels(store, file)
    taken = _take_gold_back(store, project, file)
    while True:
        with store.write() as db:
            rows = db.execute(STANDING, (file, last, CHUNK)).fetchall()
            for label in rows:
                _undo_labels(store, project, file, label)
            look_again(db, project.id)
            taken += len(rows)
            if not rows:
                record(store, project, DONE, author=author, file=row[0], came=row[3], labels=taken)
                chosen = _chosen_labels(store, file)
                return UndoEffect(labels=taken, kept=row[1] - taken - chosen, chosen=chosen)
            last = rows[-1][0]
        if progress is not None:
            progress(taken, max(taken, total))


def _take_gold_back(store: Store, project: Project, file: int) -> int:
    """Take the gold labels of a package back in short transactions; returns how many."""
    brought = gold_of_file(store, file)
    for start in range(0, len(brought), CHUNK):
        with store.write():
            for item, gold in brought[start : start + CHUNK]:
                take_gold_back(store, project, item, file, gold)
    return len(brought)


def _undo_labels(store: Store, project: Project, file: int, row: tuple[Any, ...]) -> None:
    label, item, person, guideline, form, standing = row
    values = {
        # The op_id is the same in a repeated undo, so no label is undone twice.
        "op_id": uuid.uuid5(uuid.NAMESPACE_OID, f"undo|{store.uid}|{file}|{label}").hex,
        "project": project.id, "item": item, "annotator": person, "guideline": guideline, "choice": None,
        "form_shown": form, "desk": TAKEN_BACK, "revision": 0, "base": standing, "created": timestamp(),
    }  # fmt: skip
    insert_label(store.db, values)
    point_assignment(store, project, item, person)
    recount_item(store, item)
    update_set_aside(store, project, item)
