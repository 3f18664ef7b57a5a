"""Labels that come again: a share of an annotator's own items is handed out a second time, as if they were new.

Which ones is a pure function of the project's seed, the annotator and the item: nobody's labels change it, and a
larger share holds a smaller one. On the wire such an item is like any other, with an id of its own; the second label
is kept apart from the first (`retest_label`), counts for nothing but the agreement of the annotator with himself or
herself, and is stored by `annotations.labels.operations` under the same rules as the first.
"""

import hashlib
import json
import random
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any, NamedTuple

from annotations.database.store import Store, columns_and_marks
from annotations.queue.assignments import next_turn
from annotations.queue.order import phase
from annotations.types import Annotator, Project
from core.files.timestamps import timestamp

PLACES_SHARE = 0.2  # of the places in a hand-out that a due one may take, so that they never come in a block
HOUR_S = 3600.0

# Handed out where the first label still stands, was made under the guideline of today, and nothing was shown since.
DUE = """
SELECT retest.id, retest.item, retest.uid, assignment.blind
FROM retest INDEXED BY retest_due
     JOIN published_item AS item ON item.id = retest.item
     JOIN assignment ON assignment.item = retest.item AND assignment.annotator = retest.annotator
     JOIN label ON label.id = assignment.blind
WHERE retest.annotator = :annotator AND retest.project = :project AND retest.state = :state AND retest.due <= :now
      AND retest.skips < 2 AND assignment.state = 'labelled' AND assignment.revealed IS NULL
      AND label.guideline = (SELECT id FROM current_guideline WHERE project = :project)
      AND NOT EXISTS (SELECT 1 FROM open_pilot WHERE project = :project)
ORDER BY iif(:state = 'skipped', retest.turn, retest.due), retest.id LIMIT :room
"""
SCHEDULE = """
INSERT INTO retest (uid, project, item, annotator, due, state, created)
SELECT ?, ?, ?, ?, ?, 'waiting', ? WHERE true
ON CONFLICT (item, annotator) DO UPDATE SET due = excluded.due, state = 'waiting', first = NULL
WHERE op_id IS NULL AND state IN ('waiting', 'void')
"""
STANDS = "assignment.state = 'labelled' AND revealed IS NULL AND blind IS NOT NULL"


class LeasedItem(NamedTuple):
    """What an annotator is given: the place in the order, the item, and the public id that the desk is told."""

    turn: int
    item: int
    uid: str


class _Due(NamedTuple):
    id: int
    item: int
    uid: str
    first: int


def is_retested(seed: int, annotator: str, identity: bytes, share: float) -> bool:
    """Whether this annotator (public id) gets the item of that identity a second time, at a share of 0 to 1."""
    return _RetestDraw(seed, annotator, share)(identity)


def public_id(secret: bytes, annotator: str, item: str) -> str:
    """An id in the form that items have, from public ids and the secret of the database: nobody can tell it is none."""
    digest = hashlib.blake2b(f"{annotator}|{item}".encode(), digest_size=16, key=secret[:64]).digest()
    return uuid.UUID(bytes=digest, version=4).hex


def schedule_retest(store: Store, project: Project, annotator: Annotator, item: int, created: str) -> None:
    """A first blind label was made at *created*: let the item come again if it is drawn. In the caller's transaction.

    A label that is changed before the item came again makes it wait anew. Nothing happens once it has come.
    """
    row = store.db.execute(
        "SELECT project.seed, retest, retest_hours, item.hash, item.uid FROM item"
        " JOIN project ON project.id = item.project WHERE item.id = ?",
        (item,),
    ).fetchone()
    seed, share, hours, identity, uid = row
    if not is_retested(seed, annotator.uid, bytes(identity), share):
        return
    due = datetime.fromisoformat(created).timestamp() + hours * HOUR_S
    values = (public_id(store.secret, annotator.uid, uid), project.id, item, annotator.id, due, timestamp())
    store.db.execute(SCHEDULE, values)


def void_waiting(store: Store, project: Project) -> None:
    """The share or the hours have changed: what waits comes again only if it is drawn anew.

    Inside the caller's transaction. What was handed out already stays.
    """
    # What was labelled once and taken back waits for its second label, whatever the share is now.
    store.db.execute(
        "UPDATE retest SET state = 'void' WHERE project = ? AND state = 'waiting' AND op_id IS NULL", (project.id,)
    )


