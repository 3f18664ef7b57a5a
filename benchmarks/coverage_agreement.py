"""Labels with a known truth, and the intervals of agreement that the app makes of them.

An item's labels follow a Dirichlet-multinomial distribution, so that any two labels of an item agree beyond chance by
exactly the planted kappa, whatever the raters, categories and missing labels. `benchmarks.coverage` writes the page.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage_cells import AGAIN, Held, held, in_two_stages, settings_of
from evenhand.core.statistics import Estimate, Resampling, Tally, kappa, many_raters

Numbers = NDArray[np.int64]
Interval = Callable[[Any, Any, Resampling], Estimate]  # of labels, what is true, and how it is drawn
Measures = Mapping[str, tuple[Callable[[Any], float], Interval]]  # name -> what it should be, and the app's interval


@dataclass(frozen=True, slots=True)
class Planted:
    """What is true: `accept` is the share of the first category, the others share the rest equally."""

    items: int
    raters: int = 3
    accept: float = 0.9
    kappa: float = 0.4
    categories: int = 2
    missing: float = 0.0

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of each category."""
        others = self.categories - 1
        return (self.accept, *[(1 - self.accept) / others] * others)

    @property
    def two_agree(self) -> float:
        """The chance that two labels of an item are the same."""
        chance = sum(share**2 for share in self.shares)
        return chance + self.kappa * (1 - chance)

    @property
    def ac1(self) -> float:
        """Gwet's AC1."""
        chance = sum(share * (1 - share) for share in self.shares) / (self.categories - 1)
        return (self.two_agree - chance) / (1 - chance)

    @property
    def all_agree(self) -> float:
        """The chance that all labels of an item are the same, of items with two labels or more."""
        kept = 1 - self.missing
        counts = range(2, self.raters + 1)
        weight = [math.comb(self.raters, n) * kept**n * self.missing ** (self.raters - n) for n in counts]
        return sum(w * self._alike(n) for w, n in zip(weight, counts, strict=True)) / sum(weight)

    def same_again(self, category: int) -> float:
        """The chance that a second label is *category* where one is."""
        return self.shares[category] + self.kappa * (1 - self.shares[category])

    def _alike(self, labels: int) -> float:
        tie = self.kappa / (1 - self.kappa)
        return sum(math.prod((share + j * tie) / (1 + j * tie) for j in range(labels)) for share in self.shares)

    @property
    def clusters(self) -> Numbers | None:
        """The number of each item's cluster, where the interval knows them."""
        return None

    def measures(self) -> "Measures":
        """What is measured of its labels."""
        return MEASURES

    def labels(self, random: np.random.Generator) -> Numbers:
        """Items x raters; -1 where a label is missing. Polya's urn: a label is new, or that of an earlier rater."""
        drawn = random.choice(self.categories, size=(self.items, self.raters), p=self.shares)
        tie, rows = self.kappa / (1 - self.kappa), np.arange(self.items)
        for rater in range(1, self.raters):
            again = random.random(self.items) * (1 + rater * tie) < rater * tie
            earlier = drawn[rows, random.integers(0, rater, self.items)]
            drawn[:, rater] = np.where(again, earlier, drawn[:, rater])
        drawn[random.random(drawn.shape) < self.missing] = -1
        return drawn.astype(np.int64)


def _tally(labels: Numbers, planted: Planted) -> Tally:
    counts = np.stack([(labels == one).sum(axis=1) for one in range(planted.categories)], axis=1)
    return Tally.of(counts, planted.clusters)


def cohen(labels: Numbers, planted: Planted, resampling: Resampling) -> Estimate:
    """Cohen's kappa of the first two raters, as the app reckons it."""
    both, size = (labels[:, :2] >= 0).all(axis=1), planted.categories
    clusters = np.zeros(len(labels), dtype=np.int64) if planted.clusters is None else planted.clusters
    cells = np.zeros((int(clusters.max()) + 1, size**2), dtype=np.int64)
    np.add.at(cells, (clusters[both], labels[both, 0] * size + labels[both, 1]), 1)
    table = cells.sum(axis=0).reshape(size, size)
    return kappa.cohen_kappa(table, resampling, None if planted.clusters is None else cells)


