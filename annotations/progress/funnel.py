"""The funnel from a corpus to the set: mined, imported, reviewed, kept."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotations.database.store import Store
from annotations.forecast.fully_labelled import ended_at_reject
from annotations.items.mining_runs import COUNTED, Facts, mined_runs
from annotations.progress.cells import ACCEPTED
from annotations.types import Project
from core.errors import N_
from core.files.paths import origin
from core.statistics import Estimate
from core.statistics.estimate import Note
from core.statistics.posterior import share_of_rows
from core.statistics.units import units_of_sources

# reviewed: with all its blind labels; unanimous: and all of them accept (generations: are equal), with or without a
# settlement
FUNNEL = """
SELECT cell.id, cell.pair, cell.side, cell.quota, count(*), sum(item.labels > 0),
    sum(item.labels >= item.wanted AND item.labels > 0),
    sum(item.labels >= item.wanted AND item.labels > 0 AND item.split = 0 AND {agreed}),
    sum(item.status = 'accepted'), sum(item.split), sum(item.settlement IS NOT NULL)
FROM published_item AS item JOIN cell ON cell.id = item.cell
WHERE item.project = ? GROUP BY cell.id
ORDER BY min(cell.id) OVER (PARTITION BY cell.pair), cell.side DESC
"""
# Labelled items: cell, all labels there, of these all agree, context, columns that may name an article.
OUTCOMES = """
SELECT item.cell, item.labels >= item.wanted, item.labels >= item.wanted AND item.split = 0 AND {agreed},
    coalesce(item.context, ''), iif(item.extra LIKE '%"source"%', item.extra, '{{}}')
FROM published_item AS item WHERE item.project = ? AND item.labels > 0
"""
KEYS = ("pair", "side", "quota", "mined", "labelled", "reviewed", "unanimous", "kept", "split", "settled")
SUMMED = ("mined", "labelled", "reviewed", "unanimous", "kept", "split", "settled")
NO_REVIEW = Note(N_("No item has all its labels yet."))
ENDED = N_(
    "Under an earlier plan, labelling of {ended} items stopped at the first reject; they still lack"
    " labels, so the reviewed items are biased towards accept"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reviewed item: whether all who labelled it agree (of sentences: to keep it), and its article or context."""

    cell: int
    agreed: bool
    unit: str


def funnel(store: Store, project: Project) -> list[dict[str, Any]]:
    """Per pair: counts by KEYS, and `rate`, the share of reviewed ones that all accept. "mined":
    imported from any source. The share is undefined while items that ended at a reject lack labels.
    """
    agreed = "1" if project.kind == "generations" else ACCEPTED
    found = store.db.execute(FUNNEL.format(agreed=agreed), (project.id,)).fetchall()
    rows = {cell: dict(zip(KEYS, row, strict=True)) for cell, *row in found}
    ended, reviewed = ended_at_reject(store, project), _outcomes(store, project, agreed)
    of_cell: dict[int, list[Outcome]] = {cell: [] for cell in rows}
    for one in reviewed:
        of_cell[one.cell].append(one)
    return [row | {"rate": _selected(ended) if ended else _rate(of_cell[cell])} for cell, row in rows.items()]


def total(store: Store, project: Project, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The same for all pairs and sides together; *rows*: of `funnel`."""
    found: dict[str, Any] = {name: sum(int(row[name] or 0) for row in rows) for name in SUMMED}
    if ended := ended_at_reject(store, project):
        return found | {"rate": _selected(ended)}
    agreed = "1" if project.kind == "generations" else ACCEPTED
    return found | {"rate": _rate(_outcomes(store, project, agreed))}


def _outcomes(store: Store, project: Project, agreed: str) -> list[Outcome]:
    """The reviewed items. Units are those of agreement: contexts, else articles where some has several labelled items,
    else the items ("").
    """
    rows = store.db.execute(OUTCOMES.format(agreed=agreed), (project.id,)).fetchall()
    units = [row[3] for row in rows]
    if project.kind != "generations":
        units = [origin(json.loads(row[4])) for row in rows]
        if units_of_sources(units) == "sentence":
            units = [""] * len(rows)
    return [Outcome(row[0], bool(row[2]), unit) for row, unit in zip(rows, units, strict=True) if row[1]]


def _rate(reviewed: Sequence[Outcome]) -> Estimate:
    return share_of_rows([one.agreed for one in reviewed], [one.unit for one in reviewed], nothing=NO_REVIEW)


def _selected(ended: int) -> Estimate:
    return Estimate.undefined(Note(ENDED, {"ended": ended}))


def funnel_steps(way: dict[str, Any], found: dict[str, Any]) -> list[tuple[str, int]]:
    """The funnel in a few rows, each with its (untranslated) name: `way` of `mining`, `found` of `total`."""
    rows: list[tuple[str, int]] = []
    if way["runs"]:
        rows = [
            (N_("Sentences read during mining"), way["read"]["sentences"]),
            (N_("Exactly one keyword"), way["exactly_one"]),
        ]
        rows.append((N_("Candidates"), way["candidates"]))
    named = (
        (N_("Imported"), "mined"),
        (N_("Reviewed"), "reviewed"),
        (N_("Full agreement"), "unanimous"),
        (N_("Kept"), "kept"),
    )
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
