"""Change assignments: who has an item, which label of theirs is valid, and which items everybody skipped.

Functions that get a connection run in the transaction of their caller. Triggers of the database update slots and
tallies.
"""

import json
from collections.abc import Iterable, Mapping
from sqlite3 import Connection
from typing import Any, NamedTuple

from evenhand.annotations.database.store import Store, delete_rows, in_list, insert, update_rows
from evenhand.annotations.items.batch import item as item_with
from evenhand.annotations.items.batch import items_where
from evenhand.annotations.items.changes import return_aside, set_aside_for_lead
from evenhand.annotations.types import Item, Project

# Items (public ids) that an annotator has labelled and of which nothing was revealed to them yet.
_UNREVEALED = (
    "annotator = ? AND revealed IS NULL AND state = 'labelled'"
    f" AND item IN (SELECT id FROM item WHERE uid {in_list('?')})"
)
# Makes SQLite look up the assignments of each annotator of a project, also of those who have left.
OF_MEMBERS = "annotator IN (SELECT annotator FROM member WHERE project = :project)"


class Leased(NamedTuple):
    """A leased item (row id) at its place in the order of an annotator; `uid`: the public id of a retest."""

    turn: int
    item: int
    uid: str | None = None


def next_turn(db: Connection, project: int, annotator: int) -> int:
    """Take the next place in the order of an annotator's items; all ids here are row ids."""
    query = "UPDATE member SET turn = turn + 1 WHERE project = ? AND annotator = ? RETURNING turn"
    return int(db.execute(query, (project, annotator)).fetchone()[0])


def lease(db: Connection, project: int, annotator: int, items: Iterable[Leased]) -> None:
    """Lease items to an annotator (row id), each at its place of their order."""
    db.executemany(
        "INSERT INTO assignment (item, annotator, project, state, turn) VALUES (?, ?, ?, 'leased', ?)"
        " ON CONFLICT DO UPDATE SET state = 'leased', turn = excluded.turn",
        [(leased.item, annotator, project, leased.turn) for leased in items],
    )


def exclude_item(db: Connection, project: int, annotator: int, item: int) -> None:
    """Exclude an item permanently for an annotator: it counts as skipped twice, and is for others.

    An item that they have had stays.
    """
    row = {"item": item, "annotator": annotator, "project": project, "turn": next_turn(db, project, annotator)}
    insert(db, "assignment", row | {"state": "skipped", "skips": 2}, "ON CONFLICT DO NOTHING")


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
    update_rows(db, "assignment", values, item=item, annotator=annotator)


def reveal_item(db: Connection, annotator: int, item: int, moment: str) -> None:
    """Record that an opinion on an item is shown to an annotator for the first time."""
    db.execute(
        "UPDATE assignment SET revealed = coalesce(revealed, ?) WHERE item = ? AND annotator = ?",
        (moment, item, annotator),
    )


def reveal_items(db: Connection, annotator: int, items: list[str], moment: str) -> None:
    """Mark items (public ids) as revealed to the annotator, who has labelled them."""
    db.execute(f"UPDATE assignment SET revealed = ? WHERE {_UNREVEALED}", (moment, annotator, json.dumps(items)))


def is_unrevealed(store: Store, annotator: int, items: list[str]) -> bool:
    """Return whether the annotator has labelled one of these items (public ids) and has not seen an opinion on it."""
    return store.has(f"assignment WHERE {_UNREVEALED}", (annotator, json.dumps(items)))


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


def free_relabelling(db: Connection, project: int, annotator: int) -> None:
    """Free an annotator's slots in relabelling for others, when the annotator leaves."""
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


def hand_over(db: Connection, project: int, old: int, new: int) -> int:
    """Move the open items of an annotator to a successor, in their order; return how many.

    The caller renews the successor's leases (`leases.renew_presence`), as if they had been handed out now.
    """
    rows = db.execute(_TO_MOVE, {"old": old, "new": new, "project": project}).fetchall()
    for item, kept in rows:
        # One transaction frees and takes the slot, so no other annotator can take it.
        update_rows(db, "assignment", {"state": "released", "kept": 0}, item=item, annotator=old)
        lease(db, project, new, [Leased(next_turn(db, project, new), item)])
        update_rows(db, "assignment", {"state": "leased", "kept": kept}, item=item, annotator=new)
    return len(rows)


