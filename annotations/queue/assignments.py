"""Who has which item, and which label stands for it: every change of an assignment.

Each function belongs into the transaction of its caller. Slots and tallies follow by the triggers of the database.
"""

import json
from collections.abc import Mapping
from sqlite3 import Connection
from typing import Any

# Items by their public ids that an annotator has labelled and of which nothing was revealed to them yet.
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
    """Hand an item out to an annotator, at that place of their order."""
    db.execute(
        "INSERT INTO assignment (item, annotator, project, state, turn) VALUES (?, ?, ?, 'leased', ?)"
        " ON CONFLICT DO UPDATE SET state = 'leased', turn = excluded.turn",
        (item, annotator, project, turn),
    )


def assign(db: Connection, values: Mapping[str, Any]) -> None:
    """Let an assignment say what the last operation came to.

    *values*: item, annotator, project, state, skips (None: as many as before), revealed, latest, blind, op_id, desk
    and revision. A new assignment, and one that is skipped, comes at the annotator's present turn.
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
    """Bring an assignment of a package back: state, latest, blind, revealed and kept of *values*."""
    db.execute(
        "UPDATE assignment SET state = :state, latest = :latest, blind = :blind, revealed = :revealed, kept = :kept"
        " WHERE item = :item AND annotator = :annotator",
        {**values, "item": item, "annotator": annotator},
    )


def reveal_item(db: Connection, annotator: int, item: int, moment: str) -> None:
    """Record that an opinion on an item is shown to an annotator, unless one was shown before."""
    db.execute(
        "UPDATE assignment SET revealed = coalesce(revealed, ?) WHERE item = ? AND annotator = ?",
        (moment, item, annotator),
    )


def reveal_items(db: Connection, annotator: int, items: list[str], moment: str) -> None:
    """The same for items by their public ids, of those that the annotator has labelled."""
    db.execute(f"UPDATE assignment SET revealed = ? WHERE {_UNREVEALED}", (moment, annotator, json.dumps(items)))


def is_unrevealed(db: Connection, annotator: int, items: list[str]) -> bool:
    """Whether the annotator has labelled one of these items (public ids) of which nothing was revealed yet."""
    query = f"SELECT 1 FROM assignment WHERE {_UNREVEALED} LIMIT 1"
    return db.execute(query, (annotator, json.dumps(items))).fetchone() is not None


def send_label_back(db: Connection, item: int, annotator: int, label: int, *, stays: bool) -> bool:
    """Send a blind label back to its annotator, or, where that one has left, free the slot for others.

    False where another label stands by now, where something was revealed, or where the import was taken back.
    """
    changed = db.execute(
        "UPDATE assignment SET state = ?, kept = ?, latest = NULL, blind = NULL"
        " WHERE item = ? AND annotator = ? AND blind = ? AND revealed IS NULL"
        " AND EXISTS (SELECT 1 FROM published_item AS item WHERE item.id = assignment.item)",
        ("leased" if stays else "released", int(stays), item, annotator, label),
    )
    return bool(changed.rowcount)


def free_sent_back(db: Connection, project: int, annotator: int) -> None:
    """Free for others what was sent back to an annotator who leaves."""
    db.execute(
        "UPDATE assignment SET kept = 0, state = iif(blind IS NULL AND state = 'leased', 'released', state)"
        " WHERE project = ? AND annotator = ? AND kept = 1",
        (project, annotator),
    )


# What an annotator still has to do and the successor has not met: in the order in which it was handed out.
_TO_MOVE = """
SELECT mine.item, mine.kept FROM assignment AS mine
WHERE mine.annotator = :old AND mine.project = :project AND mine.state = 'leased' AND mine.blind IS NULL
    AND NOT EXISTS (SELECT 1 FROM assignment AS theirs WHERE theirs.item = mine.item
        AND theirs.annotator = :new AND theirs.state <> 'released')
ORDER BY mine.turn
"""


def hand_over(db: Connection, project: int, old: int, new: int, until: float) -> int:
    """Move what one annotator has in hand to a successor, in its order; returns how many items.

    They are the successor's at least until *until* (unix seconds), as if they had been handed out now.
    """
    rows = db.execute(_TO_MOVE, {"old": old, "new": new, "project": project}).fetchall()
    for item, kept in rows:
        # The slot is given up and taken in one transaction: nobody comes in between.
        db.execute("UPDATE assignment SET state = 'released', kept = 0 WHERE item = ? AND annotator = ?", (item, old))
        lease(db, project, new, item, next_turn(db, project, new))
        db.execute("UPDATE assignment SET kept = ? WHERE item = ? AND annotator = ?", (kept, item, new))
    if rows:
        query = "UPDATE member SET seen = max(seen, ?) WHERE project = ? AND annotator = ?"
        db.execute(query, (until, project, new))
    return len(rows)


def forget_skips(db: Connection, item: int) -> None:
    """Hand a skipped item out again to those who skipped it, as if each had been away."""
    db.execute("UPDATE assignment SET state = 'released', skips = 0 WHERE item = ? AND state = 'skipped'", (item,))


def withdraw_batch(db: Connection, project: int, batch: int) -> None:
    """Take the items of a withdrawn batch from every desk; who skipped one may get it again when it comes back."""
    db.execute("DELETE FROM progress WHERE batch = ?", (batch,))
    db.execute(
        "UPDATE assignment SET state = 'released', kept = 0 WHERE project = ? AND state IN ('leased', 'skipped')"
        " AND annotator IN (SELECT annotator FROM member WHERE project = ?)"
        " AND EXISTS (SELECT 1 FROM item WHERE item.id = assignment.item AND item.batch = ?)",
        (project, project, batch),
    )


def walk_again(db: Connection, project: int) -> None:
    """Let everybody walk through the whole project once more: items that were full may be open again."""
    db.execute("DELETE FROM progress WHERE batch IN (SELECT id FROM batch WHERE project = ?)", (project,))
