"""Blind labels as columns of numbers (item, annotator, choice), for agreement measures, and their full agreement.

Full agreement is the share of items on which all annotators made the same choice. Its items have at least two blind
labels, because a single label can neither agree nor disagree. Only choices are compared: flags, reasons and marks
belong to other quantities. The items form a named population, and every place that prints the share prints the
population with its size.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import itemgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.provenance import articles
from evenhand.annotations.labels.generation_labels import generations
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, Tally, unanimity

Numbers = NDArray[np.int64]
Column = NDArray[np.int32] | Numbers  # four bytes a label where there are millions
ItemScope = Literal["all", "share"]
FORMS = ("original", "masked")
CHOICE_COLUMN = 2  # its place in a row
AT_ONCE = 20_000  # labels held as rows, each of which takes 200 bytes

# {version} and {share} are fixed conditions. All columns but *more* are in the index, in the order of items: rows of
# labels are in the order of time, so each would be looked up elsewhere.
LABELS = """
SELECT label.item, label.annotator, label.choice, item.cell, label.guideline, label.form_shown = 'masked' {more}
FROM assignment CROSS JOIN label INDEXED BY label_item
    ON label.item = assignment.item AND label.annotator = assignment.annotator AND label.id = assignment.blind
CROSS JOIN item ON item.id = assignment.item CROSS JOIN published_batch AS batch ON batch.id = item.batch
WHERE assignment.project = :project AND label.choice IS NOT NULL {version} {share}
ORDER BY assignment.item, assignment.annotator
"""
VERSION = "AND label.guideline = (SELECT id FROM guideline WHERE project = :project AND version = :version)"
SHARE = "AND item.shared = 1 AND item.labels >= item.wanted"


@dataclass(frozen=True, slots=True)
class BlindLabels:
    """One entry per label, sorted by item and annotator.

    `guideline`: the row of the version it was made under; `form`: its place in FORMS; `cluster`: number of the item's
    context or source article, where items come in these.
    """

    item: Column
    annotator: Column
    choice: Column
    cell: Column
    guideline: Column
    form: Column
    cluster: Numbers | None = None

    def tally(self, categories: int, keep: NDArray[np.bool_] | None = None) -> Tally:
        """Return how many annotators chose each category, by item; only labels in *keep* count."""
        item, choice = (self.item, self.choice) if keep is None else (self.item[keep], self.choice[keep])
        rows, first, where = _runs(item)
        flat = np.bincount(where * categories + choice, minlength=len(rows) * categories)
        of_rows = None
        if self.cluster is not None:
            of_rows = (self.cluster if keep is None else self.cluster[keep])[first]
        return Tally.of(flat.reshape(len(rows), categories), of_rows)

    def by_item(self) -> tuple[Column, Column]:
        """Return the distinct items, and the position of each label's item among them."""
        rows, _, where = _runs(self.item)
        return rows, where

    def only(self, keep: NDArray[np.bool_]) -> "BlindLabels":
        """Return a selection of the labels."""
        result: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: column[keep] for name, column in result.items() if column is not None})

    def tables(self, categories: int) -> dict[tuple[int, int], tuple[Numbers, Numbers | None]]:
        """Return contingency tables by (smaller id, larger id) of two annotators, and the same per cluster.

        Those per cluster are clusters x cells. Labels are sorted by item and annotator, so the pairs of an item are the
        labels 1, 2, 3 ... places apart, as long as the item is the same.
        """
        ids, who = np.unique(self.annotator, return_inverse=True)
        cells, clusters = categories**2, 0 if self.cluster is None else int(self.cluster.max(initial=-1)) + 1
        result: dict[tuple[int, int], Numbers] = {}
        for apart in range(1, len(self.item)):
            same = np.flatnonzero(self.item[apart:] == self.item[:-apart])
            if not len(same):
                break
            chosen = self.choice[same] * categories + self.choice[same + apart]
            if self.cluster is not None:
                chosen = self.cluster[same] * cells + chosen
            size = max(1, clusters) * cells
            both = (who[same] * len(ids) + who[same + apart]) * size + chosen
            for key, count in zip(*map(np.ndarray.tolist, np.unique(both, return_counts=True)), strict=True):
                two, cell = divmod(key, size)
                pair = int(ids[two // len(ids)]), int(ids[two % len(ids)])
                result.setdefault(pair, np.zeros(size, dtype=np.int64))[cell] += count
        shape = (categories, categories)
        if self.cluster is None:
            return {pair: (flat.reshape(shape), None) for pair, flat in result.items()}
        spread = {pair: flat.reshape(clusters, cells) for pair, flat in result.items()}
        return {pair: (by.sum(axis=0).reshape(shape), by) for pair, by in spread.items()}


def _runs(item: Column) -> tuple[Column, Column, Column]:
    """Return `np.unique` of a sorted column, with first places and inverse, without sorting it again."""
    begins = np.ones(len(item), dtype=np.bool_)
    np.not_equal(item[1:], item[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    return item[first], first, np.cumsum(begins, dtype=np.int32) - 1


def blind_label_rows(
    store: Store,
    project: Project,
    *,
    version: int | None = None,
    on: ItemScope = "all",
    which: str = "",
    more: str = "",
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield item, annotator, choice, cell, guideline, form and the columns *more* of every blind label.

    The form is its place in FORMS. The rows come in parts of AT_ONCE. `version`: only labels made under this version of
    the guideline; `on` "share": only items of the random share that all label, if they have all their labels. `which`:
    a further fixed condition on `item`, which begins with AND.
    """
    query = LABELS.format(
        more=f", {more}" if more else "",
        version="" if version is None else VERSION,
        share=(SHARE if on == "share" else "") + which,
    )
    result = store.db.execute(query, {"project": project.id, "version": version})
    return iter(lambda: result.fetchmany(AT_ONCE), [])


def blind_labels(rows: Sequence[Sequence[Any]], codes: Sequence[str]) -> BlindLabels:
    """Return labels from rows of item, annotator, choice, cell, guideline, form; choices become places in *codes*."""
    number = {code: i for i, code in enumerate(codes)}

    def column(place: int) -> Column:
        cells = map(itemgetter(place), rows)
        numbers = map(number.__getitem__, cells) if place == CHOICE_COLUMN else cells
        return np.fromiter(numbers, dtype=np.int32, count=len(rows))  # twice as fast as an array of the rows

    item, annotator, choice, cell, guideline, form = map(column, range(6))
    return BlindLabels(item, annotator, choice, cell, guideline, form)


def numbered_labels(parts: Iterable[Sequence[Sequence[Any]]]) -> tuple[BlindLabels, list[str]]:
    """Return the labels of all *parts*, and the code of each choice in the order in which they first occur."""
    codes: dict[str, None] = {}
    made = [blind_labels([], [])]
    for rows in parts:
        codes.update(dict.fromkeys(map(itemgetter(CHOICE_COLUMN), rows)))
        made.append(blind_labels(rows, list(codes)))
    columns = ("item", "annotator", "choice", "cell", "guideline", "form")
    return BlindLabels(*(np.concatenate([getattr(labels, name) for labels in made]) for name in columns)), list(codes)


def transposed(clusters: Numbers | None, categories: int) -> Numbers | None:
    """Return the tables of all clusters with rows and columns exchanged."""
    if clusters is None:
        return None
    return clusters.reshape(-1, categories, categories).transpose(0, 2, 1).reshape(len(clusters), -1)


Population = Literal["labelled", "share", "reviewed", "kept"]
# In the words of papers; {labels}: one of the two names below.
POPULATIONS: dict[Population, str] = {
    "labelled": N_("all items with at least two {labels}"),
    "share": N_("fully labelled items of the random share with at least two {labels}"),
    "reviewed": N_("reviewed items with at least two {labels}"),
    "kept": N_("accepted items with at least two {labels}"),
}
BLIND, COUNTED = N_("blind labels"), N_("labels that count")  # no record tells whether imported labels were blind
CONDITIONS: dict[Population, str] = {  # on an item
    "labelled": "",
    "share": SHARE,
    "reviewed": "AND item.labels >= item.wanted",
    "kept": "AND item.status = 'accepted'",
}

NO_SUCH_ITEM = Note(N_("No item of this kind has labels by two annotators yet."))
SELECTED = Note(N_("no interval, because agreement determined which items were accepted"))
# Conditions on a row of `item`, for counts over many items. `split` of a reviewed item says that choices or flags
# differ, so the labels themselves are read only where it is set.
REVIEWED = "(item.labels >= item.wanted AND item.labels > 0)"
COMPARED = "(item.labels >= item.wanted AND item.labels > 1)"
SAME_CHOICE = f"""({COMPARED} AND (item.split = 0 OR (
    SELECT min(label.choice) = max(label.choice) FROM assignment JOIN label ON label.id = assignment.blind
    WHERE assignment.item = item.id)))"""


@dataclass(frozen=True, slots=True)
class PopulationLabels:
    """The blind labels of a population; `clusters` are contexts or source articles, as for other measures."""

    labels: BlindLabels
    categories: int

    def share(self, cell: int | None = None) -> Estimate:
        """Return full agreement, 0 to 1, of all items or of one *cell*; `units` is the number of items compared."""
        keep = None if cell is None else self.labels.cell == cell
        estimate = unanimity(self.labels.tally(self.categories, keep))
        return Estimate.undefined(NO_SUCH_ITEM) if estimate.value is None else estimate


def population_labels(store: Store, project: Project, population: Population) -> PopulationLabels:
    """Read the labels of a *population*."""
    labels, codes = numbered_labels(blind_label_rows(store, project, which=CONDITIONS[population]))
    named = _contexts(store, project) if project.kind == "generations" else articles(store, project)
    return PopulationLabels(replace(labels, cluster=cluster_numbers(named, labels.item.tolist())), len(codes))


def full_agreement(store: Store, project: Project, population: Population) -> Estimate:
    """Return the full agreement of a *population*.

    That of kept items has no interval: they were selected for their agreement. Other items may have two labels where
    those of the population do not.
    """
    estimate = population_labels(store, project, population).share()
    return (
        replace(estimate, low=None, high=None, note=SELECTED) if population == "kept" and estimate.value else estimate
    )


def name_of_labels(provenance: Mapping[str, Any]) -> str:
    """Return what papers call the labels that agreement uses: blind only where this database recorded it of all."""
    counted = provenance["counted"]
    return COUNTED if counted["imported"] or counted["unknown"] else BLIND


def full_agreement_of_rows(rows: Iterable[tuple[int, str, str]]) -> Estimate:
    """Return the full agreement of rows of item, choice and source article ("" if the item is a unit of its own)."""
    choices: dict[int, list[str]] = {}
    units: dict[int, str] = {}
    for item, choice, unit in rows:
        choices.setdefault(item, []).append(choice)
        units[item] = unit
    codes = {code: place for place, code in enumerate(dict.fromkeys(code for own in choices.values() for code in own))}
    counts = np.zeros((len(choices), len(codes)), dtype=np.int64)
    for place, own in enumerate(choices.values()):
        np.add.at(counts[place], [codes[code] for code in own], 1)
    named = {item: unit for item, unit in units.items() if unit}
    return unanimity(Tally.of(counts, cluster_numbers(named, choices)))


def cluster_numbers(named: Mapping[int, str], items: Iterable[int]) -> Numbers | None:
    """Return a number for the source article of each item; None if no article is named."""
    if not named:
        return None
    number: dict[str | int, int] = {}
    keys = (named.get(item) or item for item in items)
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)


def _contexts(store: Store, project: Project) -> dict[int, str]:
    known = generations(store, project)
    contexts = dict(zip(known["item"], known["cluster"], strict=True))
    rows = store.db.execute("SELECT id, uid FROM published_item WHERE project = ?", (project.id,))
    return {item: contexts[uid] for item, uid in rows}
