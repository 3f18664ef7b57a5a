"""Read from the database how many items passed each label under the plan `stop` (`core.forecast.keep_rate`)."""

from collections.abc import Iterable, Mapping

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.sent_back import LastWords
from evenhand.annotations.types import Project
from evenhand.core.forecast.keep_rate import Followed, stages

Cell = tuple[str, str]

# A scan in row order is twice as fast as by an index.
LABELLED = """
SELECT pair, side, full, labels, status, items FROM cell JOIN (
    SELECT cell, shared OR pilot IS NOT NULL OR known IS NOT NULL AS full, labels, status, count(*) AS items
    FROM item NOT INDEXED WHERE labels > 0 AND batch IN (SELECT id FROM published_batch WHERE project = ?)
    GROUP BY cell, full, labels, status
) AS counted ON counted.cell = cell.id
"""

# Items with labels after a first reject under `stop`: the number of labels up to it, and the number now.
LATER = """
SELECT pair, side, first, labels, count(*) FROM cell JOIN (
    SELECT item.cell AS cell, item.labels AS labels, (
        SELECT count(*) FROM assignment WHERE assignment.item = item.id AND blind <= (
            SELECT min(blind) FROM assignment JOIN label ON label.id = blind
            WHERE assignment.item = item.id AND choice = 'reject')) AS first
    FROM item WHERE labels > 1 AND status = 'rejected' AND shared = 0 AND pilot IS NULL AND known IS NULL
        AND batch IN (SELECT id FROM published_batch WHERE project = ?)
) AS rejected ON rejected.cell = cell.id WHERE first BETWEEN 1 AND labels - 1 GROUP BY cell.id, first, labels
"""


def followed_by_cell(store: Store, project: Project, returned: Iterable[LastWords] = ()) -> Mapping[Cell, Followed]:
    """(pair, side) -> its stages, if it has a label. *returned*: items in relabelling, by their former labels."""
    rows: dict[Cell, tuple[list[tuple[int, str, int]], list[tuple[int, str, int]]]] = {}
    for pair, side, full, labels, status, items in store.db.execute(LABELLED, (project.id,)):
        rows.setdefault((pair, side), ([], []))[full].append((labels, status, items))
    if any((each.data.get("old") or {}).get("plan") == "all" for each in events(store, project, action="plan")):
        for pair, side, first, labels, items in store.db.execute(LATER, (project.id,)):
            rows[pair, side][False].extend([(labels, "rejected", -items), (first, "rejected", items)])
    for one in returned:
        full = one.terms.shared or one.terms.pilot is not None or one.terms.known
        as_it_stands, as_was_said = (one.labels, one.status, -1), (len(one.choices), one.outcome, 1)
        rows.setdefault((one.pair, one.side), ([], []))[full].extend([as_it_stands, as_was_said])
    return {cell: Followed(*(stages(project.per_item, part) for part in found)) for cell, found in rows.items()}
