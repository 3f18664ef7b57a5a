"""How far the annotators of a project agree, over blind labels of all items, not only of the kept ones.

A *blind* label is the last one that an annotator made before seeing an opinion of the item. Items that end as rejected
count like all others. Generations of one context resemble each other, and so do sentences of one article: their
intervals are over contexts and articles. The labels of generations are compared in four ways
(annotations.agreement.merged_labels).

Where a project stops at the first reject, only accepted items get further labels, so agreement on all labelled items
would be biased. Such a project is measured on the random share: all annotators label its items, regardless of the first
label. After a change of the plan to `all`, the share is used until the items that a reject ended have their other
labels.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evenhand.annotations.agreement.report import (
    AgreementReport,
    Categories,
    CategoryMeasures,
    DisplayRates,
    Measures,
    TwoAnnotators,
    accept_rates,
)
from evenhand.annotations.database.events import annotator_names
from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.forecast.fully_labelled import ended_at_reject, imported_into_share, unselected
from evenhand.annotations.guideline.versions import every_choice, guidelines
from evenhand.annotations.items.batch import pairs_of_cells
from evenhand.annotations.items.provenance import named_sources
from evenhand.annotations.items.wanted_labels import shared_by_labels
from evenhand.annotations.labels.blind_labels import (
    BlindLabels,
    Column,
    ItemScope,
    Numbers,
    blind_label_rows,
    cluster_numbers,
    numbered_labels,
    transposed,
)
from evenhand.annotations.types import Choice, Project
from evenhand.core.errors import N_, NotFound
from evenhand.core.statistics import (
    Estimate,
    Note,
    Resampling,
    Tally,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    ordinal_alpha,
    pairwise_agreement,
    prevalence,
    specific_agreement,
    unanimity,
)
from evenhand.core.statistics.units import units_of_sources

if TYPE_CHECKING:
    from evenhand.annotations.agreement.merged_labels import Way

__all__ = [
    "AgreementReport",
    "CategoryMeasures",
    "ComparedLabels",
    "Measures",
    "TwoAnnotators",
    "agreement",
    "compared_labels",
    "signature",
    "usual_items",
]

AnyMeasures = TypeVar("AnyMeasures", Measures, CategoryMeasures)
VERSION = 4  # of the method: raise it when a number may change

CLUSTERED = "clustered-dirichlet"

EMPTY_SHARE = Note(
    N_("Agreement is computed on the random share that everybody labels, which is empty: set its size in the plan.")
)
SHARE_UNDER_WAY = Note(N_("No item of the random share has all its labels yet."))
NO_SHARE_ENDED = Note(
    N_(
        "Under an earlier plan, labelling stopped at the first reject of an item, and some items still"
        " lack labels. Agreement on the others is biased towards accept, and no item of a random share has"
        " all its labels."
    )
)
ITEMS = "item JOIN published_batch AS batch ON batch.id = item.batch WHERE batch.project = ?"


def usual_items(project: Project, ended: int = 0) -> ItemScope:
    """Return the default scope of agreement: "share" under the plan `stop`, or while items *ended* at a reject under an
    earlier one (`ended_at_reject`), else "all".
    """
    return "share" if project.plan == "stop" or ended else "all"


@consistent_read
def agreement(
    store: Store,
    project: Project,
    *,
    resampling: Resampling | None = None,
    way: "Way" = "four",
    version: int | None = None,
    on: ItemScope | None = None,
) -> AgreementReport:
    """Calculate every measure of agreement in a project, with 95% intervals over items, of generations over contexts.

    If labelled sentences name two source articles or more and an article has several sentences, intervals are over
    articles. `percent` is the share of items on which all annotators agreed. The categories are those of all versions
    of the guideline, newest first. `way` counts for generations only: see `merged_labels.ways_of`.
    `version`: only labels made under this version of the guideline; raises NotFound for an unknown one. `on`: "all"
    labelled items or the random "share", None: `usual_items`.
    """
    compared = compared_labels(store, project, way=way, version=version, on=on)
    labels, choices, groups, on = compared.labels, compared.choices, compared.groups, compared.on
    resampling, ended, stopped = resampling or Resampling(), compared.ended, compared.stopped
    tally = labels.tally(len(choices))
    all_items, by_labels = _label_counts(store, project, tally, on, version)
    share = all_items if on == "share" and version is None else None
    ordered = way.startswith("scale:")
    drawn = _drawn(project, labels, resampling, ordered)
    overall, categories = _overall(tally, choices, resampling, share, ended, ordered)
    names, cells = _names(store, labels), _cells(labels, groups, len(choices), resampling, ordered)
    return AgreementReport(
        project=project.name,
        all_items=all_items,
        by_labels=by_labels,
        annotators=tuple(names.values()),
        choices=choices,
        overall=overall,
        categories=categories,
        cohen=_every_two(labels, names, len(choices), resampling),
        by_pair=_most_first((" / ".join(filter(None, key)), found) for *key, found in cells)
        if groups
        else _by_pair(store, project, labels, len(choices), resampling),
        signature=signature(choices, drawn, on=on, version=version, stopped=stopped),
        cells=cells,
        on=on,
        version=version,
        by_version=_by_version(labels, _versions(store, project), len(choices), overall, resampling, ordered),
        by_form=_by_form(project, labels, choices, names, resampling),
        stopped=stopped,
        ended=ended,
        imported_ended=compared.imported_ended,
    )


@dataclass(frozen=True, slots=True)
class ComparedLabels:
    """The blind labels that agreement is over, with their categories.

    `groups`: of generations, the items of each model and pronoun set; the others as in `AgreementReport`.
    """

    labels: BlindLabels
    choices: tuple[Choice, ...]
    groups: dict[tuple[str, str], Numbers]
    on: ItemScope
    stopped: bool
    ended: int
    imported_ended: int


def compared_labels(
    store: Store, project: Project, *, way: "Way" = "four", version: int | None = None, on: ItemScope | None = None
) -> ComparedLabels:
    """Return the labels that `agreement` compares; the arguments are the same.

    Raises NotFound for an unknown version.
    """
    if version is not None and version not in _versions(store, project).values():
        raise NotFound(
            N_("The guideline of {project} has no version {version}."), project=project.name, version=version
        )
    ended = ended_at_reject(store, project)
    usual = usual_items(project, ended)
    on = on or usual
    imported_ended, imported = imported_into_share(store, project) if on == "share" else (0, set())
    labels, choices, groups = _labels(store, project, way, version, on, ended, imported)
    return ComparedLabels(labels, choices, groups, on, usual == "share", ended, imported_ended)


def _drawn(project: Project, labels: BlindLabels, resampling: Resampling, ordered: bool) -> str:
    """Return the resampled units and the method for the signature; for a scale also which alpha it is."""
    order = "alpha:ordinal|" if ordered else ""
    if project.kind == "generations":
        return order + resampling.signature("context", CLUSTERED)
    return resampling.signature(*(("item", "dirichlet") if labels.cluster is None else ("source", CLUSTERED)))


def _versions(store: Store, project: Project) -> dict[int, int]:
    """Return a dict from guideline (row id) to its version."""
    return {guideline.id: guideline.version for guideline in guidelines(store, project)}


def signature(
    choices: tuple[Choice, ...],
    intervals: str,
    *,
    on: ItemScope = "all",
    version: int | None = None,
    stopped: bool = False,
) -> str:
    """Return everything that can change the numbers: which labels, which categories, how the *intervals* were drawn."""
    codes = "+".join(choice.code for choice in choices)
    which = "random-share" if on == "share" else "all-reviewed|plan:stop" if stopped else "all-reviewed"
    under = "" if version is None else f"|guideline:v{version}"
    return f"agreement|labels:blind|items:{which}{under}|categories:{codes}|{intervals}|v{VERSION}"


def _overall(
    tally: Tally, choices: tuple[Choice, ...], resampling: Resampling, share: int | None, ended: int, ordered: bool
) -> tuple[Measures, tuple[CategoryMeasures, ...]]:
    """Return the measures of all labels; *share*: the number of items in the random share, None outside it."""
    overall = _measures(tally, resampling, ordered)
    categories = tuple(_category(tally, i, choice, resampling) for i, choice in enumerate(choices))
    if share is None or tally.units:
        return overall, categories
    why = NO_SHARE_ENDED if ended else SHARE_UNDER_WAY if share else EMPTY_SHARE
    return _undefined(overall, why), tuple(_undefined(category, why) for category in categories)


def _undefined(category_measures: AnyMeasures, why: Note) -> AnyMeasures:
    """Return the measures, each undefined with the reason *why*: labels outside the random share are biased."""
    names = [
        field.name
        for field in fields(category_measures)
        if isinstance(getattr(category_measures, field.name), Estimate)
    ]
    values: dict[str, Any] = dict.fromkeys(names, Estimate.undefined(why))
    return replace(category_measures, **values)


def _labels(
    store: Store, project: Project, way: "Way", version: int | None, on: ItemScope, ended: int, imported: set[int]
) -> tuple[BlindLabels, tuple[Choice, ...], dict[tuple[str, str], Numbers]]:
    random = _still_random(store, project) if ended and on == "share" else None
    if project.kind == "generations":
        # Imported here, so that commands for sentences start without pandas.
        from evenhand.annotations.agreement.merged_labels import merged_rows

        parts = blind_label_rows(store, project, version=version, on=on, more="extraneous, item.uid, reasons")
        rows = [
            row for row in chain.from_iterable(parts) if row[0] not in imported and (random is None or row[0] in random)
        ]
        choices = every_choice(store, project, sorted({row[2] for row in rows}))
        return merged_rows(store, project, rows, choices, way)
    labels, codes = numbered_labels(blind_label_rows(store, project, version=version, on=on))
    if random is not None:
        labels = labels.only(np.isin(labels.item, np.array(sorted(random), dtype=np.int64)))
    if imported:
        labels = labels.only(~np.isin(labels.item, np.array(sorted(imported), dtype=np.int64)))
    choices = every_choice(store, project, sorted({codes[place] for place in np.unique(labels.choice).tolist()}))
    number = {choice.code: place for place, choice in enumerate(choices)}
    places = np.array([number.get(code, -1) for code in codes], dtype=np.int64)  # -1: none of these labels is left
    return (replace(labels, choice=places[labels.choice], cluster=_articles(store, project, labels.item)), choices, {})


def _still_random(store: Store, project: Project) -> set[int] | None:
    """Return the items that were in the random share from the start, or None if no others were selected later."""
    narrow = unselected(store, project, project.per_item)
    if narrow is None or narrow.share >= project.share:
        return None
    return set(json.loads(narrow.values(store, project, project.per_item)["shared"]))


def _articles(store: Store, project: Project, items: Column) -> Numbers | None:
    """Return the number of each item's source article; None if fewer than two are named, or none has several items."""
    named = named_sources(store, project)
    if not named:
        return None
    distinct, where = np.unique(items, return_inverse=True)
    sources = [named.get(item, "") for item in distinct.tolist()]
    if units_of_sources(sources) == "sentence":
        return None
    numbers = cluster_numbers(named, distinct.tolist())
    return None if numbers is None else numbers[where]


