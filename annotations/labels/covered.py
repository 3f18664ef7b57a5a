"""Covered words: which of an annotator's items still hide their keyword from this annotator, and how they look then.

Where a project covers its keywords, the word and its side are not sent to the desk, counted or shown to the annotator
while the label can still be undone. Undo goes back over the newest `UNDOABLE` labels. What is older is uncovered
permanently: labels are only appended, so one that has left the newest is never among them again.
"""

import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Annotator, CellProgress, Item, Project

UNDOABLE = 30
COVER = "▢"  # in place of the word, whatever its length
# A text as the desk shows it; needs `item`, and {covered}, the condition under which the word is covered.
SHOWN_TEXT = (
    f"iif({{covered}} AND item.start IS NOT NULL,"
    f" substr(item.text, 1, item.start) || '{COVER}' || substr(item.text, item.stop + 1), item.text)"
)


# Labels and labels of retests alike: a desk must not tell them apart.
_NEWEST = f"""
SELECT op_id, id, retest FROM (SELECT * FROM (SELECT op_id, id, 0 AS retest, created, revision FROM label
        WHERE annotator = :annotator AND project = :project AND choice IS NOT NULL ORDER BY id DESC LIMIT {UNDOABLE})
    UNION ALL SELECT * FROM (SELECT one.op_id, one.id, 1, one.created, one.revision FROM retest_label AS one
        JOIN retest ON retest.id = one.retest WHERE retest.annotator = :annotator AND retest.project = :project
        AND one.choice IS NOT NULL ORDER BY one.id DESC LIMIT {UNDOABLE}))
ORDER BY created DESC, revision DESC, id DESC LIMIT {UNDOABLE}
"""


@dataclass(frozen=True, slots=True)
class CoveredLabels:
    """The newest labels of an annotator, undone ones too: operation ids, newest first.

    `first`, `first_retest`: the row ids from which on labels, and those of retests, are covered.
    """

    operations: tuple[str, ...]
    first: int = 0
    first_retest: int = 0

    def ago(self, op_id: str) -> int | None:
        """How many labels are newer than this one; None for one that is not among the newest."""
        return self.operations.index(op_id) if op_id in self.operations else None


def covers_words(project: Project) -> bool:
    """Return whether the keywords of a project are covered at the desk."""
    return project.kind == "sentences" and project.presentation == "masked"


def covered_labels(store: Store, project: Project, annotator: Annotator) -> CoveredLabels | None:
    """Return the labels of an annotator whose word is covered; None where the project covers no words."""
    if not covers_words(project):
        return None
    rows = store.db.execute(_NEWEST, {"annotator": annotator.id, "project": project.id}).fetchall()
    if len(rows) < UNDOABLE:
        return CoveredLabels(tuple(row[0] for row in rows))
    first, again = (min((row[1] for row in rows if row[2] == retest), default=sys.maxsize) for retest in (0, 1))
    return CoveredLabels(tuple(row[0] for row in rows), first, again)


def uncovered_operations(
    store: Store, annotator: Annotator, covered: CoveredLabels, operations: Collection[str]
) -> set[str]:
    """Return those of an annotator's *operations* that are valid labels and have left the undo history."""
    marks = ", ".join("?" * len(operations))
    query = (
        "SELECT label.op_id FROM label JOIN assignment ON assignment.latest = label.id"
        f" WHERE label.op_id IN ({marks}) AND label.annotator = ? AND label.id < ?"
        " UNION ALL SELECT one.op_id FROM retest_label AS one JOIN retest ON retest.latest = one.id"
        f" WHERE one.op_id IN ({marks}) AND retest.annotator = ? AND one.id < ?"
    )
    values = (*operations, annotator.id, covered.first, *operations, annotator.id, covered.first_retest)
    return {row[0] for row in store.db.execute(query, values)}


def without_word(item: Item) -> Item:
    """Return an item with a cover in place of its word, without its side and keywords."""
    if item.word is None:
        return item
    start, end = item.word
    text = item.text[:start] + COVER + item.text[end:]
    return replace(item, text=text, word=(start, start + 1), side="", stem=None, keyword=None, counterpart=None)


def uncovered_cells(store: Store, covered: CoveredLabels, cells: tuple[CellProgress, ...]) -> tuple[CellProgress, ...]:
    """Return *cells* without the labels whose word is covered: a bar must not tell on which side it moved."""
    marks = ", ".join("?" * len(covered.operations))
    rows: list[tuple[Any, ...]] = store.db.execute(
        "SELECT pair, side, count(*), sum(choice = 'accept') FROM"
        " (SELECT label.item, choice FROM label JOIN assignment ON assignment.latest = label.id"
        f" WHERE label.op_id IN ({marks}) UNION ALL SELECT retest.item, choice FROM retest_label AS one"
        f" JOIN retest ON retest.latest = one.id WHERE one.op_id IN ({marks})) AS hidden"
        " JOIN item ON item.id = hidden.item JOIN cell ON cell.id = item.cell GROUP BY cell.id",
        (*covered.operations, *covered.operations),
    ).fetchall()
    hidden = {(pair, side): (labelled, accepted or 0) for pair, side, labelled, accepted in rows}
    found = []
    for cell in cells:
        labelled, accepted = hidden.get((cell.pair, cell.side), (0, 0))
        found.append(
            replace(cell, labelled=max(0, cell.labelled - labelled), accepted=max(0, cell.accepted - accepted))
        )
    return tuple(found)
