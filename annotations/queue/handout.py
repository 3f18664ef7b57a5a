"""Choose and lease the next items of an annotator: a walk through each cell, returned items, skipped ones last.

The order of cells is a pure function of the annotator's own counts.
"""

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from sqlite3 import Connection

from evenhand.annotations.database.store import update_rows
from evenhand.annotations.items.batch import LATE
from evenhand.annotations.items.changes import set_looked
from evenhand.annotations.queue.assignments import Leased, lease
from evenhand.annotations.types import Annotator, Project

LONGEST_RUN = 3  # of one side in a row, while the other side still has items
PEEK = 4  # items read ahead in a cell

# An item that this annotator has now, has labelled or has skipped is not handed out again.
NOT_MINE = (
    "NOT EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.annotator = :annotator"
    " AND assignment.state <> 'released')"
)
# Quotas do not matter here: a pilot or a sample is labelled as it was drawn.
_DRAWN = f"""
SELECT item.cell, pair, side, item.id FROM {{source}} JOIN cell ON cell.id = item.cell
WHERE {{drawn}} AND taken < wanted AND aside = 0 AND item.batch IN (SELECT id FROM published_batch) AND {NOT_MINE}
ORDER BY item.rank
"""
_OF_PILOT = _DRAWN.format(source="item INDEXED BY item_pilot", drawn="item.pilot = :of")
_OF_SAMPLE = _DRAWN.format(
    source="inclusion JOIN item ON item.id = inclusion.item", drawn="inclusion.sample = :of AND inclusion.drawn = 1"
)
# A returned item is offered only to annotators whose walk has passed it. Others meet it in their own order: otherwise
# a skip of one annotator would change the order in which others see items.
ALREADY_PASSED = (
    "AND EXISTS (SELECT 1 FROM progress WHERE progress.annotator = :annotator AND progress.batch = item.batch"
    " AND progress.cell = item.cell AND (finished = 1 OR progress.rank >= item.rank))"
)


