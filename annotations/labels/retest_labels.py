"""Labels of retests: stored by the same rules as other labels, and read by the desk that made them."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from sqlite3 import Connection
from typing import Any

from evenhand.annotations.database.store import Store, columns_and_marks
from evenhand.annotations.guideline.comparison import Place
from evenhand.annotations.items.batch import ITEM_COLUMNS, ITEM_TABLES, as_item
from evenhand.annotations.labels.covered import SHOWN_TEXT, CoveredLabels
from evenhand.annotations.labels.left_texts import insert_left
from evenhand.annotations.queue.assignments import next_turn
from evenhand.annotations.queue.retests import assign_repeat
from evenhand.annotations.types import Annotator, CellProgress, Decision, Item, Mark, Operation, OwnProgress, Project

COLUMNS = (
    "retest.uid, retest_label.choice, retest_label.reasons, retest_label.note, retest_label.op_id,"
    " retest_label.revision, retest_label.created, superseded, extraneous, spans, retest_label.tags"
)
OWN = (
    f"SELECT {ITEM_COLUMNS}, {COLUMNS} FROM {ITEM_TABLES} JOIN retest ON retest.item = item.id"
    " JOIN retest_label ON {which} WHERE retest.annotator = :annotator AND retest.project = :project"
)


@dataclass(frozen=True, slots=True)
class RetestItem:
    """A retest as `annotations.labels.operations` sees it, in place of an assignment."""

    id: int
    item: int
    length: int  # of the text, in code points
    state: str
    skips: int
    first: int | None  # the first label, for the comparison
    op_id: str | None
    desk: str | None
    revision: int
    sent_back: int | None  # whether its first label is sent for relabelling
    pair: int = 0  # 1: it is a comparison

    @property
    def handed_out(self) -> bool:
        """Whether this annotator has had the retest at a desk."""
        return self.state != "waiting" or self.op_id is not None


def retest_item(db: Connection, project: Project, annotator: Annotator, uid: str) -> RetestItem | None:
    """The retest of this annotator with that public id, or None."""
    row = db.execute(
        "SELECT retest.id, retest.item, length(text), retest.state, retest.skips, coalesce(first, assignment.blind),"
        " retest.op_id, retest.desk, coalesce(retest.revision, -1), assignment.kept AND assignment.state <> 'labelled',"
        " second IS NOT NULL FROM retest JOIN imported_item AS item ON item.id = retest.item"
        " JOIN assignment ON assignment.item = retest.item AND assignment.annotator = retest.annotator"
        " WHERE retest.uid = ? AND retest.project = ? AND retest.annotator = ?",
        (uid, project.id, annotator.id),
    ).fetchone()
    return None if row is None else RetestItem(*row)


def is_overtaken(db: Connection, target: RetestItem, operation: Operation) -> bool:
    """Whether a newer operation of the same desk has arrived already."""
    query = "SELECT 1 FROM retest_label WHERE retest = ? AND desk = ? AND revision > ?"
    return db.execute(query, (target.id, operation.desk, operation.revision)).fetchone() is not None


def insert_retest_label(db: Connection, target: RetestItem, operation: Operation, columns: Mapping[str, Any]) -> int:
    """Append a retest label, a skip or an undo; returns its row. *columns*: those of any label."""
    values = {**columns, "retest": target.id, "skip": int(operation.choice == "skip")}
    return insert_repeated_label(db, values, operation.left)


def insert_repeated_label(db: Connection, values: Mapping[str, Any], left: Place | None) -> int:
    """Append a retest label, a column each of *values*; returns its row id. *left*: see `insert_left`."""
    cursor = db.execute(f"INSERT INTO retest_label {columns_and_marks(values)}", dict(values))
    if values["choice"] is not None:
        (item,) = db.execute("SELECT item FROM retest WHERE id = ?", (values["retest"],)).fetchone()
        insert_left(db, values["op_id"], item, left)
    return int(cursor.lastrowid or 0)


def update_retest(
    db: Connection, project: Project, annotator: Annotator, target: RetestItem, operation: Operation, label: int | None
) -> None:
    """Store the retest's last operation: label, undo or skip. A void retest stays void."""
    state = {None: "leased", "skip": "skipped"}.get(operation.choice, "labelled")
    after_skip = db.execute("SELECT 1 FROM retest_label WHERE op_id = ? AND skip = 1", (target.op_id,)).fetchone()
    skips = target.skips + (state == "skipped") - (state == "leased" and after_skip is not None)
    if state == "skipped":
        next_turn(db, project.id, annotator.id)
    assign_repeat(
        db,
        {
            "state": "void" if target.state == "void" or target.sent_back else state,
            "latest": label if state == "labelled" else None, "first": target.first, "skips": max(0, skips),
            "op_id": operation.op_id, "desk": operation.desk, "revision": operation.revision, "id": target.id,
            "project": project.id, "annotator": annotator.id,
        },
    )  # fmt: skip


def bases(store: Store, annotator: Annotator, uids: list[str]) -> dict[str, str]:
    """Public id of a retest -> the operation that a new label would replace, if there is one."""
    marks = ", ".join("?" * len(uids))
    query = f"SELECT uid, op_id FROM retest WHERE annotator = ? AND op_id IS NOT NULL AND uid IN ({marks})"
    return dict(store.db.execute(query, (annotator.id, *uids)).fetchall())


