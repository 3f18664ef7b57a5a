"""The history of one item, and why it is kept or not.

Read from the tables of labels, skips, settlements, comments, events, retests, known answers, releases and guideline
versions. Nothing is written here.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from heapq import merge
from typing import Any, Literal

from evenhand.annotations.adjudication.decisions import decision_in_force, every_comment, settlements
from evenhand.annotations.browse.search import SearchRow, rows
from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.items.batch import item as item_of
from evenhand.annotations.items.gold import ImportedGold, gold_in_force, package_of
from evenhand.annotations.labels.read import blind_choices, decode_label, form_of
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_
from evenhand.core.statistics.estimate import Note

Happened = Literal[
    "imported", "label", "skip", "revealed", "settlement", "comment", "event", "again", "known", "released",
    "guideline", "gold",
]  # fmt: skip

IS_KNOWN = "hidden_gold"  # the event says no more than the table of known answers
# Each gives the moment, the name of who did it, and the data of an entry by name.
_LABELS = f"""
SELECT label.created AS moment, annotator.name AS who, label.choice, label.reasons, label.extraneous, label.spans,
       label.tags, label.note, label.seconds, guideline.version AS guideline, {form_of("label")} AS form,
       label.after_reveal, label.superseded, assignment.latest IS label.id AS stands,
       assignment.blind IS label.id AS blind, label.op_id, label.revision,
       (SELECT label_file.file FROM label_of_file JOIN label_file ON label_file.id = label_of_file.file
        WHERE label_of_file.label = label.id) AS file
FROM label JOIN annotator ON annotator.id = label.annotator JOIN guideline ON guideline.id = label.guideline
     LEFT JOIN assignment ON assignment.item = label.item AND assignment.annotator = label.annotator
WHERE label.item = :item AND (:reader IS NULL OR label.annotator = :reader) ORDER BY label.id
"""
_AGAIN = """
SELECT retest_label.created AS moment, annotator.name AS who, retest_label.choice, retest_label.reasons,
       retest_label.extraneous, retest_label.spans, retest_label.tags, retest_label.note, retest_label.seconds,
       guideline.version AS guideline, retest_label.form_shown AS form, 0 AS after_reveal, retest_label.superseded,
       retest.latest IS retest_label.id AS stands, 0 AS blind, retest_label.op_id, retest_label.revision, NULL AS file
FROM retest_label JOIN retest ON retest.id = retest_label.retest JOIN annotator ON annotator.id = retest.annotator
     JOIN guideline ON guideline.id = retest_label.guideline
WHERE retest.item = :item ORDER BY retest_label.id
"""
_SKIPS = (
    "SELECT skip.created AS moment, annotator.name AS who, revision FROM valid_skip AS skip"
    " JOIN annotator ON annotator.id = skip.annotator"
    " WHERE skip.item = :item AND (:reader IS NULL OR skip.annotator = :reader) ORDER BY skip.created, revision"
)
_GOLD = (
    "SELECT imported_gold.created AS moment, '' AS who, label_file.file, gold, holds FROM imported_gold"
    " JOIN label_file ON label_file.id = imported_gold.file WHERE item = :item ORDER BY imported_gold.id"
)
_IMPORTED = """
SELECT batch.created AS moment, '' AS who, batch.file FROM batch JOIN item ON item.batch = batch.id
WHERE item.id = :item
"""
# The first version is older than any item, regardless of the clock.
_GUIDELINES = """
SELECT guideline.created AS moment, '' AS who, version, changes FROM guideline WHERE project = :project AND version > 1
    AND created > (SELECT batch.created FROM batch JOIN item ON item.batch = batch.id WHERE item.id = :item)
"""
# Of the lead only.
_OTHERS: dict[Happened, str] = {
    "revealed": """
SELECT revealed AS moment, annotator.name AS who FROM assignment JOIN annotator ON annotator.id = assignment.annotator
WHERE assignment.item = :item AND revealed IS NOT NULL
""",
    "known": "SELECT created AS moment, author AS who, choice, why FROM known WHERE item = :item",
    "released": """
