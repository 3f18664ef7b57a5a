"""A new version of the guideline, and what becomes of labels that were made under older ones.

They are kept, or sent back to those who made them: the old label stays in the history, counts no more, and its
annotator labels the item anew. Nobody else is handed the item meanwhile, however long the annotator is away.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from annotations.events import record
from annotations.gold import settle
from annotations.guidelines import changed_codes, guideline, guidelines
from annotations.retests import void
from annotations.store import Store
from annotations.types import Choice, Guideline, Item, Project
from core.errors import N_, Refused

Which = Literal["none", "named", "all"]
WHICH: tuple[Which, ...] = ("none", "named", "all")
ACCEPTED = ("accept", "correct")  # the choices that name no criterion, because nothing is wrong

# Blind labels that stand and were made under an older version. What was labelled after an opinion or the others'
# labels were shown cannot be made blind again: it stays.
_STANDING = """
SELECT assignment.item, assignment.annotator, label.choice, label.reasons, label.tags, member.active
FROM assignment JOIN label ON label.id = assignment.blind
    JOIN item ON item.id = assignment.item JOIN batch ON batch.id = item.batch AND batch.published > 0
    JOIN member ON member.project = assignment.project AND member.annotator = assignment.annotator
WHERE assignment.project = ? AND label.guideline = ? AND assignment.revealed IS {shown} NULL
    AND assignment.state = 'labelled'
"""


class Standing(NamedTuple):
    """A label that would be sent back; `active`: whether its annotator still labels here."""

    item: int
    annotator: int
    active: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """How much would be sent back: labels, items, and labels of each annotator by name."""

    labels: int
    items: int
    annotators: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Affected:
    """What a new version means for labels of older ones.

    `older`: all that stand blind; `named`: those that name a criterion or choice that changed, was dropped or was
    marked as changed, and rejects that name a free tag and no criterion; `all`: those and every accept; `shown`: those
    that stay in any case, because their annotators have seen an opinion or what others said; `left`: of `all`, labels
    of people who have left: they are free for others.
    """

    older: Counts
    named: Counts
    all: Counts
    shown: int
    left: int


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an annotator had said of an item that was sent back: for the desk."""

    choice: str
    reasons: tuple[str, ...]
    version: int


def affected(
    store: Store, project: Project, choices: Sequence[Choice], reasons: Sequence[Choice], also: Collection[str] = ()
) -> Affected:
    """Count what a version with these *choices* and *reasons* would send back, before it is written.

    *also*: codes whose meaning changes although their names do not.
    """
    versions = guidelines(store, project)
    kinds = {which: _chosen(store, project, versions, choices, reasons, which, also) for which in WHICH}
    shown = sum(len(_rows(store, project, each, shown=True)) for each in versions)
    left = sum(not one.active for one in kinds["all"])
    names = dict(
        store.db.execute(
            "SELECT annotator.id, name FROM annotator JOIN member ON member.annotator = annotator.id"
            " WHERE member.project = ?",
            (project.id,),
        ).fetchall()
    )
    older, named, every = (_counts(kinds[which], names) for which in WHICH)
    return Affected(older, named, every, shown, left)


def send_back(
    store: Store,
    project: Project,
    version: int,
    which: Which = "named",
    *,
    also: Collection[str] = (),
    author: str = "",
) -> Counts:
    """Send labels of versions before *version* back to their annotators; returns what was sent.

    "named": see `Affected`; "all": accepts too, for a criterion that is new; "none": nothing. Idempotent: what was
    sent back stands no more. One transaction, with an event. Raises Refused for another word, NotFound for a version
    that is not there.
    """
    with store.write():
        return send_back_now(store, project, version, which, also=also, author=author)


