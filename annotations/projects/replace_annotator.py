"""One annotator takes the place of another: what is handed out moves, what was labelled stays with who labelled it."""

import time
from sqlite3 import Connection

from annotations.database.events import record
from annotations.database.store import Store
from annotations.items.set_aside import set_aside_everything
from annotations.projects.annotators import annotator, checked_name, free_everything, is_active, join
from annotations.queue.claim import LEASE_S
from annotations.types import Annotator, Project
from core.errors import N_, Refused

# What the one who leaves still has to do and the successor has not met: in the order in which it was handed out.
TO_MOVE = """
SELECT mine.item, mine.kept FROM assignment AS mine
WHERE mine.annotator = :old AND mine.project = :project AND mine.state = 'leased' AND mine.blind IS NULL
    AND NOT EXISTS (SELECT 1 FROM assignment AS theirs WHERE theirs.item = mine.item
        AND theirs.annotator = :new AND theirs.state <> 'released')
ORDER BY mine.turn
"""


def replace_annotator(
    store: Store, project: Project, old: Annotator, new_name: str, *, author: str = "", now: float | None = None
) -> Annotator:
    """Let *new_name* (new, or known already) take the place of *old*; returns the successor.

    Items that are handed out and not labelled move, in their order, also those that were sent back to *old*; what the
    successor has met already goes to everybody. From then on the successor is served like any annotator: what still
    lacks labels, and no item beyond the number it wants. (To begin where *old* stopped would pass over items that *old*
    labelled and that nobody else may be left to finish.) Past labels stay with *old*, who is deactivated; labels still
    on their way from an open desk of *old* are stored and count.

    One transaction; *now* (unix seconds) is when what moved was handed out. Raises Refused where *old* has left already
    or is the same person, NotFound where *old* is no annotator of the project.
    """
    name = checked_name(new_name)
    if name == old.name:
        raise Refused(N_("{name} cannot take the place of {name}: name somebody else."), name=name)
    with store.write() as db:
        if not is_active(db, project, old):
            message = N_("{name} has left this project already. Add {other} as an annotator instead.")
            raise Refused(message, name=old.name, other=name)
        db.execute("UPDATE member SET active = 0 WHERE project = ? AND annotator = ?", (project.id, old.id))
        join(store, project, [name])
        new = annotator(store, project, name)
        moved = _move(db, project, old, new, time.time() if now is None else now)
        freed = free_everything(db, project, old)
        set_aside_everything(store, project)
        record(
            store, project, "replaced", annotator=old, author=author,
            old=old.name, new=new.name, successor=new.uid, moved=moved, given_back=freed,
        )  # fmt: skip
    return new


def _move(db: Connection, project: Project, old: Annotator, new: Annotator, moment: float) -> int:
    """Hand the successor what the other one had; returns how many items."""
    who = {"old": old.id, "new": new.id, "project": project.id}
    rows = db.execute(TO_MOVE, who).fetchall()
    query = "SELECT turn, seen FROM member WHERE project = ? AND annotator = ?"
    turn, seen = db.execute(query, (project.id, new.id)).fetchone()
    for item, kept in rows:
        turn += 1
        # The slot is given up and taken in one transaction: nobody comes in between.
        db.execute(
            "UPDATE assignment SET state = 'released', kept = 0 WHERE item = ? AND annotator = ?", (item, old.id)
        )
        db.execute(
            "INSERT INTO assignment (item, annotator, project, state, turn, kept) VALUES (?, ?, ?, 'leased', ?, ?)"
            " ON CONFLICT DO UPDATE SET state = 'leased', turn = excluded.turn, kept = excluded.kept",
            (item, new.id, project.id, turn, kept),
        )
    # The successor need not be there yet: what moved waits for a while, as if it had been handed out now.
    held = max(seen, moment + LEASE_S) if rows else seen
    db.execute(
        "UPDATE member SET turn = ?, seen = ? WHERE project = ? AND annotator = ?", (turn, held, project.id, new.id)
    )
    return len(rows)
