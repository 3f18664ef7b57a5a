"""How far the annotators of a project agree: on all reviewed items and blind labels, never on the kept ones.

A *blind* label is the last one that an annotator made before seeing anybody's
opinion of the item. Items that end as rejected count like all others.
Generations of one context resemble each other, so their intervals are over
contexts; their labels are compared in four ways (annotations.scheme_labels).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotations.blind_labels import BlindLabels, Numbers, columns
from annotations.projects import guidelines
from annotations.scheme_labels import Way, scheme_labels
from annotations.store import Store
from annotations.types import Choice, Project
from core.statistics import (
    Estimate,
    Resampling,
    Tally,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    largest_kappa,
    pairwise_agreement,
    prevalence,
    specific_agreement,
    unanimity,
    wilson,
)
from core.statistics.values import NO_SHARED_ITEM

VERSION = 1  # of the method: raise it when a number may change

LABELS = """
SELECT blind_label.item, blind_label.annotator, blind_label.choice, item.cell
FROM blind_label JOIN item ON item.id = blind_label.item
WHERE blind_label.project = ?
ORDER BY blind_label.item, blind_label.annotator
"""
ITEMS = "SELECT count(*) FROM item JOIN batch ON batch.id = item.batch WHERE batch.project = ? AND batch.published > 0"


@dataclass(frozen=True)
class TwoAnnotators:
    """Two annotators on the items that both labelled.

    `table[i][j]`: how often `a` chose category i and `b` category j, over the
    full list of categories. The measures are worked out when asked for: a
    hundred annotators make 4,950 pairs, of which a page shows few.
    """

    a: str
    b: str
    table: tuple[tuple[int, ...], ...]
    resampling: Resampling
    contexts: Numbers | None = None  # contexts x cells of the table, where intervals are over contexts

    @property
    def items(self) -> int:
        """How many items both labelled."""
        return sum(map(sum, self.table))

    @cached_property
    def agreed(self) -> Estimate:
        """The share of their items on which they agreed, with Wilson's interval, or one over contexts."""
        same = sum(row[i] for i, row in enumerate(self.table))
        if self.contexts is None or not self.items:
            return wilson(same, self.items, nothing=NO_SHARED_ITEM)
        agreed = np.eye(len(self.table)).reshape(-1)
        found = Estimate(same / self.items, units=self.items)
        sizes = np.array(self.table, dtype=np.int64).reshape(-1)

        def share(draws: NDArray[np.float64]) -> NDArray[np.float64]:
            total = draws.sum(axis=1)
            shares: NDArray[np.float64] = np.divide(
                draws @ agreed, total, out=np.full(len(draws), np.nan), where=total > 0
            )
            return shares

        return self.resampling.interval(share, sizes, found, 0.0, self.contexts)

    @cached_property
    def kappa(self) -> Estimate:
        """Cohen's kappa."""
        return cohen_kappa(np.array(self.table, dtype=np.int64), self.resampling, self.contexts)

    @cached_property
    def largest(self) -> Estimate:
        """The highest kappa that their margins allow."""
        return largest_kappa(np.array(self.table, dtype=np.int64), self.resampling, self.contexts)


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures of any number of annotators; values as in core.statistics."""

    items: int
    labels: int
    unanimity: Estimate
    pairwise: Estimate
    fleiss: Estimate
    alpha: Estimate
    ac1: Estimate


@dataclass(frozen=True, slots=True)
class CategoryMeasures:
    """One category: its share of all labels, and how often a second annotator chose it where one did."""

    choice: Choice
    labels: int
    prevalence: Estimate
    specific: Estimate


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Everything the page shows. `by_labels[n]`: how many items of the project have n blind labels."""

    project: str
    all_items: int
    by_labels: dict[int, int]
    annotators: tuple[str, ...]
    choices: tuple[Choice, ...]
    overall: Measures
    categories: tuple[CategoryMeasures, ...]
    cohen: tuple[TwoAnnotators, ...]
    by_pair: tuple[tuple[str, Measures], ...]
    signature: str
    cells: tuple[tuple[str, str, Measures], ...] = ()  # generations: model, pronoun set, measures

    @property
    def items(self) -> int:
        """How many items have a blind label."""
        return self.overall.items

    @property
    def labels(self) -> int:
        """How many blind labels there are, one per item and annotator."""
        return self.overall.labels

    def two(self, a: str, b: str) -> TwoAnnotators | None:
        """What is known of two annotators, in this order; None where they share no item."""
        for pair in self.cohen:
            if (pair.a, pair.b) == (a, b):
                return pair
            if (pair.a, pair.b) == (b, a):
                turned = tuple(zip(*pair.table, strict=True))
                return TwoAnnotators(a, b, turned, pair.resampling, _turned(pair.contexts, len(pair.table)))
        return None


