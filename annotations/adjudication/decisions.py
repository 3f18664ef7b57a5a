"""Cases for the adjudicator, decisions, which override the labels, and comments on items.

A case is an item that has all its labels, with those of each annotator, anonymous. Comments are public ones once an
item has all its labels, and private threads of one annotator and the lead.
"""

import json
import random
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any, ClassVar, Literal, NamedTuple

from evenhand.annotations.database.store import Store, insert
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.items.batch import ITEM_TABLES
from evenhand.annotations.items.batch import item as item_with
from evenhand.annotations.items.changes import set_decision
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.labels.checks import (
    check_answers,
    check_codes,
    check_flag,
    check_label_fits,
    check_marks,
    mark_kinds,
)
from evenhand.annotations.labels.read import LABELLED_BY, blind_choices, blind_labels_on
from evenhand.annotations.types import Annotator, Item, Mark, Project
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.text.sentences import control_character
from evenhand.core.typed_json import Writers, to_json

LONGEST = 4_000
LINE_BREAKS = str.maketrans("", "", "\t\n\r")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an item; `annotator` None: the lead wrote it.

    `thread` is the public id of the annotator whose private thread with the lead has the comment; None: it is public.
    """

    op_id: str
    author: str
    annotator: str | None
    text: str
    created: str
    thread: str | None = None


_COMMENTS = (
    "SELECT comment.item, comment.op_id, author, annotator.uid AS annotator, comment.text, comment.created,"
    " whose.uid AS thread FROM comment JOIN item ON item.id = comment.item"
    " LEFT JOIN annotator ON annotator.id = comment.annotator"
    " LEFT JOIN annotator AS whose ON whose.id = comment.thread"
    " WHERE comment.project = :project AND {which} ORDER BY comment.id"
)


def comments_where(store: Store, which: str, values: Mapping[str, Any]) -> list[tuple[int, Comment]]:
    """Return the item (row id) of each comment of a project, and the comment; *which*: an SQL condition."""

    def comment(item: int, **columns: Any) -> tuple[int, Comment]:
        return item, Comment(**columns)

    return store.rows(comment, _COMMENTS.format(which=which), values)


def comments(store: Store, project: Project, item: str, *, thread: Annotator | None = None) -> list[Comment]:
    """Return the public comments on an item (public id), oldest first.

    `thread`: return the private thread of this annotator and the lead instead; only these two may see it.
    """
    values = {"item": item, "project": project.id, "thread": None if thread is None else thread.id}
    return [comment for _, comment in comments_where(store, "item.uid = :item AND comment.thread IS :thread", values)]


def every_comment(store: Store, project: Project, item: str) -> list[Comment]:
    """Return public and private comments on an item (public id), oldest first. For the lead only."""
    values = {"item": item, "project": project.id}
    return [comment for _, comment in comments_where(store, "item.uid = :item", values)]


def add_comment(
    store: Store,
    project: Project,
    item: str,
    text: str,
    *,
    author: str,
    annotator: Annotator | None = None,
    thread: Annotator | None = None,
    op_id: str | None = None,
) -> None:
    """Append a comment to an item (public id); the same `op_id` twice is stored once.

    `thread`: the private thread of this annotator and the lead, which is open at any time. Raises NotAllowed for a
    public comment while the item still waits for labels (it would influence them), or if an annotator writes in the
    thread of another; Refused for an empty, too long or unprintable text; NotFound for an unknown item.
    """
    said = checked_text(text, N_("A comment cannot be empty."))
    if thread is not None and annotator is not None and annotator.id != thread.id:
        raise NotAllowed(N_("A private thread is visible only to one annotator and the lead."))
    with store.write() as db:
        row = db.execute(
            "SELECT item.id, labels >= wanted FROM imported_item AS item"
            # Not an item of a running import: if the import fails, an item with a comment could not be deleted.
            " WHERE item.uid = ? AND item.project = ?",
            (item, project.id),
        ).fetchone()
        if row is None:
            raise NotFound(N_("This project has no such item."))
        if thread is None and not row[1]:
            raise NotAllowed(N_("Comments open once all annotators have labelled this item."))
        people = [None if stored_annotator is None else stored_annotator.id for stored_annotator in (annotator, thread)]
        values = (op_id or uuid.uuid4().hex, project.id, row[0], *people, author.strip(), said, timestamp())
        names = ("op_id", "project", "item", "annotator", "thread", "author", "text", "created")
        insert_comment(db, dict(zip(names, values, strict=True)))


def insert_comment(db: Connection, values: Mapping[str, Any]) -> None:
    """Append a comment, a column each of *values*; the same `op_id` twice is stored once."""
    insert(db, "comment", values, "ON CONFLICT (op_id) DO NOTHING")


def checked_text(text: str, missing: str = "") -> str:
    """Return *text* without blanks at its ends.

    Raises Refused if it is too long or unprintable, or empty while *missing* has a message for that.
    """
    said = text.strip()
    if missing and not said:
        raise Refused(missing)
    if len(said) > LONGEST:
        raise Refused(N_("The comment exceeds {most} characters."), most=LONGEST)
    control = control_character(said.translate(LINE_BREAKS))
    if control is not None:
        raise Refused(N_("The text contains a control character: {character}."), character=control)
    return said


Action = Literal["decide", "leave", "reopen"]

_SETTLEMENTS = (
    "SELECT item.uid, settlement.op_id, settlement.adjudicator, settlement.action, settlement.choice,"
    " settlement.reasons, settlement.extraneous, settlement.spans, settlement.why, settlement.seen, settlement.created"
    " FROM settlement JOIN {items} AS item ON item.id = settlement.item WHERE {which} ORDER BY settlement.id"
)


@dataclass(frozen=True, slots=True)
class AdjudicationDecision:
    """One act of an adjudicator: decide on a choice, confirm what the labels say, or reopen the item.

    `seen` are the op_ids of the labels that were in view.
    """

    op_id: str
    adjudicator: str
    action: Action
    choice: str | None
    reasons: tuple[str, ...]
    extraneous: bool | None
    marks: tuple[Mark, ...]
    why: str
    seen: tuple[str, ...]
    created: str
    json_names: ClassVar = {"marks": "spans"}
    written_with: ClassVar[Writers] = {Mark: list}


def settlements(store: Store, project: Project, item: str) -> list[AdjudicationDecision]:
    """Return all acts of adjudicators on an item (public id), oldest first."""
    acts = _settlements(store, "item.uid = ? AND settlement.project = ?", item, project.id)
    return [settlement for _, settlement in acts]


def decision_in_force(store: Store, item: int) -> AdjudicationDecision | None:
    """Return the act that is in force for an item (row id); None: there is none, or it was reopened."""
    acts = _settlements(store, "settlement.id = item.settlement AND item.id = ?", item)
    return next((settlement for _, settlement in acts), None)


def each_decision_row(store: Store, project: Project) -> Iterator[dict[str, Any]]:
    """Yield all acts of a project as flat dicts in the order of time: `item` is the public id, lists are lists."""
    for uid, settlement in _settlements(store, "settlement.project = ?", project.id, items="published_item"):
        yield {"item": uid, **to_json(settlement)}


def _settlements(
    store: Store, which: str, *values: Any, items: str = "item"
) -> Iterator[tuple[str, AdjudicationDecision]]:
    """Yield the acts of adjudicators for which an SQL condition holds, with the public id of the item."""

    def act(
        uid: str, reasons: str, extraneous: int | None, spans: str, seen: str, **row: Any
    ) -> tuple[str, AdjudicationDecision]:
        row |= {"reasons": tuple(json.loads(reasons)), "seen": tuple(json.loads(seen))}
        marks = tuple(Mark(*mark) for mark in json.loads(spans))
        return uid, AdjudicationDecision(
            **row, extraneous=None if extraneous is None else bool(extraneous), marks=marks
        )

    yield from store.each(act, _SETTLEMENTS.format(items=items, which=which), values)


def decide_case(
    store: Store,
    project: Project,
    item: str,
    *,
    adjudicator: str,
    choice: str | None,
    seen: Sequence[str],
    base: str | None = None,
    reasons: Sequence[str] = (),
    extraneous: bool | None = None,
    marks: Sequence[Mark] = (),
    why: str = "",
    op_id: str | None = None,
) -> AdjudicationDecision:
    """Decide on *choice*, or with None confirm what the labels say; returns what was stored.

    Answers to scales of an own scheme are among the *reasons*, the answer to its text is *why*, as in labels.

    `seen` are the op_ids of the labels that were in view, `base` the op_id of the act that was in force (None: none).
    If either has changed since, the decision is refused: it was made on something else. The same `op_id` twice is
    stored once. Raises Refused and NotAllowed with what is wrong, NotFound for an unknown item.
    """
    action: Action = "leave" if choice is None else "decide"
    text = checked_text(why)
    _check(store, project, choice, reasons, extraneous, marks, text)
    values = {
        "op_id": op_id or uuid.uuid4().hex, "adjudicator": _checked_adjudicator(adjudicator), "action": action,
        "choice": choice, "reasons": json.dumps(list(dict.fromkeys(reasons))), "spans": json.dumps(sorted(marks)),
        "why": text, "extraneous": None if extraneous is None else int(extraneous), "seen": json.dumps(sorted(seen)),
    }  # fmt: skip
    with store.write():
        known = _stored_decision(store, values["op_id"], item)
        if known is not None:
            return known
        row, length, labels = _labelled_item(store, project, item, base)
        if sorted(seen) != labels:
            raise NotAllowed(N_("The labels of this item have changed since you opened it. Look at it again."))
        if choice is not None:
            check_marks(marks, length, mark_kinds(guideline(store, project)))
            _check_rescue(project, choice)
        return _write(store, project, item, row, values)


def reopen(
    store: Store, project: Project, item: str, *, adjudicator: str, base: str, why: str = ""
) -> AdjudicationDecision:
    """Take back the act *base* that is in force; the item is an open case again. Raises as `decide_case`."""
    values = {
        "op_id": uuid.uuid4().hex, "adjudicator": _checked_adjudicator(adjudicator), "action": "reopen", "choice": None,
        "reasons": "[]", "spans": "[]", "why": checked_text(why), "extraneous": None, "seen": "[]",
    }  # fmt: skip
    with store.write():
        row, *_ = _labelled_item(store, project, item, base)
        return _write(store, project, item, row, values)


def _check(
    store: Store,
    project: Project,
    choice: str | None,
    reasons: Sequence[str],
    extraneous: bool | None,
    marks: Sequence[Mark],
    why: str,
) -> None:
    if choice is None:
        return
    stored_guideline = guideline(store, project)
    answers = {point.code for point in stored_guideline.scheme.points} if stored_guideline.scheme else set()
    if not why and not set(reasons) - answers:  # a point of a scale says what, not why
        raise Refused(N_("A decision needs a reason or a note, so that others can check it."))
    check_codes(stored_guideline, choice, reasons)
    check_flag(stored_guideline, extraneous)
    check_answers(stored_guideline, reasons, why, required=project.checked)
    if project.kind == "generations" and project.checked:
        check_label_fits(stored_guideline, choice, reasons, extraneous, marks)


def _check_rescue(project: Project, choice: str) -> None:
    if choice == "accept" and project.gold == "unanimous" and not project.rescue:
        message = N_(
            "This project accepts a sentence only if all annotators accept it. First allow adjudication to accept other"
            " sentences, or leave this one rejected."
        )
        raise NotAllowed(message)


def _checked_adjudicator(adjudicator: str) -> str:
    name = adjudicator.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise Refused(N_("Enter the adjudicator's name (1 to 100 characters)."))
    return name


def _stored_decision(store: Store, op_id: Any, item: str) -> AdjudicationDecision | None:
    for uid, settlement in _settlements(store, "op_id = ?", op_id):
        if uid != item:
            raise Refused(N_("This id is already used by another operation."))
        return settlement
    return None


def _labelled_item(store: Store, project: Project, item: str, base: str | None) -> tuple[int, int, list[str]]:
    """Return the row id of an item that may be decided, the length of its text, and the op_ids of its labels."""
    row = store.db.execute(
        "SELECT item.id, length(text), item.labels >= wanted, settlement.op_id, settlement.adjudicator"
        " FROM item LEFT JOIN settlement ON settlement.id = item.settlement WHERE item.uid = ? AND item.project = ?",
        (item, project.id),
    ).fetchone()
    if row is None:
        raise NotFound(N_("This project has no such item."))
    if not row[2]:
        raise NotAllowed(N_("This item is still awaiting labels; adjudication begins once it has all of them."))
    if row[3] != base:
        message = N_("{name} has settled this item in the meantime. Look at it again.")
        if row[3] is None:
            message = N_("This item was reopened in the meantime. Look at it again.")
        raise NotAllowed(message, name=row[4] or "")
    return row[0], row[1], sorted(op for op, _ in blind_choices(store, row[0]))


def insert_decision(db: Connection, values: Mapping[str, Any]) -> int:
    """Append a settlement, a column each of *values*; returns its row id."""
    return insert(db, "settlement", values)


def _write(store: Store, project: Project, item: str, row: int, values: Mapping[str, Any]) -> AdjudicationDecision:
    stored = insert_decision(store.db, {**values, "project": project.id, "item": row, "created": timestamp()})
    set_decision(store.db, row, None if values["action"] == "reopen" else stored)
    recount_item(store, row)
    return settlements(store, project, item)[-1]


def decisions_in_force(store: Store, project: Project) -> dict[str, dict[str, Any]]:
    """Return public id -> `adjudicated` (True), `gold_extraneous` and `gold_spans` of the items that were decided."""
    query = (
        "SELECT item.uid, settlement.extraneous, settlement.spans FROM published_item AS item"
        " JOIN settlement ON settlement.id = item.settlement WHERE item.project = ? AND settlement.action = 'decide'"
    )
    return {
        uid: {
            "adjudicated": True,
            "gold_extraneous": None if flag is None else bool(flag),
            "gold_spans": json.loads(spans),
        }
        for uid, flag, spans in store.db.execute(query, (project.id,))
    }


Queue = Literal["open", "settled"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# open: fully labelled, the labels differ, no settlement. settled: a decision, or "left as it is".
WHERE: dict[Queue, str] = {"open": "split = 1 AND settlement IS NULL", "settled": "settlement IS NOT NULL"}


class AnonymousLabel(NamedTuple):
    """The blind label of one annotator; `letter` stands for the name."""

    letter: str
    choice: str
    reasons: tuple[str, ...]
    extraneous: bool | None
    marks: tuple[Mark, ...]
    note: str
    form_shown: str | None
    guideline: int
    op_id: str


@dataclass(frozen=True, slots=True)
class Case:
    """An item before the adjudicator. `settlement` is the one in force; `settlements` are all, oldest first."""

    item: Item
    labels: tuple[AnonymousLabel, ...]
    settlement: AdjudicationDecision | None
    settlements: tuple[AdjudicationDecision, ...]
    comments: tuple[Comment, ...]

    @property
    def seen(self) -> tuple[str, ...]:
        """The op_ids of the labels in view; `decide_case` refuses a decision if they have changed."""
        return tuple(label.op_id for label in self.labels)


def case_counts(store: Store, project: Project) -> dict[Queue, int]:
    """Return the number of cases in each queue."""
    counts: dict[Queue, int] = {}
    for queue, where in WHERE.items():
        counts[queue] = store.count(f"{ITEM_TABLES} WHERE item.project = ? AND {where}", (project.id,))
    return counts


def cases(
    store: Store,
    project: Project,
    queue: Queue = "open",
    *,
    between: str | None = None,
    pair: str | None = None,
    reader: Annotator | None = None,
) -> list[str]:
    """Return the public ids of the cases of a queue: open ones in the order of import, settled ones newest first.

    `between`: only items with these choices (a pattern of `patterns`). `pair`: only items of this keyword pair.
    `reader`: only items that this annotator has labelled, so that the other labels stay blind. Raises KeyError for an
    unknown queue.
    """
    order = "item.id" if queue == "open" else "settlement DESC"
    where = WHERE[queue] if reader is None else f"{WHERE[queue]} AND {LABELLED_BY.format(item='item.id', who='?')}"
    where += "" if pair is None else " AND cell.pair = ?"
    query = f"SELECT item.id, item.uid FROM {ITEM_TABLES} WHERE item.project = ? AND {where} ORDER BY {order}"
    values = [project.id, *([] if reader is None else [reader.id]), *([] if pair is None else [pair])]
    rows = store.db.execute(query, values).fetchall()
    if between is None:
        return [uid for _, uid in rows]
    made = _patterns(store, project, queue)
    return [uid for item, uid in rows if made.get(item) == between]


def patterns(store: Store, project: Project, queue: Queue = "open") -> list[tuple[str, int]]:
    """Return the patterns of differing choices, as `code/code`, with their numbers of cases, most common first."""
    return Counter(_patterns(store, project, queue).values()).most_common()


def _patterns(store: Store, project: Project, queue: Queue) -> dict[int, str]:
    query = (
        f"SELECT item.id, label.choice FROM {ITEM_TABLES} JOIN assignment ON assignment.item = item.id"
        f" JOIN label ON label.id = assignment.blind WHERE item.project = ? AND {WHERE[queue]}"
        " AND label.choice IS NOT NULL ORDER BY item.id"
    )
    chosen: dict[int, set[str]] = {}
    for item, choice in store.db.execute(query, (project.id,)):
        chosen.setdefault(item, set()).add(choice)
    return {item: "/".join(sorted(choices)) for item, choices in chosen.items()}


def case(store: Store, project: Project, uid: str) -> Case:
    """Return one item with its labels, settlements and comments. Raises NotFound for an unknown item."""
    item = item_with(store, project, uid)
    made = tuple(settlements(store, project, uid))
    standing = made[-1] if made and made[-1].action != "reopen" else None
    return Case(item, _anonymous_labels(store, item), standing, made, tuple(comments(store, project, uid)))


def _anonymous_labels(store: Store, item: Item) -> tuple[AnonymousLabel, ...]:
    labels = blind_labels_on(store, item.id)
    # Shuffled for each item, so that a letter does not follow an annotator from item to item.
    letters = list(LETTERS[: len(labels)]) if len(labels) <= len(LETTERS) else [str(n + 1) for n in range(len(labels))]
    order = random.Random(item.uid).sample(range(len(labels)), len(labels))  # noqa: S311 - nothing secret
    shown = zip(letters, (labels[at] for at in order), strict=True)
    return tuple(
        AnonymousLabel(
            letter, label.choice, label.reasons, label.extraneous, label.marks, label.note, label.form_shown,
            label.guideline, label.op_id,
        )
        for letter, label in shown
    )  # fmt: skip
