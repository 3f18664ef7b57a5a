"""Progress of each pair and side: mined, reviewed, unanimous, kept, and whether the quota can be met."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.fully_labelled import LastWords, decided_before, last_words
from evenhand.annotations.labels.full_agreement import COMPARED, REVIEWED, SAME_CHOICE
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.forecast.keep_rate import Followed, stages
from evenhand.core.forecast.quota import Counted, QuotaForecast, quota_forecasts
from evenhand.core.statistics import Note

# One scan of all items; the last three sums are for the labels ahead.
ITEMS = f"""
SELECT cell.pair, cell.side, cell.quota, counted.* FROM cell LEFT JOIN (
    SELECT item.cell, count(*), sum({REVIEWED}), sum({COMPARED}), sum({{agreed}}),
        sum(item.status = 'accepted' OR (:generations AND item.status = 'rejected')),
        sum(item.status = 'pending' AND item.aside = 0), sum(item.status = 'pending' AND item.aside = 1),
        sum(iif(item.labels >= item.wanted, item.labels, 0)),
        sum(iif(item.status = 'pending' AND item.aside = 0, item.labels, 0)),
        sum(item.status = 'pending' AND item.aside = 0 AND item.labels >= item.wanted)
    FROM item NOT INDEXED WHERE item.batch IN (SELECT id FROM published_batch WHERE project = :project)
    GROUP BY item.cell
) AS counted ON counted.cell = cell.id WHERE cell.project = :project ORDER BY cell.id
"""
# The choice of the labels: the gold of an item without a settlement, else any label.
ACCEPTED_BY_ALL = (
    f"({REVIEWED} AND item.split = 0 AND iif(item.settlement IS NULL, item.gold = 'accept', EXISTS (SELECT 1"
    " FROM assignment JOIN label ON label.id = assignment.blind"
    " WHERE assignment.item = item.id AND label.choice = 'accept')))"
)
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
OWN_LABELS = 20  # with so many reviewed items, their mean number of labels is used for the rest

NO_PACE = Note(N_("Too few labels to estimate a pace: at least seven without a break are needed."))


@dataclass(frozen=True, slots=True)
class CellState:
    """One pair and side (of generations: one stratum, side "") with the forecast of its quota."""

    pair: str
    side: str
    counted: Counted
    forecast: QuotaForecast


@dataclass(frozen=True, slots=True)
class Ahead:
    """The work ahead.

    `candidates`: items that will be reviewed: all that are left, or, with a quota, as many as it is expected to need.
    `each`: labels per item: the mean over reviewed items (under `stop`: estimated label by label), or, with fewer than
    20 of them or while it is unknown, the number of the plan. `labels` = candidates x each - the labels that such items
    have already.
    """

    candidates: int
    each: float
    labels: int


def agreed_condition(project: Project) -> str:
    """Return the condition for `unanimous`: every label accepts, or all of two and more have the same choice."""
    return SAME_CHOICE if project.kind == "generations" else ACCEPTED_BY_ALL


def counted_cells(store: Store, project: Project) -> tuple[tuple[CellState, ...], Ahead]:
    """Every pair and side with items or a quota, in the order of import, and the work ahead."""
    generations = project.kind == "generations"
    query = ITEMS.format(agreed=agreed_condition(project))
    rows = store.db.execute(query, {"project": project.id, "generations": int(generations)}).fetchall()
    shown = [row for row in rows if row[4] or row[2] is not None]
    numbers = [[value or 0 for value in row[4:]] for row in shown]
    back = [one for one in last_words(store, project) if one.waits]
    again = decided_before(back, generations)
    found = {
        (row[0], row[1]): Counted(row[2], *[*counts[:7], *again.get((row[0], row[1]), ())])
        for row, counts in zip(shown, numbers, strict=True)
    }
    stopped = followed_by_cell(store, project, back) if project.plan == "stop" else None
    forecasts = quota_forecasts(found, stopped)
    cells = tuple(CellState(*cell, counted, forecasts[cell]) for cell, counted in found.items())
    return cells, _ahead(project, cells, [counts[7:] for counts in numbers], stopped)


def _ahead(
    project: Project,
    cells: tuple[CellState, ...],
    sums: list[list[int]],
    stopped: Mapping[tuple[str, str], Followed] | None,
) -> Ahead:
    reviewed = sum(cell.counted.reviewed for cell in cells)
    made = sum(row[0] for row in sums)
    each = made / reviewed if reviewed >= OWN_LABELS else _planned(project, cells)
    if stopped and reviewed >= OWN_LABELS:  # rejected items finish first, with few labels; those of a pilot have many
        first, *others = stopped.values()
        each = sum(others, first).labels(project.per_item, project.share) or float(project.per_item)
    candidates, labels = 0, 0.0
    for cell, (_made, there, waiting) in zip(cells, sums, strict=True):
        left, needed = cell.counted.left - waiting, cell.forecast.needed.value  # items with all their labels need none
        if cell.forecast.missing is not None and needed is not None:
            left = min(left, round(needed))
        share = left / cell.counted.left if cell.counted.left else 0.0
        candidates += left
        labels += max(0.0, left * each - there * share)
    return Ahead(candidates, each, round(labels))


def _planned(project: Project, cells: tuple[CellState, ...]) -> float:
    """Mean number of labels of an item under the project's settings."""
    if project.doubled is None:
        return float(project.per_item)
    items = sum(cell.counted.mined for cell in cells)
    return 1 + (project.per_item - 1) * min(1.0, project.doubled / items) if items else 1.0


def followed_by_cell(
    store: Store, project: Project, returned: Iterable[LastWords] = ()
) -> Mapping[tuple[str, str], Followed]:
    """Return (pair, side) -> how many items passed each label under the plan `stop`; only cells with a label.

    *returned*: items in relabelling, by their former labels.
    """
    rows: dict[tuple[str, str], tuple[list[tuple[int, str, int]], list[tuple[int, str, int]]]] = {}
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
