"""Store labels: appended, never changed. An operation of a desk is stored once and answered after the commit.

Labels of retests are stored by the same rules in a table of their own.
"""

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from sqlite3 import Connection
from typing import Any

from evenhand.annotations.database.store import Store, insert
from evenhand.annotations.guideline.drafts import clean_tags
from evenhand.annotations.guideline.versions import Place, guidelines
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.labels.checks import check_label
from evenhand.annotations.queue.assignments import assign, next_turn, reveal_item, update_set_aside
from evenhand.annotations.queue.leases import renew_presence
from evenhand.annotations.queue.retests import assign_repeat, schedule_retest
from evenhand.annotations.types import Annotator, Answer, Guideline, Operation, Project
from evenhand.core.errors import N_, EvenhandError, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.text.sentences import control_character
from evenhand.core.version import VERSION

LONGEST_NOTE = 4_000
LONGEST_ID = 100
MOST_SECONDS = 1e9  # on a text: a bound for sums
SKIP_COLUMNS = ("op_id", "desk", "revision", "base", "superseded", "created")


def label_columns(operation: Operation, guideline: Guideline, superseded: bool, created: str) -> dict[str, Any]:
    """Return the columns that labels and retest labels share; empty for an operation that undoes a label."""
    empty = operation.choice in (None, "skip")
    return {
        "op_id": operation.op_id,
        "guideline": guideline.id,
        "choice": None if empty else operation.choice,
        "reasons": json.dumps([] if empty else list(dict.fromkeys(operation.reasons))),
        "tags": json.dumps([] if empty or not operation.tags else clean_tags(operation.tags), ensure_ascii=False),
        "extraneous": None if empty or operation.extraneous is None else int(operation.extraneous),
        "spans": json.dumps([] if empty else sorted(operation.spans)),
        "note": "" if empty else operation.note.strip(),
        "seconds": operation.seconds,
        "form_shown": operation.form_shown,
        "desk": operation.desk,
        "revision": operation.revision,
        "base": operation.base,
        "superseded": int(superseded),
        "created": created,
        "app": VERSION,
    }


def insert_label(
    db: Connection, values: Mapping[str, Any], left: Place | None = None, *, pair: bool | None = None
) -> int:
    """Append a label, a column each of *values*; returns its row id.

    *left*: of a comparison, which text was there. *pair*: whether the item is a comparison, if the caller knows.
    """
    label = insert(db, "label", values)
    if values["choice"] is not None and pair is not False:
        insert_left_text(db, values["op_id"], values["item"], left)
    return label


def insert_retest_label(db: Connection, values: Mapping[str, Any], left: Place | None) -> int:
    """Append a retest label, a column each of *values*; return its row id. *left*: see `insert_left_text`."""
    label = insert(db, "retest_label", values)
    if values["choice"] is not None:
        (item,) = db.execute("SELECT item FROM retest WHERE id = ?", (values["retest"],)).fetchone()
        insert_left_text(db, values["op_id"], item, left)
    return label


def insert_left_text(db: Connection, op_id: str, item: int, left: Place | None) -> None:
    """Append which text was on the left of a label of *item* (row id), in the caller's transaction.

    *left* None: unknown. For an item with a single text, nothing is stored.
    """
    db.execute(
        "INSERT INTO left_text (op_id, item, place) SELECT ?, id, ? FROM item WHERE id = ? AND second IS NOT NULL",
        (op_id, left, item),
    )


def check_ids(op_id: str, desk: str, revision: int) -> None:
    """Raise Refused if the ids of an operation or its revision cannot be stored."""
    for value in (op_id, desk):
        if not value or len(value) > LONGEST_ID or control_character(value):
            raise Refused(N_("An operation and its desk need an id of 1 to {most} characters."), most=LONGEST_ID)
    if not -(2**62) < revision < 2**62:
        raise Refused(N_("The revision of an operation is out of range."))


def check_structure(operation: Operation) -> None:
    """Raise Refused if ids, note, time or revision cannot be stored."""
    check_ids(operation.op_id, operation.desk, operation.revision)
    if len(operation.note) > LONGEST_NOTE:
        raise Refused(N_("The note exceeds {most} characters."), most=LONGEST_NOTE)
    try:
        operation.note.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused(N_("The note contains half a character (a lone surrogate) and cannot be stored.")) from error
    seconds = operation.seconds
    if seconds is not None and not 0 <= seconds < MOST_SECONDS:
        raise Refused(N_("The time spent on a sentence must be a number of seconds, 0 or more."))