def standing_decision(store: Store, project: Project, annotator: Annotator, uid: str) -> Decision | None:
    """The valid label of the retest with that public id, as the desk lists it."""
    query = f"{OWN.format(which='retest_label.id = retest.latest')} AND retest.uid = :uid"
    row = store.db.execute(query, {"annotator": annotator.id, "project": project.id, "uid": uid}).fetchone()
    return None if row is None else _decision(row)


def own_retest_decisions(
    store: Store,
    project: Project,
    annotator: Annotator,
    *,
    limit: int,
    search: str = "",
    covered: CoveredLabels | None = None,
) -> list[Decision]:
    """The annotator's valid retest labels, newest first; a search does not find the words of *covered* ones."""
    text = SHOWN_TEXT.format(covered="retest_label.id >= :covered")
    wanted = (
        f"AND (instr({text}, :search) OR instr(item.second, :search)"
        " OR instr(retest_label.note, :search) OR instr(retest_label.tags, :search))"
        if search
        else ""
    )
    query = f"{OWN.format(which='retest_label.id = retest.latest')} {wanted} ORDER BY retest_label.id DESC LIMIT :limit"
    values = {"annotator": annotator.id, "project": project.id, "search": search, "limit": limit}
    values["covered"] = sys.maxsize if covered is None else covered.first_retest
    return [_decision(row) for row in store.db.execute(query, values)]


def own_retest_conflicts(store: Store, project: Project, annotator: Annotator) -> list[Decision]:
    """Superseded retest labels, because another desk was first; the newest of each item and desk."""
    query = (
        f"{OWN.format(which='retest_label.retest = retest.id')} AND superseded = 1 AND retest_label.skip = 0"
        " AND NOT EXISTS (SELECT 1 FROM valid_retest_label AS later WHERE later.retest = retest.id"
        "   AND later.skip = 0 AND later.id > retest_label.id)"
        " AND NOT EXISTS (SELECT 1 FROM retest_label AS newer WHERE newer.retest = retest.id"
        "   AND newer.skip = 0 AND newer.desk = retest_label.desk AND newer.revision > retest_label.revision)"
        " ORDER BY retest_label.id DESC"
    )
    return [_decision(row) for row in store.db.execute(query, {"annotator": annotator.id, "project": project.id})]


def merge_newest_first(first: list[Decision], again: list[Decision]) -> list[Decision]:
    """Both lists merged, newest first; each keeps its order. Operations of one moment are ordered by their revision."""
    if not again:
        return first
    found, waiting = [], list(again)
    for one in first:
        while waiting and (waiting[0].created, waiting[0].revision) >= (one.created, one.revision):
            found.append(waiting.pop(0))
        found.append(one)
    return found + waiting


def progress_with_retests(store: Store, project: Project, annotator: Annotator, own: OwnProgress) -> OwnProgress:
    """An annotator's progress with retests counted like other items, for the desk.

    A constant count would reveal retests. Future ones are expected at the project's share.
    """
    rows = store.db.execute(
        "SELECT pair, side, state, count(*), sum(coalesce(choice = 'accept', 0)), sum(choice IS NOT NULL) FROM retest"
        " JOIN item ON item.id = retest.item JOIN cell ON cell.id = item.cell"
        " LEFT JOIN retest_label ON retest_label.id = retest.latest"
        " WHERE retest.annotator = ? AND retest.project = ? AND (state IN ('leased', 'labelled') OR latest NOT NULL)"
        " GROUP BY cell.id, state",
        (annotator.id, project.id),
    ).fetchall()
    expected = round(project.retest * own.total) if own.labelled < own.total else 0
    if not rows and not expected:
        return own
    done = sum(row[5] for row in rows)
    handed = sum(row[3] for row in rows)
    cells = tuple(_add_retests(cell, rows) for cell in own.cells)
    total, labelled = own.total + max(handed, expected), own.labelled + done
    return OwnProgress(labelled, total, own.pace, (total - labelled) / own.pace if own.pace else None, cells)


def _add_retests(cell: CellProgress, rows: list[tuple[Any, ...]]) -> CellProgress:
    own = [row for row in rows if (row[0], row[1]) == (cell.pair, cell.side)]
    labelled, accepted = cell.labelled + sum(row[5] for row in own), cell.accepted + sum(row[4] for row in own)
    return replace(cell, labelled=labelled, accepted=accepted)


def _decision(row: tuple[Any, ...]) -> Decision:
    uid, choice, reasons, note, op_id, revision, created, superseded, extraneous, spans, tags = row[-11:]
    item: Item = replace(as_item(tuple(row[:-11])), uid=uid)
    flag = None if extraneous is None else bool(extraneous)
    marks, kept = tuple(Mark(*mark) for mark in json.loads(spans)), tuple(json.loads(reasons))
    seen = bool(superseded), False
    return Decision(item, choice, kept, note, op_id, revision, created, *seen, flag, marks, tuple(json.loads(tags)))
