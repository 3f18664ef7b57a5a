"""Infer the category of an item from labels of annotators who err differently: Dawid-Skene and MACE.

Both are fitted by expectation and maximisation. The start is not random: it is the shares of the labels, and for MACE
every annotator knows half of the time. So the same labels give the same numbers in any order of annotators and
categories. A test compares the results with crowd-kit 1.4.2. Both models need several labels per item: with fewer than
five, a category can often not be told from the habit of an annotator.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.core.statistics.resampling import ratio

FEWEST_LABELS = 5  # an item (docs/agreement.md#annotator-models)
ROUNDS = 1000
SETTLED = 1e-7  # largest change of a probability in a round
_LEAST = 1e-10  # of an error rate, as in crowd-kit: a single label rules no annotator out
_KNOWS, _STRATEGY = 0.5, 10.0  # the priors of MACE: Beta(.5, .5) on knowing, Dirichlet(10) on the other answers
_TIE = 1e-6
_SEEN = 1e-6  # items of a category: fewer are none

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RatedItems:
    """Labels as three columns of places, 0-based: item, annotator, category; and how many there are of each."""

    item: Places
    annotator: Places
    category: Places
    items: int
    annotators: int
    categories: int

    def votes(self) -> Numbers:
        """Return how many annotators chose each category, items x categories."""
        flat = np.bincount(self.item * self.categories + self.category, minlength=self.items * self.categories)
        return flat.reshape(self.items, self.categories).astype(float)


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """`probability`: of each category, items x categories; `errors[a][t][c]`: how often annotator a says c of an item
    that is t, NaN where a labelled no such item; `right`: for each annotator the share of own labels, 0 to 1, that the
    model expects to be the item's category. `settled`: whether the fit came to rest."""

    probability: Numbers
    errors: Numbers
    right: Numbers
    settled: bool


@dataclass(frozen=True, slots=True)
class Mace:
    """`probability`: of each category, items x categories; `competence`: for each annotator the share of labels, 0 to
    1, that were given knowing the item, not from a habit. `settled`: whether the fit came to rest."""

    probability: Numbers
    competence: Numbers
    settled: bool


def chosen(weights: Numbers) -> list[int | None]:
    """Return for each row the place of its largest number; None where two are equal (within a millionth)."""
    if not len(weights):
        return []
    largest = weights.max(axis=1, keepdims=True)
    alone = (weights >= largest - _TIE).sum(axis=1) == 1
    places = weights.argmax(axis=1)
    return [int(place) if entry else None for place, entry in zip(places, alone, strict=True)]


def dawid_skene(rated: RatedItems) -> DawidSkene:
    """Fit error rates of each annotator for every category (Dawid and Skene 1979) by maximum likelihood."""

    def counted(probability: Numbers) -> Numbers:
        """Count labels by annotator, true category and given category."""
        found = np.zeros((rated.annotators, rated.categories, rated.categories))
        np.add.at(found, (rated.annotator, rated.category), probability[rated.item])
        return found.transpose(0, 2, 1)

    def expected(probability: Numbers) -> Numbers:
        errors = np.maximum(counted(probability), _LEAST)
        errors /= errors.sum(axis=2, keepdims=True)
        share = np.maximum(probability.mean(axis=0), _LEAST)
        return _normalised(np.log(share) + _added(rated, np.log(errors)[rated.annotator, :, rated.category]))

    votes = rated.votes()
    probability, settled = _at_rest(votes / votes.sum(axis=1, keepdims=True), expected)
    counts = counted(probability)
    seen = counts.sum(axis=2, keepdims=True)
    errors = ratio(counts, np.where(seen > _SEEN, np.broadcast_to(seen, counts.shape), 0.0))
    own = np.bincount(rated.annotator, minlength=rated.annotators).astype(float)
    right = ratio(np.einsum("att->a", counts), own)
    return DawidSkene(probability, errors, right, settled)


def mace(rated: RatedItems) -> Mace:
    """Fit annotators who know a category or follow a habit (Hovy et al. 2013); variational, with priors."""
    from scipy.special import digamma  # takes a while to import

    people, labels = np.arange(rated.annotators), len(rated.item)
    at = rated.annotator, rated.category
    state = {"knows": np.full(rated.annotators, 0.5), "habit": np.full(rated.annotators, 0.5),
             "says": np.full((rated.annotators, rated.categories), 1 / rated.categories)}  # fmt: skip

    def expected() -> Numbers:
        habit = (state["habit"][:, None] * state["says"])[at]
        either = habit + state["knows"][rated.annotator]
        of_labels = np.repeat(np.log(habit)[:, None], rated.categories, axis=1)
        of_labels[np.arange(labels), rated.category] = np.log(either)
        return _normalised(_added(rated, of_labels))

    def fit(probability: Numbers) -> None:
        habit = (state["habit"][:, None] * state["says"])[at]
        knows = state["knows"][rated.annotator]
        knew = probability[rated.item, rated.category] * knows / (habit + knows)
        guessed = np.zeros((rated.annotators, rated.categories))
        np.add.at(guessed, at, 1 - knew)
        known = np.bincount(rated.annotator, weights=knew, minlength=len(people))
        guesses = guessed.sum(axis=1)
        whole = digamma(known + guesses + 2 * _KNOWS)
        state["knows"] = np.exp(digamma(known + _KNOWS) - whole)
        state["habit"] = np.exp(digamma(guesses + _KNOWS) - whole)
        said = guessed + _STRATEGY
        state["says"] = np.exp(digamma(said) - digamma(said.sum(axis=1, keepdims=True)))

    def again(probability: Numbers) -> Numbers:
        fit(probability)
        return expected()

    probability, settled = _at_rest(expected(), again)
    return Mace(probability, state["knows"] / (state["knows"] + state["habit"]), settled)


def _at_rest(probability: Numbers, again: Callable[[Numbers], Numbers]) -> tuple[Numbers, bool]:
    for _ in range(ROUNDS):
        before, probability = probability, again(probability)
        if np.abs(probability - before).max(initial=0.0) < SETTLED:
            return probability, True
    return probability, False


def _added(rated: RatedItems, of_labels: Numbers) -> Numbers:
    """Add the values of the labels of each item: items x categories."""
    values = np.zeros((rated.items, rated.categories))
    np.add.at(values, rated.item, of_labels)
    return values


def _normalised(logs: Numbers) -> Numbers:
    """Return rows of logarithms as probabilities that sum to 1."""
    shifted = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares: Numbers = shifted / shifted.sum(axis=1, keepdims=True)
    return shares