def _names(store: Store, labels: BlindLabels) -> dict[int, str]:
    """Return the annotators with a blind label, those with most labels first."""
    who, count = np.unique(labels.annotator, return_counts=True)
    names = annotator_names(store)
    order = sorted(zip(-count, who, strict=True))
    return {int(a): str(names[int(a)]) for _, a in order}


def _label_counts(
    store: Store, project: Project, tally: Tally, on: ItemScope, version: int | None
) -> tuple[int, dict[int, int]]:
    """Return the number of items, and how many of them have 0, 1, 2 ... of the labels."""
    if on == "share" and version is None:
        counts = Counter(shared_by_labels(store, project))
        return counts.total(), {n: counts[n] for n in range(max(counts, default=0) + 1)}
    all_items = store.count(ITEMS, (project.id,))
    if on == "share":
        all_items = sum(shared_by_labels(store, project).values())
    by = np.bincount(tally.labels, weights=tally.sizes).astype(int) if tally.units else np.zeros(1, dtype=int)
    by[0] = all_items - tally.units
    return all_items, {n: int(count) for n, count in enumerate(by)}


def _by_version(
    labels: BlindLabels,
    versions: dict[int, int],
    categories: int,
    overall: Measures,
    resampling: Resampling,
    ordered: bool,
) -> tuple[tuple[int, Measures], ...]:
    """Return the measures of the labels made under each version that has any, the oldest version first."""
    result = sorted((versions[int(entry)], int(entry)) for entry in np.unique(labels.guideline))
    if len(result) == 1:
        return ((result[0][0], overall),)
    return tuple(
        (version, _measures(labels.tally(categories, labels.guideline == one), resampling, ordered))
        for version, one in result
    )


