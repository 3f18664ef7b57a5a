"""Withdrawn items: their import was undone, but something was recorded on them, so they stay stored and hidden.

They are in a special unpublished batch of their project, or, during an undo, in the batch of the import. Every count
leaves them out. A later import of the same text restores item and labels.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from evenhand.annotations.database.bulk_writes import in_commits
from evenhand.annotations.database.store import Store, delete_rows, in_list, insert, update_rows
from evenhand.annotations.items.changes import look_again
from evenhand.annotations.items.gold import recount_items
from evenhand.annotations.items.wanted_labels import draw_share
from evenhand.annotations.types import Project
from evenhand.core.files.timestamps import timestamp
from evenhand.core.processes import this_process

CHUNK = 500  # items whose counts one statement works out
ABANDONED_S = 60.0  # a clean-up without a sign of life for so long is dead; two at once do no harm
BEING_WITHDRAWN = "withdrawn = 1 AND undone IS NOT NULL"  # a withdrawn batch that still has items
# Tables with records of items, the fullest first. Records are never deleted.
RECORDS = (
    "assignment", "label", "event", "comment", "settlement", "known", "imported_gold", "retest", "skip", "release_item",
)  # fmt: skip
# Tables whose records of an item are found by the sample or judge that they are of.
RECORDS_OF = {"inclusion": "sample", "judge_label": "judge", "judge_failure": "judge"}
_RECORDED = " OR ".join(
    [f"EXISTS (SELECT 1 FROM {table} WHERE {table}.item = item.id)" for table in RECORDS]
    + [f"EXISTS (SELECT 1 FROM {whole} JOIN {table} ON {table}.{whole} = {whole}.id AND {table}.item = item.id"
       f" WHERE {whole}.project = item.project)" for table, whole in RECORDS_OF.items()]
)  # fmt: skip
TOUCHED = (
    "SELECT item.id FROM item WHERE item.batch = :batch"
    f" AND (item.known IS NOT NULL OR item.pilot IS NOT NULL OR {_RECORDED})"
)


@dataclass(frozen=True, slots=True)
class ImportedBatch:
    """A complete import of items. `items`: how many are left of it; `undone`: when it was undone; `withdrawn`: whether
    that has not ended yet."""

    id: int
    file: str
    created: str
    undone: str | None
    withdrawn: int
    items: int


def imported_batches(store: Store, project: Project) -> list[ImportedBatch]:
    """Return every complete import of items into a project, oldest first, undone ones too."""
    query = (
        "SELECT id, file, created, undone, withdrawn, (SELECT count(*) FROM item WHERE item.batch = batch.id) AS items"
        " FROM batch WHERE project = ? AND (undone IS NOT NULL OR id IN (SELECT id FROM published_batch)) ORDER BY id"
    )
    return store.rows(ImportedBatch, query, (project.id,))


def items_with_records(store: Store, batch: int) -> list[int]:
    """Return the items (row ids) of a batch with records."""
    return store.column(TOUCHED, {"batch": batch})


def withdraw(store: Store, project: Project, batch: int) -> None:
    """Hide a published batch, in the caller's transaction: all its items are withdrawn.

    The caller takes the items from the desks (`queue.assignments.withdraw_batch`), then calls `clear_withdrawn`. Until
    that is done, the batch has the mark of the batch of withdrawn items and the moment of the undo.
    """
    _subtract_counts(store, project, batch)
    delete_rows(store.db, "stock", batch=batch)
    (pid, started), now = this_process(), timestamp()
    row = {"published": 0, "withdrawn": 1, "undone": now, "pid": pid, "started_process": started, "heard": time.time()}
    update_rows(store.db, "batch", row, id=batch)
    # Fewer items may be accepted now: a cell that was closed by its quota may be open again.
    look_again(store.db, project.id)


def clear_withdrawn(store: Store, batch: int, report: Callable[[int], object] | None = None) -> None:
    """Move the items of a withdrawn batch with records to the other withdrawn ones, and delete the rest.

    In short transactions, so that labels need not wait; after a crash any process may repeat it. *report* is called
    with the number of items done.
    """
    in_commits(store, lambda most: _clear_chunk(store, batch, most), report)


def _clear_chunk(store: Store, batch: int, most: int) -> int:
    """Move or delete up to *most* items in the caller's transaction; returns how many, 0 at the end."""
    db = store.db
    mark = db.execute(f"SELECT project FROM batch WHERE id = ? AND {BEING_WITHDRAWN}", (batch,)).fetchone()
    if mark is None:
        return 0
    some = store.column("SELECT id FROM item WHERE batch = ? LIMIT ?", (batch, most))
    if not some:
        update_rows(db, "batch", {"withdrawn": 0, "pid": None, "started_process": None, "heard": 0}, id=batch)
        return 0
    query = f"{TOUCHED} AND item.id {in_list(':some')}"
    kept = store.column(query, {"batch": batch, "some": json.dumps(some)})
    if kept:
        _move(store, kept, _withdrawn_batch(store, mark[0]))
    rest = sorted(set(some) - set(kept))
    db.execute(f"DELETE FROM item WHERE {_THESE}", (json.dumps(rest),))
    update_rows(db, "batch", {"heard": time.time()}, id=batch)
    return len(some)


