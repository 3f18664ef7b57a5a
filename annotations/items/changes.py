"""Change what others decide on items: decisions, known answers, pilots, returns, quotas of cells.

Each function runs in the transaction of its caller, which recounts the item afterwards (`annotations.items.gold`).

An item that needs labels again after annotators have passed it is returned. Each return has a number, counted in
`project.returns`. `item.returned` is the last number of an item, `member.looked` the last one that an annotator has
seen. Items with a higher number are offered to that annotator again.
"""

from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection

from evenhand.annotations.database.store import insert, update_rows


def set_decision(db: Connection, item: int, settlement: int | None) -> None:
    """Set the settlement (row id) that is in force for an item; None: the item is open again."""
    _set(db, "settlement", item, settlement)


def set_known_answer(db: Connection, item: int, choice: str | None) -> None:
    """Set the known answer of an item; None: it has none."""
    _set(db, "known", item, choice)


def set_pilot(db: Connection, item: int, pilot: int | None) -> None:
    """Put an item into a pilot (row id) or take it out, without a change of its wanted labels."""
    _set(db, "pilot", item, pilot)


def _set(db: Connection, column: str, item: int, value: int | str | None) -> None:
    db.execute(f"UPDATE item SET {column} = ? WHERE id = ? AND {column} IS NOT ?", (value, item, value))


def draw_into_pilot(db: Connection, items: Iterable[int], pilot: int, wanted: int) -> None:
    """Put the drawn items into a pilot, in which each wants *wanted* labels."""
    rows = ((pilot, wanted, item) for item in items)
    db.executemany("UPDATE item SET pilot = ?, wanted = ? WHERE id = ?", rows)


def end_pilot(db: Connection, pilot: int, wanted: int) -> None:
    """Take unlabelled items out of a pilot; the others stay in it and want so many labels."""
    update_rows(db, "item", {"pilot": None}, pilot=pilot, labels=0)
    update_rows(db, "item", {"wanted": wanted}, pilot=pilot)


def set_aside_for_lead(db: Connection, item: int, aside: bool) -> None:
    """Set an item aside for the lead, or undo that; an item with all its labels is never set aside."""
    db.execute(
        "UPDATE item SET aside = (:aside AND taken < wanted) WHERE id = :item AND aside <> (:aside AND taken < wanted)",
        {"aside": int(aside), "item": item},
    )


def set_cell_quotas(db: Connection, project: int, quotas: Mapping[tuple[str, str], int]) -> None:
    """Set wanted accepted items of each (pair, side) of a project (row id); cells that are not named have no quota."""
    update_rows(db, "cell", {"quota": None}, project=project)
    for (pair, side), quota in quotas.items():
        row = {"project": project, "pair": pair, "side": side, "quota": quota}
        insert(db, "cell", row, "ON CONFLICT (project, pair, side) DO UPDATE SET quota = excluded.quota")


def next_return(db: Connection, project: int, number: int = 1) -> int:
    """Reserve the next *number* return numbers of a project (row id); returns the first."""
    query = "UPDATE project SET returns = returns + ? WHERE id = ? RETURNING returns - ? + 1"
    return int(db.execute(query, (number, project, number)).fetchone()[0])


def return_items(db: Connection, project: int, items: Sequence[int]) -> None:
    """Offer items (row ids) that lack labels again to annotators who have passed them; each gets its own number."""
    first = next_return(db, project, len(items))
    rows = ((first + place, item) for place, item in enumerate(items))
    db.executemany("UPDATE item SET returned = ? WHERE id = ? AND taken < wanted", rows)


def return_aside(db: Connection, project: int, item: int, *, aside: bool) -> None:
    """Offer an item to all annotators again, if its state is *aside*; afterwards it is not set aside."""
    update_rows(db, "item", {"aside": 0, "returned": next_return(db, project)}, id=item, aside=int(aside))


def look_again(db: Connection, project: int) -> None:
    """Offer all returned items of a project (row id) to every annotator again: closed ones may be open now."""
    update_rows(db, "member", {"looked": 0}, project=project)


def set_looked(db: Connection, project: int, annotator: int, number: int) -> None:
    """Store the last return number that an annotator has seen."""
    update_rows(db, "member", {"looked": number}, project=project, annotator=annotator)
