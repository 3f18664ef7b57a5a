"""Taking an import back: the items of a file, or the labels of a file. What others recorded meanwhile is never lost."""

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from annotations.database.events import record
from annotations.database.store import Store
from annotations.files.conflicts import LEAD
from annotations.files.import_labels import TAKEN_BACK, point_assignment
from annotations.items.batch import BEING_IMPORTED
from annotations.items.gold import recount_item
from annotations.items.returned import look_again
from annotations.items.withdrawn import clear_withdrawn, items_with_records, withdraw
from annotations.labels.operations import insert_label
from annotations.queue.assignments import withdraw_batch
from annotations.queue.set_aside import update_set_aside
from annotations.types import Project
from core.errors import N_, Busy, NotFound, Refused
from core.files.timestamps import timestamp

Progress = Callable[[int, int], object]  # how many rows are done, and of how many
CHUNK = 500  # labels a transaction
# The event that ends the taking back of a file of labels: {"file", "came": its moment, ...}. Older ones hold its row id
# in their database (`label_file`) in place of the moment.
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
# Labels of a file that the lead let count: what stands is another row that says the same in the annotator's name.
CHOSEN = f"""
SELECT count(*) FROM label_of_file JOIN label AS mine ON mine.id = label_of_file.label AND mine.superseded = 1
     JOIN assignment ON assignment.item = mine.item AND assignment.annotator = mine.annotator
     JOIN label AS standing ON standing.id = assignment.latest AND standing.desk = '{LEAD}'
         AND standing.choice = mine.choice AND standing.reasons = mine.reasons
WHERE label_of_file.file = ? AND NOT EXISTS (SELECT 1 FROM label_of_file WHERE label = standing.id)
"""


@dataclass(frozen=True, slots=True)
class Import:
    """One file that came into a project: items, or labels.

    `key` names it in commands ("items-3", "labels-2"); `rows` is how many items it still has here, or how many labels
    it brought; `undone` is when it was taken back. `unfinished`: that is going on or was interrupted; doing it again
    goes on.
    """

    key: str
    kind: Literal["items", "labels"]
    id: int
    file: str
    created: str
    rows: int
    undone: str | None
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class UndoEffect:
    """What taking an import back would do, counted now.

    Items: `deleted` leave no trace, `hidden` ones somebody touched: they stay stored, seen by nobody. Labels:
    `labels` of them stand on these items and are hidden too, or are taken back; `kept` came with the file and do not
    stand any more; `chosen` count because the lead settled a conflict for them (files/conflicts.py): they stay.
    """

    deleted: int = 0
    hidden: int = 0
    labels: int = 0
    kept: int = 0
    chosen: int = 0


def imports(store: Store, project: Project) -> list[Import]:
    """Every file of items or labels that came into a project, oldest first, those taken back too."""
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
        Import(f"labels-{row}", "labels", row, file, created, labels, undone, undone is not None and row not in done)
        for row, file, created, labels, undone in files
    ]
    return sorted(found, key=lambda one: (one.created, one.kind, one.id))


def _finished(store: Store, project: Project) -> set[int]:
    # An event that came with a package tells of another database: it is older than any file of that number here.
    query = (
        "SELECT label_file.id FROM label_file JOIN event ON event.project = label_file.project AND action = ?"
        " AND json_extract(data, '$.file') = label_file.file AND event.created >= label_file.undone"
        " AND ifnull(json_extract(data, '$.came') = label_file.created,"
        " json_extract(data, '$.label_file') = label_file.id) WHERE label_file.project = ?"
    )
    return {row[0] for row in store.db.execute(query, (DONE, project.id))}


def find_import(store: Store, project: Project, key: str) -> Import:
    """The import of that key. Raises NotFound."""
    found = next((one for one in imports(store, project) if one.key == key.strip()), None)
    if found is None:
        message = N_("{project} has no import {key}. The list of imports names them.")
        raise NotFound(message, project=project.name, key=key[:40])
    return found


def undo_effect(store: Store, project: Project, wanted: Import) -> UndoEffect:
    """What taking *wanted* back would do now; nothing is changed."""
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
    return int(store.db.execute(query, (file,)).fetchone()[0])


def _chosen_labels(store: Store, file: int) -> int:
    return int(store.db.execute(CHOSEN, (file,)).fetchone()[0])