def send_back_now(
    store: Store,
    project: Project,
    version: int,
    which: Which,
    *,
    also: Collection[str] = (),
    author: str = "",
) -> Counts:
    """The same as `send_back`, inside the caller's transaction."""
    if which not in WHICH:
        raise Refused(N_("Labels are sent back as {known}, not {which}."), known=", ".join(WHICH), which=which)
    new = guideline(store, project, version)
    if which == "none":
        return Counts(0, 0)
    older = [each for each in guidelines(store, project) if each.version < version]
    found = _chosen(store, project, older, new.choices, new.reasons, which, also)
    store.db.conn.executemany(
        "UPDATE assignment SET state = iif(?, 'leased', 'released'), kept = ?, latest = NULL, blind = NULL"
        " WHERE item = ? AND annotator = ?",
        ((one.active, int(one.active), one.item, one.annotator) for one in found),
    )
    void(store.db, ((one.item, one.annotator) for one in found))
    for item in dict.fromkeys(one.item for one in found):
        settle(store, item)
    sent = _counts(found, dict(store.db.execute("SELECT id, name FROM annotator").fetchall()))
    if found:
        record(
            store, project, "sent_back", author=author, version=version, which=which, also=sorted(also),
            labels=sent.labels, items=sent.items,
        )  # fmt: skip
    return sent


def waiting(store: Store, project: Project) -> dict[str, int]:
    """How many items that were sent back each annotator has still to label, by name; nobody with none."""
    query = (
        "SELECT annotator.name, count(*) FROM assignment INDEXED BY assignment_kept"
        " JOIN annotator ON annotator.id = assignment.annotator"
        " WHERE assignment.project = ? AND kept = 1 AND state = 'leased' AND latest IS NULL GROUP BY annotator.id"
    )
    return dict(store.db.execute(query, (project.id,)).fetchall())


def earlier(store: Store, annotator_id: int, items: Sequence[Item]) -> dict[str, Earlier]:
    """What this annotator had said of those *items* that were sent back, by public id."""
    marks = ", ".join("?" * len(items))
    query = (
        "SELECT item.uid, label.choice, label.reasons, guideline.version FROM assignment"
        " JOIN item ON item.id = assignment.item JOIN label ON label.op_id = assignment.op_id"
        " JOIN guideline ON guideline.id = label.guideline"
        " WHERE assignment.annotator = ? AND kept = 1 AND state = 'leased' AND label.choice IS NOT NULL"
        f" AND assignment.item IN ({marks})"
    )
    rows = store.db.execute(query, (annotator_id, *[item.id for item in items])).fetchall()
    return {uid: Earlier(choice, tuple(json.loads(reasons)), version) for uid, choice, reasons, version in rows}


def _rows(
    store: Store, project: Project, version: Guideline, *, shown: bool = False
) -> list[tuple[int, int, str, str, str, int]]:
    return store.db.execute(_STANDING.format(shown="NOT" if shown else ""), (project.id, version.id)).fetchall()


def _chosen(
    store: Store,
    project: Project,
    versions: Sequence[Guideline],
    choices: Sequence[Choice],
    reasons: Sequence[Choice],
    which: Which,
    also: Collection[str],
) -> list[Standing]:
    """The labels of these *versions* that *which* means; "none": every one, for the count of what there is."""
    found: list[Standing] = []
    for each in versions:
        old, new = (*each.choices, *each.reasons), (*choices, *reasons)
        touched = changed_codes(old, new).touched | set(also)
        for item, annotator, choice, named, tags, active in _rows(store, project, each):
            if which == "none" or _is_meant(which, choice, named, tags, touched):
                found.append(Standing(item, annotator, bool(active)))
    return found


def _is_meant(which: Which, choice: str, named: str, tags: str, touched: Collection[str]) -> bool:
    if choice in ACCEPTED:
        return which == "all" or choice in touched
    if choice in touched:
        return True
    reasons = json.loads(named) if named != "[]" else []
    return any(code in touched for code in reasons) or (not reasons and tags != "[]")


def _counts(found: Sequence[Standing], names: dict[int, str]) -> Counts:
    people: dict[str, int] = {}
    for one in found:
        people[names[one.annotator]] = people.get(names[one.annotator], 0) + 1
    return Counts(len(found), len({one.item for one in found}), people)
