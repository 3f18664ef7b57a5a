"""Relabelling: labels of older versions of the guideline go back to their annotators.

The old label stays in the history and no longer counts, and its annotator labels the item once more. The place of this
annotator is kept without a time limit and never goes to another annotator.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from evenhand.annotations.database.events import annotator_names, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import changed_codes, guideline, guidelines
from evenhand.annotations.items.gold import recount_items
from evenhand.annotations.queue.assignments import send_label_back
from evenhand.annotations.queue.retests import void_retests
from evenhand.annotations.types import Choice, Guideline, Item, Project
from evenhand.core.errors import N_, Refused

Which = Literal["none", "named", "all"]
WHICH: tuple[Which, ...] = ("none", "named", "all")
ACCEPTED = ("accept", "correct")  # choices that name no criterion

CHUNK = 1_000  # labels per transaction; more would make desks wait

# Valid blind labels with their versions of the guideline.
_STANDING = """
SELECT assignment.item, assignment.annotator, label.id, label.guideline, label.choice, label.reasons, label.tags,
    assignment.revealed IS NOT NULL
FROM assignment JOIN label ON label.id = assignment.blind JOIN published_item AS item ON item.id = assignment.item
WHERE assignment.project = ? AND assignment.state = 'labelled'
"""


class OlderLabel(NamedTuple):
    """A label of an older version."""

    item: int
    annotator: int
    label: int


@dataclass(frozen=True, slots=True)
class RelabelCounts:
    """Numbers of labels, items, and labels of each annotator by name."""

    labels: int
    items: int
    annotators: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Affected:
    """The labels of older versions that a new one affects.

    `older`: all valid blind ones; `named`: those that name a criterion or choice that changed, was dropped or was
    marked as changed, and rejects with a free tag and no criterion; `all`: those and every accept; `shown`: those that
    are never sent, because their annotators have seen an opinion or others' labels; `left`: those of `all` whose
    annotators have left, so that their places become free for others.
    """

    older: RelabelCounts
    named: RelabelCounts
    all: RelabelCounts
    shown: int
    left: int


@dataclass(frozen=True, slots=True)
class EarlierLabel:
    """The former label of an item in relabelling, for the desk."""

    choice: str
    reasons: tuple[str, ...]
    version: int
    tags: tuple[str, ...]


def count_affected(
    store: Store, project: Project, choices: Sequence[Choice], reasons: Sequence[Choice], also: Collection[str] = ()
) -> Affected:
    """Count the labels that a version with these *choices* and *reasons* would affect, before it is written.

    *also*: codes whose meaning changes without a change of the name.
    """
    older_labels = _older_labels(store, project, guidelines(store, project), choices, reasons, also)
    names = annotator_names(store)
    every = [*older_labels.named, *older_labels.accepts]
    here = _active(store, project)
    left = sum(older_label.annotator not in here for older_label in every)
    older = [*every, *older_labels.others]
    return Affected(
        _counts(older, names), _counts(older_labels.named, names), _counts(every, names), older_labels.shown, left
    )


def send_for_relabelling(
    store: Store,
    project: Project,
    version: int,
    which: Which = "named",
    *,
    also: Collection[str] = (),
    author: str = "",
) -> RelabelCounts:
    """Send labels of versions before *version* back to their annotators; returns the labels sent.

    "named": see `Affected`; "all": accepts too, for a new criterion; "none": nothing. Idempotent: after an
    interruption, a repeated call does the rest. One transaction per 1,000 labels, so that desks need not wait; the last
    one stores the event. Raises Refused for another word, NotFound for an unknown version.
    """
    older_labels = _labels_to_send(store, project, version, which, also)
    sent: list[OlderLabel] = []
    for start in range(0, len(older_labels), CHUNK):
        with store.write():
            sent += _send_chunk(store, project, older_labels[start : start + CHUNK])
            counts = _counts(sent, annotator_names(store))
            if sent and start + CHUNK >= len(older_labels):
                record(
                    store, project, "sent_back", author=author, version=version, which=which, also=sorted(also),
                    labels=counts.labels, items=counts.items,
                )  # fmt: skip
    return counts if older_labels else RelabelCounts(0, 0)


def _labels_to_send(
    store: Store, project: Project, version: int, which: Which, also: Collection[str]
) -> list[OlderLabel]:
    if which not in WHICH:
        raise Refused(
            N_("The labels to send back must be one of {known}, not {which}."), known=", ".join(WHICH), which=which
        )
    new = guideline(store, project, version)
    if which == "none":
        return []
    older = [stored_guideline for stored_guideline in guidelines(store, project) if stored_guideline.version < version]
    older_labels = _older_labels(store, project, older, new.choices, new.beside, also)
    return [*older_labels.named, *(older_labels.accepts if which == "all" else [])]


def _send_chunk(store: Store, project: Project, older_labels: Sequence[OlderLabel]) -> list[OlderLabel]:
    """Send back those that are still valid, inside the caller's transaction; returns them."""
    here = _active(store, project)
    sent = []
    for older_label in older_labels:
        stays = older_label.annotator in here
        # An annotator who has left cannot relabel: the slot is free for others.
        if send_label_back(store.db, older_label.item, older_label.annotator, older_label.label, stays=stays):
            sent.append(older_label)
    void_retests(store.db, ((older_label.item, older_label.annotator) for older_label in sent))
    recount_items(store, list({older_label.item for older_label in sent}))
    return sent


