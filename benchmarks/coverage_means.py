"""How often the 95% intervals of models' means and shares hold the truth: a part of `benchmarks.coverage`.

`benchmarks.coverage_designs` makes the samples.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from benchmarks.coverage_cells import Held, by_level, by_measure, held, in_two_stages, second_stage
from benchmarks.coverage_designs import DESIGNS, Cell, Design
from evenhand.core.statistics import Estimate

NOT_SIMULATED = """- p-values of topic words and of the permutation nulls;
- Fisher's z of correlations of two models, of MCC as published and of shares of women;
- odds ratios of concordance, alpha and beta of the Beta fit;
- corrected means and magnitudes of the ruler (t on the jackknife over units, as Bias_man);
- agreement in marks, kappa of people and rule, rates weighted to a population (t on the jackknife over contexts, as
  the shares above), raw agreement by Wilson's interval;
- Wilson's and Newcombe's intervals of independent rows, which have published studies (Brown, Cai and DasGupta 2001;
  Newcombe 1998).

Failures of templates have a standard error, as published, and no interval. All units here are drawn from one
population, independently of each other. Nothing says how another kind of article, template or occupation would do."""
UNDEFINED = Estimate(None)


def coverage(design: Design, cell: Cell, samples: int, seed: int = 0, only: Sequence[str] = ()) -> list[Held]:
    """Every measure (or *only* some) of *design* in *samples* samples of *cell*."""
    truth = design.truth(cell)
    random = np.random.default_rng([seed, *f"{design.name} {sorted(cell.items())}".encode()])
    found: dict[str, list[Estimate]] = {name: [] for name in truth if name in (only or truth)}
    for _ in range(samples):
        made = design.sample(cell, random)
        for name, estimates in found.items():
            estimates.append(made.get(name, UNDEFINED))
    return [held(name, cell, truth[name], estimates, design.name) for name, estimates in found.items()]


def _cell(
    place: int, samples: int, seed: int, measures: Sequence[str] = (), *, work: Sequence[tuple[int, Cell]]
) -> list[Held]:
    design, cell = work[place]
    return coverage(DESIGNS[design], cell, samples, seed, measures)


HEAD = """# What the intervals of means and shares hold

Samples were made with a known truth, in which rows of a unit resemble each other, and each interval by the function
that the app calls (`benchmarks/coverage_means.py`); {samples} samples a cell, {cells} pairs of cell and interval.
[methods.md](methods.md) has the methods; that of a number stands beside it (`method`).

How often an interval is withheld says the column *withheld*, for these grids, many of whose cells have few units on
purpose. Over all of the packaged sets (40 templates and 60 names, 271 occupations) none is for being few.
"""


def sections(samples: int, again: int, seed: int) -> Iterator[str]:
    """This part of the document: every cell of every design."""
    work = [(place, cell) for place, design in enumerate(DESIGNS) for cell in design.cells]
    found = in_two_stages(partial(_cell, work=work), len(work), samples, seed, again)
    yield HEAD.format(samples=samples, cells=len(found))
    for design in DESIGNS:
        levels = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in design.levels.items())
        yield f"## {design.name}\n\n{design.about} {levels}.\n"
        yield from by_measure([one for one in found if one.design == design.name])
        yield ""
    yield "## Means and shares: cells below 92%\n"
    yield from second_stage(found)
    yield f"\n## Not simulated\n\n{NOT_SIMULATED}"


def sections_of(
    design: Design, name: str, factors: Sequence[str], samples: int, again: int, seed: int
) -> Iterator[str]:
    """A part of the document on one design: every cell of its grid, by measure and by each of *factors*."""
    found = in_two_stages(partial(_cell_of, design=design), len(design.cells), samples, seed, again)
    levels = "; ".join(f"{factor} {', '.join(map(str, values))}" for factor, values in design.levels.items())
    yield f"# {design.name}\n\n{design.about} {levels}. {samples} samples a cell.\n"
    yield from by_measure(found)
    for factor in factors:
        yield f"\n## {name} by {factor}\n"
        yield from by_level(found, factor)
    yield f"\n## {name}: cells below 92%\n"
    yield from second_stage(found)


def _cell_of(place: int, samples: int, seed: int, measures: tuple[str, ...] = (), *, design: Design) -> list[Held]:
    return coverage(design, design.cells[place], samples, seed, measures)
