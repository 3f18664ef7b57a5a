"""Items that everybody skipped are set aside for the lead."""

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import ITEM_COLUMNS, ITEM_TABLES, as_item, item
from evenhand.annotations.items.changes import set_aside_for_lead
from evenhand.annotations.items.returned import return_from_lead, return_unless_aside
from evenhand.annotations.queue.assignments import forget_skips
from evenhand.annotations.types import Item, Project


def update_set_aside(store: Store, project: Project, item: int) -> None:
    """Set an item aside for the lead if no annotator is left to label it, or undo that.

    That is when every active annotator has labelled or skipped it, and either all of several have skipped it or those
    who did have skipped it twice (DESIGN 4): a single annotator sees a skipped item once more at the end.
    """
    aside = _nobody_is_left(store, project, item)
    set_aside_for_lead(store.db, item, aside)


def _nobody_is_left(store: Store, project: Project, item: int) -> bool:
    # A study has thousands of annotators, and few of them skip: who did is asked first.
    values = {"item": item, "project": project.id}
    skipped, fewest = store.db.execute(
        "SELECT count(*), min(skips) FROM assignment JOIN active_member AS member"
        " ON member.annotator = assignment.annotator AND member.project = :project"
        " WHERE item = :item AND state = 'skipped'",
        values,
    ).fetchone()
    if not skipped:
        return False
    could = store.db.execute(
        "SELECT 1 FROM active_member AS member WHERE member.project = :project AND NOT EXISTS"
        " (SELECT 1 FROM assignment WHERE item = :item AND assignment.annotator = member.annotator"
        " AND state IN ('labelled', 'skipped')) LIMIT 1",
        values,
    ).fetchone()
    if could is not None:
        return False
    people = store.db.execute("SELECT count(*) FROM active_member WHERE project = :project", values).fetchone()[0]
    return bool(people == skipped > 1 or fewest >= 2)


def update_skipped(store: Store, project: Project) -> None:
    """Update all skipped items after an annotator has left, inside the caller's transaction."""
    query = (
        "SELECT DISTINCT item FROM assignment WHERE project = :project AND state = 'skipped'"
        " AND annotator IN (SELECT annotator FROM member WHERE project = :project)"  # by an index: few are skipped
    )
    for (skipped,) in store.db.execute(query, {"project": project.id}).fetchall():
        update_set_aside(store, project, skipped)


def reoffer_set_aside(store: Store, project: Project) -> None:
    """Hand out items set aside again that a new annotator has not seen, inside the caller's transaction."""
    waiting = store.db.execute("SELECT id FROM item WHERE project = ? AND aside = 1", (project.id,)).fetchall()
    for (item_id,) in waiting:
        update_set_aside(store, project, item_id)
        # A reactivated annotator may have passed it before it was set aside.
        return_unless_aside(store.db, project.id, item_id)


def set_aside_items(store: Store, project: Project) -> list[Item]:
    """The items that are set aside, in the order of import."""
    query = f"SELECT {ITEM_COLUMNS} FROM {ITEM_TABLES} WHERE item.project = ? AND aside = 1 ORDER BY item.id"
    return [as_item(row) for row in store.db.execute(query, (project.id,))]


def return_to_queue(store: Store, project: Project, uid: str) -> None:
    """Hand an item that was set aside out again, also to those who skipped it. Raises NotFound."""
    found = item(store, project, uid)
    with store.write() as db:
        forget_skips(db, found.id)
        return_from_lead(db, project.id, found.id)
