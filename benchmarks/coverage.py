"""How often the 95% intervals hold the truth: `python -m benchmarks.coverage [OPTIONS]`.

Samples are made with a known truth (`benchmarks.designs`); each interval comes from the function that the app calls.
`make coverage` writes all of docs/coverage.md, and its figures that papers cite to core/data/coverage.tsv.
`--only DESIGN` prints one design, also of those whose figures are in other documents: every measure, then every cell.
`--again`: samples of the second stage.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.coverage_loop import (
    AGAIN,
    LEAST,
    Design,
    Held,
    as_percent,
    by_cell,
    by_level,
    by_measure,
    measures_in,
    pooled,
    second_stage,
    simulated,
)
from benchmarks.designs import agreement, annotators, means, measures
from benchmarks.designs.agreement import CLUSTERS, GRID, of_labels
from benchmarks.measuring import options
from evenhand.core.resources import DATA

FIGURES = DATA / "coverage.tsv"
CITED = {"items": "## By interval", "clusters": "### Items in clusters: by interval"}  # design -> heading of its table
HEAD = """# What the intervals of agreement hold

Labels were simulated with a known truth, and each interval was made by the function that the app calls
(`benchmarks/designs/agreement.py`). The tables say how often an interval held the truth. One of 95% should hold it in
95 of 100 samples; 92 to 98 is what this project asks. `make coverage` writes this page again:

    {command}

{cells} of the {grid} cells of the grid, drawn at random (seed {seed}):
{levels}.
{samples} samples a cell, {draws} draws an interval (the app takes 2,000); samples, draws and cells follow from the
seed. *withheld*: the measure has a value, but the app prints no interval and says why. *undefined*: the sample has no
value, as kappa of a single category.

The labels of an item follow a Dirichlet-multinomial distribution: any two agree beyond chance by exactly kappa.
*accept*: the share of the first category; the others share the rest. *missing*: each label is missing with this chance.

Below these tables: items in clusters (several sentences of an article, generations of a context), two raters who
accept at different rates, accept rates by form, and shares. Not simulated: other ways in which labels may depend on
each other, and annotators of whom some agree more than others.

## Two stages

Monte Carlo error of one cell at 95% is {error:.1%} (standard error), so about {chance:.0%} of the cells of a perfect
interval would lie below 92% by chance, and the lowest of several hundred cells lie far below what they hold: they were
chosen for it (regression to the mean). So every cell below 92% is simulated again, with other random numbers and
{again} samples (standard error {error_again:.1%}). "Below 92%", "lowest cell" and "mean width" mean the second figure
where there is one; "all together" pools the first stage, in which nothing was chosen. The other
way round a cell that holds 90% escapes with a chance of {missed:.0%}; one that holds 88% with {missed_more:.0%}.
Cells with intervals in less than a quarter of their samples count in the pooled coverage only.
"""
IN_CLUSTERS = """## Items in clusters

