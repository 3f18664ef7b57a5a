"""Chooses and leases the next items of an annotator: a walk through each cell, returned items, skipped ones last."""

import json
from collections import deque
from dataclasses import dataclass, field, replace
from sqlite3 import Connection

from evenhand.annotations.items.batch import LATE
from evenhand.annotations.items.returned import set_looked
from evenhand.annotations.queue.assignments import lease
from evenhand.annotations.queue.order import LONGEST_RUN, Cell, next_cell, next_stratum, phase, within_longest_run
from evenhand.annotations.types import Annotator, Project

# An item that this annotator has now, has labelled or has skipped is not handed out again.
_OPEN_ITEMS = """
SELECT item.cell, pair, side, item.id FROM {source} JOIN cell ON cell.id = item.cell
WHERE {drawn} AND taken < wanted AND aside = 0
    AND item.batch IN (SELECT id FROM published_batch)
    AND NOT EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.annotator = :annotator
                    AND assignment.state <> 'released')
ORDER BY item.rank
"""
_OF_PILOT = _OPEN_ITEMS.format(source="item INDEXED BY item_pilot", drawn="item.pilot = :of")
_OF_SAMPLE = _OPEN_ITEMS.format(
    source="inclusion JOIN item ON item.id = inclusion.item", drawn="inclusion.sample = :of AND inclusion.drawn = 1"
)


def open_sample_id(db: Connection, project: Project) -> int | None:
    """The row id of the sample that is open in a project, if one is."""
    row = db.execute("SELECT id FROM open_sample WHERE project = ?", (project.id,)).fetchone()
    return None if row is None else int(row[0])


def open_pilot_id(db: Connection, project: Project) -> int | None:
    """The row id of the pilot that is open in a project, if one is."""
    row = db.execute("SELECT id FROM open_pilot WHERE project = ?", (project.id,)).fetchone()
    return None if row is None else int(row[0])


def drawn_stock(
    db: Connection, project: Project, annotator: Annotator, query: str, of: int
) -> tuple[dict[int, Cell], dict[int, deque[tuple[int, int]]]]:
    """Cells with items of a pilot or a sample for this annotator, and these items in the order of ranks.

    Quotas do not matter: a pilot or a sample is labelled as it was drawn. The return number of each item is 0.
    """
    items: dict[int, deque[tuple[int, int]]] = {}
    names: dict[int, tuple[str, str]] = {}
    for cell, pair, side, item in db.execute(query, {"of": of, "annotator": annotator.id}):
        items.setdefault(cell, deque()).append((item, 0))
        names[cell] = (pair, side)
    cells = {
        cell: Cell(cell, *names[cell], len(waiting), 0, len(waiting), phase(project.seed, *names[cell]))
        for cell, waiting in items.items()
    }
    return cells, items


PEEK = 4  # items read ahead in a cell

# An item that this annotator has now, has labelled or has skipped is not handed out again.
NOT_MINE = (
    "NOT EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.annotator = :annotator"
    " AND assignment.state <> 'released')"
)

# A returned item is offered only to annotators whose walk has passed it. Others meet it in their own order: otherwise
# a skip of one annotator would change the order in which others see items.
ALREADY_PASSED = (
    "AND EXISTS (SELECT 1 FROM progress WHERE progress.annotator = :annotator AND progress.batch = item.batch"
    " AND progress.cell = item.cell AND (finished = 1 OR progress.rank >= item.rank))"
)


@dataclass(slots=True)
class _Walk:
    """A cell of one batch and the annotator's position in it."""

    batch: int
    rank: int
    ahead: deque[tuple[int, int]] = field(default_factory=deque)  # (item, rank) read, not handed out
    ended: bool = False
    moved: bool = False  # since the read from the database


