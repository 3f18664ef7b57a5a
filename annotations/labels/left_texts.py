"""Which text of a comparison was on the left when a label was made; both texts of an item are in the same log entry."""

from sqlite3 import Connection

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.comparison import Place, compares
from evenhand.annotations.types import Project

LEFT = "(SELECT place FROM left_text WHERE left_text.op_id = {label}.op_id)"


def insert_left(db: Connection, op_id: str, item: int, left: Place | None) -> None:
    """Append what was on the left of a label of *item* (row id), in the caller's transaction; nothing of a single text.

    None: nobody knows.
    """
    db.execute(
        "INSERT INTO left_text (op_id, item, place) SELECT ?, id, ? FROM item WHERE id = ? AND second IS NOT NULL",
        (op_id, left, item),
    )


def left_column(store: Store, project: Project, label: str) -> str:
    """SQL for what was on the left of a label (the alias of its table): NULL in a project of single texts."""
    return LEFT.format(label=label) if compares(store, project) else "NULL"


def left_of(db: Connection, op_id: str) -> Place | None:
    """What was on the left of the label of that operation."""
    row = db.execute("SELECT place FROM left_text WHERE op_id = ?", (op_id,)).fetchone()
    return None if row is None else row[0]
