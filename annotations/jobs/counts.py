"""Counts of the whole database, for /healthz and /metrics."""

import time
from dataclasses import dataclass

from evenhand.annotations.database.store import Store


@dataclass(frozen=True, slots=True)
class Counts:
    """Stored labels (all revisions), annotators with a lease, and jobs by state."""

    labels: int
    desks: int
    jobs: dict[str, int]


def counts_of(store: Store) -> Counts:
    """Count the rows of the database. Raises sqlite3.Error if it cannot be read."""
    labels, desks = store.db.execute(
        "SELECT (SELECT count(*) FROM label), (SELECT count(*) FROM member WHERE seen > ?)", (time.time(),)
    ).fetchone()
    return Counts(labels, desks, dict(store.db.execute("SELECT state, count(*) FROM job GROUP BY state")))
