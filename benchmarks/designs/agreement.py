"""Labels with a known truth: of items, of items in clusters, of raters who differ; shares of texts of contexts.

An item's labels follow a Dirichlet-multinomial distribution, so that any two labels of an item agree beyond chance by
exactly the planted kappa, for all raters, categories and missing labels. Items of an article or a context resemble each
other: the share `between` of kappa lies between clusters, so that labels of different items of a cluster agree beyond
chance by kappa x between.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage_loop import Design, Random
from evenhand.annotations.agreement.report import DisplayRates, accept_rates
from evenhand.annotations.labels.blind_labels import BlindLabels
from evenhand.core.human_vs_rule.means_over_contexts import agreement as agreement_of_marks
from evenhand.core.human_vs_rule.means_over_contexts import context_means
from evenhand.core.statistics import Estimate, Note, Resampling, Tally, many_raters, modified_wilson, wilson

Numbers = NDArray[np.int64]
Interval = Callable[[Any, Any, Resampling], Estimate]  # of labels, what is true, and how it is drawn
Measures = Mapping[str, tuple[Callable[[Any], float], Interval]]  # name -> what it should be, and the app's interval
NOTHING = Note("nothing")


class Truth(Protocol):
    """What is true of made-up labels; a dataclass of numbers."""

    def measures(self) -> Measures:
        """Return what is measured of its labels."""

    def labels(self, random: Random) -> Any:
        """Make labels."""


def sample(planted: Truth, random: Random, drawn: Resampling, names: Sequence[str]) -> dict[str, Estimate]:
    """Make labels of *planted* and the intervals of the measures *names*."""
    labels, measures = planted.labels(random), planted.measures()
    return {name: measures[name][1](labels, planted, drawn) for name in names}


def truth(planted: Truth) -> dict[str, float]:
    """Return what each measure of *planted* should be."""
    return {name: value(planted) for name, (value, _) in planted.measures().items()}


def of_labels(name: str, about: str, cells: Sequence[Truth]) -> Design:
    """Return a design whose cells say what is true of labels."""
    return Design(name, about, {}, sample, truth, cells)


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
        """Return the share of each category."""
        others = self.categories - 1
        return (self.accept, *[(1 - self.accept) / others] * others)

    @property
    def two_agree(self) -> float:
        """Return the chance that two labels of an item are the same."""
        chance = sum(share**2 for share in self.shares)
        return chance + self.kappa * (1 - chance)

    @property
    def ac1(self) -> float:
        """Return Gwet's AC1."""
        chance = sum(share * (1 - share) for share in self.shares) / (self.categories - 1)
        return (self.two_agree - chance) / (1 - chance)

    @property
    def all_agree(self) -> float:
        """Return the chance that all labels of an item are the same, of items with two labels or more."""
        kept = 1 - self.missing
        counts = range(2, self.raters + 1)
        weight = [math.comb(self.raters, n) * kept**n * self.missing ** (self.raters - n) for n in counts]
        return sum(w * self._alike(n) for w, n in zip(weight, counts, strict=True)) / sum(weight)

    def same_again(self, category: int) -> float:
        """Return the chance that a second label is *category* where one is."""
        return self.shares[category] + self.kappa * (1 - self.shares[category])

    def _alike(self, labels: int) -> float:
        tie = self.kappa / (1 - self.kappa)
        return sum(math.prod((share + j * tie) / (1 + j * tie) for j in range(labels)) for share in self.shares)

    @property
    def clusters(self) -> Numbers | None:
        """Return the number of each item's cluster, where the interval knows them."""
        return None

    def measures(self) -> Measures:
        """Return what is measured of its labels."""
        return MEASURES

    def labels(self, random: Random) -> Numbers:
        """Draw items x raters; -1 where a label is missing. Polya's urn: a label is new or an earlier one."""
        drawn = random.choice(self.categories, size=(self.items, self.raters), p=self.shares)
        tie, rows = self.kappa / (1 - self.kappa), np.arange(self.items)
        for rater in range(1, self.raters):
            again = random.random(self.items) * (1 + rater * tie) < rater * tie
            earlier = drawn[rows, random.integers(0, rater, self.items)]
            drawn[:, rater] = np.where(again, earlier, drawn[:, rater])
        drawn[random.random(drawn.shape) < self.missing] = -1
        return drawn.astype(np.int64)


def _tally(labels: Numbers, planted: Planted) -> Tally:
    counts = np.stack([(labels == category).sum(axis=1) for category in range(planted.categories)], axis=1)
    return Tally.of(counts, planted.clusters)


