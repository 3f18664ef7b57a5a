"""Columns of an item that other packages decide on, and quotas of cells: written here and nowhere else.

Each function belongs into the transaction of its caller, which settles the item afterwards (`annotations.items.gold`).
"""

from collections.abc import Iterable, Mapping
from sqlite3 import Connection


def set_settlement(db: Connection, item: int, settlement: int | None) -> None:
    """Let a settlement of the adjudicator (row id) stand for an item; None: the item is open again."""
    db.execute("UPDATE item SET settlement = ? WHERE id = ? AND settlement IS NOT ?", (settlement, item, settlement))


def set_known_answer(db: Connection, item: int, choice: str | None) -> None:
    """Make an item one whose answer the lead knows; None: it is one no longer."""
    db.execute("UPDATE item SET known = ? WHERE id = ?", (choice, item))


def set_pilot(db: Connection, item: int, pilot: int | None) -> None:
    """Put an item into a pilot (row id) or take it out, whatever number of labels it wants."""
    db.execute("UPDATE item SET pilot = ? WHERE id = ?", (pilot, item))


def draw_into_pilot(db: Connection, items: Iterable[int], pilot: int, wanted: int) -> None:
    """Put the drawn items into a pilot in which each of them wants so many labels."""
    rows = ((pilot, wanted, item) for item in items)
    db.executemany("UPDATE item SET pilot = ?, wanted = ? WHERE id = ?", rows)


def end_pilot(db: Connection, pilot: int, wanted: int) -> None:
    """Let the items of a pilot go that have no label; the others stay in it and want so many labels."""
    db.execute("UPDATE item SET pilot = NULL WHERE pilot = ? AND labels = 0", (pilot,))
    db.execute("UPDATE item SET wanted = ? WHERE pilot = ?", (wanted, pilot))


def set_aside_for_lead(db: Connection, item: int, aside: bool) -> None:
    """Set an item aside for the lead, or take it back; an item with all its labels is never set aside."""
    db.execute(
        "UPDATE item SET aside = (:aside AND taken < wanted) WHERE id = :item AND aside <> (:aside AND taken < wanted)",
        {"aside": int(aside), "item": item},
    )


def set_cell_quotas(db: Connection, project: int, quotas: Mapping[tuple[str, str], int]) -> None:
    """Wanted accepted items of each (pair, side) of a project (row id); cells that are not named have no quota."""
    db.execute("UPDATE cell SET quota = NULL WHERE project = ?", (project,))
    for (pair, side), quota in quotas.items():
        db.execute(
            "INSERT INTO cell (project, pair, side, quota) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (project, pair, side) DO UPDATE SET quota = excluded.quota",
            (project, pair, side, quota),
        )
