"""How many labels each design needs in a project: what is expected of its items, for core.sampling.labels_needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.annotations.sampling.frame import Frame, has_votes, sizes_of
from evenhand.core.errors import N_, Refused
from evenhand.core.sampling.designs import SHARE, SIZED, Design, equal_strata, random_place
from evenhand.core.sampling.labels_needed import MOST, Expected, Listed, Needed, labels_needed

ACCURACY = 0.85  # of a judge, while nobody knows
NO_RATE = N_("Without labels of judges the simulation needs an assumed rate.")


@dataclass(frozen=True)
class Forecast:
    """`of`: how many items can be drawn; `simulated`: how many of these the simulation took; `judge`: whose labels the
    rate rests on beside people's, "" for none; `assumed`: whether the rate or the accuracy was assumed."""

    needed: list[Needed]
    width: float
    of: int
    simulated: int
    judge: str
    assumed: bool
    signature: str


def forecast(
    found: Frame,
    width: float,
    *,
    by: Sequence[str] = (),
    share: float = SHARE,
    rate: float | None = None,
    accuracy: float | None = None,
    seed: int = 0,
    report: Callable[[float], None] = lambda _: None,
) -> Forecast:
    """The labels that each design needs for an interval of *width* (0 to 1), of the items of *found* that are free.

    From the labels of judges where there are some: people say what most judges say, but for errors, of which the share
    is expected (see the design variance) or 1 - *accuracy*. *rate*: assumed of all items instead, with a judge of
    *accuracy*, or without one. Raises Refused where neither is there.
    """
    rows = _some(found, seed)
    expected = _assumed(found, rows, rate, accuracy) if rate is not None else _of_judges(found, rows, accuracy)
    strata = [found.strata(by)[row] for row in rows]
    designs: dict[Design, Listed] = {}
    for design in SIZED:
        if design in ("disagreement", "variance") and (rate is not None or not has_votes(found)):
            continue
        if design == "stratified":
            if by:
                designs[design] = Listed(equal_strata(strata), strata, strata)
            continue
        sizes, own, groups = sizes_of(found, design, by)
        listed = None if groups is None else [groups[row] for row in rows]
        designs[design] = Listed(sizes[rows], [own[row] for row in rows], listed)
    needed = labels_needed(expected, designs, width, share=share, seed=seed, report=report)
    judge = "" if rate is not None or not found.judges else found.judges[found.reference]
    said = f"rate={rate:g}" if rate is not None else f"judges={'+'.join(found.judges)}"
    signature = (
        f"labels-needed|measure={found.measure}|width={width:g}|{said}|accuracy={accuracy}|by={'+'.join(by)}"
        f"|share={share:g}|items={len(rows)}|seed={seed}"
    )
    return Forecast(needed, width, int(found.free.sum()), len(rows), judge, rate is not None or accuracy is not None,
                    signature)  # fmt: skip


def _some(found: Frame, seed: int) -> list[int]:
    """The rows that are simulated, by chance where there are many."""
    free = np.flatnonzero(found.free).tolist()
    if len(free) <= MOST:
        return free
    hashes = [bytes(one) for one in found.table["hash"]]
    return sorted(sorted(free, key=lambda row: random_place(f"{seed}|forecast", hashes[row]))[:MOST])


def _assumed(found: Frame, rows: list[int], rate: float, accuracy: float | None) -> Expected:
    clusters = found.table["cluster"].astype(str).iloc[rows].tolist()
    return Expected(np.full(len(rows), rate), np.full(len(rows), np.nan), clusters, accuracy)


def _of_judges(found: Frame, rows: list[int], accuracy: float | None) -> Expected:
    if not found.judges:
        raise Refused(NO_RATE)
    most = found.expected > 0.5
    errors = np.full(len(most), 1 - accuracy) if accuracy is not None else found.errors
    rates = np.where(most, 1 - errors, errors)
    clusters = found.table["cluster"].astype(str).iloc[rows].tolist()
    return Expected(rates[rows], np.round(found.votes[rows, found.reference]), clusters)
