"""How far a pilot is, and how far its annotators agree: simple shares with their intervals."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotations.database.store import Store
from annotations.pilot.pilots import Pilot, items_left
from annotations.projects.annotators import annotators
from annotations.types import Annotator, Project
from core.errors import N_
from core.statistics import Estimate, Note, wilson

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
GOOD = ("accept", "correct")
NOBODY = Note(N_("no label yet"))
NO_TWO = Note(N_("no item of the pilot has labels of two annotators yet"))

# The last blind label that each annotator made of an item before the pilot was closed: what was sent back or changed
# since is another version's.
_MADE = """
SELECT label.item, label.annotator, label.choice
FROM published_item AS item JOIN valid_label AS label ON label.item = item.id
WHERE item.pilot = :pilot AND label.after_reveal = 0 AND label.created <= :closed
    AND NOT EXISTS (SELECT 1 FROM valid_label AS later
        WHERE later.item = label.item AND later.annotator = label.annotator AND later.after_reveal = 0
            AND later.created <= :closed AND later.id > label.id)
    AND label.choice IS NOT NULL
"""
# Items that somebody who is still here could and should label: not set aside, and not full.
_OPEN = """
SELECT count(*) FROM published_item AS item WHERE pilot = :pilot AND labels < wanted AND aside = 0
AND EXISTS (SELECT 1 FROM active_member AS member WHERE member.project = :project AND NOT EXISTS (
    SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.annotator = member.annotator
        AND assignment.state = 'labelled'))
"""


@dataclass(frozen=True, slots=True)
class PilotAnnotator:
    """One annotator in a pilot: how many items, and the share of them that was accepted (of generations: correct)."""

    annotator: Annotator
    letter: str
    labelled: int
    accepted: Estimate
    active: bool


@dataclass(frozen=True, slots=True)
class PilotFigures:
    """A pilot in numbers.

    `items` are in it now (a closed pilot lets go of those without labels, and what an import that was taken back had
    brought is not in it); `labelled` got a label while it was open,
    `compared` two or more; `unanimous`: the share of these on which everybody made the same choice, with a Wilson
    interval, 95 %. What is labelled anew after the pilot was closed changes nothing here.
    `complete`: nobody who is still here has anything left to label in it; of a closed one: it was labelled whole.
    """

    pilot: Pilot
    items: int
    labelled: int
    compared: int
    unanimous: Estimate
    people: tuple[PilotAnnotator, ...]
    complete: bool
    signature: str


def pilot_figures(store: Store, project: Project, pilot: Pilot) -> PilotFigures:
    """Everything about one pilot; reads its items and their labels once."""
    made = store.db.execute(_MADE, {"pilot": pilot.id, "closed": pilot.closed or "9999"}).fetchall()
    choices: dict[int, list[str]] = {}
    for item, _, choice in made:
        choices.setdefault(item, []).append(choice)
    two = [each for each in choices.values() if len(each) > 1]
    same = sum(len(set(each)) == 1 for each in two)
    items = items_left(store, pilot)
    return PilotFigures(
        pilot,
        items,
        len(choices),
        len(two),
        wilson(same, len(two), nothing=NO_TWO),
        _people(store, project, pilot, [(annotator, choice) for _, annotator, choice in made]),
        bool(choices) and _is_complete(store, project, pilot, items, choices),
        f"pilot:{pilot.number}|items:{pilot.items}|seed:{pilot.seed}|labels:blind,in-pilot|interval:wilson-95|v1",
    )


def _is_complete(store: Store, project: Project, pilot: Pilot, items: int, choices: Mapping[int, list[str]]) -> bool:
    if pilot.closed is not None:
        return len(choices) == items == pilot.items and all(len(each) >= pilot.people for each in choices.values())
    left = store.db.execute(_OPEN, {"pilot": pilot.id, "project": project.id}).fetchone()[0]
    return int(left) == 0


def letters(store: Store, project: Project, pilot: Pilot | None) -> dict[int, str]:
    """Row id of an annotator -> the letter that stands for the name while a pilot is open, shuffled for each pilot."""
    everybody = [one.id for one in annotators(store, project, active=False)]
    names = list(LETTERS[: len(everybody)]) if len(everybody) <= len(LETTERS) else [str(i + 1) for i in everybody]
    order = random.Random(f"{project.uid}|{pilot.number if pilot else 0}")  # noqa: S311 - nothing secret
    return dict(zip(order.sample(everybody, len(everybody)), names, strict=True))


def _people(
    store: Store, project: Project, pilot: Pilot, made: Sequence[tuple[int, str]]
) -> tuple[PilotAnnotator, ...]:
    labelled, accepted = Counter(who for who, _ in made), Counter(who for who, choice in made if choice in GOOD)
    active = {one.id for one in annotators(store, project)}
    named = letters(store, project, pilot)
    found = []
    for one in annotators(store, project, active=False):
        if labelled[one.id] or (one.id in active and pilot.closed is None):
            share = wilson(accepted[one.id], labelled[one.id], nothing=NOBODY)
            found.append(PilotAnnotator(one, named[one.id], labelled[one.id], share, one.id in active))
    return tuple(found)
