"""Pilots: a random sample that everybody labels first, with free tags, before the criteria are fixed.

While a pilot is open, the queue hands out its items only.
"""

import hashlib
import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from sqlite3 import Connection
from typing import Any

from evenhand.annotations.database.events import current_project, record
from evenhand.annotations.database.store import Store, insert, update_rows
from evenhand.annotations.items.batch import WHOLE_TEXT
from evenhand.annotations.items.changes import draw_into_pilot, end_pilot, return_items
from evenhand.annotations.items.gold import recount_items
from evenhand.annotations.items.wanted_labels import sample_of, set_wanted
from evenhand.annotations.labels.read import BLIND_UNTIL
from evenhand.annotations.projects.annotators import annotators, participants
from evenhand.annotations.queue.leases import free_all_leases
from evenhand.annotations.sampling.samples import open_sample
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp

# Withdrawn items are in an unpublished batch and are not counted. Untouched items: without a label, not skipped, not
# set aside, not in an earlier pilot, without a known answer.
_POOL = """
SELECT item.hash, item.id FROM published_item AS item
WHERE item.project = ? AND item.labels = 0 AND item.aside = 0 AND item.pilot IS NULL AND item.known IS NULL
    AND item.settlement IS NULL
    AND NOT EXISTS (SELECT 1 FROM assignment WHERE item = item.id AND state IN ('labelled', 'skipped'))
"""
# Open for others, or with a participant at work.
_STUDY = """
SELECT name FROM study WHERE project = ? AND (coalesce(closed, '') = '' OR EXISTS (
    SELECT 1 FROM study_person WHERE study_person.study = study.id AND state = 'working'))
"""


@dataclass(frozen=True, slots=True)
class Pilot:
    """One pilot of a project. `items`: drawn at its start; `people`: how many label each; `closed` None: it is open."""

    id: int
    number: int
    items: int
    people: int
    seed: int
    begun: str
    closed: str | None


@dataclass(frozen=True, slots=True)
class OwnPilot:
    """Own progress of an annotator in the open pilot, from their labels only."""

    number: int
    labelled: int
    items: int


def start_pilot(
    store: Store, project: Project, items: int = 1000, *, seed: int | None = None, author: str = ""
) -> Pilot:
    """Draw *items* published, unlabelled items and hand out only these until `close_pilot`.

    The draw depends only on *seed* (None: the project's), the pilot's number and the texts. All active annotators, and
    at least `per_item`, label each item. Draws fewer if fewer are left. Raises NotAllowed while another pilot or a
    sample is open; Refused if the project lacks annotators or items, or a study is under way.
    """
    if not isinstance(items, int) or items < 1:
        raise Refused(N_("A pilot needs at least one item."))
    with store.write() as db:
        if open_pilot(store, project) is not None:
            raise NotAllowed(N_("A pilot is already open. Close it before starting another."))
        refuse_beside_study(db, project)
        if open_sample(store, project) is not None:
            raise NotAllowed(N_("A sample is open. Close it before starting a pilot."))
        by_link = participants(store, project)
        people = sum(annotator.id not in by_link for annotator in annotators(store, project))
        if people == 0:
            raise Refused(N_("This project has no annotators yet. Add them first, then start the pilot."))
        drawn_from = project.seed if seed is None else seed
        number = 1 + len(pilots(store, project))
        drawn = _draw(store, project, items, f"{drawn_from}|pilot|{number}")
        pilot_id = restore_pilot(db, project, {
            "number": number, "items": len(drawn), "people": people, "seed": drawn_from, "begun": timestamp(),
        })  # fmt: skip
        wanted = max(people, current_project(store, project).per_item)
        draw_into_pilot(db, drawn, pilot_id, wanted)
        free_all_leases(db, project)
        record(store, project, "pilot_started", author=author, pilot=number, items=len(drawn), people=people)
    return pilots(store, project)[-1]


def refuse_beside_study(db: Connection, project: Project) -> None:
    """Raise Refused while people may come by the link of a study: they would be given the pilot's texts."""
    row = db.execute(f"{_STUDY} LIMIT 1", (project.id,)).fetchone()
    if row is not None:
        message = N_(
            "The study {name} is in progress, and its participants would receive the texts of the pilot. Close"
            " it first."
        )
        raise Refused(message, name=row[0])


def close_pilot(store: Store, project: Project, *, author: str = "") -> Pilot:
    """End the open pilot: all items are handed out again. Its labels stay and count.

    Items without a label leave the pilot as if they had never been drawn. The others stay in it; annotators who have
    not labelled them get them in the ordinary queue. Raises NotFound if no pilot is open.
    """
    with store.write() as db:
        pilot = open_pilot(store, project)
        if pilot is None:
            raise NotFound(N_("No pilot is open in this project."))
        free_all_leases(db, project)
        labelled = _recount_closed(store, project, pilot)
        record(store, project, "pilot_closed", author=author, pilot=pilot.number, items=pilot.items, labelled=labelled)
    return next(closed for closed in pilots(store, project) if closed.id == pilot.id)