def _of_tally(measure: Callable[..., Estimate], labels: Numbers, planted: Planted, drawn: Resampling) -> Estimate:
    return measure(_tally(labels, planted), drawn)


def _of_category(
    measure: Callable[..., Estimate], place: int, labels: Numbers, planted: Planted, drawn: Resampling
) -> Estimate:
    return measure(_tally(labels, planted), place % planted.categories, drawn)


MEASURES: Measures = {
    "all agree": (lambda planted: planted.all_agree, partial(_of_tally, many_raters.unanimity)),
    "two agree": (lambda planted: planted.two_agree, partial(_of_tally, many_raters.pairwise_agreement)),
    "Fleiss' kappa": (lambda planted: planted.kappa, partial(_of_tally, many_raters.fleiss_kappa)),
    "Krippendorff's alpha": (lambda planted: planted.kappa, partial(_of_tally, many_raters.krippendorff_alpha)),
    "Gwet's AC1": (lambda planted: planted.ac1, partial(_of_tally, many_raters.gwet_ac1)),
    "Cohen's kappa": (lambda planted: planted.kappa, cohen),
    "specific, first": (
        lambda planted: planted.same_again(0),
        partial(_of_category, many_raters.specific_agreement, 0),
    ),
    "specific, last": (
        lambda planted: planted.same_again(-1),
        partial(_of_category, many_raters.specific_agreement, -1),
    ),
    "prevalence, last": (lambda planted: planted.shares[-1], partial(_of_category, many_raters.prevalence, -1)),
}


class Truth(Protocol):
    """What is true of made-up labels; a dataclass of numbers."""

    def measures(self) -> Measures:
        """What is measured of its labels."""

    def labels(self, random: np.random.Generator) -> Any:
        """Made-up labels."""


def coverage(planted: Truth, replications: int, draws: int, seed: int = 0, only: Sequence[str] = ()) -> list[Held]:
    """Every measure (or *only* some) in *replications* samples of *planted*, each interval from *draws* draws."""
    random = np.random.default_rng([seed, *(int(1000 * value) for value in settings_of(planted).values())])
    measures = {name: one for name, one in planted.measures().items() if name in (only or planted.measures())}
    found: dict[str, list[Estimate]] = {name: [] for name in measures}
    for number in range(replications):
        labels = planted.labels(random)
        for name, (_, interval) in measures.items():
            found[name].append(interval(labels, planted, Resampling(draws, number)))
    return [held(name, planted, measures[name][0](planted), estimates) for name, estimates in found.items()]


GRID: dict[str, tuple[float, ...]] = {
    "items": (5, 10, 24, 80, 200, 1000),
    "raters": (2, 3, 4, 5),
    "accept": (0.5, 0.8, 0.9, 0.95, 0.98),
    "kappa": (0.0, 0.2, 0.4, 0.6, 0.8, 0.9),
    "categories": (2, 3, 5),
    "missing": (0.0, 0.25),
}


def planted_truths(cells: int, seed: int) -> list[Planted]:
    """*cells* cells of the whole grid, drawn at random."""
    every = list(product(*GRID.values()))
    chosen = np.random.default_rng(seed).permutation(len(every))[:cells]
    made = (dict(zip(GRID, every[i], strict=True)) for i in sorted(chosen))
    whole = ("items", "raters", "categories")
    return [Planted(**{name: int(v) if name in whole else v for name, v in one.items()}) for one in made]  # type: ignore[arg-type]


def _cell(
    place: int, samples: int, seed: int, measures: Sequence[str] = (), *, truths: Sequence[Truth], draws: int
) -> list[Held]:
    return coverage(truths[place], samples, draws, seed, measures)


def simulated(truths: Sequence[Truth], samples: int, draws: int, seed: int, again: int = AGAIN) -> list[Held]:
    """`coverage` of every one of *truths*, in two stages; in one where *again* is 0."""
    return in_two_stages(partial(_cell, truths=truths, draws=draws), len(truths), samples, seed, again)
