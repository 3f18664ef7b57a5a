"""The funnel from a corpus to the set: mined, imported, reviewed, kept."""

from typing import Any

from annotations.database.store import Store
from annotations.forecast.fully_labelled import ended_at_reject
from annotations.items.mining_runs import COUNTED, Facts, mined_runs
from annotations.progress.cells import ACCEPTED
from annotations.types import Project
from core.errors import N_
from core.statistics import Estimate, wilson
from core.statistics.estimate import Note

# reviewed: with all its blind labels; unanimous: and all of them accept (generations: are equal), with or without a
# settlement
FUNNEL = """
SELECT cell.pair, cell.side, cell.quota, count(*), sum(item.labels > 0),
    sum(item.labels >= item.wanted AND item.labels > 0),
    sum(item.labels >= item.wanted AND item.labels > 0 AND item.split = 0 AND {agreed}),
    sum(item.status = 'accepted'), sum(item.split), sum(item.settlement IS NOT NULL)
FROM published_item AS item JOIN cell ON cell.id = item.cell
WHERE item.project = ? GROUP BY cell.id
ORDER BY min(cell.id) OVER (PARTITION BY cell.pair), cell.side DESC
"""
KEYS = ("pair", "side", "quota", "mined", "labelled", "reviewed", "unanimous", "kept", "split", "settled")
SUMMED = ("mined", "labelled", "reviewed", "unanimous", "kept", "split", "settled")
NO_REVIEW = Note(N_("No item has all its labels yet."))
ENDED = N_(
    "A first reject ended {ended} items under an earlier plan, and they still lack labels: the reviewed items are"
    " selected for acceptance"
)


def funnel(store: Store, project: Project) -> list[dict[str, Any]]:
    """Per pair: counts by KEYS, and `rate`, the share of reviewed ones that all accept (Wilson, 95 %). "mined":
    imported from any source. The share is undefined while items that ended at a reject lack labels.
    """
    query = FUNNEL.format(agreed="1" if project.kind == "generations" else ACCEPTED)
    rows = [dict(zip(KEYS, row, strict=True)) for row in store.db.execute(query, (project.id,)).fetchall()]
    ended = ended_at_reject(store, project)
    return [row | {"rate": _selected(ended) if ended else _rate(row)} for row in rows]


def total(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The same for all pairs and sides together."""
    found: dict[str, Any] = {name: sum(int(row[name] or 0) for row in rows) for name in SUMMED}
    selected = next((row["rate"] for row in rows if row["rate"].reason and row["rate"].reason.message == ENDED), None)
    return found | {"rate": selected or _rate(found)}


def _selected(ended: int) -> Estimate:
    return Estimate.undefined(Note(ENDED, {"ended": ended}))


def _rate(counts: dict[str, Any]) -> Estimate:
    return wilson(int(counts["unanimous"] or 0), int(counts["reviewed"] or 0), nothing=NO_REVIEW)


def funnel_steps(way: dict[str, Any], found: dict[str, Any]) -> list[tuple[str, int]]:
    """The funnel in a few rows, each with its (untranslated) name: `way` of `mining`, `found` of `total`."""
    rows: list[tuple[str, int]] = []
    if way["runs"]:
        rows = [
            (N_("Sentences read by mining"), way["read"]["sentences"]),
            (N_("Exactly one keyword"), way["exactly_one"]),
        ]
        rows.append((N_("Candidates"), way["candidates"]))
    named = (
        (N_("Imported"), "mined"),
        (N_("Reviewed"), "reviewed"),
        (N_("All agree"), "unanimous"),
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