def withdraw_batch(db: Connection, project: int, batch: int) -> None:
    """Take the items of a withdrawn batch from every desk; skips are forgotten, in case they are restored."""
    delete_rows(db, "progress", batch=batch)
    db.execute(
        "UPDATE assignment SET state = 'released', kept = 0 WHERE project = :project AND state IN ('leased', 'skipped')"
        f" AND {OF_MEMBERS} AND EXISTS (SELECT 1 FROM item WHERE item.id = assignment.item AND item.batch = :batch)",
        {"project": project, "batch": batch},
    )


def restart_cursors(db: Connection, project: int) -> None:
    """Restart the walk of every annotator, because full items may be open again."""
    db.execute("DELETE FROM progress WHERE batch IN (SELECT id FROM batch WHERE project = ?)", (project,))


# Who of the active annotators skipped an item. A study has thousands of annotators, and few of them skip.
_SKIPPED = """
SELECT (SELECT aside FROM item WHERE id = :item), count(*), min(skips) FROM assignment
JOIN active_member AS member ON member.annotator = assignment.annotator AND member.project = :project
WHERE item = :item AND state = 'skipped'
"""
# How many annotators are active if each of them has labelled or skipped the item; else 0, read from few rows.
_ALL_DONE = """
active_member AS person WHERE person.project = :project AND NOT EXISTS (
    SELECT 1 FROM active_member AS member WHERE member.project = :project AND NOT EXISTS (
        SELECT 1 FROM assignment WHERE item = :item AND assignment.annotator = member.annotator
            AND state IN ('labelled', 'skipped')))
"""


def update_set_aside(store: Store, project: Project, item: int) -> None:
    """Set an item aside for the lead if no annotator is left to label it, or undo that.

    That is when every active annotator has labelled or skipped it, and either all of several have skipped it or those
    who did have skipped it twice (docs/architecture.md#everywhere): a single annotator sees a skipped item once more
    at the end.
    """
    values = {"item": item, "project": project.id}
    before, skipped, fewest = store.db.execute(_SKIPPED, values).fetchone()
    aside = False
    if skipped:
        people = store.count(_ALL_DONE, values)
        aside = people > 0 and (people == skipped > 1 or fewest >= 2)
    if aside or before:
        set_aside_for_lead(store.db, item, aside)


def update_skipped(store: Store, project: Project) -> None:
    """Update all skipped items after an annotator has left, inside the caller's transaction."""
    query = (
        "SELECT DISTINCT item FROM assignment WHERE project = :project AND state = 'skipped'"
        f" AND {OF_MEMBERS}"  # by an index: few are skipped
    )
    for skipped in store.column(query, {"project": project.id}):
        update_set_aside(store, project, skipped)


def reoffer_set_aside(store: Store, project: Project) -> None:
    """Offer the items that were set aside to a new annotator, inside the caller's transaction."""
    for item_id in store.column("SELECT id FROM item WHERE project = ? AND aside = 1", (project.id,)):
        update_set_aside(store, project, item_id)
        # A reactivated annotator may have passed it before it was set aside.
        return_aside(store.db, project.id, item_id, aside=False)


def set_aside_items(store: Store, project: Project) -> list[Item]:
    """Return the items that are set aside, in the order of import."""
    return items_where(store.db, "item.project = ? AND aside = 1 ORDER BY item.id", (project.id,))


def return_to_queue(store: Store, project: Project, uid: str) -> None:
    """Offer an item that was set aside again, also to annotators who skipped it. Raises NotFound."""
    item = item_with(store, project, uid)
    with store.write() as db:
        update_rows(db, "assignment", {"state": "released", "skips": 0}, item=item.id, state="skipped")
        return_aside(db, project.id, item.id, aside=True)
