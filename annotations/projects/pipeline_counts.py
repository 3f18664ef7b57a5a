"""Counts of the sentences of all open projects: candidates, reviewed, same choice by all, kept.

A text in several projects, as in a project and its copy from a package, counts once: its identity is the hash of the
text.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.full_agreement import REVIEWED, SAME_CHOICE

# Only sentence projects that are not archived count, and of these the ones that are asked for.
OPEN = (
    "project.archived IS NULL AND project.kind = 'sentences'"
    " AND (:only IS NULL OR project.uid IN (SELECT value FROM json_each(:only)))"
)

# A row a text: {text} is item.hash, or item.id where one project has each text once and no sort is needed.
COUNTS = f"""
SELECT count(*), coalesce(sum(reviewed), 0), coalesce(sum(same), 0), coalesce(sum(kept), 0) FROM (
    SELECT max({REVIEWED}) AS reviewed, max({SAME_CHOICE}) AS same, max(item.status = 'accepted') AS kept
    FROM published_item AS item JOIN project ON project.id = item.project
    WHERE {OPEN} GROUP BY {{text}}
)
"""

STATE = """
SELECT (SELECT coalesce(max(id), 0) FROM label),
       (SELECT coalesce(max(id), 0) FROM imported_gold),
       (SELECT coalesce(max(published), 0) + count(*) FROM published_batch),
       (SELECT coalesce(max(id), 0) FROM event),
       (SELECT json_group_array(json_array(uid, gold, per_item, doubled, plan, share, archived)) FROM project)
"""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Counts of texts; each is a subset of the one before, except that `kept` depends on the rule for gold.

    A text counts where it does so in at least one project. candidates: in a published batch. reviewed: with all wanted
    blind labels. unanimous: reviewed, with at least two blind labels, all of the same choice. kept: accepted as gold.
    """

    candidates: int
    reviewed: int
    unanimous: int
    kept: int


def state(store: Store) -> tuple[str, ...]:
    """A value that changes whenever the counts may have changed; three index look-ups and one row a project."""
    return (store.uid, *(str(value) for value in store.db.execute(STATE).fetchone()))


def latest(store: Store) -> tuple[str, ...]:
    """A value that changes with every entry of the log as well: of what depends on more than counts."""
    return (*state(store), str(store.db.execute("SELECT coalesce(max(id), 0) FROM log").fetchone()[0]))


def pipeline(store: Store, only: Iterable[str] | None = None) -> Pipeline:
    """Return the counts of the open sentence projects, or of those among *only* (public ids), together.

    Reads every item once, so keep it by `state`.
    """
    values = {"only": None if only is None else json.dumps(sorted(only))}
    (projects,) = store.db.execute(f"SELECT count(*) FROM project WHERE {OPEN}", values).fetchone()
    text = "item.hash" if projects > 1 else "item.id"
    return Pipeline(*store.db.execute(COUNTS.format(text=text), values).fetchone())