def agreement(
    store: Store, project: Project, *, resampling: Resampling | None = None, way: Way = "four"
) -> AgreementReport:
    """Every measure of agreement in a project, with 95 % intervals over items; of generations over contexts.

    `percent` is the share of items on which everybody agreed. The list of
    categories is that of all versions of the guideline, newest first. `way`
    counts for generations only: on the four labels, on three, on two, or on
    the flag for extraneous gendered language.
    """
    resampling = resampling or Resampling()
    rows = store.db.execute(LABELS, (project.id,)).fetchall()
    choices = _choices(store, project, {row[2] for row in rows})
    groups: dict[tuple[str, str], Numbers] = {}
    if project.kind == "generations":
        resampling = replace(resampling, unit="context")
        labels, choices, groups = scheme_labels(store, project, choices, way)
    else:
        labels = columns(rows, [choice.code for choice in choices])
    tally = labels.tally(len(choices))
    all_items = int(store.db.execute(ITEMS, (project.id,)).fetchone()[0])
    names = _names(store, labels)
    cells = tuple(
        (*key, _measures(labels.tally(len(choices), np.isin(labels.item, items)), resampling))
        for key, items in groups.items()
    )
    named = tuple((" / ".join(filter(None, key)), measures) for *key, measures in cells)
    return AgreementReport(
        project=project.name,
        all_items=all_items,
        by_labels=_by_labels(tally, all_items),
        annotators=tuple(names.values()),
        choices=choices,
        overall=_measures(tally, resampling),
        categories=tuple(_category(tally, i, choice, resampling) for i, choice in enumerate(choices)),
        cohen=_each_two(labels, names, len(choices), resampling),
        by_pair=_most_first(named) if groups else _by_pair(store, labels, len(choices), resampling),
        signature=signature(choices, resampling),
        cells=cells,
    )


def signature(choices: tuple[Choice, ...], resampling: Resampling) -> str:
    """Everything that can change the numbers: which labels, which categories, how the intervals were drawn."""
    codes = "+".join(choice.code for choice in choices)
    return f"agreement|labels:blind|items:all-reviewed|categories:{codes}|{resampling.signature}|v{VERSION}"


def _choices(store: Store, project: Project, used: set[str]) -> tuple[Choice, ...]:
    """The full list: every choice of any version of the guideline, then what labels hold beside it."""
    found: dict[str, Choice] = {}
    for version in sorted(guidelines(store, project), key=lambda g: g.version, reverse=True):
        for choice in version.choices:
            found.setdefault(choice.code, choice)
    for code in sorted(used - found.keys()):
        found[code] = Choice(code, "", code, code)
    return tuple(found.values())


def _names(store: Store, labels: BlindLabels) -> dict[int, str]:
    """Annotators with a blind label, those with most labels first."""
    who, count = np.unique(labels.annotator, return_counts=True)
    names = dict(store.db.execute("SELECT id, name FROM annotator").fetchall())
    order = sorted(zip(-count, who, strict=True))
    return {int(a): str(names[int(a)]) for _, a in order}


def _by_labels(tally: Tally, all_items: int) -> dict[int, int]:
    by = np.bincount(tally.labels, weights=tally.sizes).astype(int) if tally.units else np.zeros(1, dtype=int)
    by[0] = all_items - tally.units
    return {n: int(count) for n, count in enumerate(by)}


def _measures(tally: Tally, resampling: Resampling) -> Measures:
    return Measures(
        items=tally.units,
        labels=int(tally.labels @ tally.sizes),
        unanimity=unanimity(tally, resampling),
        pairwise=pairwise_agreement(tally, resampling),
        fleiss=fleiss_kappa(tally, resampling),
        alpha=krippendorff_alpha(tally, resampling),
        ac1=gwet_ac1(tally, resampling),
    )


def _category(tally: Tally, index: int, choice: Choice, resampling: Resampling) -> CategoryMeasures:
    return CategoryMeasures(
        choice=choice,
        labels=int(tally.counts[:, index] @ tally.sizes),
        prevalence=prevalence(tally, index, resampling),
        specific=specific_agreement(tally, index, resampling),
    )


def _by_pair(
    store: Store, labels: BlindLabels, categories: int, resampling: Resampling
) -> tuple[tuple[str, Measures], ...]:
    pairs: dict[str, list[int]] = {}
    for cell in np.unique(labels.cell):
        (name,) = store.db.execute("SELECT pair FROM cell WHERE id = ?", (int(cell),)).fetchone()
        pairs.setdefault(name, []).append(int(cell))
    found = [
        (name, _measures(labels.tally(categories, np.isin(labels.cell, cells)), resampling))
        for name, cells in pairs.items()
    ]
    return _most_first(found)


def _most_first(found: Iterable[tuple[str, Measures]]) -> tuple[tuple[str, Measures], ...]:
    return tuple(sorted(found, key=lambda row: (-row[1].items, row[0])))


def _each_two(
    labels: BlindLabels, names: dict[int, str], categories: int, resampling: Resampling
) -> tuple[TwoAnnotators, ...]:
    """Every two annotators who share an item, in the order of *names*."""
    tables = labels.tables(categories)
    order = list(names)
    found = []
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            known = tables.get((min(a, b), max(a, b)))
            if known is not None:
                table, by = known if a < b else (known[0].T, _turned(known[1], categories))
                found.append(TwoAnnotators(names[a], names[b], tuple(map(tuple, table.tolist())), resampling, by))
    return tuple(found)


def _turned(contexts: Numbers | None, categories: int) -> Numbers | None:
    """The tables of all contexts with rows and columns exchanged."""
    if contexts is None:
        return None
    return contexts.reshape(-1, categories, categories).transpose(0, 2, 1).reshape(len(contexts), -1)
