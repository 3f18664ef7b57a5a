"""Who gets which item next: leases, and an order that depends on nobody else's labels.

One exception: a cell closes once its quota of accepted items is met, and what
is accepted is decided by all. Then its items are left out of the order.
"""

import json
import time
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from sqlite_utils import Database

from annotations.assignment import LONGEST_RUN, Cell, next_cell, next_stratum, other_side, phase
from annotations.items import ITEM_COLUMNS, ITEM_TABLES, LATE, as_item
from annotations.store import Store
from annotations.types import Annotator, Item, Project
from core.errors import N_, NotAllowed

LEASE_S = 600.0  # how long items stay with an annotator who is not heard of
MOST_LEASED = 200  # items that one annotator can hold
PEEK = 4  # items read ahead in a cell

# An item that this annotator has now, has labelled or has skipped is not handed out again.
NOT_MINE = (
    "NOT EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.annotator = :annotator"
    " AND assignment.state <> 'released')"
)


def claim(
    store: Store,
    project: Project,
    annotator: Annotator,
    *,
    have: Collection[str] = (),
    want: int = 40,
    now: float | None = None,
) -> list[Item]:
    """Up to *want* items for this annotator beside those that the desk *has* (public ids), in the order of work.

    First what is leased already (a reload shows the same items in the same
    order), then items that came back from others and new ones, interleaved by
    `assignment.next_cell`, at last the annotator's own skipped ones. Leases
    hold for ten minutes from *now* (unix seconds). Raises NotAllowed for
    somebody who is not an annotator of the project.
    """
    moment = time.time() if now is None else now
    with store.write() as db:
        renew_presence(db, project, annotator, moment)
        _release_absent(db, project, moment)
        if not _is_served(db, project, annotator):
            return []
        leased = _leased(db, project, annotator)
        known = set(have)
        found = [item_id for item_id, uid in leased if uid not in known][: max(0, want)]
        room = min(want - len(found), MOST_LEASED - len(leased))
        if room > 0:
            found += _Handing(db, project, annotator).fill(room)
        return _load(db, found)


def heartbeat(store: Store, project: Project, annotator: Annotator, now: float | None = None) -> None:
    """Say that the annotator is still there: leases hold for ten minutes from *now* (unix seconds)."""
    with store.write() as db:
        renew_presence(db, project, annotator, time.time() if now is None else now)


def renew_presence(db: Database, project: Project, annotator: Annotator, now: float) -> None:
    """Extend the annotator's leases, inside the caller's transaction. Raises NotAllowed for a stranger."""
    query = "UPDATE member SET seen = max(seen, ?) WHERE project = ? AND annotator = ?"
    if db.execute(query, (now + LEASE_S, project.id, annotator.id)).rowcount != 1:
        raise NotAllowed(N_("{name} is not an annotator of this project."), name=annotator.name)


def _is_served(db: Database, project: Project, annotator: Annotator) -> bool:
    """False once the project has been put away or the annotator has left: labels still arrive, no items go out."""
    query = (
        "SELECT 1 FROM member JOIN project ON project.id = member.project WHERE member.project = ?"
        " AND member.annotator = ? AND member.active = 1 AND project.archived IS NULL"
    )
    return db.execute(query, (project.id, annotator.id)).fetchone() is not None


def release(db: Database, project: Project, annotator_id: int) -> None:
    """Give back what an annotator has leased, inside the caller's transaction; labels stay where they are."""
    # Where a blind label stands, the item is still this annotator's, whatever was taken back after a reveal.
    db.execute(
        "UPDATE assignment SET state = 'released'"
        " WHERE annotator = ? AND project = ? AND state = 'leased' AND blind IS NULL",
        (annotator_id, project.id),
    )
    db.execute("UPDATE member SET seen = 0 WHERE project = ? AND annotator = ?", (project.id, annotator_id))


def _release_absent(db: Database, project: Project, now: float) -> None:
    query = "SELECT annotator FROM member WHERE project = ? AND seen > 0 AND seen < ?"
    for (absent,) in db.execute(query, (project.id, now)).fetchall():
        release(db, project, absent)


def _leased(db: Database, project: Project, annotator: Annotator) -> list[tuple[int, str]]:
    return db.execute(
        "SELECT item.id, item.uid FROM assignment JOIN item ON item.id = assignment.item"
        " WHERE assignment.annotator = ? AND assignment.project = ? AND state = 'leased' ORDER BY turn",
        (annotator.id, project.id),
    ).fetchall()