# An item as this annotator has it, or a retest of it; `state` is '' without an assignment. Desks may still hold items
# whose import was undone: their labels are stored with the withdrawn item.
_TARGET = """
SELECT item.id AS item, item.uid, item.hash AS identity, text, second IS NOT NULL AS compares,
    coalesce(state, '') AS state, coalesce(state, '') NOT IN ('', 'skipped') OR op_id IS NOT NULL AS handed_out,
    revealed, blind, coalesce(skips, 0) AS skips, op_id, desk, coalesce(revision, -1) AS revision, item.withdrawn,
    coalesce(member.active, 0) AS here, 0 AS sent_back, NULL AS retest,
    project.checked, project.retest AS share, project.retest_hours AS hours
FROM imported_item AS item JOIN project ON project.id = item.project
LEFT JOIN member ON member.project = item.project AND member.annotator = :annotator
LEFT JOIN assignment ON assignment.item = item.id AND assignment.annotator = :annotator
WHERE item.uid = :uid AND item.project = :project AND (item.withdrawn = 0 OR assignment.item IS NOT NULL)
UNION ALL
SELECT item.id, item.uid, item.hash, text, second IS NOT NULL, retest.state,
    retest.state <> 'waiting' OR retest.op_id IS NOT NULL, NULL, coalesce(first, assignment.blind),
    retest.skips, retest.op_id, retest.desk, coalesce(retest.revision, -1), 0,
    1, coalesce(assignment.kept AND assignment.state <> 'labelled', 0), retest.id,
    project.checked, project.retest, project.retest_hours
FROM retest JOIN imported_item AS item ON item.id = retest.item JOIN project ON project.id = retest.project
JOIN assignment ON assignment.item = retest.item AND assignment.annotator = retest.annotator
WHERE retest.uid = :uid AND retest.project = :project AND retest.annotator = :annotator
"""
# A stored operation: of whom, on which item, and whether it was superseded.
_KNOWN = """
SELECT annotator, item.uid, superseded FROM label JOIN item ON item.id = label.item WHERE op_id = :op
UNION ALL SELECT annotator, item.uid, superseded FROM skip JOIN item ON item.id = skip.item WHERE op_id = :op
UNION ALL SELECT annotator, retest.uid, superseded FROM retest_label
    JOIN retest ON retest.id = retest_label.retest WHERE retest_label.op_id = :op
"""
# Whether a newer operation of the same desk on an item, or on a retest, has arrived already.
_OVERTAKEN = """
SELECT 1 FROM label WHERE :retest IS NULL AND item = :item AND annotator = :annotator AND desk = :desk
    AND revision > :revision
UNION ALL SELECT 1 FROM skip WHERE :retest IS NULL AND item = :item AND annotator = :annotator AND desk = :desk
    AND revision > :revision
UNION ALL SELECT 1 FROM retest_label WHERE retest = :retest AND desk = :desk AND revision > :revision
"""
# Not by the state: a skipped item may have been handed out again before its skip is undone.
_IS_SKIP = "SELECT 1 FROM skip WHERE op_id = :op UNION ALL SELECT 1 FROM retest_label WHERE op_id = :op AND skip = 1"
# How many texts a participant of a study has judged, and how often they skipped one. Texts of the test count as skipped
# twice without an operation: they were never at the desk.
_JUDGED = """
SELECT coalesce(sum(state = 'labelled'), 0), coalesce(sum(iif(op_id IS NULL, 0, skips)), 0) FROM (
    SELECT state, skips, op_id FROM assignment WHERE annotator = :annotator AND project = :project
    UNION ALL SELECT state, skips, op_id FROM retest WHERE annotator = :annotator AND project = :project)
"""


@dataclass(frozen=True, slots=True)
class _Target:
    """An item with this annotator's assignment, or with a retest (row id) in its place.

    `blind`: of a retest, the first label. `withdrawn`: its import was undone; it is not handed out. `here` 0: this
    annotator has left the project and gets no items. `sent_back`: the first label of a retest is to be made again.
    `handed_out`: this annotator has had it at a desk; one passed over is skipped without an operation. `checked`,
    `share`, `hours`: settings of the project now, on rules of labels and on retests.
    """

    item: int
    uid: str
    identity: bytes
    text: str
    compares: int
    state: str
    handed_out: int
    revealed: str | None
    blind: int | None
    skips: int
    op_id: str | None
    desk: str | None
    revision: int
    withdrawn: int
    here: int
    sent_back: int
    retest: int | None
    checked: int
    share: float
    hours: int


