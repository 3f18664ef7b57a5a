"""The mark of a running recount after a change of settings: two events, begun and done."""

import json
from typing import NamedTuple

from evenhand.annotations.database.events import RECOUNT_BEGUN, RECOUNT_DONE
from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project
from evenhand.core.errors import N_

COUNT_SETTINGS = frozenset({"per_item", "doubled", "plan", "share"})  # they decide how many labels an item wants
RECOUNTING = N_("A setting has just changed and the items are being recounted. Try again in a moment.")


class RecountMark(NamedTuple):
    """A running recount: its event, and the settings that changed."""

    event: int
    changed: frozenset[str]


def open_recount(store: Store, project: Project) -> RecountMark | None:
    """The mark of a running recount; None: all items are up to date."""
    # "+id" makes SQLite use the index on actions, not read every event of the project.
    query = "SELECT id, action, data FROM event WHERE project = ? AND action IN (?, ?) ORDER BY +id DESC LIMIT 1"
    row = store.db.execute(query, (project.id, RECOUNT_BEGUN, RECOUNT_DONE)).fetchone()
    return (
        RecountMark(row[0], frozenset(json.loads(row[2])["changed"]))
        if row is not None and row[1] == RECOUNT_BEGUN
        else None
    )
