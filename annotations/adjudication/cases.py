"""Cases for the adjudicator: items that have all their labels, with the labels of each annotator, anonymous."""

import json
import random
from collections import Counter
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evenhand.annotations.adjudication.comments import Comment, comments
from evenhand.annotations.adjudication.decisions import Settlement, settlements
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import ITEM_COLUMNS, ITEM_TABLES, as_item
from evenhand.annotations.labels.read import form_of
from evenhand.annotations.types import Annotator, Item, Mark, Project
from evenhand.core.errors import N_, NotFound

Queue = Literal["open", "settled"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# open: fully labelled, the labels differ, no settlement. settled: a decision, or "left as it is".
WHERE: dict[Queue, str] = {"open": "split = 1 AND settlement IS NULL", "settled": "settlement IS NOT NULL"}
LABELLED_BY = (
    "AND EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.annotator = ?"
    " AND assignment.state = 'labelled')"
)
BLIND_LABELS = f"""
SELECT annotator.id, label.choice, label.reasons, label.extraneous, label.spans, label.note, {form_of("label")},
       guideline.version, label.op_id
FROM assignment JOIN label ON label.id = assignment.blind JOIN annotator ON annotator.id = label.annotator
     JOIN guideline ON guideline.id = label.guideline
WHERE assignment.item = ? AND label.choice IS NOT NULL ORDER BY annotator.id
"""


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
    """An item before the adjudicator. `settlement` is the one that stands; `settlements` are all, oldest first."""

    item: Item
    labels: tuple[AnonymousLabel, ...]
    settlement: Settlement | None
    settlements: tuple[Settlement, ...]
    comments: tuple[Comment, ...]

    @property
    def seen(self) -> tuple[str, ...]:
        """The op_ids of the labels in view; `settle_case` refuses a decision if they have changed."""
        return tuple(each.op_id for each in self.labels)


def case_counts(store: Store, project: Project) -> dict[Queue, int]:
    """How many cases are in each queue."""
    counts: dict[Queue, int] = {}
    for queue, where in WHERE.items():
        query = f"SELECT count(*) FROM {ITEM_TABLES} WHERE item.project = ? AND {where}"
        counts[queue] = store.db.execute(query, (project.id,)).fetchone()[0]
    return counts


def cases(
    store: Store,
    project: Project,
    queue: Queue = "open",
    *,
    between: str | None = None,
    reader: Annotator | None = None,
) -> list[str]:
    """Public ids of the cases of a queue: open ones in the order of import, settled ones with the newest first.

    `between`: only those on which the choices were these (a pattern of
    `patterns`). `reader`: only what this annotator has labelled, so that the
    other labels stay blind. Raises KeyError for an unknown queue.
    """
    order = "item.id" if queue == "open" else "settlement DESC"
    where = WHERE[queue] if reader is None else f"{WHERE[queue]} {LABELLED_BY}"
    query = f"SELECT item.id, item.uid FROM {ITEM_TABLES} WHERE item.project = ? AND {where} ORDER BY {order}"
    values = (project.id,) if reader is None else (project.id, reader.id)
    found = store.db.execute(query, values).fetchall()
    if between is None:
        return [uid for _, uid in found]
    made = _patterns(store, project, queue)
    return [uid for item, uid in found if made.get(item) == between]


def patterns(store: Store, project: Project, queue: Queue = "open") -> list[tuple[str, int]]:
    """Which choices stand against each other, as `code/code`, with the number of cases; commonest first."""
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
    """One item with its labels, settlements and comments. Raises NotFound for an unknown item."""
    query = f"SELECT {ITEM_COLUMNS} FROM {ITEM_TABLES} WHERE item.uid = ? AND item.project = ?"
    row = store.db.execute(query, (uid, project.id)).fetchone()
    if row is None:
        raise NotFound(N_("This project has no such item."))
    item = as_item(row)
    made = tuple(settlements(store, project, uid))
    standing = made[-1] if made and made[-1].action != "reopen" else None
    return Case(item, _anonymous_labels(store, item), standing, made, tuple(comments(store, project, uid)))


def _anonymous_labels(store: Store, item: Item) -> tuple[AnonymousLabel, ...]:
    rows = store.db.execute(BLIND_LABELS, (item.id,)).fetchall()
    # Shuffled for each item, so that a letter does not follow an annotator from item to item.
    letters = list(LETTERS[: len(rows)]) if len(rows) <= len(LETTERS) else [str(n + 1) for n in range(len(rows))]
    order = random.Random(item.uid).sample(range(len(rows)), len(rows))  # noqa: S311 - nothing secret
    return tuple(_anonymous_label(letter, rows[at]) for letter, at in zip(letters, order, strict=True))


def _anonymous_label(letter: str, row: tuple[object, ...]) -> AnonymousLabel:
    _, choice, reasons, extraneous, spans, note, form, version, op_id = row
    marks = tuple(Mark(*mark) for mark in json.loads(str(spans)))
    flag = None if extraneous is None else bool(extraneous)
    kept = tuple(json.loads(str(reasons)))
    shown = None if form is None else str(form)
    return AnonymousLabel(letter, str(choice), kept, flag, marks, str(note), shown, int(str(version)), str(op_id))