def items_to_retest(store: Store, project: Project) -> Iterator[tuple[Annotator, list[int]]]:
    """Each annotator of a project with the items (row ids) that come again under its present share; nothing is written.

    Every label is looked at, so this is for outside the write lock: `reschedule_retests` looks at the few that are
    drawn anew.
    """
    query = "SELECT seed, retest FROM project WHERE id = ?"
    seed, share = store.db.execute(query, (project.id,)).fetchone()
    if not share:
        return
    query = "SELECT annotator.id, uid, name FROM member JOIN annotator ON annotator.id = annotator WHERE project = ?"
    for who in [Annotator(*row) for row in store.db.execute(query, (project.id,)).fetchall()]:
        comes = _RetestDraw(seed, who.uid, share)
        rows = store.db.execute(
            "SELECT item, hash FROM assignment JOIN item ON item.id = assignment.item WHERE assignment.annotator = ?"
            f" AND assignment.project = ? AND {STANDS}",
            (who.id, project.id),
        )
        yield who, [item for item, identity in rows if comes(identity)]


def reschedule_retests(store: Store, project: Project, annotator: Annotator, items: Sequence[int]) -> None:
    """Let drawn *items* come again where the annotator's label still stands, inside the caller's transaction."""
    hours = store.db.execute("SELECT retest_hours FROM project WHERE id = ?", (project.id,)).fetchone()[0]
    rows = store.db.execute(
        "SELECT item.id, item.uid, label.created FROM json_each(?) AS drawn CROSS JOIN item ON item.id = drawn.value"
        " CROSS JOIN assignment ON assignment.item = item.id AND assignment.annotator = ?"
        f" CROSS JOIN label ON label.id = assignment.blind WHERE {STANDS}",
        (json.dumps(items), annotator.id),
    ).fetchall()
    now = timestamp()
    values = [
        (
            public_id(store.secret, annotator.uid, uid),
            project.id,
            item,
            annotator.id,
            _unix_seconds(made) + hours * HOUR_S,
            now,
        )
        for item, uid, made in rows
    ]
    store.db.executemany(SCHEDULE, values)


class _RetestDraw:
    """`is_retested` for many items of one annotator: the key is made once."""

    def __init__(self, seed: int, annotator: str, share: float) -> None:
        self.draw = hashlib.blake2b(digest_size=8, key=f"{seed}|{annotator}".encode()[:64], person=b"again")
        self.below = share * 2**64

    def __call__(self, identity: bytes) -> bool:
        one = self.draw.copy()
        one.update(identity)
        return int.from_bytes(one.digest(), "big") < self.below


def _unix_seconds(created: str) -> float:
    return datetime.fromisoformat(created).timestamp()


def void_retests(db: Connection, labels: Iterable[tuple[int, int]]) -> None:
    """First labels, as (item, annotator), are sent back: what has not been labelled again is compared no more."""
    db.executemany(
        "UPDATE retest SET state = 'void' WHERE item = ? AND annotator = ?"
        " AND state IN ('waiting', 'leased', 'skipped')",
        labels,
    )


def assign_repeat(db: Connection, values: Mapping[str, Any]) -> None:
    """Let an item that came again say what the last operation came to, as `assignments.assign` does for the first time.

    *values*: id, project, annotator, state, latest, first, skips, op_id, desk and revision.
    """
    db.execute(
        "UPDATE retest SET state = :state, latest = :latest, first = :first, skips = :skips, op_id = :op_id,"
        " desk = :desk, revision = :revision, turn = iif(:state = 'skipped',"
        " (SELECT turn FROM member WHERE project = :project AND annotator = :annotator), turn) WHERE id = :id",
        dict(values),
    )


def restore_repeat(db: Connection, values: Mapping[str, Any]) -> None:
    """Bring an item that came again back from a package, a column each of *values*."""
    db.execute(f"INSERT INTO retest {columns_and_marks(values)}", dict(values))


def restore_latest(db: Connection, retest: int) -> None:
    """Let the last valid second label stand; one that takes a label back leaves none."""
    db.execute(
        "UPDATE retest SET latest = (SELECT iif(choice IS NULL, NULL, id) FROM valid_retest_label"
        " WHERE retest = :retest ORDER BY id DESC LIMIT 1) WHERE id = :retest AND state = 'labelled'",
        {"retest": retest},
    )


