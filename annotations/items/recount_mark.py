"""The mark that a change of settings has not reached every item yet: two events, begun and done."""

import json
from typing import NamedTuple

from annotations.database.events import SETTLING_BEGUN, SETTLING_DONE
from annotations.database.store import Store
from annotations.types import Project
from core.errors import N_

WANTING = frozenset({"per_item", "doubled", "plan", "share"})  # how many labels an item wants
UNSETTLED = N_("A setting has just changed and the items are being counted anew. Try again in a moment.")


class Mark(NamedTuple):
    """That items are being settled: the event that says so, and which settings have changed."""

    event: int
    changed: frozenset[str]


def unsettled(store: Store, project: Project) -> Mark | None:
    """The mark of a project whose items are being settled; None: each is as the settings want it."""
    # "+id": by the action's index. By id alone it would read every event of a project that was never settled.
    query = "SELECT id, action, data FROM event WHERE project = ? AND action IN (?, ?) ORDER BY +id DESC LIMIT 1"
    row = store.db.execute(query, (project.id, SETTLING_BEGUN, SETTLING_DONE)).fetchone()
    return (
        Mark(row[0], frozenset(json.loads(row[2])["changed"])) if row is not None and row[1] == SETTLING_BEGUN else None
    )