def cohen(labels: Numbers, planted: Planted, resampling: Resampling) -> Estimate:
    """Return Cohen's kappa of the first two raters, as the app calculates it."""
    both, size = (labels[:, :2] >= 0).all(axis=1), planted.categories
    clusters = np.zeros(len(labels), dtype=np.int64) if planted.clusters is None else planted.clusters
    cells = np.zeros((int(clusters.max()) + 1, size**2), dtype=np.int64)
    np.add.at(cells, (clusters[both], labels[both, 0] * size + labels[both, 1]), 1)
    table = cells.sum(axis=0).reshape(size, size)
    return many_raters.cohen_kappa(table, resampling, None if planted.clusters is None else cells)


def _of_tally(measure: Callable[..., Estimate], labels: Numbers, planted: Planted, drawn: Resampling) -> Estimate:
    return measure(_tally(labels, planted), drawn)


def _of_category(
    measure: Callable[..., Estimate], place: int, labels: Numbers, planted: Planted, drawn: Resampling
) -> Estimate:
    return measure(_tally(labels, planted), place % planted.categories, drawn)


MEASURES: Measures = {
    "all agree": (lambda true: true.all_agree, partial(_of_tally, many_raters.unanimity)),
    "two agree": (lambda true: true.two_agree, partial(_of_tally, many_raters.pairwise_agreement)),
    "Fleiss' kappa": (lambda true: true.kappa, partial(_of_tally, many_raters.fleiss_kappa)),
    "Krippendorff's alpha": (lambda true: true.kappa, partial(_of_tally, many_raters.krippendorff_alpha)),
    "Gwet's AC1": (lambda true: true.ac1, partial(_of_tally, many_raters.gwet_ac1)),
    "Cohen's kappa": (lambda true: true.kappa, cohen),
    "specific, first": (lambda true: true.same_again(0), partial(_of_category, many_raters.specific_agreement, 0)),
    "specific, last": (lambda true: true.same_again(-1), partial(_of_category, many_raters.specific_agreement, -1)),
    "prevalence, last": (lambda true: true.shares[-1], partial(_of_category, many_raters.prevalence, -1)),
}


@dataclass(frozen=True, slots=True)
class Scale(Planted):
    """Labels on a scale of `categories` points: alpha is the planted kappa for any distances between points."""

    def measures(self) -> Measures:
        """Return what has an order."""
        return {"alpha, ordinal": (lambda true: true.kappa, partial(_of_tally, many_raters.ordinal_alpha))}


@dataclass(frozen=True, slots=True)
class InClusters(Planted):
    """Items in clusters of `size`, or of 1 to 2 size - 1 where they are `uneven`; `known`: the interval knows them."""

    size: int = 5
    between: float = 0.5
    uneven: bool = False
    known: bool = True

    @property
    def every_cluster(self) -> Numbers:
        """Return the number of each item's cluster."""
        if not self.uneven:
            return np.arange(self.items) // self.size
        sizes = np.resize([*range(1, 2 * self.size, 2), *range(2, 2 * self.size, 2)], self.items)
        return np.repeat(np.arange(self.items), sizes)[: self.items]

    @property
    def clusters(self) -> Numbers | None:
        """Return the number of each item's cluster, where the interval knows them."""
        return self.every_cluster if self.known else None

    def measures(self) -> Measures:
        """Return agreement, and accept rates by form where there are two raters on each."""
        return {**MEASURES, **FORMS} if self.raters == 4 and not self.missing else MEASURES

    @property
    def _ties(self) -> tuple[float, float]:
        """Return how much alike labels of a cluster are, and beyond that those of an item: alpha of each is 1 / tie."""
        shared = self.kappa * self.between
        own = (self.kappa - shared) / (1 - shared)
        return shared / (1 - shared), own / (1 - own)

    def labels(self, random: Random) -> Numbers:
        """Draw items x raters; -1 where a label is missing. Shares of a cluster and then of an item are Dirichlet."""
        places, (shared, own) = self.every_cluster, self._ties
        shares = _dirichlet(random, np.tile(self.shares, (int(places.max()) + 1, 1)), shared)[places]
        edges = _dirichlet(random, shares, own).cumsum(axis=1)[:, None, :-1]
        drawn = (random.random((self.items, self.raters, 1)) > edges).sum(axis=2)
        drawn[random.random(drawn.shape) < self.missing] = -1
        return drawn.astype(np.int64)

    def _alike(self, labels: int) -> float:
        shared, own = self._ties
        whole = 0.0
        for share in self.shares:
            powers = np.poly([-place * own for place in range(labels)])[::-1]  # of the cluster's share, from 0 up
            moments = np.cumprod([1, *((share + r * shared) / (1 + r * shared) for r in range(labels))])
            whole += float(powers @ moments) / float(np.prod([1 + place * own for place in range(labels)]))
        return whole


