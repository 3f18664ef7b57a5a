"""What intervals hold where items come in clusters, where raters differ, and of shares: part of `benchmarks.coverage`.

Items of an article or a context resemble each other: of kappa, the share `between` lies between clusters, so that
labels of different items of a cluster agree beyond chance by kappa x between. `make coverage` writes the tables.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage_agreement import MEASURES, Measures, Numbers, Planted, cohen, simulated
from benchmarks.coverage_cells import Held, as_percent, by_level, by_measure, measures_in, pooled, second_stage
from evenhand.annotations.agreement.by_form import FormRates, accept_rates
from evenhand.annotations.labels.blind_labels import BlindLabels
from evenhand.core.human_vs_rule.mark_agreement import agreement as agreement_of_marks
from evenhand.core.human_vs_rule.means_over_contexts import context_means
from evenhand.core.statistics import Estimate, Note, Resampling, modified_wilson, wilson

NOTHING = Note("nothing")


@dataclass(frozen=True, slots=True)
class InClusters(Planted):
    """Items in clusters of `size`, or of 1 to 2 size - 1 where they are `uneven`; `known`: the interval knows them."""

    size: int = 5
    between: float = 0.5
    uneven: bool = False
    known: bool = True

    @property
    def every_cluster(self) -> Numbers:
        """The number of each item's cluster."""
        if not self.uneven:
            return np.arange(self.items) // self.size
        sizes = np.resize([*range(1, 2 * self.size, 2), *range(2, 2 * self.size, 2)], self.items)
        return np.repeat(np.arange(self.items), sizes)[: self.items]

    @property
    def clusters(self) -> Numbers | None:
        """The number of each item's cluster, where the interval knows them."""
        return self.every_cluster if self.known else None

    def measures(self) -> Measures:
        """Agreement, and accept rates by form where there are two raters on each."""
        return {**MEASURES, **FORMS} if self.raters == 4 and not self.missing else MEASURES

    @property
    def _ties(self) -> tuple[float, float]:
        """How much alike the labels of a cluster are, and beyond that those of an item: alpha of each is 1 / tie."""
        shared = self.kappa * self.between
        own = (self.kappa - shared) / (1 - shared)
        return shared / (1 - shared), own / (1 - own)

    def labels(self, random: np.random.Generator) -> Numbers:
        """Items x raters; -1 where a label is missing. The shares of a cluster and then of an item are Dirichlet."""
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


def _dirichlet(random: np.random.Generator, shares: NDArray[np.float64], tie: float) -> NDArray[np.float64]:
    """Dirichlet shares around each row of *shares*: two draws of one agree beyond chance by tie / (1 + tie)."""
    if tie == 0:
        return shares
    drawn = random.standard_gamma(shares / tie)
    total = drawn.sum(axis=1, keepdims=True)
    sure = np.eye(shares.shape[1])[(random.random((len(shares), 1)) > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)]
    return cast(NDArray[np.float64], np.where(total > 0, drawn / np.where(total > 0, total, 1), sure))


def _forms(labels: Numbers, planted: InClusters, resampling: Resampling) -> FormRates:
    """Accept rates by form; the last half of the raters sees the masked form."""
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
        """Cohen's kappa."""
        return {"Cohen's kappa": (lambda true: true.kappa, cohen)}

    @property
    def cells(self) -> NDArray[np.float64]:
        """The chances of both accepting, the first only, the second only, neither; some are negative: impossible."""
        chance = self.first * self.second + (1 - self.first) * (1 - self.second)
        agreed = chance + self.kappa * (1 - chance)
        both = (self.first + self.second - 1 + agreed) / 2
        return np.array([both, self.first - both, self.second - both, agreed - both])

    def labels(self, random: np.random.Generator) -> Numbers:
        """Items x 2."""
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
        """Shares; those that take texts as independent where each context has one."""
        return SHARES if self.size > 1 else {**SHARES, **SINGLE}

    def labels(self, random: np.random.Generator) -> tuple[Numbers, Numbers]:
        """Per context: how many yes, of how many."""
        sizes = np.full(self.contexts, self.size)
        if self.uneven:
            sizes = random.integers(1, 2 * self.size, self.contexts)
        shares = np.full((self.contexts, 1), self.share)
        tie = self.icc / (1 - self.icc)
        own = _dirichlet(random, np.concatenate([shares, 1 - shares], axis=1), tie)[:, 0]
        return random.binomial(sizes, np.clip(own, 0, 1)), sizes


Yes = tuple[Numbers, Numbers]


def _each(made: Yes) -> tuple[list[float], list[int]]:
    """Every text: its answer and its context."""
    yes, sizes = made
    answers = [float(place < hits) for hits, size in zip(yes, sizes, strict=True) for place in range(size)]
    return answers, np.repeat(np.arange(len(sizes)), sizes).tolist()


def _mean(made: Yes, true: OverContexts, resampling: Resampling) -> Estimate:
    answers, contexts = _each(made)
    return context_means({"": answers}, contexts, resampling)[""].estimate


def _marks(made: Yes, true: OverContexts, resampling: Resampling) -> Estimate:
    """F1 of two annotators' marks: one marks a word of two characters in every text, the other where it says yes."""
    answers, contexts = _each(made)
    word = [(0, 2, "pronoun")]
    said = {place: [word, word if answer else []] for place, answer in enumerate(answers)}
    return agreement_of_marks(said, dict(enumerate(contexts)), "pronoun", resampling).pooled


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

