"""Items that need labels again after annotators have passed them.

Each return has a number, counted in `project.returns`. `item.returned` is the last number of an item, `member.looked`
the last one that an annotator has seen. Items with a higher number are offered to that annotator again.
"""

from collections.abc import Sequence
from sqlite3 import Connection


def next_return(db: Connection, project: int, number: int = 1) -> int:
    """Reserve the next *number* return numbers of a project (row id); returns the first."""
    db.execute("UPDATE project SET returns = returns + ? WHERE id = ?", (number, project))
    last = int(db.execute("SELECT returns FROM project WHERE id = ?", (project,)).fetchone()[0])
    return last - number + 1


def return_items(db: Connection, project: int, items: Sequence[int]) -> None:
    """Offer items (row ids) that lack labels again to annotators who have passed them; each gets its own number."""
    first = next_return(db, project, len(items))
    rows = ((first + place, item) for place, item in enumerate(items))
    db.executemany("UPDATE item SET returned = ? WHERE id = ? AND taken < wanted", rows)


def return_unless_aside(db: Connection, project: int, item: int) -> None:
    """Offer an item to everybody again, unless it is set aside."""
    number = next_return(db, project)
    db.execute("UPDATE item SET returned = ? WHERE id = ? AND aside = 0", (number, item))


def return_from_lead(db: Connection, project: int, item: int) -> None:
    """Offer an item that was set aside to everybody again."""
    number = next_return(db, project)
    db.execute("UPDATE item SET aside = 0, returned = ? WHERE id = ? AND aside = 1", (number, item))


def look_again(db: Connection, project: int) -> None:
    """Offer all returned items of a project (row id) to every annotator again: closed ones may be open now."""
    db.execute("UPDATE member SET looked = 0 WHERE project = ?", (project,))


def set_looked(db: Connection, project: int, annotator: int, number: int) -> None:
    """Store the last return number that an annotator has seen."""
    db.execute("UPDATE member SET looked = ? WHERE project = ? AND annotator = ?", (number, project, annotator))
