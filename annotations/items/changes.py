"""Writers of item columns that other packages decide on, and of quotas of cells.

Each function runs in the transaction of its caller, which recounts the item afterwards (`annotations.items.gold`).
"""

from collections.abc import Iterable, Mapping
from sqlite3 import Connection


def set_settlement(db: Connection, item: int, settlement: int | None) -> None:
    """Set the settlement (row id) that is in force for an item; None: the item is open again."""
    db.execute("UPDATE item SET settlement = ? WHERE id = ? AND settlement IS NOT ?", (settlement, item, settlement))


def set_known_answer(db: Connection, item: int, choice: str | None) -> None:
    """Set the known answer of an item; None: it has none."""
    db.execute("UPDATE item SET known = ? WHERE id = ?", (choice, item))


def set_pilot(db: Connection, item: int, pilot: int | None) -> None:
    """Put an item into a pilot (row id) or take it out, without a change of its wanted labels."""
    db.execute("UPDATE item SET pilot = ? WHERE id = ?", (pilot, item))


def draw_into_pilot(db: Connection, items: Iterable[int], pilot: int, wanted: int) -> None:
    """Put the drawn items into a pilot in which each wants so many labels."""
    rows = ((pilot, wanted, item) for item in items)
    db.executemany("UPDATE item SET pilot = ?, wanted = ? WHERE id = ?", rows)


def end_pilot(db: Connection, pilot: int, wanted: int) -> None:
    """Take unlabelled items out of a pilot; the others stay in it and want so many labels."""
    db.execute("UPDATE item SET pilot = NULL WHERE pilot = ? AND labels = 0", (pilot,))
    db.execute("UPDATE item SET wanted = ? WHERE pilot = ?", (wanted, pilot))


def set_aside_for_lead(db: Connection, item: int, aside: bool) -> None:
    """Set an item aside for the lead, or undo that; an item with all its labels is never set aside."""
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
