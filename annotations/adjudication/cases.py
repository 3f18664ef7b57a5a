"""Cases for the adjudicator: items that have all their labels, with the labels of each annotator, anonymous."""

import random
from collections import Counter
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evenhand.annotations.adjudication.decisions import Comment, Settlement, comments, settlements
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import ITEM_TABLES
from evenhand.annotations.items.batch import item as item_with
from evenhand.annotations.labels.read import BlindLabel, blind_labels_on
from evenhand.annotations.types import Annotator, Item, Mark, Project

Queue = Literal["open", "settled"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# open: fully labelled, the labels differ, no settlement. settled: a decision, or "left as it is".
WHERE: dict[Queue, str] = {"open": "split = 1 AND settlement IS NULL", "settled": "settlement IS NOT NULL"}
LABELLED_BY = (
    "AND EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.annotator = ?"
    " AND assignment.state = 'labelled')"
)


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
    item = item_with(store, project, uid)
    made = tuple(settlements(store, project, uid))
    standing = made[-1] if made and made[-1].action != "reopen" else None
    return Case(item, _anonymous_labels(store, item), standing, made, tuple(comments(store, project, uid)))


def _anonymous_labels(store: Store, item: Item) -> tuple[AnonymousLabel, ...]:
    labels = blind_labels_on(store, item.id)
    # Shuffled for each item, so that a letter does not follow an annotator from item to item.
    letters = list(LETTERS[: len(labels)]) if len(labels) <= len(LETTERS) else [str(n + 1) for n in range(len(labels))]
    order = random.Random(item.uid).sample(range(len(labels)), len(labels))  # noqa: S311 - nothing secret
    return tuple(_anonymous(letter, labels[at]) for letter, at in zip(letters, order, strict=True))


def _anonymous(letter: str, label: BlindLabel) -> AnonymousLabel:
    return AnonymousLabel(
        letter, label.choice, label.reasons, label.extraneous, label.marks, label.note, label.form_shown,
        label.guideline, label.op_id,
    )  # fmt: skip
