"""How far a pilot is, and how far its annotators agree: simple shares with their intervals."""

import random
from dataclasses import dataclass

from annotations.people import annotators
from annotations.pilots import Pilot
from annotations.store import Store
from annotations.types import Annotator, Project
from core.errors import N_
from core.statistics import Estimate, Note, wilson

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
GOOD = ("accept", "correct")
NOBODY = Note(N_("no label yet"))
NO_TWO = Note(N_("no item of the pilot has labels of two annotators yet"))

_OWN = """
SELECT assignment.annotator, count(*), sum(label.choice IN ('accept', 'correct'))
FROM item INDEXED BY item_pilot JOIN assignment ON assignment.item = item.id
    JOIN label ON label.id = assignment.latest
WHERE item.pilot = ? AND assignment.state = 'labelled'
    AND item.batch NOT IN (SELECT id FROM batch WHERE published = 0) GROUP BY assignment.annotator
"""
_ITEMS = """
SELECT count(label.id), count(DISTINCT label.choice)
FROM item INDEXED BY item_pilot LEFT JOIN assignment ON assignment.item = item.id
    LEFT JOIN label ON label.id = assignment.blind AND label.choice IS NOT NULL
WHERE item.pilot = ? AND item.batch NOT IN (SELECT id FROM batch WHERE published = 0) GROUP BY item.id
"""
# Items that somebody who is still here could and should label: not set aside, and not full.
_OPEN = """
SELECT count(*) FROM item INDEXED BY item_pilot WHERE pilot = :pilot AND labels < wanted AND aside = 0
AND item.batch NOT IN (SELECT id FROM batch WHERE published = 0)
AND EXISTS (SELECT 1 FROM member WHERE member.project = :project AND member.active = 1 AND NOT EXISTS (
    SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.annotator = member.annotator
        AND assignment.state = 'labelled'))
"""


@dataclass(frozen=True, slots=True)
class InPilot:
    """One annotator in a pilot: how many items, and the share of them that was accepted (of generations: correct)."""

    annotator: Annotator
    letter: str
    labelled: int
    accepted: Estimate
    active: bool


@dataclass(frozen=True, slots=True)
class PilotFigures:
    """A pilot in numbers.

    `items` are in it now (a closed pilot lets go of those without labels); `labelled` have a label, `compared` two or
    more; `unanimous`: the share of these on which everybody made the same choice, with a Wilson interval, 95 %.
    `complete`: nobody who is still here has anything left to label in it.
    """

    pilot: Pilot
    items: int
    labelled: int
    compared: int
    unanimous: Estimate
    people: tuple[InPilot, ...]
    complete: bool
    signature: str


def pilot_figures(store: Store, project: Project, pilot: Pilot) -> PilotFigures:
    """Everything about one pilot; reads its items and their labels once."""
    counted = store.db.execute(_ITEMS, (pilot.id,)).fetchall()
    two = [kinds for labels, kinds in counted if labels > 1]
    same = sum(kinds == 1 for kinds in two)
    left = store.db.execute(_OPEN, {"pilot": pilot.id, "project": project.id}).fetchone()[0]
    labelled = sum(labels > 0 for labels, _ in counted)
    return PilotFigures(
        pilot,
        len(counted),
        labelled,
        len(two),
        wilson(same, len(two), nothing=NO_TWO),
        _people(store, project, pilot),
        bool(counted) and left == 0 and labelled > 0,
        f"pilot:{pilot.number}|items:{pilot.items}|seed:{pilot.seed}|labels:blind|interval:wilson-95|v1",
    )


def letters(store: Store, project: Project, pilot: Pilot | None) -> dict[int, str]:
    """Row id of an annotator -> the letter that stands for the name while a pilot is open, shuffled for each pilot."""
    everybody = [one.id for one in annotators(store, project, active=False)]
    names = list(LETTERS[: len(everybody)]) if len(everybody) <= len(LETTERS) else [str(i + 1) for i in everybody]
    order = random.Random(f"{project.uid}|{pilot.number if pilot else 0}")  # noqa: S311 - nothing secret
    return dict(zip(order.sample(everybody, len(everybody)), names, strict=True))


def _people(store: Store, project: Project, pilot: Pilot) -> tuple[InPilot, ...]:
    counts = {row[0]: row[1:] for row in store.db.execute(_OWN, (pilot.id,))}
    active = {one.id for one in annotators(store, project)}
    named = letters(store, project, pilot)
    found = []
    for one in annotators(store, project, active=False):
        labelled, accepted = counts.get(one.id, (0, 0))
        if labelled or (one.id in active and pilot.closed is None):
            share = wilson(accepted, labelled, nothing=NOBODY)
            found.append(InPilot(one, named[one.id], labelled, share, one.id in active))
    return tuple(found)