def _load(db: Database, ids: list[int]) -> list[Item]:
    marks = ", ".join("?" * len(ids))
    rows = db.execute(f"SELECT {ITEM_COLUMNS} FROM {ITEM_TABLES} WHERE item.id IN ({marks})", ids).fetchall()
    by_id = {row[0]: as_item(row) for row in rows}
    return [by_id[item_id] for item_id in ids]


@dataclass(slots=True)
class _Walk:
    """A cell of one batch and how far the annotator has walked into it."""

    batch: int
    rank: int
    ahead: deque[tuple[int, int]] = field(default_factory=deque)  # (item, rank) read but not handed out
    ended: bool = False
    moved: bool = False  # since it was read from the database


class _Handing:
    """Hands items to one annotator, inside one transaction."""

    def __init__(self, db: Database, project: Project, annotator: Annotator) -> None:
        self.db, self.project, self.annotator = db, project, annotator
        query = "SELECT turn, recent, looked FROM member WHERE project = ? AND annotator = ?"
        self.turn, recent, self.looked = db.execute(query, (project.id, annotator.id)).fetchone()
        self.recent: list[tuple[str, str]] = [(pair, side) for pair, side in json.loads(recent)]
        self.cells = self._open_cells()
        self.walks = self._open_walks()
        self.handed: set[int] = set()

    def fill(self, room: int) -> list[int]:
        """Hand out up to *room* items; returns their ids in order."""
        back = self._came_back(room)
        found: list[int] = []
        while len(found) < room and (cell := self._next()):
            item = self._draw(cell, back)
            if item is None:
                del self.cells[cell.id]
                continue
            self._lease(item, cell)
            found.append(item)
        if len(found) < room:
            found += self._skipped(room - len(found))
        self._remember(back)
        return found

    def _next(self) -> Cell | None:
        """The cell that the next item is of: sides and pairs mixed, or for generations a shuffle of all strata."""
        if self.project.kind == "generations":
            return next_stratum(self.cells.values(), self.project.seed, self.turn)
        return next_cell(self.cells.values(), self.recent)

    def _open_cells(self) -> dict[int, Cell]:
        rows = self.db.execute(
            "SELECT cell.id, pair, side, quota, coalesce(tally.handed, 0),"
            " (SELECT sum(items) FROM census WHERE cell = cell.id),"
            " (SELECT sum(items) FROM census WHERE cell = cell.id AND status = 'accepted')"
            " FROM cell LEFT JOIN tally ON tally.cell = cell.id AND tally.annotator = ? WHERE cell.project = ?",
            (self.annotator.id, self.project.id),
        )
        return {
            row_id: Cell(
                row_id, pair, side, stock if quota is None else quota, handed, 0, phase(self.project.seed, pair, side)
            )
            for row_id, pair, side, quota, handed, stock, accepted in rows
            if stock and (quota is None or (accepted or 0) < quota)
        }

    def _open_walks(self) -> dict[int, list[_Walk]]:
        rows = self.db.execute(
            "SELECT stock.cell, stock.batch, coalesce(progress.rank, -1)"
            " FROM batch JOIN stock ON stock.batch = batch.id"
            " LEFT JOIN progress ON progress.annotator = ? AND progress.batch = stock.batch"
            " AND progress.cell = stock.cell WHERE batch.project = ? AND batch.published > 0"
            " AND coalesce(progress.finished, 0) = 0 ORDER BY batch.published",
            (self.annotator.id, self.project.id),
        )
        walks: dict[int, list[_Walk]] = {}
        for cell, batch, rank in rows:
            walks.setdefault(cell, []).append(_Walk(batch, rank))
        return walks

    def _came_back(self, room: int) -> dict[int, deque[tuple[int, int]]]:
        """Items that became free again since this annotator last looked, by cell, with their number of return."""
        rows = self.db.execute(
            "SELECT cell, id, returned FROM item INDEXED BY item_returned WHERE project = :project"
            " AND returned > 0 AND returned > :looked AND taken < wanted AND aside = 0"
            f" AND {NOT_MINE} ORDER BY returned LIMIT :room",
            {"project": self.project.id, "looked": self.looked, "annotator": self.annotator.id, "room": room},
        ).fetchall()
        back: dict[int, deque[tuple[int, int]]] = {}
        for cell, item, returned in rows:
            if cell in self.cells:  # of a cell whose quota is met nobody needs more; gold.py looks again if it opens
                back.setdefault(cell, deque()).append((item, returned))
        for cell, waiting in back.items():
            self.cells[cell] = replace(self.cells[cell], waiting=len(waiting))
        # Everything up to here has been looked at, unless something of it is left over in the end.
        if len(rows) == room:
            self.looked = rows[-1][2]
        else:
            query = "SELECT returns FROM project WHERE id = ?"
            self.looked = self.db.execute(query, (self.project.id,)).fetchone()[0]
        return back

    def _draw(self, cell: Cell, back: dict[int, deque[tuple[int, int]]]) -> int | None:
        if waiting := back.get(cell.id):
            item = waiting.popleft()[0]
            self.cells[cell.id] = replace(cell, waiting=len(waiting))
            return item
        walks = self.walks.get(cell.id, [])
        for below in (LATE, 2 * LATE):
            for walk in walks:
                if (found := self._step(cell, walk, below)) is not None:
                    return found
        return None

    def _step(self, cell: Cell, walk: _Walk, below: int) -> int | None:
        """The next item of a walk whose rank is *below*."""
        while not walk.ended:
            if not walk.ahead:
                self._read_ahead(cell, walk)
            elif walk.ahead[0][1] >= below:
                return None
            else:
                item, walk.rank = walk.ahead.popleft()
                if item not in self.handed:
                    return item
        return None

    def _read_ahead(self, cell: Cell, walk: _Walk) -> None:
        rows = self.db.execute(
            "SELECT id, rank FROM item INDEXED BY item_open WHERE batch = :batch AND cell = :cell AND rank > :rank"
            f" AND taken < wanted AND aside = 0 AND {NOT_MINE} ORDER BY rank LIMIT {PEEK}",
            {"batch": walk.batch, "cell": cell.id, "rank": walk.rank, "annotator": self.annotator.id},
        ).fetchall()
        walk.ahead.extend(rows)
        walk.ended, walk.moved = not rows, True

    def _lease(self, item: int, cell: Cell) -> None:
        self.turn += 1
        self.db.execute(
            "INSERT INTO assignment (item, annotator, project, state, turn) VALUES (?, ?, ?, 'leased', ?)"
            " ON CONFLICT DO UPDATE SET state = 'leased', turn = excluded.turn",
            (item, self.annotator.id, self.project.id, self.turn),
        )
        self.handed.add(item)
        self.recent = [*self.recent, (cell.pair, cell.side)][-LONGEST_RUN:]
        if cell.id in self.cells:
            self.cells[cell.id] = replace(self.cells[cell.id], handed=cell.handed + 1)

    def _skipped(self, room: int) -> list[int]:
        """The annotator's own skipped items, oldest skip first; what was skipped twice waits for the others."""
        rows = self.db.execute(
            "SELECT id, cell, pair, side FROM (SELECT item.id, cell.id AS cell, cell.pair, cell.side, assignment.turn,"
            " row_number() OVER (PARTITION BY cell.side ORDER BY assignment.turn) AS place"
            " FROM assignment JOIN item ON item.id = assignment.item"
            " JOIN cell ON cell.id = item.cell WHERE assignment.annotator = ? AND assignment.project = ?"
            " AND state = 'skipped' AND skips < 2 AND blind IS NULL AND taken < wanted AND aside = 0"
            " AND (quota IS NULL OR quota > (SELECT coalesce(sum(items), 0) FROM census"
            " WHERE census.cell = cell.id AND status = 'accepted'))) WHERE place <= ? ORDER BY turn",
            (self.annotator.id, self.project.id, room),
        ).fetchall()
        waiting = {item: Cell(cell, pair, side, 1) for item, cell, pair, side in rows}
        found: list[int] = []
        while waiting and len(found) < room:
            cells = other_side(list(waiting.values()), self.recent) or list(waiting.values())
            item = next(item for item, cell in waiting.items() if cell in cells)
            self._lease(item, waiting.pop(item))
            found.append(item)
        return found

    def _remember(self, back: dict[int, deque[tuple[int, int]]]) -> None:
        left = [returned for waiting in back.values() for _, returned in waiting]
        self.looked = min([self.looked, *(returned - 1 for returned in left)])
        self.db.execute(
            "UPDATE member SET turn = ?, recent = ?, looked = ? WHERE project = ? AND annotator = ?",
            (self.turn, json.dumps(self.recent, ensure_ascii=False), self.looked, self.project.id, self.annotator.id),
        )
        for cell, walks in self.walks.items():
            for walk in walks:
                if walk.moved:
                    self._save(cell, walk)

    def _save(self, cell: int, walk: _Walk) -> None:
        self.db.execute(
            "INSERT INTO progress (annotator, batch, cell, rank, finished) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET rank = excluded.rank, finished = excluded.finished",
            (self.annotator.id, walk.batch, cell, walk.rank, int(walk.ended)),
        )
