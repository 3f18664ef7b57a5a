"""Check of what is derived: gold label, status and split of each item, and the counts that triggers keep.

Each is decided again by the code that decides it when a label is stored (`annotations.items.gold`), from the labels,
decisions and settings, all of which have entries in the log.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evenhand.annotations.database.events import current_project
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import PUBLISHED
from evenhand.annotations.items.changes import set_decision, set_known_answer
from evenhand.annotations.items.gold import BROUGHT, STATE, recount_items, recounted_state, stored_state
from evenhand.annotations.items.wanted_labels import draw_share, is_shared, open_recount
from evenhand.annotations.items.withdrawn import CENSUS, TALLY, count_again
from evenhand.annotations.types import Project, Status
from evenhand.core.errors import N_, Notice

NAMED = 5  # items that one sentence names
STALE = N_(
    "In {number} items of {project} the stored gold label or status does not follow from the labels and decisions"
    " ({items}). The database was changed outside the app. Restore a backup, or decide them again with `python cli.py"
    " project recount`."
)
# The settlement in force is the last one, and the known answer the last one: neither is read from the item.
_ITEMS = f"""
SELECT item.uid, item.hash, item.settlement, settlement.id, settlement.action,
    (SELECT choice FROM standing_answer WHERE standing_answer.item = item.id),
    {STATE}
FROM published_item AS item JOIN project ON project.id = item.project
LEFT JOIN settlement ON settlement.id = (SELECT max(id) FROM settlement AS act WHERE act.item = item.id)
{BROUGHT}
WHERE {PUBLISHED}
"""
# Of each derived count: the rows that are stored, and those that are counted.
_CELLS = "cell IN (SELECT id FROM cell WHERE project = :project)"
_COUNTS = {
    "census": (
        f"SELECT cell, labels, status, aside, items FROM census WHERE {_CELLS} AND items > 0",
        CENSUS.format(which=PUBLISHED),
    ),
    "tally": (
        f"SELECT annotator, cell, handed, labelled, accepted FROM tally WHERE {_CELLS} AND handed > 0",
        f"{TALLY.format(which=PUBLISHED)} HAVING sum(state <> 'released') > 0",
    ),
}
_SLOTS = """
(SELECT count(*) FROM assignment WHERE assignment.item = item.id
    AND (state IN ('leased', 'labelled') OR blind IS NOT NULL))
"""
_TAKEN = f"SELECT item.id FROM published_item AS item WHERE item.project = ? AND taken <> {_SLOTS}"


class DerivedState(NamedTuple):
    """What is derived of an item; `settlement`: the row id of the decision in force."""

    gold: str | None
    status: Status
    split: int
    labels: int
    settlement: int | None


class StaleItem(NamedTuple):
    """An item (row id, public id) whose stored state is another one than follows from its labels and decisions.

    `known`: the answer that the lead gave last.
    """

    id: int
    item: str
    stored: DerivedState
    recounted: DerivedState
    known: str | None


def item_states(store: Store, project: Project) -> Iterator[StaleItem]:
    """Yield each published item with its stored state and the one that follows; one item at a time is in memory."""
    now = current_project(store, project)
    for uid, identity, pointer, act, action, known, *row in store.db.execute(_ITEMS, {"project": project.id}):
        before = stored_state(row)
        # Only the plan `stop` asks for the random share, and a hash costs as much as the rest.
        shared = now.plan == "stop" and is_shared(now.seed, bytes(identity), now.share)
        before = before._replace(terms=before.terms._replace(shared=shared, known=known is not None))
        after = recounted_state(before)
        stored = DerivedState(before.gold, before.status, before.split, before.labels, pointer)
        in_force = None if action == "reopen" else act
        recounted = DerivedState(after.gold, after.status, after.split, after.labels, in_force)
        yield StaleItem(before.item, uid, stored, recounted, known)


def stale_items(store: Store, project: Project) -> Iterator[StaleItem]:
    """Yield the published items whose stored state does not follow from their labels and decisions.

    Nothing is yielded while the project is being recounted after a change of settings: until that is done, items
    follow the old ones.
    """
    if open_recount(store, project) is None:
        yield from (state for state in item_states(store, project) if state.stored != state.recounted)


def stale_counts(store: Store, project: Project) -> dict[str, int]:
    """Return how many rows of each derived count differ from what is counted; {} if none does.

    `taken`: slots in use of an item; `census`: items of a cell by state; `tally`: items of an annotator in a cell.
    """
    result = {"taken": sum(1 for _ in store.db.execute(_TAKEN, (project.id,)))}
    for name, queries in _COUNTS.items():
        stored, counted = (set(store.db.execute(query, {"project": project.id})) for query in queries)
        result[name] = len(stored ^ counted)
    return {name: rows for name, rows in result.items() if rows}


def stale_in_words(store: Store, project: Project) -> Notice | None:
    """Return the sentence on items whose state does not follow from their labels and decisions; None if all do."""
    named, number = [], 0
    for state in stale_items(store, project):
        number += 1
        if number <= NAMED:
            named.append(state.item)
    items = ", ".join(named) + (" ..." if number > NAMED else "")
    return Notice(STALE, {"number": f"{number:,}", "project": project.name, "items": items}) if number else None


def correct_counts(store: Store, project: Project) -> None:
    """Count slots, items of cells and items of annotators again, in the caller's transaction."""
    store.db.execute(f"UPDATE item SET taken = {_SLOTS} WHERE id IN ({_TAKEN})", (project.id,))
    count_again(store, project)


def correct_items(store: Store, project: Project, items: Sequence[StaleItem]) -> None:
    """Decide the state of *items* again and store it, in the caller's transaction."""
    draw_share(store, project, [state.id for state in items])
    for state in items:
        set_decision(store.db, state.id, state.recounted.settlement)
        set_known_answer(store.db, state.id, state.known)
    recount_items(store, [state.id for state in items])