def store_operations(
    store: Store,
    project: Project,
    annotator: Annotator,
    operations: Sequence[Operation],
    *,
    now: float | None = None,
    asked: int | None = None,
    versions: Sequence[Guideline] | None = None,
) -> list[Answer]:
    """Store operations in one transaction that is committed on return. One answer each, in order.

    An operation that cannot be stored is refused; the others are stored. One that is stored already gets the same
    answer. `now` (unix seconds) is the time of the labels and renews the annotator's leases. *asked*: how many items a
    participant of a study is asked to label: only texts that were handed out to them, and no more; None: no limit, also
    for items without an assignment, since a desk sends what it holds after a backup was restored that does not know its
    leases. *versions*: the guideline, if it was read in this transaction. Raises NotAllowed
    for a person who is not an annotator of the project.
    """
    moment = time.time() if now is None else now
    with store.write() as db:
        renew_presence(db, project, annotator, moment)
        writer = _Writer(store, project, annotator, timestamp(now), asked, versions)
        return [writer.answer(operation) for operation in operations]


def reveal(store: Store, project: Project, annotator: Annotator, item_uid: str) -> None:
    """Record that an opinion on an item is shown to an annotator: labels from now on carry `after_reveal`.

    Raises NotAllowed without a valid label of this annotator (docs/architecture.md#at-the-desk), NotFound for an
    unknown item.
    """
    with store.write():
        target = _target(store, project, annotator, item_uid)
        if target.state != "labelled":
            raise NotAllowed(N_("An opinion on a sentence is shown only after you have labelled it."))
        reveal_item(store.db, annotator.id, target.item, timestamp())


def remaining_skips(store: Store, project: Project, annotator: Annotator, asked: int) -> int:
    """Return how often a participant of a study may still skip: as often as they are *asked* to judge a text."""
    return max(0, asked - _judged_and_skipped(store, project, annotator)[1])


def _judged_and_skipped(store: Store, project: Project, annotator: Annotator) -> tuple[int, int]:
    judged, skipped = store.db.execute(_JUDGED, {"annotator": annotator.id, "project": project.id}).fetchone()
    return judged, skipped


def _target(store: Store, project: Project, annotator: Annotator, uid: str) -> _Target:
    values = {"annotator": annotator.id, "uid": uid, "project": project.id}
    missing = NotFound(N_("This project has no such item; the label was not stored."))
    return store.required_row(_Target, _TARGET, values, missing)


