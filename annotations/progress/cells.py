"""Progress of each pair and side: mined, reviewed, unanimous, kept, the quota, and the funnel to the set."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.fully_labelled import LastWords, decided_before, ended_at_reject, last_words
from evenhand.annotations.items.batch import PUBLISHED
from evenhand.annotations.items.provenance import COUNTED, Facts, mined_runs
from evenhand.annotations.labels.blind_labels import COMPARED, REVIEWED, SAME_CHOICE, population_labels
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.files.display_paths import origin
from evenhand.core.forecast.quota import Counted, Followed, QuotaForecast, quota_forecasts, stages
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.posterior import share_of_rows
from evenhand.core.statistics.units import units_of_sources

# One scan of all items, for counts by pair and side and for the labels ahead.
ITEMS = f"""
SELECT cell.pair, cell.side, cell.quota, counted.* FROM cell LEFT JOIN (
    SELECT item.cell, count(*) AS mined, sum(item.labels > 0) AS labelled, sum({REVIEWED}) AS reviewed,
        sum({COMPARED}) AS compared, sum({{agreed}}) AS unanimous, sum(item.status = 'accepted') AS accepted,
        sum(item.status = 'rejected') AS rejected, sum(item.status = 'pending' AND item.aside = 0) AS left,
        sum(item.status = 'pending' AND item.aside = 1) AS aside, sum(item.split) AS split,
        sum(item.settlement IS NOT NULL) AS settled,
        sum(iif(item.labels >= item.wanted, item.labels, 0)) AS labels_made,
        sum(iif(item.status = 'pending' AND item.aside = 0, item.labels, 0)) AS labels_there,
        sum(item.status = 'pending' AND item.aside = 0 AND item.labels >= item.wanted) AS waiting
    FROM item NOT INDEXED WHERE {PUBLISHED} GROUP BY item.cell
) AS counted ON counted.cell = cell.id WHERE cell.project = :project ORDER BY cell.id
"""
# The choice of the labels: the gold of an item without a settlement, else any label.
ACCEPTED_BY_ALL = (
    f"({REVIEWED} AND item.split = 0 AND iif(item.settlement IS NULL, item.gold = 'accept', EXISTS (SELECT 1"
    " FROM assignment JOIN label ON label.id = assignment.blind"
    " WHERE assignment.item = item.id AND label.choice = 'accept')))"
)
# A scan in row order is twice as fast as by an index.
LABELLED = f"""
SELECT pair, side, full, labels, status, items FROM cell JOIN (
    SELECT cell, shared OR pilot IS NOT NULL OR known IS NOT NULL AS full, labels, status, count(*) AS items
    FROM item NOT INDEXED WHERE labels > 0 AND {PUBLISHED}
    GROUP BY cell, full, labels, status
) AS counted ON counted.cell = cell.id
"""

# Items with labels after a first reject under `stop`: the number of labels up to it, and the number now.
LATER = f"""
SELECT pair, side, first, labels, count(*) FROM cell JOIN (
    SELECT item.cell AS cell, item.labels AS labels, (
        SELECT count(*) FROM assignment WHERE assignment.item = item.id AND blind <= (
            SELECT min(blind) FROM assignment JOIN label ON label.id = blind
            WHERE assignment.item = item.id AND choice = 'reject')) AS first
    FROM item WHERE labels > 1 AND status = 'rejected' AND shared = 0 AND pilot IS NULL AND known IS NULL
        AND {PUBLISHED}
) AS rejected ON rejected.cell = cell.id WHERE first BETWEEN 1 AND labels - 1 GROUP BY cell.id, first, labels
"""
OWN_LABELS = 20  # with so many reviewed items, their mean number of labels is used for the rest

NO_PACE = Note(N_("Too few labels to estimate a pace: at least seven without a break are needed."))


def reviewed_of_pilot(store: Store, pilot: int) -> list[tuple[int, bool]]:
    """Return the items (row ids) of a pilot with all their labels, and whether every label accepts each."""
    query = f"SELECT item.id, {ACCEPTED_BY_ALL} FROM published_item AS item WHERE item.pilot = ? AND {REVIEWED}"
    return [(item, bool(accepted)) for item, accepted in store.db.execute(query, (pilot,))]


class CellCounts(NamedTuple):
    """Numbers of items of one pair and side, from the conditions of `ITEMS`; the last three are numbers of labels and
    of items with all their labels that wait for a decision."""

    pair: str
    side: str
    quota: int | None
    cell: int | None
    mined: int
    labelled: int
    reviewed: int
    compared: int
    unanimous: int
    accepted: int
    rejected: int
    left: int
    aside: int
    split: int
    settled: int
    labels_made: int
    labels_there: int
    waiting: int


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
    """Return every pair and side with items or a quota, in the order of import, and the work ahead."""
    generations = project.kind == "generations"
    shown = [row for row in cell_counts(store, project) if row.mined or row.quota is not None]
    back = [words for words in last_words(store, project) if words.waits]
    again = decided_before(back, generations)
    values = {
        (row.pair, row.side): Counted(
            row.quota, row.mined, row.reviewed, row.compared, row.unanimous,
            row.accepted + (row.rejected if generations else 0), row.left, row.aside,
            *again.get((row.pair, row.side), ()),
        )
        for row in shown
    }  # fmt: skip
    stopped = followed_by_cell(store, project, back) if project.plan == "stop" else None
    forecasts = quota_forecasts(values, stopped)
    cells = tuple(CellState(*cell, counted, forecasts[cell]) for cell, counted in values.items())
    return cells, _ahead(project, cells, shown, stopped)


def cell_counts(store: Store, project: Project) -> list[CellCounts]:
    """Count the items of each pair and side, in one scan."""
    rows = store.db.execute(ITEMS.format(agreed=agreed_condition(project)), {"project": project.id})
    return [
        CellCounts(pair, side, quota, cell, *(number or 0 for number in numbers))
        for pair, side, quota, cell, *numbers in rows
    ]


def _ahead(
    project: Project,
    cells: tuple[CellState, ...],
    counts: Sequence[CellCounts],
    stopped: Mapping[tuple[str, str], Followed] | None,
) -> Ahead:
    reviewed = sum(cell.counted.reviewed for cell in cells)
    made = sum(row.labels_made for row in counts)
    each = made / reviewed if reviewed >= OWN_LABELS else _planned(project, cells)
    if stopped and reviewed >= OWN_LABELS:  # rejected items finish first, with few labels; those of a pilot have many
        first, *others = stopped.values()
        each = sum(others, first).labels(project.per_item, project.share) or float(project.per_item)
    candidates, labels = 0, 0.0
    for cell, row in zip(cells, counts, strict=True):
        left, needed = (
            cell.counted.left - row.waiting,
            cell.forecast.needed.value,
        )  # items with all their labels need none
        if cell.forecast.missing is not None and needed is not None:
            left = min(left, round(needed))
        share = left / cell.counted.left if cell.counted.left else 0.0
        candidates += left
        labels += max(0.0, left * each - row.labels_there * share)
    return Ahead(candidates, each, round(labels))


def _planned(project: Project, cells: tuple[CellState, ...]) -> float:
    """Return the mean number of labels of an item under the project's settings."""
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
    for pair, side, full, labels, status, items in store.db.execute(LABELLED, {"project": project.id}):
        rows.setdefault((pair, side), ([], []))[full].append((labels, status, items))
    if any((event.data.get("old") or {}).get("plan") == "all" for event in events(store, project, action="plan")):
        for pair, side, first, labels, items in store.db.execute(LATER, {"project": project.id}):
            rows[pair, side][False].extend([(labels, "rejected", -items), (first, "rejected", items)])
    for words in returned:
        full = words.terms.shared or words.terms.pilot is not None or words.terms.known
        as_it_stands, as_was_said = (words.labels, words.status, -1), (len(words.choices), words.outcome, 1)
        rows.setdefault((words.pair, words.side), ([], []))[full].extend([as_it_stands, as_was_said])
    return {cell: Followed(*(stages(project.per_item, part) for part in row)) for cell, row in rows.items()}


