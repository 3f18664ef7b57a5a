"""Progress and agreement of a pilot: shares with their intervals."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import has_own_scheme
from evenhand.annotations.items.provenance import articles
from evenhand.annotations.labels.blind_labels import full_agreement_of_rows
from evenhand.annotations.pilot.pilots import Pilot, has_open_items, labels_in_pilot, labels_with_texts, remaining_items
from evenhand.annotations.projects.annotators import annotators, participants
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.posterior import share_of_rows
from evenhand.core.types import Span

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
GOOD = ("accept", "correct")
NOBODY = Note(N_("no label yet"))
NO_GOOD = Note(N_("custom schemes have no choice that means accepted"))
NO_TWO = Note(N_("no item of the pilot has labels by two annotators yet"))


@dataclass(frozen=True, slots=True)
class PilotAnnotator:
    """One annotator in a pilot: number of items, and the share accepted (of generations: correct)."""

    annotator: Annotator
    letter: str
    labelled: int
    accepted: Estimate
    active: bool


@dataclass(frozen=True, slots=True)
class PilotProgress:
    """A pilot in numbers.

    `items`: its present number, without withdrawn items and, in a closed pilot, without unlabelled ones. `labelled` got
    a label while it was open, `compared` two or more; `unanimous`: the full agreement of these, with a 95% interval:
    over source articles where one holds several, else Wilson's, modified. Labels made after its end change nothing
    here. `complete`: no active annotator has an item left in it; of a closed one: it was fully labelled.
    """

    pilot: Pilot
    items: int
    labelled: int
    compared: int
    unanimous: Estimate
    people: tuple[PilotAnnotator, ...]
    complete: bool
    signature: str


@dataclass(frozen=True, slots=True)
class DifferingItem:
    """An item of a closed pilot on which people chose differently. `said`: letter, choice and reasons, by letter."""

    uid: str
    text: str
    word: Span | None
    side: str
    said: tuple[tuple[str, str, tuple[str, ...]], ...]


def differing_items(store: Store, project: Project, pilot: Pilot) -> list[DifferingItem]:
    """Return the items on which the labels of a closed pilot differ, those on which most differ first.

    An item that still awaits a label is left out, so that labels stay blind.
    """
    rows = labels_with_texts(store, pilot)
    values: dict[int, list[Any]] = {}
    for row in rows:
        values.setdefault(row[0], []).append(row)
    named = letters(store, project, pilot, {who for _item, *_about, who, _choice, _reasons in rows})
    differing = []
    for own in values.values():
        said = tuple(sorted((named[who], choice, tuple(json.loads(reasons))) for *_item, who, choice, reasons in own))
        if len({choice for _letter, choice, _reasons in said}) > 1:
            _id, uid, text, start, stop, side, *_label = own[0]
            differing.append(DifferingItem(uid, text, None if start is None else (start, stop), side, said))
    return sorted(differing, key=lambda one: max(Counter(choice for _letter, choice, _reasons in one.said).values()))


def pilot_progress(store: Store, project: Project, pilot: Pilot) -> PilotProgress:
    """Return the figures of one pilot; it reads its items and their labels once."""
    made = labels_in_pilot(store, pilot)
    choices: dict[int, list[str]] = {}
    for item, _, choice in made:
        choices.setdefault(item, []).append(choice)
    items, sources = remaining_items(store, pilot), articles(store, project)
    unanimous = full_agreement_of_rows((item, choice, sources.get(item, "")) for item, _, choice in made)
    if unanimous.value is None:
        unanimous = Estimate.undefined(NO_TWO)
    interval = "clustered-dirichlet-95|unit:source|v2" if unanimous.clusters else "modified-wilson-95|v2"
    return PilotProgress(
        pilot,
        items,
        len(choices),
        unanimous.units,
        unanimous,
        _people(store, project, pilot, made, sources),
        bool(choices) and _is_complete(store, project, pilot, items, choices),
        f"pilot:{pilot.number}|items:{pilot.items}|seed:{pilot.seed}|labels:blind,in-pilot|interval:{interval}",
    )


def _is_complete(store: Store, project: Project, pilot: Pilot, items: int, choices: Mapping[int, list[str]]) -> bool:
    if pilot.closed is not None:
        return len(choices) == items == pilot.items and all(len(choice) >= pilot.people for choice in choices.values())
    return not has_open_items(store, project, pilot)


def letters(
    store: Store, project: Project, pilot: Pilot | None, among: Collection[int] | None = None
) -> dict[int, str]:
    """Return row id of an annotator -> letter in place of the name, shuffled for each pilot.

    *among*: only these, so that people who join later change nothing; None: everyone in the project.
    """
    everybody = [
        annotator.id for annotator in annotators(store, project, active=False) if among is None or annotator.id in among
    ]
    names = list(LETTERS[: len(everybody)]) if len(everybody) <= len(LETTERS) else [str(i + 1) for i in everybody]
    order = random.Random(f"{project.uid}|{pilot.number if pilot else 0}")  # noqa: S311 - nothing secret
    return dict(zip(order.sample(everybody, len(everybody)), names, strict=True))


def _people(
    store: Store, project: Project, pilot: Pilot, made: Sequence[tuple[int, int, str]], sources: Mapping[int, str]
) -> tuple[PilotAnnotator, ...]:
    own: defaultdict[int, list[tuple[bool, str]]] = defaultdict(list)
    for item, who, choice in made:
        own[who].append((choice in GOOD, sources.get(item, "")))
    scheme = has_own_scheme(store, project)
    active, by_link = {annotator.id for annotator in annotators(store, project)}, participants(store, project)
    named = letters(store, project, pilot)
    pilot_annotators = []
    for annotator in annotators(store, project, active=False):
        rows = own[annotator.id]
        if rows or (annotator.id in active - by_link and pilot.closed is None):
            share = share_of_rows([good for good, _ in rows], [unit for _, unit in rows], nothing=NOBODY)
            share = Estimate.undefined(NO_GOOD) if scheme else share
            pilot_annotators.append(
                PilotAnnotator(annotator, named[annotator.id], len(rows), share, annotator.id in active)
            )
    return tuple(pilot_annotators)
