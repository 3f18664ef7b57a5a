"""Every quantity by id, and the estimates of those that pages and documents of a project state."""

from collections.abc import Iterable

from evenhand.annotations.quantities import agreement, generations, items, labels
from evenhand.annotations.quantities.quantity import Quantity
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.core.statistics import Estimate

IN_DOCUMENTS: dict[str, Quantity] = {one.id: one for group in (items, labels, agreement) for one in group.QUANTITIES}
QUANTITIES = IN_DOCUMENTS | {one.id: one for one in (*generations.QUANTITIES, *items.OPEN_PROJECTS.values())}


def estimates(snapshot: Snapshot, ids: Iterable[str] | None = None) -> dict[str, Estimate]:
    """Return the estimates by id that documents state of the project; *ids*: those of these that hold for it."""
    wanted = IN_DOCUMENTS if ids is None else {id_: QUANTITIES[id_] for id_ in ids}
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
