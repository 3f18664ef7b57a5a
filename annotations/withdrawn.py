"""Items of imports that were taken back: whoever touched them left something behind, so they wait, seen by nobody.

They lie in the one batch of their project that is never published. Every count leaves them out; their labels stay
stored, and a later import of the same text brings item and labels back.
"""

import time
from collections.abc import Sequence

from annotations.gold import settle
from annotations.plan import draw_share
from annotations.store import Store, timestamp
from annotations.types import Project

CHUNK = 500
# Something points to these items; nothing that was recorded is ever deleted. With the cheapest question first.
TOUCHED = """
SELECT item.id FROM item WHERE item.batch = :batch AND (item.known IS NOT NULL OR item.pilot IS NOT NULL
    OR EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id)
    OR EXISTS (SELECT 1 FROM label WHERE label.item = item.id)
    OR EXISTS (SELECT 1 FROM event WHERE event.item = item.id)
    OR EXISTS (SELECT 1 FROM comment WHERE comment.item = item.id)
    OR EXISTS (SELECT 1 FROM settlement WHERE settlement.item = item.id)
    OR EXISTS (SELECT 1 FROM known WHERE known.item = item.id)
    OR EXISTS (SELECT 1 FROM retest WHERE retest.item = item.id)
    OR EXISTS (SELECT 1 FROM skip WHERE skip.item = item.id)
    OR EXISTS (SELECT 1 FROM release_item WHERE release_item.item = item.id))
"""


def touched(store: Store, batch: int) -> list[int]:
    """The items (row ids) of a batch that something was recorded of."""
    return [row[0] for row in store.db.execute(TOUCHED, {"batch": batch})]


def withdraw(store: Store, project: Project, batch: int) -> int:
    """Hide a published batch, in the caller's transaction; returns how many items were touched and stay.

    Those move to the batch of withdrawn items; the others stay where they are and may be deleted afterwards.
    """
    found = touched(store, batch)
    for some in _chunks(found):
        _let_go(store, some)
    for cell, labels, status, aside, number in store.db.execute(
        "SELECT cell, labels, status, aside, count(*) FROM item WHERE batch = ? GROUP BY 1, 2, 3, 4", (batch,)
    ).fetchall():
        store.db.execute(
            "UPDATE census SET items = items - ? WHERE cell = ? AND labels = ? AND status = ? AND aside = ?",
            (number, cell, labels, status, aside),
        )
    for some in _chunks(found):
        _tally(store, some, -1)
        _move(store, some, _place(store, project))
    store.db.execute("DELETE FROM stock WHERE batch = ?", (batch,))
    store.db.execute("DELETE FROM progress WHERE batch = ?", (batch,))
    store.db.execute(
        "UPDATE batch SET published = 0, undone = ?, pid = NULL, started_process = NULL, heard = 0 WHERE id = ?",
        (timestamp(), batch),
    )
    # What was accepted may be less now: a cell that was closed by its quota may be open again.
    store.db.execute("UPDATE member SET looked = 0 WHERE project = ?", (project.id,))
    return len(found)


def bring_in(store: Store, project: Project, batch: int, items: Sequence[int]) -> None:
    """Move withdrawn *items* to a batch that is about to be published, in the caller's transaction.

    Their labels count again, under the settings that the project has now.
    """
    if not items:
        return
    # While they are withdrawn no count follows them, so what is counted below is what they are then.
    for some in _chunks(items):
        draw_share(store, project, some)
        for one in some:
            settle(store, one)
        _move(store, some, batch)
        _count(store, some, batch)
        _tally(store, some, 1)
    store.db.execute("UPDATE member SET looked = 0 WHERE project = ?", (project.id,))


def _chunks(items: Sequence[int]) -> list[Sequence[int]]:
    return [items[first : first + CHUNK] for first in range(0, len(items), CHUNK)]


def _marks(items: Sequence[int]) -> str:
    return ", ".join("?" * len(items))


def _let_go(store: Store, items: Sequence[int]) -> None:
    """Nobody has them on the desk any more; who skipped one may be given it again when it comes back."""
    store.db.execute(
        "UPDATE assignment SET state = 'released', kept = 0"
        f" WHERE item IN ({_marks(items)}) AND state IN ('leased', 'skipped')",
        items,
    )


def _place(store: Store, project: Project) -> int:
    """The batch of withdrawn items of a project, made where there is none."""
    query = "SELECT id FROM batch WHERE project = ? AND withdrawn = 1"
    if row := store.db.execute(query, (project.id,)).fetchone():
        return int(row[0])
    cursor = store.db.execute(
        "INSERT INTO batch (project, file, heard, created, withdrawn) VALUES (?, '', ?, ?, 1)",
        (project.id, time.time(), timestamp()),
    )
    return int(cursor.lastrowid or 0)


def _move(store: Store, items: Sequence[int], batch: int) -> None:
    # In its new batch everybody walks past it in its order: it is not one that came back.
    store.db.execute(f"UPDATE item SET batch = ?, returned = 0 WHERE id IN ({_marks(items)})", [batch, *items])


def _count(store: Store, items: Sequence[int], batch: int) -> None:
    for cell, labels, status, aside, number in store.db.execute(
        f"SELECT cell, labels, status, aside, count(*) FROM item WHERE id IN ({_marks(items)}) GROUP BY 1, 2, 3, 4",
        items,
    ).fetchall():
        store.db.execute(
            "INSERT INTO census (cell, labels, status, aside, items) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET items = items + excluded.items",
            (cell, labels, status, aside, number),
        )
        store.db.execute(
            "INSERT INTO stock (batch, cell, items) VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET items = items + excluded.items",
            (batch, cell, number),
        )


def _tally(store: Store, items: Sequence[int], sign: int) -> None:
    """Take what annotators did on these items out of their own counts (-1), or put it back (+1)."""
    rows = store.db.execute(
        "SELECT assignment.annotator, item.cell, sum(state <> 'released'), count(latest),"
        " sum(coalesce(label.choice = 'accept', 0)) FROM assignment JOIN item ON item.id = assignment.item"
        f" LEFT JOIN label ON label.id = latest WHERE assignment.item IN ({_marks(items)}) GROUP BY 1, 2",
        items,
    ).fetchall()
    for who, cell, handed, labelled, accepted in rows:
        store.db.execute(
            "UPDATE tally SET handed = handed + ?, labelled = labelled + ?, accepted = accepted + ?"
            " WHERE annotator = ? AND cell = ?",
            (sign * handed, sign * labelled, sign * accepted, who, cell),
        )
