"""The items on which annotators chose or flagged differently, with the reasons of each.

Blind labels stay blind (docs/architecture.md#at-the-desk): an item is listed only when no further blind label of it is
expected.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import WHOLE_TEXT
from evenhand.annotations.labels.read import FINISHED, LABELLED_BY, BlindLabel, blind_labels_on
from evenhand.annotations.queue.assignments import is_unrevealed, reveal_items
from evenhand.annotations.types import Annotator, Project
from evenhand.core.files.timestamps import timestamp
from evenhand.core.types import Span

# {who}, {pair} and {own} are filled with fixed conditions, never with user input. CROSS JOIN makes SQLite start at the
# assignments, which are in the order of items, so that nothing is sorted.
DISAGREEMENTS = """
SELECT assignment.item FROM assignment CROSS JOIN label ON label.id = assignment.blind
WHERE assignment.project = ? {who} {pair} {own} AND label.choice IS NOT NULL
GROUP BY assignment.item
HAVING (min(label.choice) <> max(label.choice) OR min(label.extraneous) <> max(label.extraneous))
    AND EXISTS (SELECT 1 FROM published_item AS item WHERE item.id = assignment.item AND {done})
ORDER BY assignment.item
"""
BY_ANNOTATORS = "AND assignment.annotator IN (SELECT id FROM annotator WHERE name IN ({marks}))"
PAIR = "AND assignment.item IN (SELECT item.id FROM item JOIN cell ON cell.id = item.cell WHERE cell.pair = ?)"
LABELLED_BY_READER = f"AND {LABELLED_BY.format(item='assignment.item', who='?')}"
READ_BY = f"""
SELECT item.id, item.uid FROM item JOIN json_each(:items) AS asked ON asked.value = item.id
WHERE {FINISHED} AND (:reader IS NULL OR {LABELLED_BY.format(item="item.id", who=":reader")})
    AND (:pair IS NULL OR item.cell IN (SELECT id FROM cell WHERE project = :project AND pair = :pair))
"""
ITEM = f"""
SELECT item.uid, {WHOLE_TEXT}, item.start, item.stop, cell.pair, cell.side, item.status, item.context
FROM item JOIN cell ON cell.id = item.cell WHERE item.id = ?
"""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item with at least two different choices or flags. `word`: code points of the keyword, half-open, if any."""

    item: str
    text: str
    context: str | None
    word: Span | None
    pair: str
    side: str
    status: str
    judgements: tuple[BlindLabel, ...]


@dataclass(frozen=True, slots=True)
class ItemText:
    """What is to read of an item. `word`: code points of the keyword, half-open, if any."""

    item: str
    text: str
    context: str | None
    word: Span | None
    side: str


def finished_items(
    store: Store, project: Project, items: Sequence[int], reader: Annotator | None = None, *, pair: str | None = None
) -> dict[int, str]:
    """Return row id -> public id of those of *items* that expect no further blind label.

    Labels of these items may be read. `reader`: only items that this annotator has labelled; call `record_reveals`
    before they are shown. `pair`: only items of this keyword pair.
    """
    of = {"project": project.id, "pair": pair, "reader": reader and reader.id}
    values = of | {"items": json.dumps(list(items))}
    return dict(store.db.execute(READ_BY, values).fetchall())


def item_texts(store: Store, items: Sequence[int]) -> list[ItemText]:
    """Return the texts of *items* (row ids), in this order."""
    texts = []
    for item in items:
        uid, text, start, stop, _pair, side, _status, context = store.db.execute(ITEM, (item,)).fetchone()
        texts.append(ItemText(uid, text, context, None if start is None else (start, stop), side))
    return texts


def disagreements_of(store: Store, items: Sequence[int]) -> list[Disagreement]:
    """Return items by row id with all annotators' labels; call `record_reveals` before a reader sees them."""
    result = []
    for item in items:
        uid, text, start, stop, pair, side, status, context = store.db.execute(ITEM, (item,)).fetchone()
        word = None if start is None else (start, stop)
        labels = tuple(sorted(blind_labels_on(store, item), key=attrgetter("annotator")))
        result.append(Disagreement(uid, text, context, word, pair, side, status, labels))
    return result


def differing_items(
    store: Store,
    project: Project,
    *,
    between: Sequence[str] = (),
    pair: str | None = None,
    reader: Annotator | None = None,
) -> list[int]:
    """Return the row ids of finished items with different blind labels, in the order of import.

    `between`: only labels of these annotators are compared and counted; `pair`: only items of this keyword pair;
    `reader`: only items that this annotator has labelled. It reads every label of the project once.
    """
    who = BY_ANNOTATORS.format(marks=", ".join("?" * len(between))) if between else ""
    text = DISAGREEMENTS.format(
        who=who, pair="" if pair is None else PAIR, own="" if reader is None else LABELLED_BY_READER, done=FINISHED
    )
    values = [project.id, *between, *([] if pair is None else [pair]), *([] if reader is None else [reader.id])]
    return store.column(text, values)


class AboutItem(Protocol):
    """Anything on a page that is about one item, named by its public id."""

    @property
    def item(self) -> str:
        """The public id."""


def record_reveals(store: Store, reader: Annotator, about_items: Sequence[AboutItem]) -> None:
    """Record that *reader* sees the labels of others on these items: own labels from now on carry `after_reveal`.

    Call it before they are shown. Items that the reader has not labelled are skipped.
    """
    record_item_reveals(store, reader, [about_item.item for about_item in about_items])


def record_item_reveals(store: Store, reader: Annotator, items: Sequence[str]) -> None:
    """Record reveals as `record_reveals` does, for items given by their public ids."""
    if is_unrevealed(store, reader.id, list(items)):
        with store.write() as db:
            reveal_items(db, reader.id, list(items), timestamp())
