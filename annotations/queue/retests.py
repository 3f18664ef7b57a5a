"""Retests: a share of an annotator's own items is handed out a second time, as if they were new.

The draw is a pure function of the project's seed, the annotator and the item: labels do not change it, and a larger
share includes a smaller one. For the desk a retest is like any other item, with its own id. Its label is stored
separately (`retest_label`), counts only for the retest agreement, and is stored by `annotations.labels.operations`
under the same rules as the first.
"""

import hashlib
import json
import random
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any, NamedTuple

from evenhand.annotations.database.events import current_project
from evenhand.annotations.database.store import Store, insert
from evenhand.annotations.items.batch import ITEM_COLUMNS, ITEM_TABLES
from evenhand.annotations.queue.assignments import Leased, next_turn
from evenhand.annotations.queue.handout import phase
from evenhand.annotations.types import Annotator, Project
from evenhand.core.files.timestamps import timestamp

PLACES_SHARE = 0.2  # of the places in a hand-out for due retests, so that they never come in a block
HOUR_S = 3600.0

# Conditions of a retest: the first label is valid and of the present guideline, and nothing was shown since.
DUE = """
SELECT retest.id, retest.item, retest.uid, assignment.blind AS first
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
# Of a retest that has not been handed out, only the time changes.
_LATER = (
    "ON CONFLICT (item, annotator) DO UPDATE SET due = excluded.due, state = 'waiting', first = NULL"
    " WHERE op_id IS NULL AND state IN ('waiting', 'void')"
)
IS_CURRENT = "assignment.state = 'labelled' AND revealed IS NULL AND blind IS NOT NULL"


class _Due(NamedTuple):
    id: int
    item: int
    uid: str
    first: int


def is_retested(seed: int, annotator: str, identity: bytes, share: float) -> bool:
    """Return whether this annotator (public id) is retested on the item of that identity, at a share of 0 to 1."""
    return _RetestDraw(seed, annotator, share)(identity)


def public_id(secret: bytes, annotator: str, item: str) -> str:
    """Return an id that looks like an item's, made of public ids and the secret of the database."""
    digest = hashlib.blake2b(f"{annotator}|{item}".encode(), digest_size=16, key=secret[:64]).digest()
    return uuid.UUID(bytes=digest, version=4).hex


def schedule_retest(
    store: Store, project: Project, annotator: Annotator, item: int, uid: str, identity: bytes, created: str
) -> None:
    """Schedule a retest, if it is drawn, for a first blind label made at *created*. In the caller's transaction.

    *item*, *uid*, *identity*: row id, public id and hash of the item. A change of the label before the retest restarts
    the waiting time. After it nothing happens.
    """
    if is_retested(project.seed, annotator.uid, bytes(identity), project.retest):
        _schedule(store, project, annotator, [(item, uid, created)])


def void_waiting(store: Store, project: Project) -> None:
    """Void the waiting retests after a change of the share or the hours; those drawn again are rescheduled.

    Inside the caller's transaction. Retests that were handed out stay.
    """
    # A retest whose label was undone still waits, regardless of the share now.
    _void(store.db, "project = ? AND state = 'waiting' AND op_id IS NULL", (project.id,))


def items_to_retest(store: Store, project: Project) -> Iterator[tuple[Annotator, list[int]]]:
    """Yield each annotator of a project with the items (row ids) that the present share draws; it writes nothing.

    It reads all labels, so call it outside the write lock; `reschedule_retests` reads only the drawn ones.
    """
    now = current_project(store, project)
    if not now.retest:
        return
    query = "SELECT annotator.id, uid, name FROM member JOIN annotator ON annotator.id = annotator WHERE project = ?"
    for who in store.rows(Annotator, query, (project.id,)):
        comes = _RetestDraw(now.seed, who.uid, now.retest)
        rows = store.db.execute(
            "SELECT item, hash FROM assignment JOIN item ON item.id = assignment.item WHERE assignment.annotator = ?"
            f" AND assignment.project = ? AND {IS_CURRENT}",
            (who.id, project.id),
        )
        yield who, [item for item, identity in rows if comes(identity)]


def reschedule_retests(store: Store, project: Project, annotator: Annotator, items: Sequence[int]) -> None:
    """Schedule retests of drawn *items* whose label is still valid, inside the caller's transaction."""
    rows = store.db.execute(
        "SELECT item.id, item.uid, label.created FROM json_each(?) AS drawn CROSS JOIN item ON item.id = drawn.value"
        " CROSS JOIN assignment ON assignment.item = item.id AND assignment.annotator = ?"
        f" CROSS JOIN label ON label.id = assignment.blind WHERE {IS_CURRENT}",
        (json.dumps(items), annotator.id),
    ).fetchall()
    _schedule(store, current_project(store, project), annotator, rows)


