"""How often the 95% intervals hold the truth, all of docs/coverage.md: `python -m benchmarks.coverage [OPTIONS]`.

Samples are made with a known truth, and each interval comes from the function that the app calls: of agreement
(`benchmarks.coverage_agreement`, `benchmarks.coverage_in_clusters`), of differences between groups of annotators
(`benchmarks.coverage_groups`), of preferences between models (`benchmarks.coverage_preferences`), of means and shares
(`benchmarks.coverage_means`).
`make coverage` writes the page, and its figures that papers cite to core/data/coverage.tsv.
"""

import argparse
import math
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks import coverage_groups, coverage_in_clusters, coverage_means, coverage_preferences
from benchmarks.coverage_agreement import GRID, planted_truths, simulated
from benchmarks.coverage_cells import AGAIN, LEAST, by_level, by_measure, second_stage
from evenhand.core.resources import DATA

FIGURES = DATA / "coverage.tsv"
CITED = {"items": "## By interval", "clusters": "### Items in clusters: by interval"}  # design -> heading of its table
HEAD = """# What the intervals of agreement hold

Labels were simulated with a known truth, and each interval was made by the function that the app calls
(`benchmarks/coverage_agreement.py`). The tables say how often an interval held the truth. One of 95% should hold it in
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


def _below(truth: float, samples: int) -> float:
    """The chance that a cell whose intervals hold *truth* lies below 92% in *samples* samples."""
    return 0.5 * math.erfc((truth - LEAST) / math.sqrt(2 * truth * (1 - truth) / samples))


def sections(cells: int, samples: int, again: int, draws: int, seed: int) -> Iterator[str]:
    """The parts of the document."""
    options = f"--cells {cells} --samples {samples} --again {again} --draws {draws} --seed {seed}"
    yield HEAD.format(
        command=f"python -m benchmarks.coverage {options}",
        cells=cells,
        grid=math.prod(map(len, GRID.values())),
        levels="; ".join(f"{name} {', '.join(f'{level:g}' for level in levels)}" for name, levels in GRID.items()),
        samples=samples,
        draws=draws,
        seed=seed,
        error=math.sqrt(0.95 * 0.05 / samples),
        chance=_below(0.95, samples),
        again=again,
        error_again=math.sqrt(0.95 * 0.05 / again),
        missed=1 - _below(0.9, samples),
        missed_more=1 - _below(0.88, samples),
    )
    found = simulated(planted_truths(cells, seed), samples, draws, seed, again)
    yield "## By interval\n"
    yield from by_measure(found)
    for factor in GRID:
        yield f"\n## By {factor}\n"
        yield from by_level(found, factor)
    yield "\n## Cells below 92%\n"
    yield from second_stage(found)
    yield ""
    yield from coverage_in_clusters.sections(cells, samples * 3 // 4, again, draws // 2, seed)
    yield ""
    yield from coverage_groups.sections(samples, again, seed)
    yield ""
    yield from coverage_preferences.sections(samples, again, seed)
    yield ""
    yield from coverage_means.sections(samples, again, seed)


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
    """Print the document, or write it to a file together with the figures that papers cite."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cells", type=int, default=72)
    options.add_argument("--samples", type=int, default=200)
    options.add_argument("--again", type=int, default=AGAIN, help="samples of the second stage")
    options.add_argument("--draws", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", type=Path)
    chosen = options.parse_args()
    text = "\n".join(sections(chosen.cells, chosen.samples, chosen.again, chosen.draws, chosen.seed)) + "\n"
    if chosen.out:
        chosen.out.write_text(text, encoding="utf-8")
        FIGURES.write_text(cited(text), encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
