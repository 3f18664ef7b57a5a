"""The loop of all simulations of coverage: a design, its cells, two stages, and tables of what the intervals held.

Every cell of a grid is simulated with few samples, and those that lie below 92% a second time with many and with other
random numbers. The lowest of several hundred cells are low by chance for the larger part: what they hold is said by the
second stage alone, in which nothing was chosen.
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from evenhand.core.statistics import Estimate, Resampling

LEAST, MOST = 0.92, 0.98  # what an interval of 95% should hold
AGAIN = 1000  # samples of the second stage
UNDEFINED = Estimate(None)
Random = np.random.Generator
Cell = Mapping[str, float | str]


@dataclass(frozen=True, slots=True)
class Design:
    """A simulation. *sample* makes one sample of a cell and gives its estimates by name. *truth*: the true values, as a
    function of the cell, or for each measure a number or the name of a setting.

    *about*: what is simulated, for the document; *levels*: the grid, whose cells are all simulated; *chosen*: cells
    that are not a full grid. A cell that is not a mapping also gets the resampling of its intervals and the names of
    the wanted measures.
    """

    name: str
    about: str
    levels: Mapping[str, Sequence[float | str]]
    sample: Callable[..., dict[str, Estimate]]
    truth: Callable[[Any], dict[str, float]] | Mapping[str, str | float]
    chosen: Sequence[Any] = field(default=())

    @property
    def cells(self) -> Sequence[Any]:
        """Return every cell."""
        return self.chosen or [dict(zip(self.levels, values, strict=True)) for values in product(*self.levels.values())]

    def truths(self, cell: Any) -> dict[str, float]:
        """Return what each measure should be in *cell*."""
        if not isinstance(self.truth, Mapping):
            return self.truth(cell)
        return {name: float(cell[value]) if isinstance(value, str) else value for name, value in self.truth.items()}

    @property
    def settings(self) -> str:
        """Return the levels in words."""
        return "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in self.levels.items())


@dataclass(frozen=True, slots=True)
class Held:
    """One measure in one cell: of `printed` intervals `held` hold the truth; the others are withheld or undefined.

    `width`: their mean width; `below`: how many lie wholly below the truth; `again`: the second stage, where there is
    one; `value`: the mean of all values.
    """

    measure: str
    planted: Any  # the settings of the cell: a mapping, or a dataclass
    held: int
    below: int
    printed: int
    withheld: int
    undefined: int
    width: float
    design: str = ""
    again: "Held | None" = None
    value: float = math.nan

    @property
    def samples(self) -> int:
        """Return how many there were, with and without an interval."""
        return self.printed + self.withheld + self.undefined

    @property
    def share(self) -> float:
        """Return the share of the printed intervals that hold the truth; NaN where none is printed."""
        return self.held / self.printed if self.printed else math.nan

    @property
    def settled(self) -> "Held":
        """Return the second stage where there is one."""
        return self.again or self

    @property
    def usual(self) -> bool:
        """Return whether enough intervals are printed for a share that says something."""
        return self.printed >= self.samples / 4


def settings_of(planted: Any) -> Mapping[str, Any]:
    """Return the settings of a cell, by name."""
    return planted if isinstance(planted, Mapping) else asdict(planted)


def held(measure: str, planted: Any, truth: float, estimates: Sequence[Estimate], design: str) -> Held:
    """Count how many of *estimates* hold *truth*."""
    ends = [(made.low, made.high) for made in estimates if made.low is not None and made.high is not None]
    values = [made.value for made in estimates if made.value is not None]
    undefined = len(estimates) - len(values)
    return Held(
        measure, planted,
        held=sum(low - 1e-9 <= truth <= high + 1e-9 for low, high in ends),
        below=sum(high < truth - 1e-9 for _, high in ends),
        printed=len(ends), withheld=len(estimates) - len(ends) - undefined, undefined=undefined,
        width=float(np.mean([high - low for low, high in ends])) if ends else math.nan, design=design,
        value=float(np.mean(values)) if values else math.nan,
    )  # fmt: skip


def coverage(
    design: Design, cell: Any, samples: int, seed: int = 0, only: Sequence[str] = (), draws: int = 0
) -> list[Held]:
    """Return every measure (or *only* some) of *design* in *samples* samples of *cell*; *draws*: of each interval."""
    truth = design.truths(cell)
    names = [name for name in truth if name in (only or truth)]
    plain = isinstance(cell, Mapping)
    place = f"{design.name} {sorted(cell.items())}".encode() if plain else _numbers(cell)
    random = np.random.default_rng([seed, *place])
    estimates: dict[str, list[Estimate]] = {name: [] for name in names}
    for number in range(samples):
        made = design.sample(cell, random, *(() if plain else (Resampling(draws, number), names)))
        for name in names:
            estimates[name].append(made.get(name, UNDEFINED))
    return [held(name, cell, truth[name], estimates[name], design.name) for name in names]


def _numbers(cell: Any) -> list[int]:
    return [int(1000 * value) for value in settings_of(cell).values()]


def simulated(designs: Sequence[Design], samples: int, seed: int, again: int = AGAIN, draws: int = 0) -> list[Held]:
    """Return every measure in every cell of *designs*; those below 92% with *again* others. All cores take part."""
    cells = [(design, cell) for design in designs for cell in design.cells]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        waiting = [pool.submit(coverage, *cell, samples, seed, draws=draws) for cell in cells]
        first = [job.result() for job in waiting]
        if not again:
            return [row for rows in first for row in rows]
        low = [[row.measure for row in rows if row.usual and row.share < LEAST] for rows in first]
        second = {
            place: pool.submit(coverage, *cells[place], again, seed + 1, measures, draws)
            for place, measures in enumerate(low)
            if measures
        }
        sure = {(place, row.measure): row for place, job in second.items() for row in job.result()}
    return [replace(row, again=sure.get((place, row.measure))) for place, rows in enumerate(first) for row in rows]


def pooled(rows: Sequence[Held]) -> float:
    """Return the share of all printed intervals of the first stage that hold the truth; NaN where none is printed."""
    printed = sum(row.printed for row in rows)
    return sum(row.held for row in rows) / printed if printed else math.nan


def as_percent(share: float) -> str:
    """Return a share for a table; a dash where there is none."""
    return "—" if math.isnan(share) else f"{share:.1%}"


def as_words(planted: Any) -> str:
    """Return the settings of a cell in words."""
    settings = settings_of(planted).items()
    return ", ".join(f"{name} {value if isinstance(value, str) else f'{value:g}'}" for name, value in settings)


def measures_in(rows: Sequence[Held]) -> list[str]:
    """Return the names of the measures, in their order."""
    return list(dict.fromkeys(row.measure for row in rows))


def by_measure(all_rows: Sequence[Held]) -> Iterator[str]:
    """Write a table: per measure the pooled coverage, and how many cells lie below, in and above 92 to 98%."""
    heads = "interval | cells | coverage, all together | withheld | undefined | lowest cell"
    yield f"| {heads} | below 92% | 92 to 98% | above 98% | mean width |"
    yield "|---" * 10 + "|"
    for name in measures_in(all_rows):
        rows = [row for row in all_rows if row.measure == name]
        usual = [row.settled for row in rows if row.usual]
        shares, every = [row.share for row in usual], sum(row.samples for row in rows)
        withheld, undefined = sum(row.withheld for row in rows) / every, sum(row.undefined for row in rows) / every
        below, above = sum(share < LEAST for share in shares), sum(share > MOST for share in shares)
        lowest = as_percent(min(shares, default=math.nan))
        width = f"{np.mean([row.width for row in usual]):.3g}" if usual else "—"
        yield (
            f"| {name} | {len(usual)} | {as_percent(pooled(rows))} | {withheld:.0%} | {undefined:.0%} | {lowest} "
            f"| {below} | {len(usual) - below - above} | {above} | {width} |"
        )


def by_level(all_rows: Sequence[Held], factor: str) -> Iterator[str]:
    """Write a table: the pooled coverage of each measure at each level of one factor."""
    levels = sorted({settings_of(row.planted)[factor] for row in all_rows})
    yield f"| {factor} | " + " | ".join(f"{level:g}" for level in levels) + " |"
    yield "|---" * (len(levels) + 1) + "|"
    for name in measures_in(all_rows):
        rows = [
            [row for row in all_rows if row.measure == name and settings_of(row.planted)[factor] == level]
            for level in levels
        ]
        yield f"| {name} | " + " | ".join(as_percent(pooled(some)) for some in rows) + " |"


def by_cell(rows: Sequence[Held]) -> Iterator[str]:
    """Write a table: each measure in each cell; what has no interval by design has its mean value only."""
    yield "| interval | cell | held | no interval | mean width | mean value |\n|---|---|---|---|---|---|"
    for row in rows:
        none, width = f"{1 - row.printed / row.samples:.0%}", "—" if math.isnan(row.width) else f"{row.width:.3g}"
        value = "—" if math.isnan(row.value) else f"{row.value:.3g}"
        yield f"| {row.measure} | {as_words(row.planted)} | {as_percent(row.share)} | {none} | {width} | {value} |"


def second_stage(rows: Sequence[Held]) -> Iterator[str]:
    """Yield the lines of a table: each cell of the second stage with its figure in the first, the lowest first."""
    low = sorted((row for row in rows if row.again), key=lambda row: row.settled.share)
    still = sum(row.settled.share < LEAST for row in low)
    if not low:
        yield "None."
        return
    designs = len({row.design for row in low}) > 1
    yield f"{len(low)} in the first stage, {still} in the second.\n"
    yield f"| {'design | ' * designs}interval | cell | first | second | wholly below the truth | no interval |"
    yield "|---" * (6 + designs) + "|"
    for row in low:
        sure, start = row.settled, f"{row.design} | " * designs
        yield (
            f"| {start}{row.measure} | {as_words(row.planted)} | {row.share:.1%} | {sure.share:.1%} "
            f"| {sure.below / max(1, sure.printed):.1%} | {1 - sure.printed / sure.samples:.0%} |"
        )
