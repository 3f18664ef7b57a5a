"""Gold labels that a package brought without the labels they were made of: records from which gold is recounted.

Precedence for an item: an act of an adjudicator since the import; then its labels, once it has all of them and one is
newer than the import; then the gold label of the package; then older labels and decisions (`items.gold`).
"""

from typing import NamedTuple

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.types import Project
from evenhand.core.files.timestamps import timestamp

PART = "gold.jsonl"  # of a package
IN_FORCE = """
SELECT brought.gold, label_file.file FROM gold_in_force AS brought JOIN label_file ON label_file.id = brought.file
WHERE brought.item = ?
"""
BY_PACKAGE = """
SELECT label_file.file, label_file.sha256, count(*) FROM gold_in_force AS brought
JOIN published_item AS item ON item.id = brought.item JOIN label_file ON label_file.id = brought.file
WHERE brought.project = ? GROUP BY label_file.id ORDER BY label_file.id
"""
OF_FILE = "SELECT item, gold FROM standing_gold WHERE file = ? ORDER BY item"


class ImportedGold(NamedTuple):
    """A gold label that a package brought; `gold` None: the package says that the item has no gold label."""

    gold: str | None
    package: str


def package_of(file: str) -> str:
    """Return the name of a package from the name under which its gold labels are stored."""
    return file.removesuffix(f": {PART}")


def gold_in_force(store: Store, item: int) -> ImportedGold | None:
    """Return the imported gold label that decides an item (row id), or None."""
    row = store.db.execute(IN_FORCE, (item,)).fetchone()
    return None if row is None else ImportedGold(row[0], package_of(row[1]))


def gold_by_package(store: Store, project: Project) -> list[tuple[str, str, int]]:
    """Return the package, the SHA-256 of its gold.jsonl, and the number of its gold labels that are in force."""
    rows = store.db.execute(BY_PACKAGE, (project.id,)).fetchall()
    return [(package_of(file), sha256, number) for file, sha256, number in rows]


def gold_of_file(store: Store, file: int) -> list[tuple[int, str | None]]:
    """Return the items (row ids) whose last gold label came with this file, with that label."""
    return [(item, gold) for item, gold in store.db.execute(OF_FILE, (file,))]


def holds_gold(store: Store, file: int) -> bool:
    """Return whether a file (row id) brought gold labels."""
    return store.db.execute("SELECT 1 FROM imported_gold WHERE file = ? LIMIT 1", (file,)).fetchone() is not None


def store_gold(store: Store, project: Project, item: int, file: int, gold: str | None) -> None:
    """Append a gold label of a package and recount its item, inside the caller's transaction."""
    _append(store, project, item, file, gold, holds=True)


def take_gold_back(store: Store, project: Project, item: int, file: int, gold: str | None) -> None:
    """Append that a gold label no longer holds and recount its item, inside the caller's transaction."""
    _append(store, project, item, file, gold, holds=False)


def _append(store: Store, project: Project, item: int, file: int, gold: str | None, *, holds: bool) -> None:
    store.db.execute(
        "INSERT INTO imported_gold (project, item, file, gold, holds, label, settlement, created)"
        " VALUES (?, ?, ?, ?, ?, (SELECT ifnull(max(id), 0) FROM label),"
        " (SELECT settlement FROM item WHERE id = ?), ?)",
        (project.id, item, file, gold, int(holds), item, timestamp()),
    )
    recount_item(store, item)
