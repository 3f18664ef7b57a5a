"""Every quantity by id, and the estimates of those that pages and documents of a project state."""

from collections.abc import Iterable

from evenhand.annotations.quantities import agreement, items, labels
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.core.statistics import Estimate

GROUPS = (items.QUANTITIES, labels.QUANTITIES, agreement.QUANTITIES)
QUANTITIES = {quantity.id: quantity for group in GROUPS for quantity in group}


def estimate(snapshot: Snapshot, id_: str) -> Estimate:
    """Return the estimate of one quantity."""
    return QUANTITIES[id_].compute(snapshot)


def estimates(snapshot: Snapshot, ids: Iterable[str] | None = None) -> dict[str, Estimate]:
    """Return the estimates of all quantities that are stated of the project, or of those among *ids*, by id."""
    wanted = QUANTITIES if ids is None else {id_: QUANTITIES[id_] for id_ in ids}
    return {id_: one.compute(snapshot) for id_, one in wanted.items() if one.stated(snapshot)}


def funnel_ids(sentences: bool) -> tuple[str, ...]:
    """Return the steps from imported items to the data set, in their order."""
    agreed = ("items.accepted_by_all",) if sentences else ("items.compared", "items.same_choice")
    return ("items.imported", "items.reviewed", *agreed, "items.kept")