def leased_retests(db: Connection, project: Project, annotator: Annotator) -> list[LeasedItem]:
    """What this annotator has been handed out again and not labelled yet, in its order."""
    query = (
        "SELECT retest.turn, retest.item, retest.uid FROM retest INDEXED BY retest_due"
        " JOIN published_item AS item ON item.id = retest.item"
        " WHERE retest.annotator = ? AND retest.project = ? AND state = 'leased' ORDER BY turn, retest.id"
    )
    return [LeasedItem(*row) for row in db.execute(query, (annotator.id, project.id))]


def release_retests(db: Connection, project: Project, annotator: int) -> None:
    """The annotator (row id) is away: what was handed out again waits for the next time, like the other leases."""
    db.execute(
        "UPDATE retest SET state = 'waiting', first = iif(op_id IS NULL, NULL, first)"
        " WHERE annotator = ? AND project = ? AND state = 'leased'",
        (annotator, project.id),
    )


def hand_out(
    db: Connection, project: Project, annotator: Annotator, room: int, now: float, fill: Callable[[int], list[int]]
) -> list[LeasedItem]:
    """Hand out up to *room* items: what *fill* gives (row ids), and what is due again at *now* at places among it.

    One place in five, drawn at random, goes to what is due; more only where nothing else is left, so that an
    annotator who was away for long does not get them in a block. At last, what came again and was skipped once.
    """
    waiting = _due_retests(db, project, annotator, "waiting", room, now)
    share = min(len(waiting), _retest_places(db, project, annotator, room)) if waiting else 0
    fresh = _leased_with_turns(db, annotator, fill(room - share) if room > share else [])
    handed = merge_by_turn(fresh, _lease_between(db, project, annotator, fresh, waiting[: room - len(fresh)]))
    left = room - len(handed)
    return handed + _lease_skipped(db, project, annotator, left, now) if left > 0 else handed


def merge_by_turn(items: Iterable[LeasedItem], again: Iterable[LeasedItem]) -> list[LeasedItem]:
    """Both together: what comes again stands before the item whose turn it shares."""
    return [one for *_, one in sorted([(one.turn, 1, one) for one in items] + [(one.turn, 0, one) for one in again])]


def _retest_places(db: Connection, project: Project, annotator: Annotator, room: int) -> int:
    turn = _turn(db, project, annotator)
    drawn = (phase(project.seed, annotator.uid, f"{turn + n}|again") for n in range(1, room + 1))
    return sum(one < PLACES_SHARE for one in drawn)


def _leased_with_turns(db: Connection, annotator: Annotator, ids: list[int]) -> list[LeasedItem]:
    if not ids:
        return []
    query = (
        "SELECT turn, item, uid FROM assignment JOIN item ON item.id = assignment.item"
        f" WHERE annotator = ? AND item IN ({', '.join('?' * len(ids))})"
    )
    found = {row[1]: LeasedItem(*row) for row in db.execute(query, (annotator.id, *ids))}
    return [found[one] for one in ids]


def _lease_between(
    db: Connection, project: Project, annotator: Annotator, fresh: Sequence[LeasedItem], again: Sequence[_Due]
) -> list[LeasedItem]:
    leased_now = []
    for one in again:
        # The place hangs on the id alone: the same hand-out has the same order wherever it is made.
        place = random.Random(one.uid).randint(0, len(fresh))  # noqa: S311 - an order, no secret
        turn = fresh[place].turn if place < len(fresh) else next_turn(db, project.id, annotator.id)
        db.execute(
            "UPDATE retest SET state = 'leased', first = coalesce(first, ?), turn = ? WHERE id = ?",
            (one.first, turn, one.id),
        )
        leased_now.append(LeasedItem(turn, one.item, one.uid))
    return leased_now


def _lease_skipped(db: Connection, project: Project, annotator: Annotator, room: int, now: float) -> list[LeasedItem]:
    handed = []
    for one in _due_retests(db, project, annotator, "skipped", room, now):
        turn = next_turn(db, project.id, annotator.id)
        db.execute("UPDATE retest SET state = 'leased', turn = ? WHERE id = ?", (turn, one.id))
        handed.append(LeasedItem(turn, one.item, one.uid))
    return handed


def _due_retests(
    db: Connection, project: Project, annotator: Annotator, state: str, room: int, now: float
) -> list[_Due]:
    values = {"annotator": annotator.id, "project": project.id, "state": state, "now": now, "room": room}
    return [_Due(*row) for row in db.execute(DUE, values)]


def _turn(db: Connection, project: Project, annotator: Annotator) -> int:
    query = "SELECT turn FROM member WHERE project = ? AND annotator = ?"
    return int(db.execute(query, (project.id, annotator.id)).fetchone()[0])
