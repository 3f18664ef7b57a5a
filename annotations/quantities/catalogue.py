"""Every quantity by id, and the estimates of those that pages and documents of a project state."""

from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.annotations.quantities import (
    agreement,
    changes,
    generations,
    items,
    labels,
    pilots,
    rows,
    run_rows,
    runs,
    studies,
    texts,
    work,
)
from evenhand.annotations.quantities.quantity import OfProject, Quantity, Rows
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.core.statistics import Estimate

IN_DOCUMENTS: dict[str, OfProject] = {
    one.id: one for one in (*items.QUANTITIES, *labels.QUANTITIES, *agreement.QUANTITIES)
}
OTHERS = (*generations.QUANTITIES, *texts.QUANTITIES, *work.QUANTITIES, *items.OPEN_PROJECTS.values())
QUANTITIES = IN_DOCUMENTS | {one.id: one for one in OTHERS}
ROWS: dict[str, Rows] = {one.id: one for one in (*rows.ROWS, *pilots.ROWS)}
# All entries, also those that are of a file, of two releases or of a run and not of a project.
ENTRIES: dict[str, Quantity[Any, Any]] = {**QUANTITIES, **ROWS}
ENTRIES |= {one.id: one for one in texts.OF_FILES}
ENTRIES |= {one.id: one for one in changes.QUANTITIES}
ENTRIES |= {one.id: one for one in studies.QUANTITIES}
ENTRIES |= {one.id: one for kinds in (runs.KINDS, run_rows.ROWS) for kind in kinds.values() for one in kind}


def estimates(snapshot: Snapshot, ids: Iterable[str] | None = None) -> dict[str, Estimate]:
    """Return the estimates by id that documents state of the project; *ids*: those of these that hold for it."""
    wanted = IN_DOCUMENTS if ids is None else {id_: QUANTITIES[id_] for id_ in ids}
    return {id_: one.compute(snapshot) for id_, one in wanted.items() if one.stated(snapshot)}


def row_estimates(snapshot: Snapshot, ids: Iterable[str] | None = None) -> dict[str, Mapping[str, Estimate]]:
    """Return the estimates of every row by id, then by its key; *ids*: only these."""
    wanted = ROWS if ids is None else {id_: ROWS[id_] for id_ in ids}
    return {id_: one.compute(snapshot) for id_, one in wanted.items() if one.stated(snapshot)}


def funnel_ids(sentences: bool) -> tuple[str, ...]:
    """Return the steps from imported items to the data set, in their order."""
    agreed = ("items.accepted_by_all",) if sentences else ("items.compared", "items.same_choice")
    return ("items.imported", "items.reviewed", *agreed, "items.kept")


# What the page Progress and `progress --json` state of a project as a whole.
PROGRESS = ("items.imported", "items.reviewed", "items.accepted_by_all", "items.compared", "items.same_choice",
            "items.kept", "items.gold", "labels.valid")  # fmt: skip
QUALITY = ("retest.pairs", "retest.agreement", "retest.kappa", "retest.flag", "known.items", "known.labels",
           "known.share")  # fmt: skip