def _dirichlet(random: Random, shares: NDArray[np.float64], tie: float) -> NDArray[np.float64]:
    """Draw Dirichlet shares around each row of *shares*: two draws of one agree beyond chance by tie / (1 + tie)."""
    if tie == 0:
        return shares
    drawn = random.standard_gamma(shares / tie)
    total = drawn.sum(axis=1, keepdims=True)
    sure = np.eye(shares.shape[1])[(random.random((len(shares), 1)) > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)]
    return cast(NDArray[np.float64], np.where(total > 0, drawn / np.where(total > 0, total, 1), sure))


def _forms(labels: Numbers, planted: InClusters, resampling: Resampling) -> DisplayRates:
    """Return accept rates by form; the last half of the raters sees the masked form."""
    item, rater = np.divmod(np.arange(labels.size), planted.raters)
    nothing, form = np.zeros_like(item), (rater >= planted.raters // 2).astype(np.int64)
    cluster = None if planted.clusters is None else planted.clusters[item]
    blind = BlindLabels(item, rater, labels.reshape(-1), nothing, nothing, form, cluster)
    return accept_rates(blind, 0, {}, resampling)


# Both forms show the same: the differences are 0.
FORMS: Measures = {
    "accept rate of a form": (lambda true: true.accept, lambda *made: _forms(*made).forms[0].rate),
    "difference between forms": (lambda true: 0.0, lambda *made: _forms(*made).difference),
    "difference within items": (lambda true: 0.0, lambda *made: _forms(*made).paired),
}


@dataclass(frozen=True, slots=True)
class TwoRaters:
    """Two raters who accept at different rates, two categories, and Cohen's kappa of them."""

    items: int
    first: float
    second: float
    kappa: float
    categories: int = 2

    clusters = None  # as of `Planted`

    def measures(self) -> Measures:
        """Return Cohen's kappa."""
        return {"Cohen's kappa": (lambda true: true.kappa, cohen)}

    @property
    def cells(self) -> NDArray[np.float64]:
        """Return the chances that both accept, the first only, the second only, neither; negative ones cannot be."""
        chance = self.first * self.second + (1 - self.first) * (1 - self.second)
        agreed = chance + self.kappa * (1 - chance)
        both = (self.first + self.second - 1 + agreed) / 2
        return np.array([both, self.first - both, self.second - both, agreed - both])

    def labels(self, random: Random) -> Numbers:
        """Draw items x 2."""
        return np.stack(np.divmod(random.choice(4, size=self.items, p=self.cells), 2), axis=1)


@dataclass(frozen=True, slots=True)
class OverContexts:
    """Yes or no of `size` texts of each context (1 to 2 size - 1 where `uneven`), alike within contexts by `icc`."""

    contexts: int
    size: int
    share: float
    icc: float
    uneven: bool = False

    def measures(self) -> Measures:
        """Return shares; those that take texts as independent where each context has one."""
        return SHARES if self.size > 1 else {**SHARES, **SINGLE}

    def labels(self, random: Random) -> tuple[Numbers, Numbers]:
        """Draw per context how many yes, of how many."""
        sizes = np.full(self.contexts, self.size)
        if self.uneven:
            sizes = random.integers(1, 2 * self.size, self.contexts)
        shares = np.full((self.contexts, 1), self.share)
        tie = self.icc / (1 - self.icc)
        own = _dirichlet(random, np.concatenate([shares, 1 - shares], axis=1), tie)[:, 0]
        return random.binomial(sizes, np.clip(own, 0, 1)), sizes


Yes = tuple[Numbers, Numbers]


def _each(made: Yes) -> tuple[list[float], list[int]]:
    """Return the answer and the context of every text."""
    yes, sizes = made
    answers = [float(place < hits) for hits, size in zip(yes, sizes, strict=True) for place in range(size)]
    return answers, np.repeat(np.arange(len(sizes)), sizes).tolist()


def _mean(made: Yes, true: OverContexts, resampling: Resampling) -> Estimate:
    answers, contexts = _each(made)
    return context_means({"": answers}, contexts, resampling)[""].estimate


def _marks(made: Yes, true: OverContexts, resampling: Resampling) -> Estimate:
    """Return F1 of two annotators' marks: one marks a word in every text, the other where the answer is yes."""
    answers, contexts = _each(made)
    word = [(0, 2, "pronoun")]
    marks = {place: [word, word if answer else []] for place, answer in enumerate(answers)}
    return agreement_of_marks(marks, dict(enumerate(contexts)), "pronoun", resampling).pooled


def _counted(share: Any, made: Yes, true: OverContexts, resampling: Resampling) -> Estimate:
    return cast(Estimate, share(int(made[0].sum()), int(made[1].sum()), nothing=NOTHING))


SHARES: Measures = {
    "share over contexts": (lambda true: true.share, _mean),
    "F1 of marks": (lambda true: 2 * true.share / (1 + true.share), _marks),
}
SINGLE: Measures = {
    "Wilson": (lambda true: true.share, partial(_counted, wilson)),
    "modified Wilson": (lambda true: true.share, partial(_counted, modified_wilson)),
}
GRID: dict[str, tuple[float, ...]] = {
    "items": (5, 10, 24, 80, 200, 1000), "raters": (2, 3, 4, 5), "accept": (0.5, 0.8, 0.9, 0.95, 0.98),
    "kappa": (0.0, 0.2, 0.4, 0.6, 0.8, 0.9), "categories": (2, 3, 5), "missing": (0.0, 0.25),
}  # fmt: skip
CLUSTERS = {
    "40 articles x 5": (40, 5), "20 articles x 10": (20, 10), "8 contexts x 5": (8, 5), "16 contexts x 5": (16, 5),
    "100 contexts x 5": (100, 5),
}  # fmt: skip


def _some(grid: Sequence[Any], cells: int, seed: int) -> list[Any]:
    """Return *cells* cells of a grid, drawn at random, in the order of the grid."""
    return [grid[place] for place in sorted(np.random.default_rng(seed).permutation(len(grid))[:cells])]


def planted_truths(cells: int, seed: int) -> list[Planted]:
    """Return *cells* cells of the grid of independent items, drawn at random."""
    return [Planted(*values) for values in _some(list(product(*GRID.values())), cells, seed)]


def clustered_truths(cells: int, seed: int) -> list[InClusters]:
    """Return *cells* cells of the grid of items in clusters, drawn at random."""
    grid = product(
        (6, 10, 20, 40, 100), (2, 5, 10), (2, 3, 4), (0.5, 0.8, 0.9, 0.95, 0.98), (0.0, 0.2, 0.5, 0.8), (2, 3),
        (0.0, 0.25), (0.0, 0.3, 0.5, 0.8), (False, True),
    )  # fmt: skip
    return [
        InClusters(clusters * size, raters, accept, kappa, categories, missing, size, between, uneven)
        for clusters, size, raters, accept, kappa, categories, missing, between, uneven in _some(
            list(grid), cells, seed
        )
    ]


def known_and_not() -> list[InClusters]:
    """Return designs with three raters, over accept rates and kappas, as clusters and as independent items."""
    rates = product(CLUSTERS.values(), (0.5, 0.9, 0.95), ((0.2, 0.8), (0.5, 0.5), (0.8, 0.8)), (True, False))
    return [
        InClusters(count * size, 3, accept, kappa, size=size, between=between, known=known)
        for (count, size), accept, (kappa, between), known in dict.fromkeys(rates)
    ]


def two_raters() -> list[TwoRaters]:
    """Return pairs of accept rates that allow a kappa."""
    rates = ((0.5, 0.7), (0.9, 0.7), (0.95, 0.8), (0.95, 0.6), (0.98, 0.9))
    every = (TwoRaters(n, *pair, kappa) for n in (10, 24, 80, 200) for pair in rates for kappa in (0.0, 0.2, 0.4, 0.6))
    return [raters for raters in every if raters.cells.min() > 0]


def shares(cells: int, seed: int) -> list[OverContexts]:
    """Return shares of single texts, and *cells* cells of the grid of shares over contexts, drawn at random."""
    single = product((10, 24, 80, 200), (1,), (0.5, 0.8, 0.95, 0.98), (0.0,))
    every = list(product((8, 16, 40, 100), (5, 10), (0.5, 0.8, 0.95), (0.0, 0.2, 0.5, 0.9), (False, True)))
    return [OverContexts(*values) for values in (*single, *_some(every, cells, seed))]


def scales() -> list[Scale]:
    """Return few and many items, two and three annotators, an even and a lopsided scale of 5 and of 11 points."""
    return [
        Scale(items, raters, accept, kappa, points)
        for items, raters, kappa in product((24, 80, 200), (2, 3), (0.4, 0.8))
        for accept, points in ((0.3, 5), (0.7, 11))
    ]
