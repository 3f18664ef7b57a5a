"""Which fully labelled items speak for all, where a project's plan has been `stop` or its share was changed meanwhile.

Under `stop` an item outside the share has all labels only if everybody accepted it. After a change to `all`, or to a
larger share, the rejected ones are labelled in full too, but later: until that is done there are too many accepted ones
among the items with all labels. Free of that are items of a pilot, items that were in the share at all times, and items
whose first label came after the last time that the plan was `stop`.
"""

import json
from typing import Any, NamedTuple

from annotations.database.events import events
from annotations.database.store import Store
from annotations.forecast.sent_back import BACK
from annotations.items.wanted_labels import is_shared
from annotations.types import Project

_OPEN_OF_ALL = """
SELECT 1 FROM census JOIN cell ON cell.id = census.cell
WHERE cell.project = ? AND labels BETWEEN 1 AND ? AND items > 0 LIMIT 1
"""
_OPEN_OF_SHARE = "SELECT 1 FROM item WHERE project = ? AND shared = 1 AND labels BETWEEN 1 AND ? LIMIT 1"
_FULL = f"""
WITH {BACK} SELECT id, hash FROM item
WHERE project = :project AND (labels >= :per_item OR id IN (SELECT item FROM back))
"""
# What was sent back may have no label that stands, and others of its annotators may not have been asked yet.
_BACK = f"WITH {BACK} SELECT 1 FROM back LIMIT 1"
# In a query over `item`, with the values of `values`.
SPEAKS = """
(item.pilot IS NOT NULL OR item.id IN (SELECT value FROM json_each(:shared))
    OR :since <> '' AND (SELECT min(created) FROM label WHERE label.item = item.id) > :since)
"""


class Unselected(NamedTuple):
    """Which items count: those of the smallest share there was, and those first labelled after *since* ("": none)."""

    share: float
    since: str

    def values(self, store: Store, project: Project, per_item: int) -> dict[str, Any]:
        """What `SPEAKS` needs, for items with *per_item* labels or more, or whose labels were sent back."""
        rows = store.db.execute(_FULL, {"project": project.id, "per_item": per_item})
        drawn = [item for item, identity in rows if is_shared(project.seed, bytes(identity), self.share)]
        return {"shared": json.dumps(drawn), "since": self.since}


def unselected(store: Store, project: Project, per_item: int) -> Unselected | None:
    """Which items with *per_item* labels count; None: all of them (under `stop`: all of the share), none is missing."""
    plan, share, since, shares = project.plan, project.share, "", list[float]()
    for event in reversed(events(store, project, action="plan")):
        old = event.data.get("old") or {}  # of a package: anything
        if plan == "stop":
            shares.append(share)
        elif old.get("plan") == "stop" and project.plan == "all" and not since:
            since = event.created
        plan, share = old.get("plan", plan), old.get("share", share)
    if plan == "stop":
        shares.append(share)
    if not shares or (project.plan == "stop" and min(shares) == project.share):
        return None
    query = _OPEN_OF_SHARE if project.plan == "stop" else _OPEN_OF_ALL
    asked = ((query, (project.id, per_item - 1)), (_BACK, {"project": project.id}))
    if all(store.db.execute(*one).fetchone() is None for one in asked):
        return None
    return Unselected(min(shares), since)