Sentences of an article, generations of a context: labels of different items of a cluster agree beyond chance by kappa x
*between*. The interval is over clusters, or, left of the arrow, the one of independent items on the same labels. Three
raters, accept .5, .9 and .95, kappa and *between* .2 and .8, .5 and .5, .8 and .8. From here on {samples} samples
a cell, {draws} draws an interval, and {cells} cells of each grid, drawn at random.
"""
RATERS = """Cohen's kappa of two raters, two categories: *first* and *second* are the shares that they accept."""
OF_SHARES = """Yes or no of *size* texts of each context, alike within contexts by *icc* (intraclass correlation).
*uneven*: 1 to 2 x size - 1 texts, about as many of each. Wilson's intervals are of single texts (size 1)."""
NOT_SIMULATED = """- p-values of topic words and of the permutation nulls;
- Fisher's z of correlations of two models, of MCC as published and of shares of women;
- odds ratios of concordance, alpha and beta of the Beta fit;
- corrected means and magnitudes of the ruler (jackknife t interval, clustered by unit, as Bias_man);
- agreement in marks, kappa of people and rule, rates weighted to a population (jackknife t interval over contexts, as
  the shares above), raw agreement by Wilson's interval;
- Wilson's and Newcombe's intervals of independent rows, which have published studies (Brown, Cai and DasGupta 2001;
  Newcombe 1998).

Failures of templates have a standard error, as published, and no interval. All units here are drawn from one
population, independently of each other. Nothing says how another kind of article, template or occupation would do."""
MEANS = """# What the intervals of means and shares hold

Samples were made with a known truth, in which rows of a unit resemble each other, and each interval by the function
that the app calls (`benchmarks/designs/means.py`); {samples} samples a cell, {cells} pairs of cell and interval.
[methods.md](methods.md#intervals) has the methods; each number names its own (`method`).

How often an interval is withheld says the column *withheld*, for these grids, many of whose cells have few units on
purpose. Over all of the packaged sets (40 templates and 60 names, 271 occupations) none is for being few.
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is simulated: cells drawn of a grid, samples a cell, samples of its second stage, draws, the seed."""

    cells: int
    samples: int
    again: int
    draws: int
    seed: int

    def run(self, *designs: Design) -> list[Held]:
        """Simulate every cell of *designs*."""
        return simulated(designs, self.samples, self.seed, self.again, self.draws)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the document: the name of its design, the text before its tables, and the factors of its tables.

    *smaller*: with three quarters of the samples and half of the draws.
    """

    design: str
    opening: str
    by: str
    low: str
    factors: Sequence[str] = ()
    smaller: bool = True


SECTIONS = (
    Section("agreement", "## By interval", "## By", "## Cells below 92%", tuple(GRID), smaller=False),
    Section("clusters", "\n### Items in clusters: by interval", "### Items in clusters: by",
            "### Items in clusters: cells below 92%", ("size", "between", "accept", "kappa", "uneven")),
    Section("raters", "\n## Two raters who differ\n\n{about}", "", "### Two raters who differ: cells below 92%"),
    Section("shares", "\n## Shares\n\n{about}", "", "### Shares: cells below 92%"),
    Section("groups", "\n# {name}\n\n{about} {settings}. {samples} samples a cell.", "## Groups by",
            "## Groups: cells below 92%", ("people", "items"), smaller=False),
    Section("preferences", "\n# {name}\n\n{about} {settings}. {samples} samples a cell.", "## Preferences by",
            "## Preferences: cells below 92%", tuple(annotators.LEVELS), smaller=False),
)  # fmt: skip
# By the name that --only takes; those of labels depend on the sizes.
DESIGNS: dict[str, Sequence[Design]] = {
    "groups": (annotators.GROUPS,), "preferences": (annotators.PREFERENCES,), "means": means.DESIGNS,
    "ordinal": (of_labels("ordinal", "", agreement.scales()),), **measures.DESIGNS,
    **{name: (design,) for name, design in annotators.JUDGES.items()},
}  # fmt: skip
OF_LABELS = ("agreement", "clusters", "raters", "shares")


def designs(name: str, sizes: Sizes) -> Sequence[Design]:
    """Return the designs of a name."""
    if name not in OF_LABELS:
        return DESIGNS[name]
    cells = {
        "agreement": agreement.planted_truths(sizes.cells, sizes.seed),
        "clusters": agreement.clustered_truths(sizes.cells, sizes.seed),
        "raters": agreement.two_raters(), "shares": agreement.shares(sizes.cells, sizes.seed),
    }  # fmt: skip
    return (of_labels(name, {"raters": RATERS, "shares": OF_SHARES}.get(name, ""), cells[name]),)


def _lines(section: Section, sizes: Sizes) -> Iterator[str]:
    """Write the tables of a section: by measure, by each factor, the cells of the second stage."""
    (design,) = designs(section.design, sizes)
    rows = sizes.run(design)
    yield section.opening.format(
        name=design.name, about=design.about, settings=design.settings, samples=sizes.samples
    ) + "\n"  # fmt: skip
    yield from by_measure(rows)
    for factor in section.factors:
        yield f"\n{section.by} {factor}\n"
        yield from by_level(rows, factor)
    yield f"\n{section.low}\n"
    yield from second_stage(rows)


def _as_items(sizes: Sizes) -> Iterator[str]:
    """Write a table: coverage over articles or contexts, and of the same interval if items were independent."""
    yield "\n" + IN_CLUSTERS.format(cells=sizes.cells, samples=sizes.samples, draws=sizes.draws)
    rows = replace(sizes, again=0).run(of_labels("clusters or items", "", agreement.known_and_not()))
    yield "| interval | " + " | ".join(CLUSTERS) + " |"
    yield "|---" * (len(CLUSTERS) + 1) + "|"
    for name in measures_in(rows):
        shares = []
        for count, size in CLUSTERS.values():
            some = [row for row in rows if row.measure == name and row.planted.size == size]
            some = [row for row in some if row.planted.items == count * size]
            loose, own = (pooled([row for row in some if row.planted.known == known]) for known in (False, True))
            shares.append(f"{as_percent(loose)} → {as_percent(own)}")
        yield f"| {name} | " + " | ".join(shares) + " |"


def _means(sizes: Sizes) -> Iterator[str]:
    """Write the part on means and shares: a table a design."""
    rows = sizes.run(*means.DESIGNS)
    yield "\n" + MEANS.format(samples=sizes.samples, cells=len(rows))
    for design in means.DESIGNS:
        yield f"## {design.name}\n\n{design.about} {design.settings}.\n"
        yield from by_measure([row for row in rows if row.design == design.name])
        yield ""
    yield "## Means and shares: cells below 92%\n"
    yield from second_stage(rows)
    yield f"\n## Not simulated\n\n{NOT_SIMULATED}"


def _head(sizes: Sizes) -> str:
    options = f"--cells {sizes.cells} --samples {sizes.samples} --again {sizes.again} --draws {sizes.draws}"
    return HEAD.format(
        command=f"python -m benchmarks.coverage {options} --seed {sizes.seed}", cells=sizes.cells, seed=sizes.seed,
        grid=math.prod(map(len, GRID.values())),
        levels="; ".join(f"{name} {', '.join(f'{level:g}' for level in levels)}" for name, levels in GRID.items()),
        samples=sizes.samples, draws=sizes.draws, error=math.sqrt(0.95 * 0.05 / sizes.samples),
        chance=_below(0.95, sizes.samples), again=sizes.again, error_again=math.sqrt(0.95 * 0.05 / sizes.again),
        missed=1 - _below(0.9, sizes.samples), missed_more=1 - _below(0.88, sizes.samples),
    )  # fmt: skip


def document(sizes: Sizes) -> Iterator[str]:
    """Write docs/coverage.md."""
    fewer = replace(sizes, samples=sizes.samples * 3 // 4, draws=sizes.draws // 2)
    yield _head(sizes)
    for section in SECTIONS:
        if section.design == "clusters":
            yield from _as_items(fewer)
        yield from _lines(section, fewer if section.smaller else sizes)
    yield from _means(sizes)


def only(name: str, sizes: Sizes) -> Iterator[str]:
    """Write the tables of one design: every measure, every cell."""
    for design in designs(name, sizes):
        rows = replace(sizes, again=0).run(design)
        yield f"## {design.name}\n"
        yield from by_measure(rows)
        yield ""
        yield from by_cell(rows)
        yield ""


def _below(truth: float, samples: int) -> float:
    """Return the chance that a cell whose intervals hold *truth* lies below 92% in *samples* samples."""
    return 0.5 * math.erfc((truth - LEAST) / math.sqrt(2 * truth * (1 - truth) / samples))


def cited(text: str) -> str:
    """Return the figures of the document that papers cite, as a table: two designs, pooled and lowest coverage."""
    lines = ["design\tinterval\tpooled\tlowest"]
    for design, heading in CITED.items():
        table = text.partition(f"\n{heading}\n")[2].lstrip().partition("\n\n")[0]
        for row in table.splitlines()[2:]:
            name, _cells, pooled, _withheld, _undefined, lowest, *_rest = re.split(r"\s*\|\s*", row.strip("| "))
            lines.append("\t".join((design, name, pooled.rstrip("%"), lowest.rstrip("%"))))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the document or one design, or write the document together with the figures that papers cite."""
    names = ("", *OF_LABELS, *DESIGNS)
    arguments = options(__doc__, cells=72, samples=200, again=AGAIN, draws=1000, seed=0, only=names, out=Path)
    sizes = Sizes(arguments.cells, arguments.samples, arguments.again, arguments.draws, arguments.seed)
    text = "\n".join(only(arguments.only, sizes) if arguments.only else document(sizes)) + "\n"
    if arguments.out and not arguments.only:
        arguments.out.write_text(text, encoding="utf-8")
        FIGURES.write_text(cited(text), encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
