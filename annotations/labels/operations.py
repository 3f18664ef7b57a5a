"""Storing labels: appended, never changed. An operation of a desk is stored once and answered after the commit."""

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from evenhand.annotations.database.store import Store, columns_and_marks
from evenhand.annotations.guideline.comparison import Place, is_of_comparisons
from evenhand.annotations.guideline.free_tags import clean_tags
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.labels import retest_labels
from evenhand.annotations.labels.asked_for import check_asked_for
from evenhand.annotations.labels.left_texts import insert_left
from evenhand.annotations.labels.marks import (
    check_answers,
    check_flag,
    check_label_fits,
    check_marked_words,
    check_marks,
    mark_kinds,
)
from evenhand.annotations.labels.retest_labels import RetestItem
from evenhand.annotations.queue.assignments import assign, next_turn, reveal_item, update_set_aside
from evenhand.annotations.queue.leases import renew_presence
from evenhand.annotations.queue.retests import schedule_retest
from evenhand.annotations.types import Annotator, Answer, Guideline, Operation, Project
from evenhand.core.errors import N_, EvenhandError, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.text.sentences import control_character
from evenhand.core.version import VERSION

LONGEST_NOTE = 4_000
LONGEST_ID = 100
MOST_SECONDS = 1e9  # on a text: a bound for sums