def remaining_to_relabel(store: Store, project: Project) -> dict[str, int]:
    """Return the number of items that each annotator has still to relabel, by name, without zeros."""
    query = (
        "SELECT annotator.name, count(*) FROM assignment INDEXED BY assignment_kept"
        " JOIN annotator ON annotator.id = assignment.annotator"
        " WHERE assignment.project = ? AND kept = 1 AND state = 'leased' AND latest IS NULL GROUP BY annotator.id"
    )
    return dict(store.db.execute(query, (project.id,)).fetchall())


def first_version(store: Store, project: Project, annotator: int) -> int | None:
    """Return the version of the guideline under which an annotator (row id) made the first label; None without one."""
    query = (
        "SELECT guideline.version FROM label JOIN guideline ON guideline.id = label.guideline"
        " WHERE label.annotator = ? AND label.project = ? ORDER BY label.id LIMIT 1"
    )
    version: int | None = store.value(query, (annotator, project.id))
    return version


def earlier_labels(store: Store, annotator_id: int, items: Sequence[Item]) -> dict[str, EarlierLabel]:
    """Return by public id this annotator's former labels of those *items* that are in relabelling."""
    marks = ", ".join("?" * len(items))
    query = (
        "SELECT item.uid, label.choice, label.reasons, guideline.version, label.tags FROM assignment"
        " JOIN item ON item.id = assignment.item JOIN label ON label.op_id = assignment.op_id"
        " JOIN guideline ON guideline.id = label.guideline"
        " WHERE assignment.annotator = ? AND kept = 1 AND state = 'leased' AND label.choice IS NOT NULL"
        f" AND assignment.item IN ({marks})"
    )
    rows = store.db.execute(query, (annotator_id, *[item.id for item in items])).fetchall()
    return {
        uid: EarlierLabel(choice, tuple(json.loads(reasons)), version, tuple(json.loads(tags)))
        for uid, choice, reasons, version, tags in rows
    }


class _OlderLabels(NamedTuple):
    """Labels of older versions in the groups of `Affected`; `shown`: how many are never sent."""

    named: list[OlderLabel]
    accepts: list[OlderLabel]
    others: list[OlderLabel]
    shown: int


def _active(store: Store, project: Project) -> set[int]:
    return set(store.column("SELECT annotator FROM active_member WHERE project = ?", (project.id,)))


def _older_labels(
    store: Store,
    project: Project,
    versions: Sequence[Guideline],
    choices: Sequence[Choice],
    reasons: Sequence[Choice],
    also: Collection[str],
) -> _OlderLabels:
    """Return the labels of these *versions*, read once.

    Labels made after an opinion or others' labels were shown are not sent: they could not be blind again.
    """
    new = (*choices, *reasons)
    touched = {
        version.id: changed_codes((*version.choices, *version.beside), new).touched | set(also) for version in versions
    }
    own = {version.id for version in versions if version.scheme is not None}
    older_labels = _OlderLabels([], [], [], 0)
    kinds: dict[tuple[int, str, str, str], list[OlderLabel]] = {}
    shown = 0
    for item, annotator, label, version, choice, named, tags, seen in store.db.execute(_STANDING, (project.id,)):
        if version not in touched:
            continue
        if seen:
            shown += 1
            continue
        key = (version, choice, named, tags)
        if key not in kinds:
            kinds[key] = _list_for(older_labels, choice, named, tags, touched[version], own=version in own)
        kinds[key].append(OlderLabel(item, annotator, label))
    return older_labels._replace(shown=shown)


def _list_for(
    older_labels: _OlderLabels, choice: str, named: str, tags: str, touched: Collection[str], *, own: bool
) -> list[OlderLabel]:
    """Return the list to which a label with this choice, these reasons and tags (JSON) belongs.

    *own*: of a scheme of one's own, in which a new flag may belong to a label with any choice.
    """
    if choice in touched:
        return older_labels.named
    if choice in ACCEPTED:
        return older_labels.accepts
    reasons = json.loads(named)
    if any(code in touched for code in reasons) or (not reasons and tags != "[]"):
        return older_labels.named
    return older_labels.accepts if own else older_labels.others


def _counts(older_labels: Sequence[OlderLabel], names: dict[int, str]) -> RelabelCounts:
    people: dict[str, int] = {}
    for older_label in older_labels:
        people[names[older_label.annotator]] = people.get(names[older_label.annotator], 0) + 1
    return RelabelCounts(len(older_labels), len({older_label.item for older_label in older_labels}), people)
