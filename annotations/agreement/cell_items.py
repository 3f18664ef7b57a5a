"""The items that a cell of the table of two annotators counts.

Blind labels stay blind (docs/architecture.md#at-the-desk): only items that expect no further blind label are listed.
"""

from dataclasses import dataclass

import numpy as np

from evenhand.annotations.agreement.disagreements import finished_items
from evenhand.annotations.agreement.measures import ComparedLabels, compared_labels
from evenhand.annotations.database.events import annotator_names
from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.labels.blind_labels import Column, ItemScope
from evenhand.annotations.types import Annotator, Project


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of the table of two annotators: the category that *a* chose, and the one that *b* chose."""

    a: str
    b: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class CellItems:
    """The items of a cell that may be read (row ids, in the order of import), and how many the cell counts."""

    items: tuple[int, ...]
    total: int


@consistent_read
def items_of_cell(
    store: Store,
    project: Project,
    cell: TableCell,
    *,
    way: str = "four",
    version: int | None = None,
    on: ItemScope | None = None,
    pair: str | None = None,
    reader: Annotator | None = None,
) -> CellItems:
    """Return the items of a cell; *way*, *version* and *on* are those of `agreement`, whose table it is a cell of.

    `pair`: only items of this keyword pair are listed. `reader`: only items that this annotator has labelled; call
    `record_reveals` before they are shown.
    """
    compared = compared_labels(store, project, way=way, version=version, on=on)
    numbers = {name: number for number, name in annotator_names(store).items()}
    first, second = ((numbers.get(who, -1), code) for who, code in ((cell.a, cell.first), (cell.b, cell.second)))
    both = np.intersect1d(_chosen(compared, *first), _chosen(compared, *second)).tolist()
    return CellItems(tuple(sorted(finished_items(store, project, both, reader, pair=pair))), len(both))


def _chosen(compared: ComparedLabels, annotator: int, code: str) -> Column:
    """Return the items for which an annotator chose a category."""
    codes = [choice.code for choice in compared.choices]
    place = codes.index(code) if code in codes else -1
    result: Column = compared.labels.item[(compared.labels.annotator == annotator) & (compared.labels.choice == place)]
    return result
