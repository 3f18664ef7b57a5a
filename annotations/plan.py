"""How many labels each item should get: the same for all, or one each and a random sample labelled twice or more.

Who is in the sample is a pure function of the project's seed and the items' identities: the same in any database, and
nobody's labels change it.
"""

import hashlib
import heapq
from collections.abc import Collection, Iterable

from annotations.store import Store
from annotations.types import Project


def drawn(seed: int, identity: bytes) -> int:
    """Where an item stands in the draw of the doubly labelled sample: the lowest are in it.

    Another draw than that of the order of work, so that the sample lies anywhere in the queue.
    """
    digest = hashlib.blake2b(identity, digest_size=8, key=f"{seed}|doubled".encode()).digest()
    return int.from_bytes(digest, "big")


def doubled_sample(seed: int, identities: Iterable[bytes], number: int) -> set[bytes]:
    """The *number* identities that get several labels: every subset of that size is equally likely."""
    return set(heapq.nsmallest(number, identities, key=lambda one: (drawn(seed, one), one)))


def wanted_of(per_item: int, doubled: int | None, identity: bytes, sample: Collection[bytes]) -> int:
    """How many labels an item should get: *per_item*, or 1 where a sample is *doubled* and the item is not in it."""
    return per_item if doubled is None or identity in sample else 1


def set_wanted(store: Store, project: Project, batch: int | None = None) -> list[tuple[int, int]]:
    """Give every published item, and those of the unpublished *batch*, its wanted number; in the caller's transaction.

    Returns (item, wanted) of those that have labels and another number than before: they are to be settled anew. An
    item that leaves the sample, because a later file holds lower ones, keeps the labels that it has got.
    """
    query = "SELECT per_item, doubled, seed FROM project WHERE id = ?"  # the caller's project may be of before
    per_item, doubled, seed = store.db.execute(query, (project.id,)).fetchone()
    if doubled is None and batch is not None:
        return []  # a batch comes in with the number that all have; reading a large project would make labels wait
    rows = store.db.execute(
        "SELECT item.id, item.hash, item.wanted, item.labels FROM item JOIN batch ON batch.id = item.batch"
        " WHERE item.project = ? AND (batch.published > 0 OR batch.id = ?)",
        (project.id, batch),
    ).fetchall()
    sample = doubled_sample(seed, (bytes(row[1]) for row in rows), doubled or 0)
    changed = []
    for item, identity, before, labels in rows:
        wanted = wanted_of(per_item, doubled, bytes(identity), sample)
        if wanted != before:
            store.db.execute("UPDATE item SET wanted = ? WHERE id = ?", (wanted, item))
            changed += [(item, wanted)] if labels else []
    return changed


def labels_planned(project: Project, items: int) -> int:
    """How many labels a project with so many items wants in all."""
    if project.doubled is None:
        return items * project.per_item
    return items + min(project.doubled, items) * (project.per_item - 1)
