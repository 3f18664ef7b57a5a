"""How often the 95 % intervals of agreement hold the truth: `python -m benchmarks.coverage [OPTIONS]`.

Labels are made with a known truth: an item's labels follow a Dirichlet-multinomial distribution, so that any two labels
of an item agree beyond chance by exactly the planted kappa, whatever the raters, categories and missing labels. Each
interval comes from the function that the app calls. `make coverage` writes the table of docs/coverage.md.
"""

import argparse
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.statistics import (
    Estimate,
    Resampling,
    Tally,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    pairwise_agreement,
    prevalence,
    specific_agreement,
    unanimity,
)

Numbers = NDArray[np.int64]
Interval = Callable[[Any, Any, Resampling], Estimate]  # of labels, what is true, and how it is drawn
Measures = Mapping[str, tuple[Callable[[Any], float], Interval]]  # name -> what it should be, and the app's interval

LEAST, MOST = 0.92, 0.98  # what an interval of 95 % should hold


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
    return cohen_kappa(table, resampling, None if planted.clusters is None else cells)


def _of_tally(measure: Callable[..., Estimate], labels: Numbers, planted: Planted, drawn: Resampling) -> Estimate:
    return measure(_tally(labels, planted), drawn)


def _of_category(
    measure: Callable[..., Estimate], place: int, labels: Numbers, planted: Planted, drawn: Resampling
) -> Estimate:
    return measure(_tally(labels, planted), place % planted.categories, drawn)


MEASURES: Measures = {
    "all agree": (lambda planted: planted.all_agree, partial(_of_tally, unanimity)),
    "two agree": (lambda planted: planted.two_agree, partial(_of_tally, pairwise_agreement)),
    "Fleiss' kappa": (lambda planted: planted.kappa, partial(_of_tally, fleiss_kappa)),
    "Krippendorff's alpha": (lambda planted: planted.kappa, partial(_of_tally, krippendorff_alpha)),
    "Gwet's AC1": (lambda planted: planted.ac1, partial(_of_tally, gwet_ac1)),
    "Cohen's kappa": (lambda planted: planted.kappa, cohen),
    "specific, first": (lambda planted: planted.same_again(0), partial(_of_category, specific_agreement, 0)),
    "specific, last": (lambda planted: planted.same_again(-1), partial(_of_category, specific_agreement, -1)),
    "prevalence, last": (lambda planted: planted.shares[-1], partial(_of_category, prevalence, -1)),
}


class Truth(Protocol):
    """What is true of made-up labels; a dataclass of numbers."""

    def measures(self) -> Measures:
        """What is measured of its labels."""

    def labels(self, random: np.random.Generator) -> Any:
        """Made-up labels."""


@dataclass(frozen=True, slots=True)
class Held:
    """One measure in one planted truth: of `printed` intervals `held` hold it; the others are withheld or undefined.

    `width`: their mean width; `below`: how many lie wholly below the truth.
    """

    measure: str
    planted: Any  # a Truth
    held: int
    below: int
    printed: int
    withheld: int
    undefined: int
    width: float

    @property
    def share(self) -> float:
        """The share of the printed intervals that hold the truth; NaN where none is printed."""
        return self.held / self.printed if self.printed else math.nan


def coverage(planted: Truth, replications: int, draws: int, seed: int = 0) -> list[Held]:
    """Every measure in *replications* samples of *planted*, each interval from *draws* draws."""
    random = np.random.default_rng([seed, *(int(1000 * value) for value in values_of(planted).values())])
    found: dict[str, list[Estimate]] = {name: [] for name in planted.measures()}
    for number in range(replications):
        labels = planted.labels(random)
        for name, (_, interval) in planted.measures().items():
            found[name].append(interval(labels, planted, Resampling(draws, number)))
    return [_held(name, planted, estimates) for name, estimates in found.items()]


def values_of(planted: Truth) -> dict[str, float]:
    """The settings of a planted truth, by name."""
    return asdict(planted)  # type: ignore[call-overload, no-any-return]


def _held(measure: str, planted: Truth, estimates: Sequence[Estimate]) -> Held:
    truth = planted.measures()[measure][0](planted)
    ends = [(one.low, one.high) for one in estimates if one.low is not None and one.high is not None]
    undefined = sum(one.value is None for one in estimates)
    return Held(
        measure,
        planted,
        held=sum(low - 1e-9 <= truth <= high + 1e-9 for low, high in ends),
        below=sum(high < truth - 1e-9 for _, high in ends),
        printed=len(ends),
        withheld=len(estimates) - len(ends) - undefined,
        undefined=undefined,
        width=float(np.mean([high - low for low, high in ends])) if ends else math.nan,
    )


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


def simulated(truths: Sequence[Truth], replications: int, draws: int, seed: int) -> list[Held]:
    """`coverage` of every one of *truths*, in as many processes as there are cores."""
    work = partial(coverage, replications=replications, draws=draws, seed=seed)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return [one for found in pool.map(work, truths) for one in found]


def pooled(rows: Sequence[Held]) -> float:
    """The share of all printed intervals that hold the truth; NaN where none is printed."""
    printed = sum(one.printed for one in rows)
    return sum(one.held for one in rows) / printed if printed else math.nan


def as_percent(share: float) -> str:
    """For a table; a dash where there is none."""
    return "—" if math.isnan(share) else f"{share:.1%}"


def _pooled(rows: Sequence[Held]) -> str:
    """Coverage over all printed intervals, and how many of all samples had none: withheld, and undefined."""
    every = sum(one.printed + one.withheld + one.undefined for one in rows)
    withheld, undefined = sum(one.withheld for one in rows) / every, sum(one.undefined for one in rows) / every
    return f"{as_percent(pooled(rows))} | {withheld:.0%} | {undefined:.0%}"


