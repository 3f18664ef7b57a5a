"""Check of the gold labels of a release against the labels of its database, by the code that decides gold."""

from dataclasses import dataclass

from evenhand.annotations.database.chain import KINDS
from evenhand.annotations.database.store import Store, at_one_moment
from evenhand.annotations.items.derived import item_states
from evenhand.annotations.items.recount_mark import open_recount
from evenhand.annotations.release.records import (
    Release,
    frozen_state,
    has_changed_pilot,
    log_head_of,
    project_changes,
    project_of,
    touched_items,
)
from evenhand.annotations.types import Project

# Settings that decide gold: what was frozen under others cannot be decided again from the present ones.
RULES = ("per_item", "gold", "rescue", "doubled", "plan", "share", "seed")


@dataclass(frozen=True, slots=True)
class FrozenGold:
    """The check of the gold labels of a release.

    `stale`: public ids of items that do not follow from their labels and decisions, in the release or in the database
    now. `unchecked`: items of the release that could not be decided again, because a label, a decision or a setting
    has changed since. `log_known`: whether the log still holds the entry that was the last one at the release; None
    where the release does not name it.
    """

    stale: tuple[str, ...]
    unchecked: int
    log_known: bool | None


@at_one_moment
def check_frozen_gold(store: Store, release: Release) -> FrozenGold:
    """Decide the gold label and status of each item again, and compare them with the release and the database."""
    project, head = project_of(store, release), log_head_of(store, release)
    entry = head and head.entry
    # Which items are in a doubly labelled sample depends on every later import too.
    comparable = entry is not None and project.doubled is None and not _rules_changed(store, project, entry)
    touched = touched_items(store, entry) if comparable and entry is not None else set[int]()
    recounting = open_recount(store, project) is not None
    stale: list[str] = []
    unchecked = 0
    for state in item_states(store, project):
        due = state.recounted.status, state.recounted.gold
        frozen = frozen_state(store, release, state.id)
        reviewed = frozen is not None or due != ("pending", None)
        if not recounting and state.stored != state.recounted:
            stale.append(state.item)
        elif not comparable or state.id in touched:
            unchecked += frozen is not None
        elif reviewed and (frozen or ("pending", None)) != due:
            stale.append(state.item)
    return FrozenGold(tuple(stale), unchecked, None if head is None else entry is not None)


def _rules_changed(store: Store, project: Project, entry: int) -> bool:
    """Return whether a setting that decides gold, or a pilot, has changed after an entry."""
    columns = next(kind.watched for kind in KINDS if kind.table == "project")
    places = [columns.index(name) for name in RULES]
    return has_changed_pilot(store, project, entry) or any(
        before is None or any(before[place] != after[place] for place in places)
        for before, after in project_changes(store, project, entry)
    )
