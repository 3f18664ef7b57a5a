"""One annotator takes the place of another: what is handed out moves, what was labelled stays with who labelled it."""

import time

from annotations.database.events import record
from annotations.database.store import Store
from annotations.projects.annotators import annotator, checked_name, is_active, join, release_all
from annotations.queue.assignments import hand_over
from annotations.queue.leases import LEASE_S
from annotations.queue.set_aside import update_skipped
from annotations.types import Annotator, Project
from core.errors import N_, Refused


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
        until = (time.time() if now is None else now) + LEASE_S
        moved = hand_over(db, project.id, old.id, new.id, until)
        freed = release_all(db, project, old)
        update_skipped(store, project)
        record(
            store, project, "replaced", annotator=old, author=author,
            old=old.name, new=new.name, successor=new.uid, moved=moved, given_back=freed,
        )  # fmt: skip
    return new
