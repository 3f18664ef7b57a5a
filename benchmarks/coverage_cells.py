"""What both studies of coverage share: cells in two stages, and the tables of what intervals held.

Every cell of a grid is simulated with few samples, and those that lie below 92% a second time with many and with other
random numbers. The lowest of several hundred cells are low by chance for the larger part: what they hold is said by the
second stage alone, in which nothing was chosen.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from evenhand.core.statistics import Estimate

LEAST, MOST = 0.92, 0.98  # what an interval of 95% should hold
AGAIN = 1000  # samples of the second stage


@dataclass(frozen=True, slots=True)
class Held:
    """One measure in one cell: of `printed` intervals `held` hold the truth; the others are withheld or undefined.

    `width`: their mean width; `below`: how many lie wholly below the truth; `again`: the second stage, where there is
    one.
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

    @property
    def samples(self) -> int:
        """All of them, with and without an interval."""
        return self.printed + self.withheld + self.undefined

    @property
    def share(self) -> float:
        """The share of the printed intervals that hold the truth; NaN where none is printed."""
        return self.held / self.printed if self.printed else math.nan

    @property
    def settled(self) -> "Held":
        """The second stage where there is one."""
        return self.again or self

    @property
    def usual(self) -> bool:
        """Whether enough intervals are printed for a share that says something."""
        return self.printed >= self.samples / 4


class Study(Protocol):
    """Simulates the cell in *place*: some *measures* of it, or all if none is named."""

    def __call__(self, place: int, samples: int, seed: int, measures: Sequence[str] = ()) -> list[Held]:
        """Each measure in *samples* samples."""


def held(measure: str, planted: Any, truth: float, estimates: Sequence[Estimate], design: str = "") -> Held:
    """How many of *estimates* hold *truth*."""
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
        design=design,
    )


def in_two_stages(study: Study, cells: int, samples: int, seed: int, again: int = AGAIN) -> list[Held]:
    """Every measure in each of *cells* cells; those below 92% with *again* other samples. All cores take part."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        first = list(pool.map(partial(study, samples=samples, seed=seed), range(cells)))
        if not again:
            return [one for found in first for one in found]
        low = {n: [one.measure for one in found if one.usual and one.share < LEAST] for n, found in enumerate(first)}
        low = {place: measures for place, measures in low.items() if measures}
        second = partial(study, samples=again, seed=seed + 1)
        waiting = {place: pool.submit(second, place, measures=measures) for place, measures in low.items()}
        sure = {(place, one.measure): one for place, job in waiting.items() for one in job.result()}
    return [replace(one, again=sure.get((place, one.measure))) for place, found in enumerate(first) for one in found]


def settings_of(planted: Any) -> Mapping[str, Any]:
    """The settings of a cell, by name."""
    return planted if isinstance(planted, Mapping) else asdict(planted)


def pooled(rows: Sequence[Held]) -> float:
    """The share of all printed intervals of the first stage that hold the truth; NaN where none is printed."""
    printed = sum(one.printed for one in rows)
    return sum(one.held for one in rows) / printed if printed else math.nan


def as_percent(share: float) -> str:
    """For a table; a dash where there is none."""
    return "—" if math.isnan(share) else f"{share:.1%}"


def as_words(planted: Any) -> str:
    """The settings of a cell."""
    settings = settings_of(planted).items()
    return ", ".join(f"{name} {value if isinstance(value, str) else f'{value:g}'}" for name, value in settings)


def measures_in(found: Sequence[Held]) -> list[str]:
    """The names of the measures, in their order."""
    return list(dict.fromkeys(one.measure for one in found))


def by_measure(found: Sequence[Held]) -> Iterator[str]:
    """A table: per measure the pooled coverage, and how many cells lie below, in and above 92 to 98%."""
    heads = "interval | cells | coverage, all together | withheld | undefined | lowest cell"
    yield f"| {heads} | below 92% | 92 to 98% | above 98% | mean width |"
    yield "|---" * 10 + "|"
    for name in measures_in(found):
        rows = [one for one in found if one.measure == name]
        usual = [one.settled for one in rows if one.usual]
        shares, every = [one.share for one in usual], sum(one.samples for one in rows)
        withheld, undefined = sum(one.withheld for one in rows) / every, sum(one.undefined for one in rows) / every
        below, above = sum(share < LEAST for share in shares), sum(share > MOST for share in shares)
        lowest = as_percent(min(shares, default=math.nan))
        width = f"{np.mean([one.width for one in usual]):.3g}" if usual else "—"
        yield (
            f"| {name} | {len(usual)} | {as_percent(pooled(rows))} | {withheld:.0%} | {undefined:.0%} | {lowest} "
            f"| {below} | {len(usual) - below - above} | {above} | {width} |"
        )


def by_level(found: Sequence[Held], factor: str) -> Iterator[str]:
    """A table: the pooled coverage of each measure at each level of one factor."""
    levels = sorted({settings_of(one.planted)[factor] for one in found})
    yield f"| {factor} | " + " | ".join(f"{level:g}" for level in levels) + " |"
    yield "|---" * (len(levels) + 1) + "|"
    for name in measures_in(found):
        rows = [
            [one for one in found if one.measure == name and settings_of(one.planted)[factor] == level]
            for level in levels
        ]
        yield f"| {name} | " + " | ".join(as_percent(pooled(some)) for some in rows) + " |"


def second_stage(found: Sequence[Held]) -> Iterator[str]:
    """A table: every cell of the second stage beside its first figure, the lowest first."""
    low = sorted((one for one in found if one.again), key=lambda one: one.settled.share)
    still = sum(one.settled.share < LEAST for one in low)
    if not low:
        yield "None."
        return
    designs = len({one.design for one in low}) > 1
    yield f"{len(low)} in the first stage, {still} in the second.\n"
    yield f"| {'design | ' * designs}interval | cell | first | second | wholly below the truth | no interval |"
    yield "|---" * (6 + designs) + "|"
    for one in low:
        sure, start = one.settled, f"{one.design} | " * designs
        yield (
            f"| {start}{one.measure} | {as_words(one.planted)} | {one.share:.1%} | {sure.share:.1%} "
            f"| {sure.below / max(1, sure.printed):.1%} | {1 - sure.printed / sure.samples:.0%} |"
        )
