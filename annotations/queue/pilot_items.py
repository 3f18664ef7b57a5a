"""What the queue hands out while a pilot is open: the pilot's items and no others."""

from collections import deque
from sqlite3 import Connection

from annotations.queue.order import Cell, phase
from annotations.types import Annotator, Project

# An item that this annotator has now, has labelled or has skipped is not handed out again.
_WAITING = """
SELECT item.cell, pair, side, item.id FROM item INDEXED BY item_pilot JOIN cell ON cell.id = item.cell
WHERE item.pilot = :pilot AND taken < wanted AND aside = 0
    AND item.batch IN (SELECT id FROM published_batch)
    AND NOT EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.annotator = :annotator
                    AND assignment.state <> 'released')
ORDER BY item.rank
"""


def open_pilot_id(db: Connection, project: Project) -> int | None:
    """The row id of the pilot that is open in a project, if one is."""
    row = db.execute("SELECT id FROM open_pilot WHERE project = ?", (project.id,)).fetchone()
    return None if row is None else int(row[0])


def pilot_stock(
    db: Connection, project: Project, annotator: Annotator, pilot: int
) -> tuple[dict[int, Cell], dict[int, deque[tuple[int, int]]]]:
    """Cells with items of the pilot for this annotator, and their items in the order of their ranks; quotas are no
    matter: a pilot is labelled as it was drawn. The number beside each item is 0: it came back from nobody."""
    items: dict[int, deque[tuple[int, int]]] = {}
    names: dict[int, tuple[str, str]] = {}
    for cell, pair, side, item in db.execute(_WAITING, {"pilot": pilot, "annotator": annotator.id}):
        items.setdefault(cell, deque()).append((item, 0))
        names[cell] = (pair, side)
    cells = {
        cell: Cell(cell, *names[cell], len(waiting), 0, len(waiting), phase(project.seed, *names[cell]))
        for cell, waiting in items.items()
    }
    return cells, items