def _schedule(store: Store, project: Project, annotator: Annotator, labels: Iterable[tuple[int, str, str]]) -> None:
    """Schedule the retests of *labels*: row id and public id of the item, and when the label was made."""
    secret, now = store.secret, timestamp()
    for item, uid, made in labels:
        insert(store.db, "retest", {
            "uid": public_id(secret, annotator.uid, uid), "project": project.id, "item": item,
            "annotator": annotator.id, "due": _due(made, project.retest_hours), "state": "waiting", "created": now,
        }, _LATER)  # fmt: skip


class _RetestDraw:
    """`is_retested` for many items of one annotator, with a reused key."""

    def __init__(self, seed: int, annotator: str, share: float) -> None:
        self.draw = hashlib.blake2b(digest_size=8, key=f"{seed}|{annotator}".encode()[:64], person=b"again")
        self.below = share * 2**64

    def __call__(self, identity: bytes) -> bool:
        one = self.draw.copy()
        one.update(identity)
        return int.from_bytes(one.digest(), "big") < self.below


def _due(created: str, hours: int) -> float:
    return datetime.fromisoformat(created).timestamp() + hours * HOUR_S


def void_retests(db: Connection, labels: Iterable[tuple[int, int]]) -> None:
    """Void the unlabelled retests of first labels (item, annotator) that are sent for relabelling."""
    unlabelled = "item = ? AND annotator = ? AND state IN ('waiting', 'leased', 'skipped')"
    for label in labels:
        _void(db, unlabelled, label)


def void_all_retests(db: Connection, project: int, annotator: int) -> None:
    """Void every retest of an annotator whose labels are withdrawn, labelled ones too."""
    _void(db, "project = ? AND annotator = ?", (project, annotator))


def _void(db: Connection, which: str, values: tuple[int, ...]) -> None:
    # A retest without a label has no latest one.
    db.execute(f"UPDATE retest SET state = 'void', latest = NULL WHERE {which}", values)


def assign_repeat(db: Connection, values: Mapping[str, Any]) -> None:
    """Store the result of the last operation in a retest, as `assignments.assign` does in an assignment.

    *values*: id, project, annotator, state, latest, first, skips, op_id, desk and revision.
    """
    db.execute(
        "UPDATE retest SET state = :state, latest = :latest, first = :first, skips = :skips, op_id = :op_id,"
        " desk = :desk, revision = :revision, turn = iif(:state = 'skipped',"
        " (SELECT turn FROM member WHERE project = :project AND annotator = :annotator), turn) WHERE id = :id",
        dict(values),
    )


def restore_repeat(db: Connection, values: Mapping[str, Any]) -> None:
    """Store a retest of a package, a column each of *values*."""
    insert(db, "retest", values)


def restore_latest(db: Connection, retest: int) -> None:
    """Set the last valid label of a retest; an undo leaves none."""
    db.execute(
        "UPDATE retest SET latest = (SELECT iif(choice IS NULL, NULL, id) FROM valid_retest_label"
        " WHERE retest = :retest ORDER BY id DESC LIMIT 1) WHERE id = :retest AND state = 'labelled'",
        {"retest": retest},
    )


def free_retests(db: Connection, project: Project, annotator: int) -> None:
    """End the leases of an annotator's (row id) retests: they wait for the next time."""
    db.execute(
        "UPDATE retest SET state = 'waiting', first = iif(op_id IS NULL, NULL, first)"
        " WHERE annotator = ? AND project = ? AND state = 'leased'",
        (annotator, project.id),
    )


def hand_out(
    store: Store, project: Project, annotator: Annotator, room: int, now: float, fill: Callable[[int], list[Leased]]
) -> list[Leased]:
    """Hand out up to *room* items: those of *fill*, mixed with the retests due at *now*.

    One place in five, drawn at random, is for due retests, more only if nothing else is left. So an annotator who was
    away for long does not get them in a block. Retests that were skipped once come last.
    """
    waiting = _due_retests(store, project, annotator, "waiting", room, now)
    share = min(len(waiting), _retest_places(store, project, annotator, room)) if waiting else 0
    handed = fill(room - share) if room > share else []
    if waiting:
        handed = _mix(store.db, project, annotator, handed, waiting[: room - len(handed)])
    left = room - len(handed)
    due = _due_retests(store, project, annotator, "skipped", left, now) if left > 0 else []
    return handed + [_lease(store.db, retest, next_turn(store.db, project.id, annotator.id)) for retest in due]


