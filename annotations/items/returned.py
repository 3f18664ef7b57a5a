"""Items that lie open again behind annotators who walked past them.

Each return has a number, counted in `project.returns`. `item.returned` is the last one of an item, `member.looked` the
last one that an annotator has met: what has a higher number is offered to that annotator once more.
"""

from collections.abc import Sequence
from sqlite3 import Connection


def next_return(db: Connection, project: int, number: int = 1) -> int:
    """Take the next *number* return numbers of a project (row id) and give the first of them."""
    db.execute("UPDATE project SET returns = returns + ? WHERE id = ?", (number, project))
    last = int(db.execute("SELECT returns FROM project WHERE id = ?", (project,)).fetchone()[0])
    return last - number + 1


def return_items(db: Connection, project: int, items: Sequence[int]) -> None:
    """Offer items (row ids) that still lack labels to those who walked past them, each with a number of its own."""
    first = next_return(db, project, len(items))
    rows = ((first + place, item) for place, item in enumerate(items))
    db.executemany("UPDATE item SET returned = ? WHERE id = ? AND taken < wanted", rows)


def return_unless_aside(db: Connection, project: int, item: int) -> None:
    """Offer an item once more to everybody, unless it waits for the lead."""
    number = next_return(db, project)
    db.execute("UPDATE item SET returned = ? WHERE id = ? AND aside = 0", (number, item))


def return_from_lead(db: Connection, project: int, item: int) -> None:
    """Offer an item that was set aside to everybody again."""
    number = next_return(db, project)
    db.execute("UPDATE item SET aside = 0, returned = ? WHERE id = ? AND aside = 1", (number, item))


def look_again(db: Connection, project: int) -> None:
    """Let every annotator of a project (row id) meet all returned items again: some that were closed may be open."""
    db.execute("UPDATE member SET looked = 0 WHERE project = ?", (project,))


def set_looked(db: Connection, project: int, annotator: int, number: int) -> None:
    """Note the last return number that an annotator has met."""
    db.execute("UPDATE member SET looked = ? WHERE project = ? AND annotator = ?", (number, project, annotator))