class _Writer:
    """Writes one annotator's operations, inside one transaction."""

    def __init__(
        self, store: Store, project: Project, annotator: Annotator, created: str, asked: int | None = None,
        versions: Sequence[Guideline] | None = None,
    ) -> None:  # fmt: skip
        self.store, self.db, self.project, self.annotator = store, store.db, project, annotator
        self.created, self.asked = created, asked
        known = guidelines(store, project) if versions is None else versions
        self.guidelines = {guideline.version: guideline for guideline in known}

    def answer(self, operation: Operation) -> Answer:
        """Store one operation, or answer why not."""
        self.db.execute("SAVEPOINT operation")
        try:
            answer = self._store(operation)
        except EvenhandError as error:
            self.db.execute("ROLLBACK TO operation")
            answer = Answer(operation.op_id, False, error.message, values=error.values)
        except sqlite3.IntegrityError as error:
            self.db.execute("ROLLBACK TO operation")
            message = N_("The database refused this label ({why}).")
            answer = Answer(operation.op_id, False, message, values={"why": str(error)})
        self.db.execute("RELEASE operation")
        return answer

    def _store(self, operation: Operation) -> Answer:
        check_structure(operation)
        target = _target(self.store, self.project, self.annotator, operation.item)
        known = self._known(operation)
        if known is not None:
            conflict = known and target.op_id != operation.op_id and target.desk != operation.desk
            return Answer(operation.op_id, True, conflict=conflict, latest=target.op_id)
        if self.asked is not None:
            self._check_asked(operation, target, self.asked)
        guideline = self._guideline(operation)
        if operation.choice not in (None, "skip"):
            check_label(
                guideline, operation, target.text, kind=self.project.kind, compares=bool(target.compares),
                checked=bool(target.checked),
            )  # fmt: skip
        superseded = not self._may_stand(operation, target)
        label = self._insert(operation, target, guideline, superseded)
        if superseded:
            return Answer(operation.op_id, True, conflict=target.desk != operation.desk, latest=target.op_id)
        self._move(operation, target, label)
        return Answer(operation.op_id, True, latest=operation.op_id)

    def _check_asked(self, operation: Operation, target: _Target, asked: int) -> None:
        """Raise Refused for a text that was not handed out, a label of one text too many, or a skip too many."""
        if not target.handed_out:
            raise Refused(N_("This text is not assigned to you."))
        judged, skipped = _judged_and_skipped(self.store, self.project, self.annotator)
        if operation.choice == "skip":
            if skipped >= asked:
                raise Refused(N_("You can skip at most {asked} times. Judge this text, or withdraw."), asked=asked)
        elif operation.choice is not None and target.state != "labelled" and judged >= asked:
            message = N_("You have judged all {asked} texts assigned to you; further labels are not stored.")
            raise Refused(message, asked=asked)

    def _may_stand(self, operation: Operation, target: _Target) -> bool:
        # Operations of a desk may arrive out of order: the higher revision wins.
        if target.desk == operation.desk:
            return operation.revision > target.revision
        values = {
            "item": target.item, "annotator": self.annotator.id, "retest": target.retest, "desk": operation.desk,
            "revision": operation.revision,
        }  # fmt: skip
        if self.db.execute(_OVERTAKEN, values).fetchone() is not None:
            return False
        return target.op_id is None or operation.base == target.op_id  # no earlier label, or the desk knows it

    def _known(self, operation: Operation) -> bool | None:
        """Return whether a stored operation with that id was superseded; None if there is none.

        Refuses an id of another annotator.
        """
        row = self.db.execute(_KNOWN, {"op": operation.op_id}).fetchone()
        if row is None:
            return None
        if (row[0], row[1]) != (self.annotator.id, operation.item):
            raise Refused(N_("This id is already used by another operation."))
        return bool(row[2])

    def _guideline(self, operation: Operation) -> Guideline:
        version = max(self.guidelines) if operation.guideline is None else operation.guideline
        if version not in self.guidelines:
            raise Refused(N_("This guideline has no version {version}."), version=version)
        return self.guidelines[version]

    def _insert(self, operation: Operation, target: _Target, guideline: Guideline, superseded: bool) -> int | None:
        """Append the operation; return the row of a label or of a retest label, None for a skip."""
        values = label_columns(operation, guideline, superseded, self.created)
        if target.retest is not None:
            own = {"retest": target.retest, "skip": int(operation.choice == "skip")}
            return insert_retest_label(self.db, values | own, operation.left)
        of_item = {"item": target.item, "annotator": self.annotator.id}
        if operation.choice == "skip":
            insert(self.db, "skip", {name: values[name] for name in SKIP_COLUMNS} | of_item)
            return None
        own = {"project": self.project.id, "after_reveal": int(target.revealed is not None)}
        return insert_label(self.db, values | of_item | own, operation.left, pair=bool(target.compares))

    def _move(self, operation: Operation, target: _Target, label: int | None) -> None:
        """Let the assignment or the retest point to the valid label; triggers update slots and tallies."""
        state = {None: "leased", "skip": "skipped"}.get(operation.choice, "labelled")
        latest = label if state == "labelled" else None
        undone_skip = operation.choice is None and self.db.execute(_IS_SKIP, {"op": target.op_id}).fetchone()
        skips = target.skips + (state == "skipped") - bool(undone_skip)
        if state == "skipped" or not target.state:
            next_turn(self.db, self.project.id, self.annotator.id)
        values = {
            "item": target.item, "annotator": self.annotator.id, "project": self.project.id, "skips": max(0, skips),
            "latest": latest, "op_id": operation.op_id, "desk": operation.desk, "revision": operation.revision,
        }  # fmt: skip
        if target.retest is not None:  # a void one stays void
            void = target.state == "void" or target.sent_back
            own = {"id": target.retest, "state": "void" if void else state, "first": target.blind}
            assign_repeat(self.db, values | own)
            return
        blind = latest if target.revealed is None else target.blind
        # An item whose label is undone by an annotator who has left goes to others at once, not to the still open desk.
        left = state == "leased" and not target.here and blind is None
        state = "released" if left or (target.withdrawn and latest is None) else state
        assign(self.db, values | {"state": state, "revealed": target.revealed, "blind": blind})
        recount_item(self.store, target.item)
        if target.share and blind is not None and blind == label:
            project = replace(self.project, retest=target.share, retest_hours=target.hours)
            schedule_retest(self.store, project, self.annotator, target.item, target.uid, target.identity, self.created)
        update_set_aside(self.store, self.project, target.item)
