"""Withdrawal: the labels of a person no longer count. Rows that take them back supersede them, none is deleted."""

import time
import uuid

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.changes import look_again
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.labels.operations import insert_label
from evenhand.annotations.queue.assignments import restore_assignment, update_set_aside
from evenhand.annotations.queue.retests import void_all_retests
from evenhand.annotations.study.people import Participant, desk_of, end, participants
from evenhand.annotations.study.studies import Study, study_of_uid
from evenhand.annotations.types import Project
from evenhand.core.files.timestamps import timestamp

CHUNK = 500  # labels per transaction, so that desks need not wait
WITHDRAWN = "withdrawn"  # the desk of the rows that take labels back
_STANDING = """
SELECT assignment.item, label.id, label.op_id, label.guideline, label.form_shown, assignment.revealed
FROM assignment JOIN label ON label.id = coalesce(assignment.latest, assignment.blind)
WHERE assignment.project = ? AND assignment.annotator = ? LIMIT ?
"""


def withdraw(store: Store, study: Study, who: Participant, *, now: float | None = None) -> int:
    """End somebody's part and take the labels back; returns how many. A repeated call goes on where one broke off.

    The desk is closed first, so no label comes after. The last transaction stores the event `labels_withdrawn`.
    """
    moment, taken = time.time() if now is None else now, 0
    with store.write():
        end(store, study, who, "withdrew", moment)
    if who.annotator is None:
        return 0
    project, annotator = desk_of(store, study, who)
    while True:
        with store.write() as db:
            rows = db.execute(_STANDING, (project.id, annotator.id, CHUNK)).fetchall()
            for row in rows:
                _take_back(store, project, annotator.id, *row)
            void_all_retests(db, project.id, annotator.id)
            look_again(db, project.id)
            taken += len(rows)
            if len(rows) < CHUNK:
                if taken:
                    record(store, project, "labels_withdrawn", annotator=annotator, study=study.name, labels=taken)
                return taken


def finish_withdrawals(store: Store) -> None:
    """Go on with withdrawals that a killed process left."""
    query = (
        "SELECT DISTINCT study.uid, person.uid FROM study_person AS person JOIN study ON study.id = person.study"
        " JOIN assignment ON assignment.annotator = person.annotator AND assignment.project = study.project"
        " WHERE person.state = 'withdrew' AND coalesce(assignment.latest, assignment.blind) IS NOT NULL"
    )
    for study_uid, uid in store.db.execute(query).fetchall():
        study = study_of_uid(store, study_uid)
        withdraw(store, study, next(one for one in participants(store, study) if one.uid == uid))


def _take_back(
    store: Store, project: Project, annotator: int, item: int, label: int, op: str, guideline: int, form: str,
    revealed: str | None,
) -> None:  # fmt: skip
    values = {
        "op_id": uuid.uuid5(uuid.NAMESPACE_OID, f"withdrawn|{store.uid}|{label}").hex,
        "project": project.id, "item": item, "annotator": annotator, "guideline": guideline, "choice": None,
        "form_shown": form, "desk": WITHDRAWN, "revision": 0, "base": op, "created": timestamp(),
        "after_reveal": int(revealed is not None),
    }  # fmt: skip
    insert_label(store.db, values)
    nothing = {"state": "released", "latest": None, "blind": None, "revealed": revealed, "kept": 0}
    restore_assignment(store.db, item, annotator, nothing)
    recount_item(store, item)
    update_set_aside(store, project, item)
