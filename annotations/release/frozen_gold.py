"""Check of the gold labels of a release against the labels of its database, by the code that decides gold."""

import json
from dataclasses import dataclass
from typing import Any

from annotations.database.chain import DAY_MS, KINDS
from annotations.database.store import Store, at_one_moment
from annotations.items.derived import item_states
from annotations.items.recount_mark import open_recount
from annotations.projects.projects import project_by_uid
from annotations.release.changes import LOG_HEAD
from annotations.release.records import Release, release_file
from annotations.types import Project
from core.errors import EvenhandError

# Settings that decide gold: what was frozen under others cannot be decided again from the present ones.
RULES = ("per_item", "gold", "rescue", "doubled", "plan", "share", "seed")
# Items with an entry after that of a release. What is logged of an assignment is "item/annotator".
_TOUCHED = """
SELECT label.item FROM log JOIN label ON label.id = log.row WHERE log.id > :entry AND log.kind = 'label'
UNION SELECT CAST(substr(log.row, 1, instr(log.row, '/') - 1) AS INTEGER) FROM log
    WHERE log.id > :entry AND log.kind = 'assignment'
UNION SELECT settlement.item FROM log JOIN settlement ON settlement.id = log.row
    WHERE log.id > :entry AND log.kind = 'settlement'
UNION SELECT known.item FROM log JOIN known ON known.id = log.row WHERE log.id > :entry AND log.kind = 'known'
"""
_STATE = "SELECT status, gold FROM release_item WHERE release = ? AND item = ?"


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
    query = "SELECT project.uid FROM release JOIN project ON project.id = release.project WHERE release.id = ?"
    project = project_by_uid(store, store.db.execute(query, (release.id,)).fetchone()[0])
    named, entry = _last_entry(store, release)
    # Which items are in a doubly labelled sample depends on every later import too.
    comparable = entry is not None and project.doubled is None and not _rules_changed(store, project, entry)
    touched = {row[0] for row in store.db.execute(_TOUCHED, {"entry": entry})} if comparable else set[int]()
    recounting = open_recount(store, project) is not None
    stale: list[str] = []
    unchecked = 0
    for state in item_states(store, project):
        due = state.recounted.status, state.recounted.gold
        frozen = store.db.execute(_STATE, (release.id, state.id)).fetchone()
        reviewed = frozen is not None or due != ("pending", None)
        if not recounting and state.stored != state.recounted:
            stale.append(state.item)
        elif not comparable or state.id in touched:
            unchecked += frozen is not None
        elif reviewed and (frozen or ("pending", None)) != due:
            stale.append(state.item)
    return FrozenGold(tuple(stale), unchecked, None if not named else entry is not None)


def _last_entry(store: Store, release: Release) -> tuple[bool, int | None]:
    """Return whether the release names the last entry of its log, and the number of that entry; None if it is gone."""
    try:
        head = json.loads(release_file(store, release, LOG_HEAD))["log_head"]
        hashed, day = bytes.fromhex(head["hash"]), str(head["at"])[:10]
    except (EvenhandError, KeyError, TypeError, ValueError):
        return False, None
    query = "SELECT id FROM log WHERE at / ? = unixepoch(?) / 86400 AND hash = ?"
    row = store.db.execute(query.replace("?", str(DAY_MS), 1), (day, hashed)).fetchone()
    return True, None if row is None else int(row[0])


def _rules_changed(store: Store, project: Project, entry: int) -> bool:
    """Return whether a setting that decides gold, or a pilot, has changed after an entry."""
    columns = next(kind.watched for kind in KINDS if kind.table == "project")
    places = [columns.index(name) for name in RULES]
    query = "SELECT body FROM log WHERE id > ? AND kind = 'project' AND row = ?"
    for (body,) in store.db.execute(query, (entry, project.id)):
        before, after = json.loads(body)
        if before is None or any(before[place] != after[place] for place in places):
            return True
    query = "SELECT 1 FROM log JOIN pilot ON pilot.id = log.row WHERE log.id > ? AND kind = 'pilot' AND project = ?"
    values: tuple[Any, ...] = (entry, project.id)
    return store.db.execute(f"{query} LIMIT 1", values).fetchone() is not None
