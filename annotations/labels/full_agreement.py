"""Full agreement: the share of items on which all annotators made the same choice.

Its items have at least two blind labels, because a single label can neither agree nor disagree. Only choices are
compared: flags, reasons and marks belong to other quantities. The items form a named population, and every place that
prints the share prints the population with its size.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.articles import articles
from evenhand.annotations.labels.blind_labels import SHARE, BlindLabels, Numbers, blind_label_rows, numbered_labels
from evenhand.annotations.labels.generation_labels import generations
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, Tally, unanimity

Population = Literal["labelled", "share", "reviewed", "kept"]
# In the words of papers; {labels}: one of the two names below.
POPULATIONS: dict[Population, str] = {
    "labelled": N_("all items with at least two {labels}"),
    "share": N_("fully labelled items of the random share with at least two {labels}"),
    "reviewed": N_("reviewed items with at least two {labels}"),
    "kept": N_("kept items with at least two {labels}"),
}
BLIND, COUNTED = N_("blind labels"), N_("labels that count")  # no record tells whether imported labels were blind
_OF = {
    "labelled": "",
    "share": SHARE,
    "reviewed": "AND item.labels >= item.wanted",
    "kept": "AND item.status = 'accepted'",
}

NO_SUCH_ITEM = Note(N_("No item of this kind has labels by two annotators yet."))
SELECTED = Note(N_("no interval, because agreement decided which items are kept"))
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
        return unanimity(self.labels.tally(self.categories, keep))


def population_labels(store: Store, project: Project, population: Population) -> PopulationLabels:
    """Read the labels of a *population*."""
    labels, codes = numbered_labels(blind_label_rows(store, project, which=_OF[population]))
    named = _contexts(store, project) if project.kind == "generations" else articles(store, project)
    return PopulationLabels(replace(labels, cluster=cluster_numbers(named, labels.item.tolist())), len(codes))


def full_agreement(store: Store, project: Project, population: Population) -> Estimate:
    """Return the full agreement of a *population*.

    That of kept items has no interval: they were selected for their agreement. Other items may have two labels where
    those of the population do not.
    """
    found = population_labels(store, project, population).share()
    if found.value is None:
        return Estimate.undefined(NO_SUCH_ITEM)
    return replace(found, low=None, high=None, note=SELECTED) if population == "kept" and found.value else found


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
    """Return a number for the source article of each item; None where no article is named."""
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