def _by_form(
    project: Project, labels: BlindLabels, choices: tuple[Choice, ...], names: dict[int, str], resampling: Resampling
) -> DisplayRates | None:
    accept = next((place for place, choice in enumerate(choices) if choice.code == "accept"), None)
    if project.kind == "generations" or accept is None:
        return None
    return accept_rates(labels, accept, names, resampling)


def _measures(tally: Tally, resampling: Resampling, ordered: bool = False) -> Measures:
    categories, used = tally.counts.shape[1], tally.used.counts.shape[1]
    ac1 = gwet_ac1(tally, resampling)
    return Measures(
        items=tally.units,
        labels=int(tally.labels @ tally.sizes),
        unanimity=unanimity(tally, resampling),
        pairwise=pairwise_agreement(tally, resampling),
        fleiss=fleiss_kappa(tally, resampling),
        alpha=ordinal_alpha(tally, resampling) if ordered else krippendorff_alpha(tally, resampling),
        ac1=ac1,
        ac1_used=ac1 if used in (0, categories) else gwet_ac1(tally.used, resampling),
        categories=Categories(categories, used),
    )


def _category(tally: Tally, index: int, choice: Choice, resampling: Resampling) -> CategoryMeasures:
    return CategoryMeasures(
        choice=choice,
        labels=int(tally.counts[:, index] @ tally.sizes),
        prevalence=prevalence(tally, index, resampling),
        specific=specific_agreement(tally, index, resampling),
    )