def undo(store: Store, project: Project, key: str, *, author: str = "", progress: Progress | None = None) -> UndoEffect:
    """Take the import *key* back and return what that did. Raises NotFound, Refused where it was taken back already.

    *progress* is told how many rows are done, and of how many.
    """
    found = find_import(store, project, key)
    if found.kind == "labels":
        return undo_labels(store, project, found.id, author=author, progress=progress)
    return undo_import(store, project, found.id, author=author, progress=progress)


def undo_import(
    store: Store, project: Project, batch: int, *, author: str = "", progress: Progress | None = None
) -> UndoEffect:
    """Take the items of a batch back: in one short transaction they leave every page and every count.

    After that those that nobody has touched are deleted and the others are put away with everything recorded of them,
    some hundreds a transaction; these come back when the same text is imported again. Where the app is ended in
    between, doing it again goes on, and so does the next start or import. Raises NotFound for an unknown batch,
    Refused where it was taken back already, or while another file is coming in.
    """
    with store.write() as db:
        row = db.execute(f"SELECT file, undone, withdrawn FROM ({FILES}) WHERE id = ?", (project.id, batch)).fetchone()
        _check(project, f"items-{batch}", row, row[1] if row and not row[2] else None)
        (total,) = db.execute("SELECT count(*) FROM item WHERE batch = ?", (batch,)).fetchone()
        labels = _labels_on(store, batch)
        if not row[1]:
            _withdraw(store, project, batch, author, file=row[0], items=total, labels=labels)
    hidden = len(items_with_records(store, batch))  # what nobody has touched nobody can touch any more
    with suppress(Busy):  # it is taken back; what is left to do goes with the next import
        clear_withdrawn(store, batch, None if progress is None else lambda done: progress(min(done, total), total))
    return UndoEffect(deleted=total - hidden, hidden=hidden, labels=labels)


def _withdraw(store: Store, project: Project, batch: int, author: str, **data: Any) -> None:
    if store.db.execute(f"SELECT 1 FROM batch WHERE project = ? AND {BEING_IMPORTED}", (project.id,)).fetchone():
        raise Refused(N_("Another file is being imported into this project. Try again when that is done."))
    withdraw(store, project, batch)
    withdraw_batch(store.db, project.id, batch)
    record(store, project, "import_undone", author=author, batch=batch, **data, at=store.uid)


def _check(project: Project, key: str, row: tuple[Any, ...] | None, undone: str | None) -> None:
    if row is None:
        message = N_("{project} has no import {key}. The list of imports names them.")
        raise NotFound(message, project=project.name, key=key)
    if undone:
        raise Refused(N_("{file} was taken back already, on {when}."), file=row[0], when=undone[:10])


def undo_labels(
    store: Store, project: Project, file: int, *, author: str = "", progress: Progress | None = None
) -> UndoEffect:
    """Take back the labels of a file that still stand, as if each annotator had done it: appended, nothing is deleted.

    Labels that were replaced since stay replaced. In short transactions, 500 labels each; where the app is ended in
    between, doing it again takes back the rest. Raises NotFound for an unknown file, Refused where it was taken back.
    """
    with store.write() as db:
        row = db.execute(
            "SELECT file, labels, undone, created FROM label_file WHERE id = ? AND project = ?", (file, project.id)
        ).fetchone()
        _check(project, f"labels-{file}", row, row[2] if row and file in _finished(store, project) else None)
        db.execute("UPDATE label_file SET undone = coalesce(undone, ?) WHERE id = ?", (timestamp(), file))
    taken = last = 0
    total = _standing_labels(store, file)
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


def _undo_labels(store: Store, project: Project, file: int, row: tuple[Any, ...]) -> None:
    label, item, person, guideline, form, standing = row
    values = {
        # The same operation whenever it is made: an interrupted one is not made twice.
        "op_id": uuid.uuid5(uuid.NAMESPACE_OID, f"undo|{store.uid}|{file}|{label}").hex,
        "project": project.id, "item": item, "annotator": person, "guideline": guideline, "choice": None,
        "form_shown": form, "desk": TAKEN_BACK, "revision": 0, "base": standing, "created": timestamp(),
    }  # fmt: skip
    insert_label(store.db, values)
    point_assignment(store, project, item, person)
    recount_item(store, item)
    update_set_aside(store, project, item)
