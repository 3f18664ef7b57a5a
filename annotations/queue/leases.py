"""Lease the next items, in an order that is independent of labels of others.

One exception: a cell closes when its quota of accepted items is met, which depends on all labels. Then its items are
skipped.
"""

import json
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from sqlite3 import Connection

from evenhand.annotations.database.store import Store, update_rows
from evenhand.annotations.items.batch import items_with_ids
from evenhand.annotations.queue import retests
from evenhand.annotations.queue.assignments import Leased
from evenhand.annotations.queue.handout import Handout
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.errors import N_, NotAllowed

LEASE_S = 600.0  # how long items stay with an annotator without a sign of life
MOST_LEASED = 200  # items that one annotator can hold

# No row if the project is archived or the annotator has left: labels are stored, but no items are handed out.
_SERVED = """
SELECT (SELECT id FROM open_pilot WHERE project = :project), (SELECT id FROM open_sample WHERE project = :project),
    EXISTS (SELECT 1 FROM retest WHERE annotator = :annotator AND project = :project)
FROM active_member AS member JOIN project ON project.id = member.project
WHERE member.project = :project AND member.annotator = :annotator AND project.archived IS NULL
"""
# Leased items and retests in their order: a retest comes before the item with the same turn. While a pilot is open,
# only its items. There may be thousands of items for relabelling: read no more than can be leased.
_HELD = """
SELECT turn, item.id AS item, item.uid, 1 AS fresh FROM assignment JOIN item ON item.id = assignment.item
WHERE assignment.annotator = :annotator AND assignment.project = :project AND state = 'leased'
    AND (:pilot IS NULL OR item.pilot = :pilot)
UNION ALL
SELECT turn, retest.item, retest.uid, 0 FROM retest INDEXED BY retest_due
JOIN published_item AS item ON item.id = retest.item
WHERE retest.annotator = :annotator AND retest.project = :project AND state = 'leased' AND :pilot IS NULL
ORDER BY turn, fresh, item LIMIT :most
"""
_BASES = """
SELECT item.uid, op_id FROM assignment JOIN item ON item.id = assignment.item
WHERE assignment.annotator = :annotator AND op_id IS NOT NULL
    AND assignment.item IN (SELECT value ->> 0 FROM json_each(:items))
UNION ALL
SELECT uid, op_id FROM retest
WHERE annotator = :annotator AND op_id IS NOT NULL AND uid IN (SELECT value ->> 1 FROM json_each(:items))
"""


def claim(
    store: Store,
    project: Project,
    annotator: Annotator,
    *,
    have: Collection[str] = (),
    want: int = 40,
    now: float | None = None,
) -> list[Item]:
    """Return up to *want* items for this annotator, in the order of work.

    Items that the desk already *has* (`have`, public ids) do not count. First come leased items (so a reload shows the
    same items in the same order), then returned and new ones, interleaved by `order.next_cell`, then the annotator's
    own skipped ones. Leases last ten minutes from *now* (unix seconds). Raises NotAllowed for a person who is not an
    annotator of the project.
    """
    moment = time.time() if now is None else now
    with store.write() as db:
        renew_presence(db, project, annotator, moment)
        _free_absent_leases(db, project, moment)
        values = {"project": project.id, "annotator": annotator.id, "most": MOST_LEASED + len(have)}
        served = db.execute(_SERVED, values).fetchone()
        if served is None:
            return []
        pilot, sample, retested = served
        rows = db.execute(_HELD, {**values, "pilot": pilot}).fetchall()
        known = set(have)
        result = [Leased(turn, item, uid) for turn, item, uid, _ in rows if uid not in known][: max(0, want)]
        room = min(want - len(result), MOST_LEASED - len(rows))
        if room > 0:
            fill = Handout(db, project, annotator, pilot, sample).fill
            result += retests.hand_out(store, project, annotator, room, moment, fill) if retested else fill(room)
        return _load(db, result)


def bases(store: Store, annotator: Annotator, items: Sequence[Item]) -> dict[str, str]:
    """Return, by the public id of an item, the operation that a new label of this annotator would replace, if any."""
    named = json.dumps([(item.id, item.uid) for item in items])
    return dict(store.db.execute(_BASES, {"annotator": annotator.id, "items": named}).fetchall())