SELECT release.created AS moment, release.author AS who, release.version, release_item.status, release_item.gold
FROM frozen_release AS release JOIN release_item ON release_item.release = release.id
WHERE release_item.item = :item AND release.project = :project
""",
}
_HELD = """
SELECT annotator.name, iif(assignment.state = 'leased' AND kept, 'sent_back', assignment.state), annotator.uid
FROM assignment JOIN annotator ON annotator.id = assignment.annotator WHERE assignment.item = ? ORDER BY annotator.id
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened: UTC moment, what, who (a name, or ""), and more by name.

    "label": a stored operation: `choice` (None: taken back), `reasons`, `note`, `tags`, `extraneous`, `spans`,
    `seconds`, `guideline` (version), `form`, `after_reveal`, `superseded` (another desk was first), `stands` (it is the
    annotator's label now), `blind` (agreement and gold use it), `revision` (the desk's own count, also of a "skip"),
    `file` (the file it came from). "again": the same for a retest. "settlement": `action`, `choice`, `reasons`, `why`.
    "comment": `text`, `thread` (public id of an annotator or None). "event": `action`, `data`. "known": `choice`,
    `why`. "released": `version`, `status`, `gold`. "imported": `file`. "guideline": `version`, `changes`. "revealed"
    has nothing more. "gold": a gold label that a package brought without its labels: `package`, `choice` (None: the
    package has none), `holds` (False: it was taken back with the import).
    """

    when: str
    kind: Happened
    who: str
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def tells(self) -> bool:
        """True if it reveals an opinion of the item, so that an annotator who has yet to label it must not see it."""
        return self.kind in ("label", "again", "known", "settlement", "event", "gold") or bool(self.data.get("thread"))


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """An item as it is now.

    `gold_reasons`: why it has its status. `held`: (name, state) of annotators who have it on the desk or for
    relabelling. `talkers`: public ids of those who labelled or skipped it.
    """

    row: SearchRow
    because: tuple[Note, ...]
    held: tuple[tuple[str, str], ...]
    talkers: tuple[str, ...]
    history: tuple[Entry, ...]

    @property
    def finished(self) -> bool:
        """True if the item has all its labels."""
        return self.row.labels >= self.row.wanted


@consistent_read
def record_of(store: Store, project: Project, uid: str, *, reader: Annotator | None = None) -> ItemRecord:
    """Return one item (public id) with its history. `reader`: as `item_history`. Raises NotFound."""
    item = item_of(store, project, uid)
    row = next(rows(store, [item.id]))
    had = store.db.execute(_HELD, (item.id,)).fetchall() if reader is None else []
    held = tuple((name, state) for name, state, _uid in had if state in ("leased", "sent_back"))
    talkers = tuple(one for _name, state, one in had if state in ("labelled", "sent_back", "skipped"))
    history = tuple(item_history(store, project, uid, reader=reader))
    return ItemRecord(row, gold_reasons(store, project, row), held, talkers, history)


def item_history(store: Store, project: Project, uid: str, *, reader: Annotator | None = None) -> list[Entry]:
    """Return everything that happened to an item (public id), oldest first. Raises NotFound.

    `reader`: only what this annotator may see: own labels, own private thread with the lead, and public comments once
    the item has all its labels.
    """
    item = item_of(store, project, uid)
    values = {"item": item.id, "project": project.id, "reader": reader.id if reader else None}
    entries = [
        *_entries(store, "imported", _IMPORTED, values),
        *_entries(store, "guideline", _GUIDELINES, values),
        *_operations(store, values),
        *_comments(store, project, uid, reader),
    ]
    if reader is None:
        entries += [
            *(entry for kind, query in _OTHERS.items() for entry in _entries(store, kind, query, values)),
            *_labels(store, "again", _AGAIN, values),
            *_gold_labels(store, values),
            *(Entry(settlement.created, "settlement", settlement.adjudicator,
                    {"action": settlement.action, "choice": settlement.choice, "reasons": list(settlement.reasons),
                    "why": settlement.why})
              for settlement in settlements(store, project, uid)),
            *(Entry(event.created, "event", event.author, {"action": event.action, "data": event.data})
              for event in events(store, project, uid) if event.action != IS_KNOWN),
        ]  # fmt: skip
    return sorted(entries, key=lambda one: one.when)


def _entries(store: Store, kind: Happened, query: str, values: dict[str, int | None]) -> Iterator[Entry]:
    for row in store.each(dict[str, Any], query, values):
        yield Entry(row.pop("moment"), kind, row.pop("who"), row)


def _gold_labels(store: Store, values: dict[str, int | None]) -> Iterator[Entry]:
    for entry in _entries(store, "gold", _GOLD, values):
        file, gold, holds = entry.data.values()
        yield replace(entry, data={"package": package_of(file), "choice": gold, "holds": bool(holds)})


def _operations(store: Store, values: dict[str, int | None]) -> Iterator[Entry]:
    """Return labels and skips.

    Operations that a desk sends together have equal times; their revision gives the order.
    """
    labels = sorted(_labels(store, "label", _LABELS, values), key=lambda one: one.when)
    skips = _entries(store, "skip", _SKIPS, values)
    return merge(labels, skips, key=lambda one: (one.when, one.data["revision"]))


def _labels(store: Store, kind: Happened, query: str, values: dict[str, int | None]) -> Iterator[Entry]:
    for entry in _entries(store, kind, query, values):
        decode_label(entry.data)
        yield entry


def _comments(store: Store, project: Project, uid: str, reader: Annotator | None) -> Iterator[Entry]:
    for comment in every_comment(store, project, uid):
        if reader is None or comment.thread in (None, reader.uid):
            # Authors of public comments are hidden from annotators, as on the page Adjudicate.
            hidden = reader is not None and comment.annotator not in (None, reader.uid)
            yield Entry(
                comment.created,
                "comment",
                "" if hidden else comment.author,
                {"text": comment.text, "thread": comment.thread},
            )


def gold_reasons(store: Store, project: Project, row: SearchRow) -> tuple[Note, ...]:
    """Return the rule that made the item's status, as sentences; `choice` in their values is a code."""
    settled = decision_in_force(store, row.item.id)
    choices = [choice for _, choice in blind_choices(store, row.item.id)]
    labels = _by_labels(project, row, choices)
    if (brought := gold_in_force(store, row.item.id)) is not None:
        return labels, _brought_note(brought)
    if settled is None:
        return (labels,)
    values = {"who": settled.adjudicator, "choice": settled.choice}
    if settled.action == "leave":
        return labels, Note(N_("{who} confirmed the labels."), {"who": settled.adjudicator})
    if row.item.gold == settled.choice:
        return (Note(N_("{who} decided: {choice}. A decision overrides the labels."), values),)
    message = N_("{who} decided: {choice}. The decision has no effect: this project requires all annotators to accept.")
    return labels, Note(message, values)