def _cells(
    labels: BlindLabels,
    groups: dict[tuple[str, str], Numbers],
    categories: int,
    resampling: Resampling,
    ordered: bool = False,
) -> tuple[tuple[str, str, Measures], ...]:
    """Return the measures of generations by model and pronoun set."""
    return tuple(
        (*key, _measures(labels.tally(categories, np.isin(labels.item, items)), resampling, ordered))
        for key, items in groups.items()
    )


def _by_pair(
    store: Store, project: Project, labels: BlindLabels, categories: int, resampling: Resampling
) -> tuple[tuple[str, Measures], ...]:
    pairs: dict[str, list[int]] = {}
    names = pairs_of_cells(store, project)
    for cell in map(int, np.unique(labels.cell)):
        pairs.setdefault(names[cell], []).append(cell)
    result = [
        (name, _measures(labels.tally(categories, np.isin(labels.cell, cells)), resampling))
        for name, cells in pairs.items()
    ]
    return _most_first(result)


def _most_first(found: Iterable[tuple[str, Measures]]) -> tuple[tuple[str, Measures], ...]:
    return tuple(sorted(found, key=lambda row: (-row[1].items, row[0])))


def _every_two(
    labels: BlindLabels, names: dict[int, str], categories: int, resampling: Resampling
) -> tuple[TwoAnnotators, ...]:
    """Return every pair of annotators who share an item, in the order of *names*."""
    tables = labels.tables(categories)
    order = list(names)
    two_annotators = []
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            known = tables.get((min(a, b), max(a, b)))
            if known is not None:
                table, by = known if a < b else (known[0].T, transposed(known[1], categories))
                two_annotators.append(
                    TwoAnnotators(names[a], names[b], tuple(map(tuple, table.tolist())), resampling, by)
                )
    return tuple(two_annotators)