def label_columns(operation: Operation, guideline: Guideline, superseded: bool, created: str) -> dict[str, Any]:
    """The columns that labels and retest labels share; empty for an operation that undoes a label."""
    empty = operation.choice in (None, "skip")
    return {
        "op_id": operation.op_id,
        "guideline": guideline.id,
        "choice": None if empty else operation.choice,
        "reasons": json.dumps([] if empty else list(dict.fromkeys(operation.reasons))),
        "tags": json.dumps([] if empty else clean_tags(operation.tags), ensure_ascii=False),
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
    cursor = db.execute(f"INSERT INTO label {columns_and_marks(values)}", dict(values))
    if values["choice"] is not None and pair is not False:
        insert_left(db, values["op_id"], values["item"], left)
    return int(cursor.lastrowid or 0)


def check_ids(op_id: str, desk: str, revision: int) -> None:
    """Raise Refused if the ids of an operation or its revision cannot be stored."""
    for value in (op_id, desk):
        if not value or len(value) > LONGEST_ID or control_character(value):
            raise Refused(N_("An operation and its desk need an id of 1 to {most} characters."), most=LONGEST_ID)
    if not -(2**62) < revision < 2**62:
        raise Refused(N_("The revision of an operation is out of range."))


def check_form(operation: Operation) -> None:
    """Raise Refused if ids, note, time or revision cannot be stored."""
    check_ids(operation.op_id, operation.desk, operation.revision)
    if len(operation.note) > LONGEST_NOTE:
        raise Refused(N_("A note has at most {most} characters."), most=LONGEST_NOTE)
    try:
        operation.note.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused(N_("The note contains half a character (a lone surrogate) and cannot be stored.")) from error
    seconds = operation.seconds
    if seconds is not None and not 0 <= seconds < MOST_SECONDS:
        raise Refused(N_("The time spent on a sentence must be a number of seconds, 0 or more."))


# Desks may still hold items whose import was undone: their labels are stored with the withdrawn item.
ACCEPTS_LABELS = "(item.withdrawn = 0 OR assignment.item IS NOT NULL)"


@dataclass(frozen=True, slots=True)
class _ItemState:
    """An item and this annotator's assignment; `state` is '' without an assignment."""

    item: int
    length: int  # of the text, in code points
    state: str = ""
    revealed: str | None = None
    blind: int | None = None
    skips: int = 0
    op_id: str | None = None
    desk: str | None = None
    revision: int = -1
    withdrawn: int = 0  # its import was undone; it is not handed out
    here: int = 1  # 0: this annotator has left the project and gets no items
    pair: int = 0  # 1: it is a comparison

    @property
    def handed_out(self) -> bool:
        """Whether this annotator has had the item at a desk: one passed over is skipped without an operation."""
        return self.state not in ("", "skipped") or self.op_id is not None


def store_operations(
    store: Store,
    project: Project,
    annotator: Annotator,
    operations: Sequence[Operation],
    *,
    now: float | None = None,
    asked: int | None = None,
) -> list[Answer]:
    """Store operations in one transaction that is committed on return. One answer each, in order.

    An operation that cannot be stored is refused; the others are stored. One that is stored already gets the same
    answer. `now` (unix seconds) is the time of the labels and renews the annotator's leases. *asked*: how many items a
    participant of a study is asked to label (`asked_for`); None: no limit, also for items without an assignment, since
    a desk sends what it holds after a backup was restored that does not know its leases. Raises NotAllowed for a person
    who is not an annotator of the project.
    """
    moment = time.time() if now is None else now
    with store.write() as db:
        renew_presence(db, project, annotator, moment)
        writer = _Writer(store, project, annotator, timestamp(now), asked)
        return [writer.answer(operation) for operation in operations]


def reveal(store: Store, project: Project, annotator: Annotator, item_uid: str) -> None:
    """Record that an opinion on an item is shown to an annotator: labels from now on carry `after_reveal`.

    Raises NotAllowed without a valid label of this annotator (DESIGN 4.4), NotFound for an unknown item.
    """
    with store.write():
        target = _item_state(store, project, annotator, item_uid)
        if target.state != "labelled":
            raise NotAllowed(N_("An opinion on a sentence is shown only after you have labelled it."))
        reveal_item(store.db, annotator.id, target.item, timestamp())


def _item_state(store: Store, project: Project, annotator: Annotator, uid: str) -> _ItemState | RetestItem:
    row = store.db.execute(
        "SELECT item.id, length(text), coalesce(state, ''), revealed, blind, coalesce(skips, 0), op_id, desk,"
        " coalesce(revision, -1), item.withdrawn, coalesce(member.active, 0), second IS NOT NULL"
        " FROM imported_item AS item"
        " LEFT JOIN member ON member.project = item.project AND member.annotator = :annotator"
        " LEFT JOIN assignment ON assignment.item = item.id AND assignment.annotator = :annotator"
        f" WHERE item.uid = :uid AND item.project = :project AND {ACCEPTS_LABELS}",
        {"annotator": annotator.id, "uid": uid, "project": project.id},
    ).fetchone()
    if row is not None:
        return _ItemState(*row)
    came_again = retest_labels.retest_item(store.db, project, annotator, uid)
    if came_again is None:
        raise NotFound(N_("This project has no such item; the label was not stored."))
    return came_again


class _Writer:
    """Writes one annotator's operations, inside one transaction."""

    def __init__(
        self, store: Store, project: Project, annotator: Annotator, created: str, asked: int | None = None
    ) -> None:
        self.store, self.db, self.project, self.annotator = store, store.db, project, annotator
        self.created, self.asked = created, asked
        self.guidelines = {each.version: each for each in guidelines(store, project)}
        # may have changed since the caller read the project
        query = "SELECT checked, retest FROM project WHERE id = ?"
        self.checked, self.retest = self.db.execute(query, (project.id,)).fetchone()

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
        check_form(operation)
        target = _item_state(self.store, self.project, self.annotator, operation.item)
        known = self._known(operation)
        if known is not None:
            conflict = known and target.op_id != operation.op_id and target.desk != operation.desk
            return Answer(operation.op_id, True, conflict=conflict, latest=target.op_id)
        if self.asked is not None:
            check_asked_for(
                self.db, self.project, self.annotator, operation, asked=self.asked, handed_out=target.handed_out,
                labelled=target.state == "labelled",
            )  # fmt: skip
        guideline = self._guideline(operation)
        if operation.choice not in (None, "skip") and bool(target.pair) != is_of_comparisons(guideline):
            raise Refused(N_("This version of the guideline is for other items than this one."))
        self._check_marks(operation, target, guideline)
        superseded = not self._may_stand(operation, target)
        label: int | None = None
        if isinstance(target, RetestItem):
            said = label_columns(operation, guideline, superseded, self.created)
            label = retest_labels.insert_retest_label(self.db, target, operation, said)
        elif operation.choice == "skip":
            self._insert_skip(operation, target, superseded)
        else:
            label = self._insert_label(operation, target, guideline, superseded)
        if superseded:
            return Answer(operation.op_id, True, conflict=target.desk != operation.desk, latest=target.op_id)
        if isinstance(target, RetestItem):
            retest_labels.update_retest(self.db, self.project, self.annotator, target, operation, label)
        else:
            self._move(operation, target, label)
        return Answer(operation.op_id, True, latest=operation.op_id)

    def _may_stand(self, operation: Operation, target: _ItemState | RetestItem) -> bool:
        # Operations of a desk may arrive out of order: the higher revision wins.
        if target.desk == operation.desk:
            return operation.revision > target.revision
        if self._overtaken(operation, target):
            return False
        return target.op_id is None or operation.base == target.op_id  # no earlier label, or the desk knows it

    def _overtaken(self, operation: Operation, target: _ItemState | RetestItem) -> bool:
        if isinstance(target, RetestItem):
            return retest_labels.is_overtaken(self.db, target, operation)
        newer = "WHERE item = :item AND annotator = :annotator AND desk = :desk AND revision > :revision"
        query = f"SELECT 1 FROM label {newer} UNION ALL SELECT 1 FROM skip {newer}"
        values = {
            "item": target.item, "annotator": self.annotator.id, "desk": operation.desk, "revision": operation.revision,
        }  # fmt: skip
        return self.db.execute(query, values).fetchone() is not None

    def _known(self, operation: Operation) -> bool | None:
        """Whether a stored operation with that id was superseded;

        None if there is none. Refuses an id of another annotator.
        """
        row = self.db.execute(
            "SELECT annotator, item.uid, superseded FROM label JOIN item ON item.id = label.item WHERE op_id = :op"
            " UNION ALL"
            " SELECT annotator, item.uid, superseded FROM skip JOIN item ON item.id = skip.item WHERE op_id = :op"
            " UNION ALL SELECT annotator, retest.uid, superseded FROM retest_label"
            " JOIN retest ON retest.id = retest_label.retest WHERE retest_label.op_id = :op",
            {"op": operation.op_id},
        ).fetchone()
        if row is None:
            return None
        if (row[0], row[1]) != (self.annotator.id, operation.item):
            raise Refused(N_("This id is already used by another operation."))
        return bool(row[2])

    def _guideline(self, operation: Operation) -> Guideline:
        version = max(self.guidelines) if operation.guideline is None else operation.guideline
        if version not in self.guidelines:
            raise Refused(N_("This guideline has no version {version}."), version=version)
        guideline = self.guidelines[version]
        if operation.choice in (None, "skip"):
            return guideline
        if operation.choice not in {choice.code for choice in guideline.choices}:
            raise Refused(N_("{choice} is not a choice of this guideline."), choice=operation.choice)
        unknown = set(operation.reasons) - {reason.code for reason in guideline.beside}
        if unknown:
            raise Refused(N_("{reason} is not a reason of this guideline."), reason=", ".join(sorted(unknown)))
        named = operation.reasons or any(tag.strip() for tag in operation.tags)  # a tag is a future criterion
        if operation.choice == "reject" and not named and not operation.note.strip():
            raise Refused(N_("A reject needs a reason or a note."))
        return guideline

    def _check_marks(self, operation: Operation, target: _ItemState | RetestItem, guideline: Guideline) -> None:
        if operation.choice in (None, "skip"):
            return
        if self.project.kind != "generations":
            if operation.spans or operation.extraneous is not None:
                raise Refused(N_("Marks and the flag for extraneous gendered language are for generations only."))
            return
        check_flag(guideline, operation.extraneous)
        check_marks(operation.spans, target.length, mark_kinds(guideline))
        if operation.spans:
            text = self.db.execute("SELECT text FROM item WHERE id = ?", (target.item,)).fetchone()[0]
            check_marked_words(operation.spans, text)
        check_answers(guideline, operation.reasons, operation.note, required=bool(self.checked))
        if self.checked:
            check_label_fits(guideline, operation.choice, operation.reasons, operation.extraneous, operation.spans)

    def _insert_skip(self, operation: Operation, target: _ItemState, superseded: bool) -> None:
        self.db.execute(
            "INSERT INTO skip (op_id, item, annotator, desk, revision, base, superseded, created)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                operation.op_id, target.item, self.annotator.id, operation.desk, operation.revision,
                operation.base, superseded, self.created,
            ),
        )  # fmt: skip

    def _insert_label(self, operation: Operation, target: _ItemState, guideline: Guideline, superseded: bool) -> int:
        values: dict[str, Any] = {
            "project": self.project.id,
            "item": target.item,
            "annotator": self.annotator.id,
            "after_reveal": int(target.revealed is not None),
            **label_columns(operation, guideline, superseded, self.created),
        }
        return insert_label(self.db, values, operation.left, pair=bool(target.pair))

    def _is_skip(self, op_id: str | None) -> bool:
        # Not by the state: a skipped item may have been handed out again before its skip is undone.
        return self.db.execute("SELECT 1 FROM skip WHERE op_id = ?", (op_id,)).fetchone() is not None

    def _move(self, operation: Operation, target: _ItemState, label: int | None) -> None:
        """Let the assignment point to the valid label; triggers update slots and tallies."""
        state = {None: "leased", "skip": "skipped"}.get(operation.choice, "labelled")
        latest = label if state == "labelled" else None
        blind = latest if target.revealed is None else target.blind
        # An item whose label is undone by an annotator who has left goes to others at once, not to the still open desk.
        left = state == "leased" and not target.here and blind is None
        state = "released" if left or (target.withdrawn and latest is None) else state
        skips = target.skips + (state == "skipped") - (operation.choice is None and self._is_skip(target.op_id))
        if state == "skipped" or not target.state:
            next_turn(self.db, self.project.id, self.annotator.id)
        assign(
            self.db,
            {
                "item": target.item, "annotator": self.annotator.id, "project": self.project.id, "state": state,
                "skips": max(0, skips), "revealed": target.revealed, "latest": latest, "blind": blind,
                "op_id": operation.op_id, "desk": operation.desk, "revision": operation.revision,
            },
        )  # fmt: skip
        recount_item(self.store, target.item)
        if self.retest and blind is not None and blind == label:
            schedule_retest(self.store, self.project, self.annotator, target.item, self.created)
        update_set_aside(self.store, self.project, target.item)
