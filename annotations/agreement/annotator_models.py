"""Dawid-Skene and MACE compared with the vote, on items with at least five blind labels.

The results are for reading and never become gold labels: an item is kept where all annotators agree, and this module
does not write to the database.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.annotations.agreement.measures import compared_labels
from evenhand.annotations.agreement.merged_labels import Way
from evenhand.annotations.database.events import annotator_names
from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.types import Choice, Project
from evenhand.core.errors import N_
from evenhand.core.statistics import Note
from evenhand.core.statistics.annotator_models import (
    FEWEST_LABELS,
    DawidSkene,
    Mace,
    RatedItems,
    chosen,
    dawid_skene,
    mace,
)
from evenhand.core.statistics.estimate import ONE_CATEGORY

VERSION = 1  # of the method: raise it when a number may change
TOO_FEW_LABELS = Note(
    N_(
        "No item has {fewest} labels or more: with fewer, a model cannot separate an annotator's habits from"
        " properties of the item."
    ),
    {"fewest": FEWEST_LABELS},
)


@dataclass(frozen=True, slots=True)
class ModelledItem:
    """An item (row id) with its votes for each choice, and what the vote and the models say: a place in the choices.

    None if two choices tie. The probabilities, 0 to 1, are those of the models' own choices.
    """

    row: int
    votes: tuple[int, ...]
    vote: int | None
    dawid_skene: int | None
    dawid_skene_probability: float
    mace: int | None
    mace_probability: float

    @property
    def differs(self) -> bool:
        """True if a model's choice is not the vote's, or if the vote ties."""
        return self.vote is None or (self.vote, self.vote) != (self.dawid_skene, self.mace)


@dataclass(frozen=True, slots=True)
class ModelledAnnotator:
    """An annotator: how many labels went in; the share of them, 0 to 1, that Dawid-Skene expects to be right; MACE's
    competence, 0 to 1; `errors[t][c]`: how often they say choice c of an item that is t, None without such an item.
    """

    name: str
    labels: int
    right: float
    competence: float
    errors: tuple[tuple[float, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class AnnotatorModels:
    """The results of both models.

    `choices`: the choices used at least once; `fewer`: the items with 1 to 4 labels, which are left out. `reason`: why
    results are missing, else None; `settled`: whether both fits converged.
    """

    choices: tuple[Choice, ...]
    items: tuple[ModelledItem, ...]
    annotators: tuple[ModelledAnnotator, ...]
    fewer: int
    reason: Note | None
    settled: bool
    signature: str

    @property
    def labels(self) -> int:
        """The number of labels that both models used."""
        return sum(annotator.labels for annotator in self.annotators)

    @property
    def tied(self) -> int:
        """On how many items the vote ties."""
        return sum(item.vote is None for item in self.items)

    def against_vote(self, model: str) -> int:
        """Return on how many items "dawid_skene" or "mace" differs from a vote that does not tie."""
        return sum(item.vote is not None and getattr(item, model) != item.vote for item in self.items)


@consistent_read
def annotator_models(
    store: Store, project: Project, *, way: Way = "four", version: int | None = None, on: ItemScope | None = None
) -> AnnotatorModels:
    """Fit both models to the labels that `agreement` compares; it takes the same arguments.

    Raises NotFound for an unknown version.
    """
    compared = compared_labels(store, project, way=way, version=version, on=on)
    labels = compared.labels
    _, where, counts = np.unique(labels.item, return_inverse=True, return_counts=True)
    enough = counts[where] >= FEWEST_LABELS
    blind_labels = labels.only(enough)
    rows, item = np.unique(blind_labels.item, return_inverse=True)
    people, annotator = np.unique(blind_labels.annotator, return_inverse=True)
    used, category = np.unique(blind_labels.choice, return_inverse=True)
    choices = tuple(compared.choices[place] for place in used.tolist())
    fewer = int((counts < FEWEST_LABELS).sum())
    under = "" if version is None else f"|guideline:v{version}"
    used_codes = "+".join(choice.code for choice in choices)
    signature = (
        f"annotator-models|labels:blind|items:{compared.on}|at-least:{FEWEST_LABELS}{under}"
        f"|categories:{used_codes}|v{VERSION}"
    )
    if len(choices) < 2:
        reason = TOO_FEW_LABELS if not len(rows) else ONE_CATEGORY
        return AnnotatorModels(choices, (), (), fewer, reason, True, signature)
    rated = RatedItems(item, annotator, category, len(rows), len(people), len(choices))
    by_skill, by_habit = dawid_skene(rated), mace(rated)
    return AnnotatorModels(
        choices,
        _items(rows.tolist(), rated, by_skill, by_habit),
        _annotators(store, people.tolist(), rated, by_skill, by_habit),
        fewer,
        None,
        by_skill.settled and by_habit.settled,
        signature,
    )


def _items(rows: Sequence[int], rated: RatedItems, by_skill: DawidSkene, by_habit: Mace) -> tuple[ModelledItem, ...]:
    votes = rated.votes()
    columns = (
        rows, votes.astype(int).tolist(), chosen(votes), chosen(by_skill.probability),
        by_skill.probability.max(axis=1).tolist(), chosen(by_habit.probability),
        by_habit.probability.max(axis=1).tolist(),
    )  # fmt: skip
    return tuple(
        ModelledItem(row, tuple(counts), vote, skill, skill_share, habit, habit_share)
        for row, counts, vote, skill, skill_share, habit, habit_share in zip(*columns, strict=True)
    )


def _annotators(
    store: Store, people: Sequence[int], rated: RatedItems, by_skill: DawidSkene, by_habit: Mace
) -> tuple[ModelledAnnotator, ...]:
    """Return the annotators with their estimates, those with most labels first."""
    names = annotator_names(store)
    counts = np.bincount(rated.annotator)
    modelled_annotators = [
        ModelledAnnotator(
            str(names[row]),
            int(counts[place]),
            float(by_skill.right[place]),
            float(by_habit.competence[place]),
            tuple(None if np.isnan(line).any() else tuple(line.tolist()) for line in by_skill.errors[place]),
        )
        for place, row in enumerate(people)
    ]
    return tuple(sorted(modelled_annotators, key=lambda one: -one.labels))