def heartbeat(store: Store, project: Project, annotator: Annotator, now: float | None = None) -> None:
    """Renew the leases of an annotator for ten minutes from *now* (unix seconds)."""
    with store.write() as db:
        renew_presence(db, project, annotator, time.time() if now is None else now)


def renew_presence(db: Connection, project: Project, annotator: Annotator, now: float) -> None:
    """Renew the annotator's leases, inside the caller's transaction. Raises NotAllowed for an unknown annotator."""
    query = "UPDATE member SET seen = max(seen, ?) WHERE project = ? AND annotator = ?"
    if db.execute(query, (now + LEASE_S, project.id, annotator.id)).rowcount != 1:
        raise NotAllowed(N_("{name} is not an annotator of this project."), name=annotator.name)


def free_leases(db: Connection, project: Project, annotator_id: int) -> None:
    """End the leases of an annotator, inside the caller's transaction; labels stay.

    Items for relabelling (`kept`) wait for their annotator for any time.
    """
    # With a valid blind label the item still belongs to this annotator, also if a later label was undone.
    of = {"annotator": annotator_id, "project": project.id}
    update_rows(db, "assignment", {"state": "released"}, **of, state="leased", blind=None, kept=0)
    retests.free_retests(db, project, annotator_id)
    update_rows(db, "member", {"seen": 0}, **of)


def free_all_leases(db: Connection, project: Project) -> None:
    """End the leases of all open desks, so that they ask for items again. Labels on those items are still stored."""
    _free_leases_of(db, project, "true")


def _free_leases_of(db: Connection, project: Project, which: str, *values: float) -> None:
    """End the leases of the annotators for whom an SQL condition on `member` holds."""
    query = f"SELECT annotator FROM member WHERE project = ? AND {which}"
    for (annotator,) in db.execute(query, (project.id, *values)).fetchall():
        free_leases(db, project, annotator)


def free_absent_leases(store: Store, project: Project, now: float | None = None) -> None:
    """End the leases of annotators whose desks have been silent until *now* (unix seconds) for ten minutes."""
    with store.write() as db:
        _free_absent_leases(db, project, time.time() if now is None else now)


def _free_absent_leases(db: Connection, project: Project, now: float) -> None:
    # A clock that was ahead for a while: no lease ends later than one that begins now.
    query = "UPDATE member SET seen = ? WHERE project = ? AND seen > ?"
    db.execute(query, (now + LEASE_S, project.id, now + LEASE_S))
    _free_leases_of(db, project, "seen > 0 AND seen < ?", now)


def on_desks(store: Store, project: Project) -> int:
    """Return the number of items leased to desks that are open now, without those for relabelling.

    A change of the plan does not affect them.
    """
    query = (
        "SELECT count(DISTINCT item) FROM assignment WHERE project = ? AND state = 'leased' AND kept = 0"
        " AND annotator IN (SELECT annotator FROM member WHERE project = ? AND seen >= ?)"
    )
    return int(store.value(query, (project.id, project.id, time.time())))


def count_for_others(store: Store, project: Project, annotator: Annotator) -> int:
    """Return how many open items this annotator has skipped twice: they are not handed out to them again."""
    # A text of a study's test counts as skipped twice, without an operation.
    rows = (
        "assignment JOIN published_item AS item ON item.id = assignment.item"
        " WHERE annotator = ? AND assignment.project = ? AND state = 'skipped' AND skips >= 2 AND op_id IS NOT NULL"
        " AND (taken < wanted OR aside = 1)"
    )
    return store.count(rows, (annotator.id, project.id))


def _load(db: Connection, handed: Sequence[Leased]) -> list[Item]:
    by_id = items_with_ids(db, [leased.item for leased in handed])
    result = ((by_id[leased.item], leased.uid) for leased in handed)
    # A retest has a public id of its own.
    return [item if uid is None or uid == item.uid else replace(item, uid=uid) for item, uid in result]
