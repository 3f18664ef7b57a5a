"""How often the 95 % intervals of models' means and shares hold the truth: `python -m benchmarks.coverage_means`.

`benchmarks.coverage_designs` makes the samples. `make coverage` writes the second part of docs/coverage.md; agreement
is simulated in `benchmarks.coverage`.
"""

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.coverage import LEAST, MOST
from benchmarks.coverage_designs import DESIGNS, Cell, Design

MARK = "# What the intervals of means and shares hold"

NOT_SIMULATED = """- the tests and intervals of the signed mean and the side AUC over stems of word pairs;
- p-values of topic words and of the permutation nulls;
- Fisher's z of correlations of two models, of MCC as published and of shares of women;
- odds ratios of concordance, alpha and beta of the Beta fit;
- corrected means and magnitudes of the ruler (t on the jackknife over units, as Bias_man);
- agreement in marks, kappa of people and rule, rates weighted to a population (t on the jackknife over contexts, as
  the shares above), raw agreement by Wilson's interval, failures of templates by their standard error;
- Wilson's and Newcombe's intervals of independent rows, which have published studies (Brown, Cai and DasGupta 2001;
  Newcombe 1998).

All units here are drawn from one population, independently of each other. Nothing says how another kind of article,
template or occupation would do."""


@dataclass(frozen=True, slots=True)
class Held:
    """One measure in one cell: of `printed` intervals `held` hold the truth; `width`: their mean width."""

    design: str
    measure: str
    cell: Cell
    held: int
    below: int
    printed: int
    samples: int
    width: float

    @property
    def share(self) -> float:
        """The share of the printed intervals that hold the truth; NaN where none is printed."""
        return self.held / self.printed if self.printed else math.nan


def coverage(design: Design, cell: Cell, samples: int, seed: int = 0) -> list[Held]:
    """Every measure of *design* in *samples* samples of *cell*."""
    truth = design.truth(cell)
    random = np.random.default_rng([seed, *f"{design.name} {sorted(cell.items())}".encode()])
    ends: dict[str, list[tuple[float, float]]] = {name: [] for name in truth}
    for _ in range(samples):
        for name, one in design.sample(cell, random).items():
            if name in ends and one.low is not None and one.high is not None:
                ends[name].append((one.low, one.high))
    return [
        Held(
            design.name,
            name,
            cell,
            held=sum(low - 1e-9 <= truth[name] <= high + 1e-9 for low, high in found),
            below=sum(high < truth[name] - 1e-9 for _, high in found),
            printed=len(found),
            samples=samples,
            width=float(np.mean([high - low for low, high in found])) if found else math.nan,
        )
        for name, found in ends.items()
    ]


def _at(work: tuple[int, Cell], samples: int, seed: int) -> list[Held]:
    place, cell = work
    return coverage(DESIGNS[place], cell, samples, seed)


def simulated(samples: int, seed: int, designs: Sequence[Design] = DESIGNS) -> list[Held]:
    """`coverage` of every cell of every design, in as many processes as there are cores."""
    work = [(DESIGNS.index(design), cell) for design in designs for cell in design.cells]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return [one for found in pool.map(partial(_at, samples=samples, seed=seed), work, chunksize=4) for one in found]


def _usual(rows: Sequence[Held]) -> list[Held]:
    """Cells with enough printed intervals for a share that says something."""
    return [one for one in rows if one.printed >= one.samples / 4]


def _words(cell: Cell) -> str:
    return ", ".join(f"{name} {value if isinstance(value, str) else f'{value:g}'}" for name, value in cell.items())


def by_measure(found: Sequence[Held]) -> Iterator[str]:
    """A table: per measure the pooled coverage, the extreme cells, and how many lie below, in and above 92 to 98 %."""
    heads = "interval | cells | coverage, all together | no interval | lowest cell | in"
    yield f"| {heads} | below 92 % | 92 to 98 % | above 98 % | mean width |"
    yield "|---" * 10 + "|"
    for name in dict.fromkeys(one.measure for one in found):
        rows = [one for one in found if one.measure == name]
        usual = sorted(_usual(rows), key=lambda one: one.share)
        printed, every = sum(one.printed for one in rows), sum(one.samples for one in rows)
        below, above = (sum(test(one.share) for one in usual) for test in (lambda s: s < LEAST, lambda s: s > MOST))
        lowest = f"{usual[0].share:.1%} | {_words(usual[0].cell)}" if usual else "— | —"
        pooled = f"{sum(one.held for one in rows) / printed:.1%}" if printed else "—"
        width = f"{np.mean([one.width for one in usual]):.3g}" if usual else "—"
        yield (
            f"| {name} | {len(usual)} | {pooled} | {1 - printed / every:.0%} | {lowest} "
            f"| {below} | {len(usual) - below - above} | {above} | {width} |"
        )


def outside(found: Sequence[Held]) -> Iterator[str]:
    """A table: every cell with a coverage under 92 %, the lowest first."""
    yield "| design | interval | cell | intervals | coverage | wholly below the truth |"
    yield "|---" * 6 + "|"
    for one in sorted((one for one in _usual(found) if one.share < LEAST), key=lambda one: one.share):
        below = one.below / one.printed
        yield f"| {one.design} | {one.measure} | {_words(one.cell)} | {one.printed} | {one.share:.1%} | {below:.1%} |"


HEAD = """{mark}

Samples were made with a known truth, in which rows of a unit resemble each other, and each interval by the function
that the app calls (`benchmarks/coverage_means.py`). `make coverage` writes this part again:

    python -m benchmarks.coverage_means --samples {samples} --seed {seed}

{samples} samples a cell: the Monte Carlo error of one cell at 95 % is {error:.1%} (standard error), so about
{chance:.0%} of the cells of a perfect interval would lie below 92 %, and as many above 98 %. *no interval*: withheld
with the reason, or the measure is undefined. Cells with intervals in less than a quarter of their samples count in the
pooled coverage only. [methods.md](methods.md) has the methods; that of a number stands beside it (`method`).
"""


def report(found: Sequence[Held], samples: int, seed: int) -> str:
    """The part of the document."""
    error = math.sqrt(0.95 * 0.05 / samples)
    chance = 0.5 * math.erfc((0.95 - LEAST) / error / math.sqrt(2))
    parts = [HEAD.format(mark=MARK, samples=samples, seed=seed, error=error, chance=chance)]
    for design in DESIGNS:
        rows = [one for one in found if one.design == design.name]
        levels = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in design.levels.items())
        parts += [f"## {design.name}\n", f"{design.about} {levels}.\n", *by_measure(rows), ""]
    parts += ["## Means and shares: every cell below 92 %\n", *outside(found), "\n## Not simulated\n", NOT_SIMULATED]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Print the part, or write it behind the others of a document, in place of an earlier one."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--samples", type=int, default=200)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--into", type=Path)
    options.add_argument("--only", default="", help="designs whose name has this")
    chosen = options.parse_args()
    designs = [design for design in DESIGNS if chosen.only in design.name]
    text = report(simulated(chosen.samples, chosen.seed, designs), chosen.samples, chosen.seed)
    if chosen.into:
        before = chosen.into.read_text(encoding="utf-8").partition(MARK)[0].rstrip()
        chosen.into.write_text(f"{before}\n\n{text}", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