DESIGNS = {
    "40 articles x 5": (40, 5),
    "20 articles x 10": (20, 10),
    "8 contexts x 5": (8, 5),
    "16 contexts x 5": (16, 5),
    "100 contexts x 5": (100, 5),
}


def clustered_truths(cells: int, seed: int) -> list[InClusters]:
    """*cells* cells of the grid of items in clusters, drawn at random."""
    grid = product(
        (6, 10, 20, 40, 100), (2, 5, 10), (2, 3, 4), (0.5, 0.8, 0.9, 0.95, 0.98), (0.0, 0.2, 0.5, 0.8), (2, 3),
        (0.0, 0.25), (0.0, 0.3, 0.5, 0.8), (False, True),
    )  # fmt: skip
    every = list(grid)
    chosen = np.random.default_rng(seed).permutation(len(every))[:cells]
    return [
        InClusters(clusters * size, raters, accept, kappa, categories, missing, size, between, uneven)
        for clusters, size, raters, accept, kappa, categories, missing, between, uneven in (
            every[place] for place in sorted(chosen)
        )
    ]


def designs() -> list[InClusters]:
    """The designs with three raters, over accept rates and kappas, as clusters and as independent items."""
    rates = product(DESIGNS.values(), (0.5, 0.9, 0.95), ((0.2, 0.8), (0.5, 0.5), (0.8, 0.8)), (True, False))
    return [
        InClusters(count * size, 3, accept, kappa, size=size, between=between, known=known)
        for (count, size), accept, (kappa, between), known in dict.fromkeys(rates)
    ]


def two_raters() -> list[TwoRaters]:
    """Pairs of accept rates that allow a kappa."""
    rates = ((0.5, 0.7), (0.9, 0.7), (0.95, 0.8), (0.95, 0.6), (0.98, 0.9))
    every = (TwoRaters(n, *pair, kappa) for n in (10, 24, 80, 200) for pair in rates for kappa in (0.0, 0.2, 0.4, 0.6))
    return [one for one in every if one.cells.min() > 0]


def shares(cells: int, seed: int) -> list[OverContexts]:
    """Shares of single texts, and *cells* cells of the grid of shares over contexts, drawn at random."""
    single = product((10, 24, 80, 200), (1,), (0.5, 0.8, 0.95, 0.98), (0.0,))
    every = list(product((8, 16, 40, 100), (5, 10), (0.5, 0.8, 0.95), (0.0, 0.2, 0.5, 0.9), (False, True)))
    chosen = np.random.default_rng(seed).permutation(len(every))[:cells]
    return [OverContexts(*one) for one in (*single, *(every[place] for place in sorted(chosen)))]


def by_design(found: Sequence[Held]) -> Iterator[str]:
    """A table: coverage over articles or contexts, and that of the same interval if items were taken as independent."""
    yield "| interval | " + " | ".join(DESIGNS) + " |"
    yield "|---" * (len(DESIGNS) + 1) + "|"
    for name in measures_in(found):
        cells = []
        for count, size in DESIGNS.values():
            rows = [one for one in found if one.measure == name and _of_design(one, count, size)]
            own, loose = (
                [one for one in rows if cast(InClusters, one.planted).known == known] for known in (True, False)
            )
            cells.append(f"{as_percent(pooled(loose))} → {as_percent(pooled(own))}")
        yield f"| {name} | " + " | ".join(cells) + " |"


def _of_design(one: Held, count: int, size: int) -> bool:
    return (one.planted.items, one.planted.size) == (count * size, size)


def sections(cells: int, replications: int, again: int, draws: int, seed: int) -> Iterator[str]:
    """The tables below those of independent items, of *cells* cells drawn at random in each grid."""
    sizes = (replications, draws, seed)
    yield CLUSTERS.format(cells=cells, replications=replications, draws=draws)
    yield from by_design(simulated(designs(), *sizes, again=0))
    found = simulated(clustered_truths(cells, seed), *sizes, again)
    yield "\n### Items in clusters: by interval\n"
    yield from by_measure(found)
    for factor in ("size", "between", "accept", "kappa", "uneven"):
        yield f"\n### Items in clusters: by {factor}\n"
        yield from by_level(found, factor)
    yield "\n### Items in clusters: cells below 92%\n"
    yield from second_stage(found)
    for title, text, truths in (
        ("Two raters who differ", RATERS, two_raters()),
        ("Shares", OF_SHARES, shares(cells, seed)),
    ):
        some = simulated(truths, *sizes, again)
        yield f"\n## {title}\n\n{text}\n"
        yield from by_measure(some)
        yield f"\n### {title}: cells below 92%\n"
        yield from second_stage(some)


CLUSTERS = """## Items in clusters

Sentences of an article, generations of a context: labels of different items of a cluster agree beyond chance by kappa x
*between*. The interval is over clusters, or, left of the arrow, the one of independent items on the same labels. Three
raters, accept .5, .9 and .95, kappa and *between* .2 and .8, .5 and .5, .8 and .8. From here on {replications} samples
a cell, {draws} draws an interval, and {cells} cells of each grid, drawn at random.
"""
RATERS = """Cohen's kappa of two raters, two categories: *first* and *second* are the shares that they accept."""
OF_SHARES = """Yes or no of *size* texts of each context, alike within contexts by *icc* (intraclass correlation).
*uneven*: 1 to 2 x size - 1 texts, about as many of each. Wilson's intervals are of single texts (size 1)."""