# Labelled sentences: cell, whether all labels are there, whether all of them accept, columns that may name an article.
OUTCOMES = f"""
SELECT item.cell, {REVIEWED}, {ACCEPTED_BY_ALL}, iif(item.extra LIKE '%"source"%', item.extra, '{{}}')
FROM published_item AS item WHERE item.project = ? AND item.labels > 0
"""
UNFINISHED = """
published_item AS item
WHERE item.project = ? AND item.labels > 0 AND item.labels < item.wanted AND item.status = 'pending'
"""
SUMMED = ("mined", "labelled", "reviewed", "compared", "unanimous", "kept", "split", "settled")
NO_REVIEW = Note(N_("No item is fully labelled yet."))
ENDED = N_(
    "Under an earlier plan, labelling of {ended} items stopped at the first reject; they still lack"
    " labels, so the reviewed items are biased towards accept"
)
BEGUN = N_(
    "Labelling of an item stops at its first reject, and {begun} items without a decision still lack labels, so the"
    " reviewed items are biased towards reject"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reviewed sentence: whether all its labels accept it, and its source article ("": none)."""

    cell: int
    agreed: bool
    unit: str


def funnel(store: Store, project: Project) -> list[dict[str, Any]]:
    """Return for each pair and side with items the counts of SUMMED and `rate`; "mined" counts items of any source.

    "unanimous": every label accepts (generations: compared, with the same choice), regardless of an adjudicator.
    `rate`: of sentences, the share of reviewed items that every label accepts; of generations, the full agreement of
    reviewed items with at least two blind labels. It is undefined while a stop at the first reject biases which items
    are reviewed.
    """
    rows = [row for row in cell_counts(store, project) if row.mined]
    first: dict[str, int] = {}
    for number, row in enumerate(rows):
        first.setdefault(row.pair, number)
    rates = _rates(store, project)
    return [
        {"pair": row.pair, "side": row.side, "quota": row.quota, "kept": row.accepted, "rate": rates(row.cell)}
        | {name: getattr(row, name) for name in SUMMED if name != "kept"}
        for row in sorted(sorted(rows, key=lambda row: row.side, reverse=True), key=lambda row: first[row.pair])
    ]


def total(store: Store, project: Project, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the same for all pairs and sides together; *rows*: of `funnel`."""
    result: dict[str, Any] = {name: sum(int(row[name] or 0) for row in rows) for name in SUMMED}
    return result | {"rate": _rates(store, project)(None)}


def _rates(store: Store, project: Project) -> Callable[[int | None], Estimate]:
    """Return the function from a cell (None: all cells) to its `rate`."""
    if why := selected(store, project):
        return lambda _cell: Estimate.undefined(why)
    if project.kind == "generations":
        return population_labels(store, project, "reviewed").share
    outcomes = _outcomes(store, project)
    of_cell: dict[int | None, list[Outcome]] = {None: outcomes}
    for outcome in outcomes:
        of_cell.setdefault(outcome.cell, []).append(outcome)
    return lambda cell: _rate(of_cell.get(cell, []))


def selected(store: Store, project: Project) -> Note | None:
    """Return why labels decide which items are reviewed; None if they do not."""
    if ended := ended_at_reject(store, project):
        return Note(ENDED, {"ended": ended})
    begun = store.count(UNFINISHED, (project.id,)) if project.plan == "stop" else 0
    return Note(BEGUN, {"begun": begun}) if begun else None


def _outcomes(store: Store, project: Project) -> list[Outcome]:
    """Return the reviewed sentences; units are source articles where some article has several labelled items."""
    rows = store.db.execute(OUTCOMES, (project.id,)).fetchall()
    units = [origin(json.loads(row[3])) for row in rows]
    if units_of_sources(units) == "sentence":
        units = [""] * len(rows)
    return [Outcome(row[0], bool(row[2]), unit) for row, unit in zip(rows, units, strict=True) if row[1]]


def _rate(reviewed: Sequence[Outcome]) -> Estimate:
    hits, units = [outcome.agreed for outcome in reviewed], [outcome.unit for outcome in reviewed]
    return share_of_rows(hits, units, nothing=NO_REVIEW)


def funnel_steps(way: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the steps before the import, each with its untranslated name: `way` of `mining`; none if nothing was mined
    here."""
    if not way["runs"]:
        return []
    return [
        (N_("Sentences read during mining"), way["read"]["sentences"]),
        (N_("Exactly one keyword"), way["exactly_one"]),
        (N_("Candidates"), way["candidates"]),
    ]


def mining(store: Store, project: Project) -> dict[str, Any]:
    """Return the mining runs of a project, and their sums.

    `runs`: one dict each, see `mined_runs`. `read`, the counts of `core.mining` and `by_filter` are their sums: a
    sentence read by two runs counts twice. `cells`: pair -> side -> counts.
    """
    runs = mined_runs(store, project)
    result: dict[str, Any] = {"runs": runs, "imported": sum(run["imported"] for run in runs)}
    result["read"] = _sums([run["read"] for run in runs])
    result["whole"] = all(run["read"]["whole"] for run in runs)
    result |= _sums([{key: run[key] for key in COUNTED} for run in runs])
    for key in ("rejected", "flagged"):
        summed = _sums([run[key] for run in runs])
        result[key] = dict(sorted(summed.items(), key=lambda one: (-one[1], one[0])))
    pairs = dict.fromkeys(pair for run in runs for pair in run["cells"])
    result["cells"] = {pair: _sides([run["cells"][pair] for run in runs if pair in run["cells"]]) for pair in pairs}
    return result


def _sides(cells: list[Facts]) -> dict[str, dict[str, int]]:
    return {side: _sums([cell[side] for cell in cells]) for side in ("male", "female")}


def _sums(counts: list[dict[str, int]]) -> dict[str, int]:
    names = dict.fromkeys(name for count in counts for name in count if name != "whole")
    return {name: sum(count.get(name, 0) for count in counts) for name in names}