def _usual(rows: Sequence[Held], replications: int) -> list[Held]:
    """Cells with enough printed intervals for a share that says something."""
    return [one for one in rows if one.printed >= replications / 4]


def by_measure(found: Sequence[Held], replications: int) -> Iterator[str]:
    """A table: per measure the pooled coverage, and how many cells lie below, in and above 92 to 98 %."""
    heads = "interval | cells | coverage, all together | withheld | undefined | lowest cell"
    yield f"| {heads} | below 92 % | 92 to 98 % | above 98 % |"
    yield "|---" * 9 + "|"
    for name in measures_in(found):
        rows = [one for one in found if one.measure == name]
        shares = sorted(one.share for one in _usual(rows, replications))
        below, above = sum(share < LEAST for share in shares), sum(share > MOST for share in shares)
        lowest = f"{shares[0]:.1%}" if shares else "—"
        inside = len(shares) - below - above
        yield f"| {name} | {len(shares)} | {_pooled(rows)} | {lowest} | {below} | {inside} | {above} |"


def by_level(found: Sequence[Held], factor: str) -> Iterator[str]:
    """A table: the pooled coverage of each measure at each level of one factor."""
    levels = sorted({values_of(one.planted)[factor] for one in found})
    yield f"| {factor} | " + " | ".join(f"{level:g}" for level in levels) + " |"
    yield "|---" * (len(levels) + 1) + "|"
    for name in measures_in(found):
        rows = [
            [one for one in found if one.measure == name and values_of(one.planted)[factor] == level]
            for level in levels
        ]
        yield f"| {name} | " + " | ".join(as_percent(pooled(some)) for some in rows) + " |"


def measures_in(found: Sequence[Held]) -> list[str]:
    """The names of the measures, in their order."""
    return list(dict.fromkeys(one.measure for one in found))


def outside(found: Sequence[Held], replications: int) -> Iterator[str]:
    """A table: every cell with a coverage under 92 %, the lowest first; with the settings that differ between cells."""
    every = [values_of(one.planted) for one in found]
    settings = [name for name in every[0] if len({values[name] for values in every}) > 1]
    heads = " | ".join(("interval", *settings, "intervals", "coverage", "wholly below the truth", "withheld"))
    yield f"| {heads} |"
    yield "|---" * (len(settings) + 5) + "|"
    for one in sorted((one for one in _usual(found, replications) if one.share < LEAST), key=lambda one: one.share):
        values = values_of(one.planted)
        true = " | ".join(f"{values[name]:g}" for name in settings)
        yield (
            f"| {one.measure} | {true} | {one.printed} | {one.share:.1%} | {one.below / one.printed:.1%} "
            f"| {one.withheld / replications:.0%} |"
        )


HEAD = """# What the intervals of agreement hold

Labels were simulated with a known truth, and each interval was made by the function that the app calls
(`benchmarks/coverage.py`). The tables say how often an interval held the truth. One of 95 % should hold it in 95 of 100
samples; 92 to 98 is what this project asks. `make coverage` writes this page again:

    {command}

{cells} of the {grid} cells of the grid, drawn at random (seed {seed}):
{levels}.
{replications} samples a cell, {draws} draws an interval (the app takes 2,000); samples, draws and cells follow from the
seed. Monte Carlo error of one cell at 95 %: {error:.1%} (standard error), so about {chance:.0%} of the cells of a
perfect interval would lie below 92 %.

The labels of an item follow a Dirichlet-multinomial distribution: any two agree beyond chance by exactly kappa.
*accept*: the share of the first category; the others share the rest. *missing*: each label is missing with this chance.
*withheld*: the measure has a value, but the app prints no interval and says why. *undefined*: the sample has no value,
as kappa of a single category. Cells with intervals in less than a quarter of their samples count in the pooled
coverage only.

Below these tables: items in clusters (several sentences of an article, generations of a context), two raters who
accept at different rates, accept rates by form, and shares. Not simulated: other ways in which labels may depend on
each other, and annotators of whom some agree more than others.
"""


def report(found: Sequence[Held], more: Iterable[str], cells: int, replications: int, draws: int, seed: int) -> str:
    """The whole document; *more*: the lines below the tables of independent items."""
    error = math.sqrt(0.95 * 0.05 / replications)
    options = f"--cells {cells} --replications {replications} --draws {draws} --seed {seed}"
    head = HEAD.format(
        command=f"python -m benchmarks.coverage {options}",
        cells=cells,
        grid=math.prod(map(len, GRID.values())),
        levels="; ".join(f"{name} {', '.join(f'{level:g}' for level in levels)}" for name, levels in GRID.items()),
        replications=replications,
        draws=draws,
        seed=seed,
        error=error,
        chance=0.5 * math.erfc((0.95 - LEAST) / error / math.sqrt(2)),
    )
    parts = [head, "## By interval\n", *by_measure(found, replications)]
    for factor in GRID:
        parts += [f"\n## By {factor}\n", *by_level(found, factor)]
    parts += ["\n## Every cell below 92 %\n", *outside(found, replications), "", *more]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Print the document, or write it to a file."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cells", type=int, default=72)
    options.add_argument("--replications", type=int, default=200)
    options.add_argument("--draws", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", type=Path)
    chosen = options.parse_args()
    from benchmarks.coverage_in_clusters import sections  # which needs this module

    sizes = (chosen.cells, chosen.replications, chosen.draws, chosen.seed)
    found = simulated(planted_truths(chosen.cells, chosen.seed), *sizes[1:])
    text = report(found, sections(chosen.cells, chosen.replications * 3 // 4, chosen.draws // 2, chosen.seed), *sizes)
    if chosen.out:
        chosen.out.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
