"""The mark that a change of settings has not reached every item yet: two events, begun and done."""

import json
from typing import NamedTuple

from annotations.database.events import RECOUNT_BEGUN, RECOUNT_DONE
from annotations.database.store import Store
from annotations.types import Project
from core.errors import N_

COUNT_SETTINGS = frozenset({"per_item", "doubled", "plan", "share"})  # how many labels an item wants
RECOUNTING = N_("A setting has just changed and the items are being counted anew. Try again in a moment.")


class RecountMark(NamedTuple):
    """That items are being settled: the event that says so, and which settings have changed."""

    event: int
    changed: frozenset[str]


def open_recount(store: Store, project: Project) -> RecountMark | None:
    """The mark of a project whose items are being settled; None: each is as the settings want it."""
    # "+id": by the action's index. By id alone it would read every event of a project that was never settled.
    query = "SELECT id, action, data FROM event WHERE project = ? AND action IN (?, ?) ORDER BY +id DESC LIMIT 1"
    row = store.db.execute(query, (project.id, RECOUNT_BEGUN, RECOUNT_DONE)).fetchone()
    return (
        RecountMark(row[0], frozenset(json.loads(row[2])["changed"]))
        if row is not None and row[1] == RECOUNT_BEGUN
        else None
    )