def _recount_closed(store: Store, project: Project, pilot: Pilot) -> int:
    """Make the items of a pilot ordinary ones; returns how many have a label."""
    db = store.db
    items = db.execute("SELECT id, labels FROM item WHERE pilot = ?", (pilot.id,)).fetchall()
    # Annotators who have left are not waited for.
    people = max(1, min(pilot.people, max((labels for _, labels in items), default=0)))
    update_rows(db, "pilot", {"closed": timestamp(), "people": people}, id=pilot.id)
    end_pilot(db, pilot.id, max(people, current_project(store, project).per_item))
    labelled = [item for item, labels in items if labels]
    sample = sample_of(store, project)
    recount_items(store, list({*set_wanted(store, project, [item for item, _ in items], sample), *labelled}))
    # Annotators whose walk has passed an item get it as a returned one. Each item has its own return number: a desk
    # asks for higher numbers than the last that it got.
    return_items(db, project.id, [item for item, _ in items])
    return len(labelled)


def restore_pilot(db: Connection, project: Project, values: Mapping[str, Any]) -> int:
    """Store a pilot: number, items, seed, people, begun and closed of *values*; returns its row id."""
    return insert(db, "pilot", {**values, "project": project.id})


def pilots(store: Store, project: Project) -> list[Pilot]:
    """Return the pilots of a project, oldest first."""
    query = "SELECT id, number, items, people, seed, begun, closed FROM pilot WHERE project = ? ORDER BY number"
    return store.rows(Pilot, query, (project.id,))


def open_pilot(store: Store, project: Project) -> Pilot | None:
    """Return the open pilot, or None."""
    return next((pilot for pilot in pilots(store, project) if pilot.closed is None), None)


def own_pilot(store: Store, project: Project, annotator: Annotator) -> OwnPilot | None:
    """Return an annotator's own progress in the open pilot, or None. It does not depend on labels of others."""
    pilot = open_pilot(store, project)
    if pilot is None:
        return None
    rows = (
        "published_item AS item JOIN assignment ON assignment.item = item.id"
        " WHERE item.pilot = ? AND assignment.annotator = ? AND assignment.state = 'labelled'"
    )
    return OwnPilot(pilot.number, store.count(rows, (pilot.id, annotator.id)), remaining_items(store, pilot))


def remaining_items(store: Store, pilot: Pilot) -> int:
    """Return the present number of items in a pilot, without released and withdrawn ones."""
    return store.count("published_item WHERE pilot = ?", (pilot.id,))


# The last blind label of each annotator on an item before the end of the pilot; later ones belong to another version.
_MADE = f"""
SELECT label.item, label.annotator, label.choice
FROM published_item AS item JOIN valid_label AS label ON label.item = item.id
WHERE item.pilot = :pilot AND {BLIND_UNTIL}
"""
# The same with reasons, of items that await no further label.
_DIFFERING = f"""
SELECT item.id, item.uid, {WHOLE_TEXT}, item.start, item.stop, cell.side, label.annotator, label.choice, label.reasons
FROM published_item AS item JOIN cell ON cell.id = item.cell JOIN valid_label AS label ON label.item = item.id
WHERE item.pilot = :pilot AND item.labels >= item.wanted AND {BLIND_UNTIL}
ORDER BY item.id, label.annotator
"""
# Items that an active annotator should still label: not set aside, and without all labels.
_OPEN = """
published_item AS item WHERE pilot = :pilot AND labels < wanted AND aside = 0
AND EXISTS (SELECT 1 FROM active_member AS member WHERE member.project = :project AND NOT EXISTS (
    SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.annotator = member.annotator
        AND assignment.state = 'labelled'))
"""


def labels_in_pilot(store: Store, pilot: Pilot) -> list[tuple[int, int, str]]:
    """Return item, annotator (row ids) and choice of the blind labels that were made while a pilot was open."""
    return store.db.execute(_MADE, {"pilot": pilot.id, "until": pilot.closed or "9999"}).fetchall()


def labels_with_texts(store: Store, pilot: Pilot) -> list[tuple[Any, ...]]:
    """Return the labels of a closed pilot on items that await none, with the texts: the columns of `_DIFFERING`."""
    return store.db.execute(_DIFFERING, {"pilot": pilot.id, "until": pilot.closed or ""}).fetchall()


def has_open_items(store: Store, project: Project, pilot: Pilot) -> bool:
    """Return whether an active annotator has an item left in a pilot."""
    return store.has(_OPEN, {"pilot": pilot.id, "project": project.id})


def _draw(store: Store, project: Project, items: int, key: str) -> list[int]:
    rows = store.db.execute(_POOL, (project.id,)).fetchall()
    if not rows:
        raise Refused(N_("No unlabelled items are left to draw from. Import a file first."))
    order = partial(hashlib.blake2b, digest_size=8, key=key.encode())
    return [row[1] for row in heapq.nsmallest(items, rows, key=lambda row: order(bytes(row[0])).digest())]