_WALKED = (
    "INSERT INTO progress (annotator, batch, cell, rank, finished) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET rank = excluded.rank, finished = excluded.finished"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as one annotator sees it.

    `weight`: the quota, or the stock of a cell without one; `handed`: how many items this annotator has got; `waiting`:
    how many returned items it has. `phase`, 0 to 1, is drawn from the seed and breaks ties.
    """

    id: int
    pair: str
    side: str
    weight: int
    handed: int = 0
    waiting: int = 0
    phase: float = 0.0

    @property
    def share_handed(self) -> float:
        """The share of the cell's weight that this annotator has been given."""
        return (self.handed + self.phase) / self.weight if self.weight else float("inf")


def phase(seed: int, pair: str, side: str) -> float:
    """Return a number from 0 to 1 that depends only on the seed and the cell's name."""
    digest = hashlib.blake2b(f"{seed}|{pair}|{side}".encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


def next_cell(cells: Iterable[Cell], recent: Sequence[tuple[str, str]]) -> Cell | None:
    """Choose the next cell; None if no cell is left.

    *cells*: those that may have items left; *recent*: the (pair, side) of the last items, oldest first. Never more than
    three of one side in a row while the other side is among the cells; not the same pair twice in a row while there is
    another; cells with returned items first; then the lowest share of the quota.
    """
    left = list(cells)
    left = within_longest_run(left, recent) or left
    left = [cell for cell in left if not recent or cell.pair != recent[-1][0]] or left
    return min(left, key=lambda cell: (cell.waiting == 0, cell.share_handed, cell.phase, cell.id), default=None)


def next_stratum(cells: Iterable[Cell], seed: int, turn: int) -> Cell | None:
    """Choose the next cell of a project of generations; None if no cell is left.

    Cells with returned items come first; then the choice is random, with the probability of the cell's share of the
    remaining items. So the order is that of a shuffle of all items and reveals no model or pronoun. The draw depends
    only on the seed and on *turn*, the annotator's own count.
    """
    left = sorted(cells, key=lambda cell: cell.id)
    returned = [cell for cell in left if cell.waiting]
    chosen = returned or left
    weights = [max(1, cell.waiting if returned else cell.weight - cell.handed) for cell in chosen]
    point = phase(seed, str(turn), "turn") * sum(weights)
    for cell, weight in zip(chosen, weights, strict=True):
        point -= weight
        if point < 0:
            return cell
    return chosen[-1] if chosen else None


def within_longest_run(cells: Sequence[Cell], recent: Sequence[tuple[str, str]]) -> list[Cell]:
    """Return the *cells* whose side would not be the fourth of its kind in a row; perhaps none."""
    run = [side for _, side in recent[-LONGEST_RUN:]]
    if len(run) < LONGEST_RUN or len(set(run)) > 1 or not run[0]:
        return list(cells)
    return [cell for cell in cells if cell.side != run[0]]


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

    def __init__(
        self, db: Connection, project: Project, annotator: Annotator, pilot: int | None, sample: int | None
    ) -> None:
        self.db, self.project, self.annotator = db, project, annotator
        self.pilot, self.sample = pilot, sample if pilot is None else None
        query = (  # the caller's project may be outdated
            "SELECT turn, recent, looked, plan, per_item, returns FROM member"
            " JOIN project ON project.id = member.project WHERE project = ? AND annotator = ?"
        )
        row = db.execute(query, (project.id, annotator.id)).fetchone()
        self.turn, recent, self.looked, plan, self.per_item, self.returns = row
        self.recent: list[tuple[str, str]] = [(pair, side) for pair, side in json.loads(recent)]
        self.leased: list[Leased] = []
        self.handed: set[int] = set()
        self.mixed = plan == "stop"
        # Everybody walks in the same order. Under `stop` slower annotators would meet long runs of items that the
        # others accepted. So the walk skips these, and `_came_back` finds them.
        self.unseen = "AND returned <= :looked" if self.mixed else ""
        self.before = self.looked
        self.cells: dict[int, Cell] = {}
        self.walks: dict[int, list[_Walk]] = {}
        self.walked: set[int] = set()  # cells whose walk has ended

    def fill(self, room: int) -> list[Leased]:
        """Lease up to *room* items; return them in order."""
        back = self._stock(room)
        while len(self.leased) < room and (cell := self._next()):
            item = self._draw(cell, back)
            if item is None:
                self._spent(cell)
            else:
                self._take(item, cell)
        if len(self.leased) < room:
            self._take_skipped(room - len(self.leased))
        self._remember(back)
        lease(self.db, self.project.id, self.annotator.id, self.leased)
        return self.leased

    def _stock(self, room: int) -> dict[int, deque[tuple[int, int]]]:
        """Read the open cells; return the items of an open pilot or sample, else those that came back, by cell."""
        if self.pilot is not None:
            return self._drawn_items(_OF_PILOT, self.pilot)
        if self.sample is not None:
            return self._drawn_items(_OF_SAMPLE, self.sample)
        self.cells, self.walks = self._open_cells(), self._open_walks()
        return self._came_back(room)

    def _drawn_items(self, query: str, of: int) -> dict[int, deque[tuple[int, int]]]:
        """Return the items of an open pilot or sample by cell, in the order of ranks; others are not handed out."""
        items: dict[int, deque[tuple[int, int]]] = {}
        names: dict[int, tuple[str, str]] = {}
        for cell, pair, side, item in self.db.execute(query, {"of": of, "annotator": self.annotator.id}):
            items.setdefault(cell, deque()).append((item, 0))
            names[cell] = (pair, side)
        self.cells = {
            cell: Cell(cell, *names[cell], len(waiting), 0, len(waiting), phase(self.project.seed, *names[cell]))
            for cell, waiting in items.items()
        }
        return items

    def _next(self) -> Cell | None:
        """Return the cell of the next item: sides and pairs mixed, or for generations a shuffle of all strata."""
        if self.project.kind == "generations":
            return next_stratum(self.cells.values(), self.project.seed, self.turn)
        return next_cell(self._unseen() or self.cells.values(), self.recent)

    def _unseen(self) -> list[Cell]:
        """Return the cells that may have a new item, if the walk gives the next item under `stop`; else none.

        Under `stop` a returned item was accepted by another annotator. A coin that depends on the seed and this
        annotator's own count mixes returned items with others, so that they come neither in a block nor at once. Its
        probability is the share that returned items would have if all annotators accepted everything, so that none pile
        up at the end.
        """
        if not self.mixed or phase(self.project.seed, str(self.turn), "coin") * self.per_item >= 1:
            return []
        return [replace(cell, waiting=0) for cell in self.cells.values() if cell.id not in self.walked]

    def _spent(self, cell: Cell) -> None:
        """Note that the cell has no item left; under `stop` a returned one may still wait."""
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
        """Return items returned since this annotator last looked, by cell, with their return numbers.

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
            if cell in self.cells:  # one with a met quota is closed; items/gold.py offers its items again if it opens
                back.setdefault(cell, deque()).append((item, returned))
        for cell, waiting in back.items():
            self.cells[cell] = replace(self.cells[cell], waiting=len(waiting))
        # Everything up to here counts as seen, unless some of it is left over at the end.
        self.looked = rows[-1][2] if len(rows) == room else self.returns
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
                if (result := self._step(cell, walk, below)) is not None:
                    return result
        return None

    def _step(self, cell: Cell, walk: _Walk, below: int) -> int | None:
        """Return the next item of a walk whose rank is *below*."""
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

    def _take(self, item: int, cell: Cell) -> None:
        self.turn += 1
        self.leased.append(Leased(self.turn, item))
        self.handed.add(item)
        self.recent = [*self.recent, (cell.pair, cell.side)][-LONGEST_RUN:]
        if cell.id in self.cells:
            self.cells[cell.id] = replace(self.cells[cell.id], handed=cell.handed + 1)

    def _take_skipped(self, room: int) -> None:
        """Take the annotator's own skipped items, oldest skip first; items skipped twice are left to others."""
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
        for _ in range(min(room, len(waiting))):
            cells = within_longest_run(list(waiting.values()), self.recent) or list(waiting.values())
            item = next(item for item, cell in waiting.items() if cell in cells)
            self._take(item, waiting.pop(item))

    def _remember(self, back: dict[int, deque[tuple[int, int]]]) -> None:
        """Store where this annotator is; of an open pilot or sample, *back* does not count as returned."""
        if self.pilot is None and self.sample is None:
            left = [returned for waiting in back.values() for item, returned in waiting if item not in self.handed]
            self.looked = min([self.looked, *(returned - 1 for returned in left)])
        if self.looked != self.before:
            set_looked(self.db, self.project.id, self.annotator.id, self.looked)
        recent = json.dumps(self.recent, ensure_ascii=False)
        me = self.annotator.id
        update_rows(self.db, "member", {"turn": self.turn, "recent": recent}, project=self.project.id, annotator=me)
        moved = [
            (me, walk.batch, cell, walk.rank, walk.ended)
            for cell, walks in self.walks.items()
            for walk in walks
            if walk.moved
        ]
        self.db.executemany(_WALKED, moved)