def _retest_places(store: Store, project: Project, annotator: Annotator, room: int) -> int:
    turn = store.value("SELECT turn FROM member WHERE project = ? AND annotator = ?", (project.id, annotator.id))
    drawn = (phase(project.seed, annotator.uid, f"{turn + n}|again") for n in range(1, room + 1))
    return sum(place < PLACES_SHARE for place in drawn)


def _mix(
    db: Connection, project: Project, annotator: Annotator, fresh: Sequence[Leased], due: Sequence[_Due]
) -> list[Leased]:
    """Lease the *due* retests between *fresh* items; a retest comes before the item with the same turn."""
    mixed = [(leased.turn, 1, leased) for leased in fresh]
    for retest in due:
        # The place depends only on the id, so the same hand-out always has the same order.
        place = random.Random(retest.uid).randint(0, len(fresh))  # noqa: S311 - an order, no secret
        turn = fresh[place].turn if place < len(fresh) else next_turn(db, project.id, annotator.id)
        mixed.append((turn, 0, _lease(db, retest, turn)))
    return [leased for *_, leased in sorted(mixed)]


def _lease(db: Connection, retest: _Due, turn: int) -> Leased:
    query = "UPDATE retest SET state = 'leased', first = coalesce(first, ?), turn = ? WHERE id = ?"
    db.execute(query, (retest.first, turn, retest.id))
    return Leased(turn, retest.item, retest.uid)


def _due_retests(store: Store, project: Project, annotator: Annotator, state: str, room: int, now: float) -> list[_Due]:
    values = {"annotator": annotator.id, "project": project.id, "state": state, "now": now, "room": room}
    return store.rows(_Due, DUE, values)


# The second label is the valid one or, if something was shown later, the last one before that.
_PAIRS = """
SELECT retest.id, retest.annotator, one.choice, two.choice, one.extraneous, two.extraneous,
       one.created, two.created, one.guideline = two.guideline
FROM retest JOIN published_item AS item ON item.id = retest.item
     JOIN assignment ON assignment.item = retest.item AND assignment.annotator = retest.annotator
     JOIN label AS one ON one.id = retest.first
     LEFT JOIN retest_label AS two ON two.id = iif(assignment.revealed IS NULL, retest.latest,
        (SELECT max(id) FROM valid_retest_label WHERE retest = retest.id
            AND created <= assignment.revealed)) AND two.choice IS NOT NULL
WHERE retest.project = ? AND retest.state = 'labelled' ORDER BY retest.id
"""
_STATES = """
SELECT retest.annotator, iif(member.active OR state IN ('labelled', 'void'), state, 'left'), count(*)
FROM retest JOIN published_item AS item ON item.id = retest.item
    JOIN member ON member.project = retest.project AND member.annotator = retest.annotator
WHERE retest.project = ? GROUP BY 1, 2
"""
_TEXTS = f"""
SELECT {ITEM_COLUMNS}, annotator.name, one.reasons, two.reasons, one.note, two.note, one.form_shown, two.form_shown
FROM {ITEM_TABLES} JOIN retest ON retest.item = item.id JOIN annotator ON annotator.id = retest.annotator
    JOIN label AS one ON one.id = retest.first JOIN retest_label AS two ON two.id = retest.latest
WHERE retest.id = ?
"""


def retest_pairs(store: Store, project: Project) -> list[tuple[Any, ...]]:
    """Return the second labels of a project with the first ones, oldest retest first: the columns of `_PAIRS`."""
    return store.db.execute(_PAIRS, (project.id,)).fetchall()


def retest_states(store: Store, project: Project) -> list[tuple[int, str, int]]:
    """Return annotator (row id), state ("left": of one who has left) and number of the retests of a project."""
    return store.db.execute(_STATES, (project.id,)).fetchall()


def retest_texts(store: Store, retest: int) -> tuple[Any, ...] | None:
    """Return the item of a retest and what else both labels say; None if the item was withdrawn."""
    row: tuple[Any, ...] | None = store.db.execute(_TEXTS, (retest,)).fetchone()
    return row


def origins_of_retests(store: Store, project: Project) -> list[tuple[str, bool]]:
    """Return when each retest was made that has a second label, and whether this is of a desk of this database."""
    query = (
        "SELECT retest.created, label.app IS NOT NULL FROM retest"
        " JOIN published_item AS item ON item.id = retest.item JOIN retest_label AS label ON label.id = retest.latest"
        " WHERE retest.project = ?"
    )
    return [(created, bool(here)) for created, here in store.db.execute(query, (project.id,))]