def _subtract_counts(store: Store, project: Project, batch: int) -> None:
    """Subtract a batch from the counts: count it, or the other batches if they are smaller."""
    query = "SELECT coalesce(sum(items), 0) FROM stock JOIN published_batch AS batch ON batch.id = batch"
    (own,) = store.db.execute(f"{query} WHERE batch.id = ?", (batch,)).fetchone()
    (others,) = store.db.execute(f"{query} WHERE project = ? AND batch.id <> ?", (project.id, batch)).fetchone()
    if own <= others:
        _census(store, "item.batch = ?", (batch,), -1)
        _tally(store, "item.batch = ?", (batch,), -1)
        return
    count_again(store, project, but=batch)


def count_again(store: Store, project: Project, *, but: int = 0) -> None:
    """Count the published items of a project by cell and by annotator again, without the batch *but*.

    In the caller's transaction, which lasts a second for 100,000 items.
    """
    cells = "cell IN (SELECT id FROM cell WHERE project = ?)"
    store.db.execute(f"UPDATE census SET items = 0 WHERE {cells}", (project.id,))
    store.db.execute(f"UPDATE tally SET handed = 0, labelled = 0, accepted = 0 WHERE {cells}", (project.id,))
    rest = "item.batch IN (SELECT id FROM published_batch WHERE project = ? AND id <> ?)"
    _census(store, rest, (project.id, but), 1)
    _tally(store, rest, (project.id, but), 1)


def restore_items(store: Store, project: Project, batch: int, items: Sequence[int]) -> None:
    """Move withdrawn *items* to a batch that is being published, in the caller's transaction.

    Their labels count again, under the present settings.
    """
    if not items:
        return
    # Counts do not follow withdrawn items, so their present state is counted below.
    for start in range(0, len(items), CHUNK):
        some = items[start : start + CHUNK]
        draw_share(store, project, some)
        recount_items(store, some)
        _move(store, some, batch)
        these = (json.dumps(some),)
        store.db.execute(
            "INSERT INTO stock (batch, cell, items)"
            f" SELECT ?, cell, count(*) FROM item WHERE {_THESE} GROUP BY cell"
            " ON CONFLICT DO UPDATE SET items = items + excluded.items",
            (batch, *these),
        )
        _census(store, _THESE, these, 1)
        _tally(store, _THESE, these, 1)
    look_again(store.db, project.id)


# The counts of items by cell and by annotator that triggers keep, counted again; {which}: a condition on `item`.
CENSUS = "SELECT cell, labels, status, aside, count(*) FROM item WHERE {which} GROUP BY 1, 2, 3, 4"
# As in annotations/progress/annotators.py, the choice is read from an index.
TALLY = (
    "SELECT assignment.annotator, item.cell, sum(state <> 'released'), count(latest),"
    " sum(coalesce(label.choice = 'accept', 0)) FROM item CROSS JOIN assignment ON assignment.item = item.id"
    " LEFT JOIN label INDEXED BY label_item ON label.item = assignment.item"
    " AND label.annotator = assignment.annotator AND label.id = latest WHERE {which} GROUP BY 1, 2"
)
# Of items that are named by a JSON list of their row ids.
_THESE = f"item.id {in_list('?')}"


def _withdrawn_batch(store: Store, project: int) -> int:
    """Return the batch of withdrawn items of a project, created if needed."""
    query = "SELECT id FROM batch WHERE project = ? AND withdrawn = 1 AND undone IS NULL"
    if row := store.db.execute(query, (project,)).fetchone():
        return int(row[0])
    row = {"project": project, "file": "", "heard": time.time(), "created": timestamp(), "withdrawn": 1}
    return insert(store.db, "batch", row)


def _move(store: Store, items: Sequence[int], batch: int) -> None:
    # Everybody meets it in the order of its new batch, so it is not a returned item.
    store.db.execute(f"UPDATE item SET batch = ?, returned = 0 WHERE {_THESE}", (batch, json.dumps(items)))


def _census(store: Store, which: str, values: Sequence[int | str], sign: int) -> None:
    """Subtract items from the counts of their cells (-1) or add them (+1); *which*: an SQL condition on `item`."""
    for cell, labels, status, aside, number in store.db.execute(CENSUS.format(which=which), values).fetchall():
        add_to_census(store.db, (cell, labels, status, aside), sign * number)


def add_to_census(db: Connection, place: tuple[int, int, str, int], number: int) -> None:
    """Add *number* items (below 0: take them away) to the count of a cell by labels, status and whether set aside."""
    where = dict(zip(("cell", "labels", "status", "aside"), place, strict=True))
    insert(db, "census", where | {"items": 0}, "ON CONFLICT DO NOTHING")
    query = "UPDATE census SET items = items + :items WHERE cell = :cell AND labels = :labels AND status = :status"
    db.execute(f"{query} AND aside = :aside", where | {"items": number})


def _tally(store: Store, which: str, values: Sequence[int | str], sign: int) -> None:
    """Subtract items from the counts of their annotators (-1) or add them (+1); *which* as in `_census`."""
    for who, cell, handed, labelled, accepted in store.db.execute(TALLY.format(which=which), values).fetchall():
        store.db.execute(
            "UPDATE tally SET handed = handed + ?, labelled = labelled + ?, accepted = accepted + ?"
            " WHERE annotator = ? AND cell = ?",
            (sign * handed, sign * labelled, sign * accepted, who, cell),
        )
