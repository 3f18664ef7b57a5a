"""Every statement that changes an assignment: who has an item, and which label of theirs is valid.

Each function runs in the transaction of its caller. Triggers of the database update slots and tallies.
"""

import json
from collections.abc import Mapping
from sqlite3 import Connection
from typing import Any

# Items (public ids) that an annotator has labelled and of which nothing was revealed to them yet.
_UNREVEALED = (
    "annotator = ? AND revealed IS NULL AND state = 'labelled'"
    " AND item IN (SELECT id FROM item WHERE uid IN (SELECT value FROM json_each(?)))"
)


def next_turn(db: Connection, project: int, annotator: int) -> int:
    """Take the next place in the order of an annotator's items; all ids here are row ids."""
    db.execute("UPDATE member SET turn = turn + 1 WHERE project = ? AND annotator = ?", (project, annotator))
    query = "SELECT turn FROM member WHERE project = ? AND annotator = ?"
    return int(db.execute(query, (project, annotator)).fetchone()[0])


def lease(db: Connection, project: int, annotator: int, item: int, turn: int) -> None:
    """Lease an item to an annotator, at that place of their order."""
    db.execute(
        "INSERT INTO assignment (item, annotator, project, state, turn) VALUES (?, ?, ?, 'leased', ?)"
        " ON CONFLICT DO UPDATE SET state = 'leased', turn = excluded.turn",
        (item, annotator, project, turn),
    )


def pass_over(db: Connection, project: int, annotator: int, item: int) -> None:
    """Never hand an item to an annotator: it counts as skipped twice, and is for others. One they have had stays."""
    turn = next_turn(db, project, annotator)
    db.execute(
        "INSERT OR IGNORE INTO assignment (item, annotator, project, state, turn, skips)"
        " VALUES (?, ?, ?, 'skipped', ?, 2)",
        (item, annotator, project, turn),
    )


def assign(db: Connection, values: Mapping[str, Any]) -> None:
    """Store the result of the last operation in an assignment.

    *values*: item, annotator, project, state, skips (None: as many as before), revealed, latest, blind, op_id, desk and
    revision. A new or skipped assignment gets the annotator's present turn.
    """
    db.execute(
        "INSERT INTO assignment"
        " (item, annotator, project, state, turn, skips, revealed, latest, blind, op_id, desk, revision)"
        " SELECT :item, :annotator, :project, :state, turn, coalesce(:skips,"
        " (SELECT skips FROM assignment WHERE item = :item AND annotator = :annotator), 0), :revealed, :latest, :blind,"
        " :op_id, :desk, :revision FROM member WHERE project = :project AND annotator = :annotator"
        " ON CONFLICT DO UPDATE SET state = excluded.state, skips = excluded.skips, latest = excluded.latest,"
        " blind = excluded.blind, revealed = coalesce(revealed, excluded.revealed), op_id = excluded.op_id,"
        " desk = excluded.desk, revision = excluded.revision,"
        " turn = iif(excluded.state = 'skipped', excluded.turn, turn)",
        dict(values),
    )


def restore_assignment(db: Connection, item: int, annotator: int, values: Mapping[str, Any]) -> None:
    """Store an assignment of a package: state, latest, blind, revealed and kept of *values*."""
    db.execute(
        "UPDATE assignment SET state = :state, latest = :latest, blind = :blind, revealed = :revealed, kept = :kept"
        " WHERE item = :item AND annotator = :annotator",
        {**values, "item": item, "annotator": annotator},
    )


def reveal_item(db: Connection, annotator: int, item: int, moment: str) -> None:
    """Record that an opinion on an item is shown to an annotator for the first time."""
    db.execute(
        "UPDATE assignment SET revealed = coalesce(revealed, ?) WHERE item = ? AND annotator = ?",
        (moment, item, annotator),
    )


def reveal_items(db: Connection, annotator: int, items: list[str], moment: str) -> None:
    """The same for items (public ids) that the annotator has labelled."""
    db.execute(f"UPDATE assignment SET revealed = ? WHERE {_UNREVEALED}", (moment, annotator, json.dumps(items)))