def _brought_note(brought: ImportedGold) -> Note:
    values = {"file": brought.package, "choice": brought.gold}
    if brought.gold is None:
        message = N_("{file} has no gold label for this item: its project had more labels than the package holds.")
        return Note(message, values)
    message = N_("The gold label comes from {file}, without all the labels it was made of: {choice}.")
    return Note(message, values)


def _by_labels(project: Project, row: SearchRow, choices: list[str]) -> Note:
    """Return the reasons that follow from the labels alone."""
    labels, counted = len(choices), Counter(choices)
    if not labels:
        return Note(N_("This item has not been labelled yet."))
    (first, most) = counted.most_common(1)[0]
    values: dict[str, int | str] = {"labels": labels, "wanted": row.wanted, "most": most, "choice": first}
    if labels < row.wanted:
        return Note(N_("{labels} of {wanted} labels so far."), values)
    if project.plan == "stop" and "reject" in counted and labels < project.per_item:
        return Note(N_("Label {labels} was a reject, so labelling ended: the plan stops at the first reject."), values)
    if len(counted) == 1:
        return Note(
            N_("All {labels} labels are: {choice}.") if labels > 1 else N_("The only label is: {choice}."), values
        )
    if project.gold == "majority" and 2 * most > labels:
        return Note(N_("{most} of {labels} labels are: {choice}. The majority decides."), values)
    if project.gold == "unanimous" and set(counted) <= {"accept", "reject"}:
        message = N_(
            "{most} of {labels} labels accept the sentence, but this project requires all annotators to accept."
        )
        return Note(message, values | {"most": counted["accept"]})
    if project.gold == "majority":
        return Note(N_("No choice has more than half of the {labels} labels: awaiting adjudication."), values)
    return Note(N_("The {labels} labels differ: awaiting adjudication."), values)