class Handout:
    """Hands out items to one annotator, inside one transaction."""

    def __init__(self, db: Connection, project: Project, annotator: Annotator, pilot: int | None) -> None:
        self.db, self.project, self.annotator, self.pilot = db, project, annotator, pilot
        self.sample = open_sample_id(db, project) if pilot is None else None
        query = "SELECT turn, recent, looked FROM member WHERE project = ? AND annotator = ?"
        self.turn, recent, self.looked = db.execute(query, (project.id, annotator.id)).fetchone()
        self.recent: list[tuple[str, str]] = [(pair, side) for pair, side in json.loads(recent)]
        self.cells = self._open_cells()
        self.walks = self._open_walks()
        self.handed: set[int] = set()
        query = "SELECT plan, per_item FROM project WHERE id = ?"  # the caller's project may be outdated
        plan, self.per_item = db.execute(query, (project.id,)).fetchone()
        self.mixed = plan == "stop"
        # Everybody walks in the same order. Under `stop` slower annotators would meet long runs of items that the
        # others accepted. So the walk skips these, and `_came_back` finds them.
        self.unseen = "AND returned <= :looked" if self.mixed else ""
        self.before = self.looked
        self.walked: set[int] = set()  # cells whose walk has ended

    def fill(self, room: int) -> list[int]:
        """Lease up to *room* items; returns their ids in order."""
        if self.pilot is not None:
            back = self._drawn_items(_OF_PILOT, self.pilot)
        elif self.sample is not None:
            back = self._drawn_items(_OF_SAMPLE, self.sample)
        else:
            back = self._came_back(room)
        found: list[int] = []
        while len(found) < room and (cell := self._next()):
            item = self._draw(cell, back)
            if item is None:
                self._spent(cell)
                continue
            self._lease(item, cell)
            found.append(item)
        if len(found) < room:
            found += self._skipped(room - len(found))
        self._remember(back if self.pilot is None and self.sample is None else {})
        return found

    def _drawn_items(self, query: str, of: int) -> dict[int, deque[tuple[int, int]]]:
        """While a pilot or a sample is open: its items and no others."""
        self.cells, items = drawn_stock(self.db, self.project, self.annotator, query, of)
        self.walks = {}
        return items

    def _next(self) -> Cell | None:
        """The cell of the next item: sides and pairs mixed, or for generations a shuffle of all strata."""
        if self.project.kind == "generations":
            return next_stratum(self.cells.values(), self.project.seed, self.turn)
        return next_cell(self._unseen() or self.cells.values(), self.recent)

    def _unseen(self) -> list[Cell]:
        """Under `stop`, if the next item is to come from the walk: the cells that may have one; else none.

        Under `stop` a returned item was accepted by somebody. A coin that depends on the seed and this annotator's own
        count mixes them with others, so that they come neither in a block nor at once. Its probability is the share
        that returned items would have if everybody accepted everything, so that none pile up at the end.
        """
        if not self.mixed or phase(self.project.seed, str(self.turn), "coin") * self.per_item >= 1:
            return []
        return [replace(cell, waiting=0) for cell in self.cells.values() if cell.id not in self.walked]

    def _spent(self, cell: Cell) -> None:
        """The cell has no item left; under `stop` a returned one may still be waiting."""
        self.walked.add(cell.id)
        if not self.cells[cell.id].waiting:
            del self.cells[cell.id]

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
            " FROM published_batch AS batch JOIN stock ON stock.batch = batch.id"
            " LEFT JOIN progress ON progress.annotator = ? AND progress.batch = stock.batch"
            " AND progress.cell = stock.cell WHERE batch.project = ?"
            " AND coalesce(progress.finished, 0) = 0 ORDER BY batch.published",
            (self.annotator.id, self.project.id),
        )
        walks: dict[int, list[_Walk]] = {}
        for cell, batch, rank in rows:
            walks.setdefault(cell, []).append(_Walk(batch, rank))
        return walks

    def _came_back(self, room: int) -> dict[int, deque[tuple[int, int]]]:
        """Items returned since this annotator last looked, by cell, with their return numbers.

        Under `stop` also those ahead of this annotator's walk: see `_unseen`.
        """
        rows = self.db.execute(
            "SELECT cell, id, returned FROM item INDEXED BY item_returned WHERE project = :project"
            " AND returned > 0 AND returned > :looked AND taken < wanted AND aside = 0"
            " AND EXISTS (SELECT 1 FROM published_batch WHERE published_batch.id = item.batch)"
            f" AND {NOT_MINE} {'' if self.mixed else ALREADY_PASSED} ORDER BY returned LIMIT :room",
            {"project": self.project.id, "looked": self.looked, "annotator": self.annotator.id, "room": room},
        ).fetchall()
        back: dict[int, deque[tuple[int, int]]] = {}
        for cell, item, returned in rows:
            if (
                cell in self.cells
            ):  # a cell with a met quota is closed; annotations/items/gold.py offers its items again if it opens
                back.setdefault(cell, deque()).append((item, returned))
        for cell, waiting in back.items():
            self.cells[cell] = replace(self.cells[cell], waiting=len(waiting))
        # Everything up to here counts as seen, unless some of it is left over at the end.
        if len(rows) == room:
            self.looked = rows[-1][2]
        else:
            query = "SELECT returns FROM project WHERE id = ?"
            self.looked = self.db.execute(query, (self.project.id,)).fetchone()[0]
        return back

    def _draw(self, cell: Cell, back: dict[int, deque[tuple[int, int]]]) -> int | None:
        waiting = back[cell.id] if cell.waiting else deque()
        while waiting:
            item = waiting.popleft()[0]
            self.cells[cell.id] = replace(cell, waiting=len(waiting))
            if item not in self.handed:  # the walk may have handed it out already
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
            f" AND taken < wanted AND aside = 0 {self.unseen} AND {NOT_MINE} ORDER BY rank LIMIT {PEEK}",
            {
                "batch": walk.batch, "cell": cell.id, "rank": walk.rank, "annotator": self.annotator.id,
                "looked": self.before,
            },
        ).fetchall()  # fmt: skip
        walk.ahead.extend(rows)
        walk.ended, walk.moved = not rows, True

    def _lease(self, item: int, cell: Cell) -> None:
        self.turn += 1
        lease(self.db, self.project.id, self.annotator.id, item, self.turn)
        self.handed.add(item)
        self.recent = [*self.recent, (cell.pair, cell.side)][-LONGEST_RUN:]
        if cell.id in self.cells:
            self.cells[cell.id] = replace(self.cells[cell.id], handed=cell.handed + 1)

    def _skipped(self, room: int) -> list[int]:
        """The annotator's own skipped items, oldest skip first; items skipped twice are left to others."""
        rows = self.db.execute(
            "SELECT id, cell, pair, side FROM (SELECT item.id, cell.id AS cell, cell.pair, cell.side, assignment.turn,"
            " row_number() OVER (PARTITION BY cell.side ORDER BY assignment.turn) AS place"
            " FROM assignment JOIN item ON item.id = assignment.item"
            " JOIN cell ON cell.id = item.cell"
            " WHERE assignment.annotator = :annotator AND assignment.project = :project"
            " AND state = 'skipped' AND skips < 2 AND blind IS NULL AND taken < wanted AND aside = 0"
            " AND (:pilot IS NULL OR item.pilot = :pilot)"
            " AND (:sample IS NULL OR EXISTS (SELECT 1 FROM drawn_item AS drawn WHERE drawn.item = item.id"
            " AND drawn.sample = :sample))"
            " AND (quota IS NULL OR :pilot IS NOT NULL OR :sample IS NOT NULL"
            " OR quota > (SELECT coalesce(sum(items), 0) FROM census"
            " WHERE census.cell = cell.id AND status = 'accepted'))) WHERE place <= :room ORDER BY turn",
            {"annotator": self.annotator.id, "project": self.project.id, "room": room, "pilot": self.pilot,
             "sample": self.sample},
        ).fetchall()  # fmt: skip
        waiting = {item: Cell(cell, pair, side, 1) for item, cell, pair, side in rows}
        found: list[int] = []
        while waiting and len(found) < room:
            cells = within_longest_run(list(waiting.values()), self.recent) or list(waiting.values())
            item = next(item for item, cell in waiting.items() if cell in cells)
            self._lease(item, waiting.pop(item))
            found.append(item)
        return found

    def _remember(self, back: dict[int, deque[tuple[int, int]]]) -> None:
        left = [returned for waiting in back.values() for item, returned in waiting if item not in self.handed]
        self.looked = min([self.looked, *(returned - 1 for returned in left)])
        if self.looked != self.before:
            set_looked(self.db, self.project.id, self.annotator.id, self.looked)
        self.db.execute(
            "UPDATE member SET turn = ?, recent = ? WHERE project = ? AND annotator = ?",
            (self.turn, json.dumps(self.recent, ensure_ascii=False), self.project.id, self.annotator.id),
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