def is_unrevealed(db: Connection, annotator: int, items: list[str]) -> bool:
    """Whether the annotator has labelled one of these items (public ids) and nothing of it was revealed yet."""
    query = f"SELECT 1 FROM assignment WHERE {_UNREVEALED} LIMIT 1"
    return db.execute(query, (annotator, json.dumps(items))).fetchone() is not None


def send_label_back(db: Connection, item: int, annotator: int, label: int, *, stays: bool) -> bool:
    """Send a blind label back for relabelling, or free the slot for others if its annotator has left.

    False if another label is valid by now, if something was revealed, or if the item was withdrawn.
    """
    changed = db.execute(
        "UPDATE assignment SET state = ?, kept = ?, latest = NULL, blind = NULL"
        " WHERE item = ? AND annotator = ? AND blind = ? AND revealed IS NULL"
        " AND EXISTS (SELECT 1 FROM published_item AS item WHERE item.id = assignment.item)",
        ("leased" if stays else "released", int(stays), item, annotator, label),
    )
    return bool(changed.rowcount)


def free_sent_back(db: Connection, project: int, annotator: int) -> None:
    """Free the slots in relabelling of an annotator who leaves for others."""
    db.execute(
        "UPDATE assignment SET kept = 0, state = iif(blind IS NULL AND state = 'leased', 'released', state)"
        " WHERE project = ? AND annotator = ? AND kept = 1",
        (project, annotator),
    )


# Open items of an annotator that the successor has not had, in the order of their leases.
_TO_MOVE = """
SELECT mine.item, mine.kept FROM assignment AS mine
WHERE mine.annotator = :old AND mine.project = :project AND mine.state = 'leased' AND mine.blind IS NULL
    AND NOT EXISTS (SELECT 1 FROM assignment AS theirs WHERE theirs.item = mine.item
        AND theirs.annotator = :new AND theirs.state <> 'released')
ORDER BY mine.turn
"""


def hand_over(db: Connection, project: int, old: int, new: int, until: float) -> int:
    """Move the open items of an annotator to a successor, in their order; returns how many.

    They are leased until *until* (unix seconds), as if they had been handed out now.
    """
    rows = db.execute(_TO_MOVE, {"old": old, "new": new, "project": project}).fetchall()
    for item, kept in rows:
        # One transaction frees and takes the slot, so nobody else can take it.
        db.execute("UPDATE assignment SET state = 'released', kept = 0 WHERE item = ? AND annotator = ?", (item, old))
        lease(db, project, new, item, next_turn(db, project, new))
        db.execute("UPDATE assignment SET kept = ? WHERE item = ? AND annotator = ?", (kept, item, new))
    if rows:
        query = "UPDATE member SET seen = max(seen, ?) WHERE project = ? AND annotator = ?"
        db.execute(query, (until, project, new))
    return len(rows)


def forget_skips(db: Connection, item: int) -> None:
    """Hand a skipped item out again to those who skipped it, as if their lease had ended."""
    db.execute("UPDATE assignment SET state = 'released', skips = 0 WHERE item = ? AND state = 'skipped'", (item,))


def withdraw_batch(db: Connection, project: int, batch: int) -> None:
    """Take the items of a withdrawn batch from every desk; skips are forgotten, in case they are restored."""
    db.execute("DELETE FROM progress WHERE batch = ?", (batch,))
    db.execute(
        "UPDATE assignment SET state = 'released', kept = 0 WHERE project = ? AND state IN ('leased', 'skipped')"
        " AND annotator IN (SELECT annotator FROM member WHERE project = ?)"
        " AND EXISTS (SELECT 1 FROM item WHERE item.id = assignment.item AND item.batch = ?)",
        (project, project, batch),
    )


def walk_again(db: Connection, project: int) -> None:
    """Restart the walk of every annotator, because full items may be open again."""
    db.execute("DELETE FROM progress WHERE batch IN (SELECT id FROM batch WHERE project = ?)", (project,))
