"""The funnel from a corpus to the set: mined, imported, reviewed, kept."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.fully_labelled import ended_at_reject
from evenhand.annotations.items.mining_runs import COUNTED, Facts, mined_runs
from evenhand.annotations.labels.full_agreement import COMPARED, REVIEWED, population_labels
from evenhand.annotations.progress.cells import ACCEPTED_BY_ALL, agreed_condition
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.files.paths import origin
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.estimate import Note
from evenhand.core.statistics.posterior import share_of_rows
from evenhand.core.statistics.units import units_of_sources

# reviewed: with all its blind labels; compared: with at least two of these; unanimous: every label accepts
# (generations: compared, with the same choice), whatever an adjudicator decided.
FUNNEL = f"""
SELECT cell.id, cell.pair, cell.side, cell.quota, count(*), sum(item.labels > 0), sum({REVIEWED}), sum({COMPARED}),
    sum({{agreed}}), sum(item.status = 'accepted'), sum(item.split), sum(item.settlement IS NOT NULL)
FROM published_item AS item JOIN cell ON cell.id = item.cell
WHERE item.project = ? GROUP BY cell.id
ORDER BY min(cell.id) OVER (PARTITION BY cell.pair), cell.side DESC
"""
# Labelled sentences: cell, whether all labels are there, whether all of them accept, columns that may name an article.
OUTCOMES = f"""
SELECT item.cell, {REVIEWED}, {ACCEPTED_BY_ALL}, iif(item.extra LIKE '%"source"%', item.extra, '{{}}')
FROM published_item AS item WHERE item.project = ? AND item.labels > 0
"""
UNFINISHED = """
SELECT count(*) FROM published_item AS item
WHERE item.project = ? AND item.labels > 0 AND item.labels < item.wanted AND item.status = 'pending'
"""
KEYS = ("pair", "side", "quota", "mined", "labelled", "reviewed", "compared", "unanimous", "kept", "split", "settled")
SUMMED = KEYS[3:]
NO_REVIEW = Note(N_("No item has all its labels yet."))
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
    """Return for each pair and side the counts by KEYS and `rate`; "mined" counts items imported from any source.

    `rate`: of sentences, the share of reviewed items that every label accepts; of generations, the full agreement of
    reviewed items with at least two blind labels. It is undefined while a stop at the first reject biases which items
    are reviewed.
    """
    found = store.db.execute(FUNNEL.format(agreed=agreed_condition(project)), (project.id,)).fetchall()
    rows = {cell: dict(zip(KEYS, row, strict=True)) for cell, *row in found}
    rates = _rates(store, project)
    return [row | {"rate": rates(cell)} for cell, row in rows.items()]


def total(store: Store, project: Project, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the same for all pairs and sides together; *rows*: of `funnel`."""
    found: dict[str, Any] = {name: sum(int(row[name] or 0) for row in rows) for name in SUMMED}
    return found | {"rate": _rates(store, project)(None)}


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
    """Return why labels decide which items are reviewed; None where they do not."""
    if ended := ended_at_reject(store, project):
        return Note(ENDED, {"ended": ended})
    begun = store.db.execute(UNFINISHED, (project.id,)).fetchone()[0] if project.plan == "stop" else 0
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


def funnel_steps(project: Project, way: dict[str, Any], found: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the funnel in a few rows, each with its untranslated name: `way` of `mining`, `found` of `total`."""
    rows: list[tuple[str, int]] = []
    if way["runs"]:
        rows = [
            (N_("Sentences read during mining"), way["read"]["sentences"]),
            (N_("Exactly one keyword"), way["exactly_one"]),
        ]
        rows.append((N_("Candidates"), way["candidates"]))
    agreed = [(N_("Accepted by all annotators"), "unanimous")]
    if project.kind == "generations":
        agreed = [
            (N_("Reviewed, at least two blind labels"), "compared"),
            (N_("All of these labels have the same choice"), "unanimous"),
        ]
    kept = N_("With a gold label") if project.kind == "generations" else N_("Kept")
    named = [(N_("Imported"), "mined"), (N_("Reviewed"), "reviewed"), *agreed, (kept, "kept")]
    return [*rows, *((name, found[key]) for name, key in named)]


def mining(store: Store, project: Project) -> dict[str, Any]:
    """The mining runs of a project, and their sums.

    `runs`: one dict each, see `mined_runs`. `read`, the counts of `core.mining` and `by_filter` are their sums: a
    sentence that two runs read counts twice. `cells`: pair -> side -> counts.
    """
    runs = mined_runs(store, project)
    found: dict[str, Any] = {"runs": runs, "imported": sum(run["imported"] for run in runs)}
    found["read"] = _sums([run["read"] for run in runs])
    found["whole"] = all(run["read"]["whole"] for run in runs)
    found |= _sums([{key: run[key] for key in COUNTED} for run in runs])
    for key in ("rejected", "flagged"):
        summed = _sums([run[key] for run in runs])
        found[key] = dict(sorted(summed.items(), key=lambda one: (-one[1], one[0])))
    pairs = dict.fromkeys(pair for run in runs for pair in run["cells"])
    found["cells"] = {pair: _sides([run["cells"][pair] for run in runs if pair in run["cells"]]) for pair in pairs}
    return found


def _sides(cells: list[Facts]) -> dict[str, dict[str, int]]:
    return {side: _sums([cell[side] for cell in cells]) for side in ("male", "female")}


def _sums(counts: list[dict[str, int]]) -> dict[str, int]:
    names = dict.fromkeys(name for one in counts for name in one if name != "whole")
    return {name: sum(one.get(name, 0) for one in counts) for name in names}
