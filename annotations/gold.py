"""From labels to gold: when an item counts as accepted or rejected (SPEC 1.4)."""

from collections.abc import Sequence

from annotations.store import Store
from annotations.types import GoldRule, Project, Status

PAGE = 1_000


def verdict(choices: Sequence[str], wanted: int, rule: GoldRule) -> Status:
    """What the blind labels of one item, one per annotator, come to.

    Fewer than *wanted* labels: pending. "unanimous": accepted if all accept,
    else rejected. "majority": more than half decide; a tie stays pending.
    Labels of other kinds of projects are not settled here: pending.
    """
    accepts, rejects = choices.count("accept"), choices.count("reject")
    if len(choices) < wanted or accepts + rejects < len(choices) or not choices:
        return "pending"
    if rule == "unanimous":
        return "accepted" if rejects == 0 else "rejected"
    if accepts == rejects:
        return "pending"
    return "accepted" if accepts > rejects else "rejected"


def settle(store: Store, item: int, wanted: int, rule: GoldRule) -> int:
    """Bring number of labels and status of one item up to date; returns the number."""
    rows = store.db.execute(
        "SELECT label.choice FROM assignment JOIN label ON label.id = assignment.blind WHERE assignment.item = ?",
        (item,),
    ).fetchall()
    choices = [row[0] for row in rows]
    status = verdict(choices, wanted, rule)
    before, cell = store.db.execute("SELECT status, cell FROM item WHERE id = ?", (item,)).fetchone()
    store.db.execute(
        "UPDATE item SET labels = ?, status = ? WHERE id = ? AND (labels <> ? OR status <> ?)",
        (len(choices), status, item, len(choices), status),
    )
    if before == "accepted" != status:
        _look_again(store, cell)
    return len(choices)


def _look_again(store: Store, cell: int) -> None:
    # A cell that was closed by its quota may be open again: nobody may have gone past what came back meanwhile.
    store.db.execute(
        "UPDATE member SET looked = 0 WHERE project = (SELECT project FROM cell WHERE id = ? AND quota IS NOT NULL)",
        (cell,),
    )


def recompute(store: Store, project: Project) -> None:
    """Settle every item of a project under its present `per_item` and `gold`; inside the caller's transaction."""
    store.db.execute("UPDATE item SET wanted = ? WHERE project = ?", (project.per_item, project.id))
    # Items that were full may be open again behind those who walked past them: everybody walks once more.
    store.db.execute("DELETE FROM progress WHERE batch IN (SELECT id FROM batch WHERE project = ?)", (project.id,))
    labelled = store.db.execute("SELECT id FROM item WHERE project = ? AND labels > 0", (project.id,)).fetchall()
    for (item,) in labelled:
        settle(store, item, project.per_item, project.gold)
