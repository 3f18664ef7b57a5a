"""Intervals and tests over a handful of units of very different size: values of subsets (Hartigan 1969).

A measure is worked out on every subset of the units. Where the units are independent and lie evenly on both sides of
the truth, the truth falls with equal chance between any two neighbours of these values in order, whatever the sizes of
the units and however few there are: for a weighted mean the interval is exact, and it leaves out a value where turning
the signs of whole units at random would do so. For other smooth measures it holds as a bootstrap does.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics.estimate import ALL_ALIKE, SUBSETS, Estimate, Note

Numbers = NDArray[np.float64]
Measures = Callable[[Numbers], Mapping[str, Numbers]]  # units in or out (draws x units) -> one number a draw

LEAST_UNITS = 6  # of 5 units p cannot fall below 2 / 2^5 = .0625
ALL_OF = 14  # units; of more, subsets are drawn
DRAWN = 8191
LOST = 0.1  # share of subsets without a value that an interval bears

TOO_FEW_UNITS = N_(
    "Only {units} independent units: no interval and no test, because even if all leaned the same way, p"
    " would be at least {p}."
)
LOST_SUBSETS = N_("Undefined in {count} of {subsets} subsets of the units: no interval.")


def subsets_of(units: int, seed: int = 0) -> Numbers:
    """Which units are in (1) or out (0), a row per subset; the last row is all of them, the empty one is left out."""
    if units <= ALL_OF:
        numbers = np.arange(1, 2**units)
        return ((numbers[:, None] >> np.arange(units)) & 1).astype(float)
    drawn = np.random.default_rng(seed).integers(0, 2, size=(DRAWN, units)).astype(float)
    drawn[-1] = 1.0
    return drawn[drawn.any(axis=1)]


def subsets_signature(unit: str, units: int, seed: int = 0) -> str:
    """What an interval rests on, for a signature: the unit and how many subsets of these, drawn or all."""
    if units <= ALL_OF:
        return f"unit:{unit}|subsets:{2**units - 1 if units >= LEAST_UNITS else 0}"
    return f"unit:{unit}|subsets:{DRAWN}|seed:{seed}"


def turned(units: int, seed: int = 0) -> Numbers:
    """Signs (1 or -1) of the units, a row per way to turn them; all ways, or as many drawn. The first turns none."""
    return np.vstack([np.ones(units), 1 - 2 * subsets_of(units, seed)])


def too_few(units: int) -> Note:
    """Why so few units have neither interval nor test."""
    return Note(TOO_FEW_UNITS, {"units": units, "p": f"{min(1.0, 2.0 ** (1 - units)):.2g}"})


def over_subsets(
    measures: Measures, units: int, *, neutral: Mapping[str, float] | None = None, seed: int = 0
) -> dict[str, Estimate]:
    """Each measure with its 95% interval, its 90% interval (`inner`) and p of its neutral value (0 unless given).

    A measure that is NaN on all units is left out of the answer: the caller knows the reason. Fewer than 6 units, or a
    measure that is undefined in a tenth of the subsets: the value alone, with the reason in `note`.
    """
    if units == 0:
        return {}
    values = {name: float(whole[0]) for name, whole in measures(np.ones((1, units))).items()}
    found = {name: Estimate(value, units=units) for name, value in values.items() if np.isfinite(value)}
    if units < LEAST_UNITS:
        return {name: replace(one, note=too_few(units)) for name, one in found.items()}
    drawn = measures(subsets_of(units, seed))
    return {name: _interval(drawn[name], one, (neutral or {}).get(name, 0.0)) for name, one in found.items()}


def _interval(values: Numbers, found: Estimate, neutral: float) -> Estimate:
    known = np.sort(values[np.isfinite(values)])
    lost = len(values) - len(known)
    if lost > LOST * len(values):
        return replace(found, note=Note(LOST_SUBSETS, {"count": lost, "subsets": len(values)}))
    assert found.value is not None
    wide, inner = (_ends(known, level) for level in (0.95, 0.90))
    if wide[0] == wide[1]:
        return replace(found, note=ALL_ALIKE)
    se = float(np.sqrt(((known - found.value) ** 2).mean()))
    p = two_sided(known, neutral)
    return replace(found, low=wide[0], high=wide[1], se=se, method=SUBSETS, inner=inner, p=p)


def two_sided(values: Numbers, at: float) -> float:
    """p of the truth *at*: twice the share of subset values on the rarer side of it, counting one more. At most 1."""
    near = 1e-12 * max(1.0, float(np.abs(values).max()))
    rarer = min(int((values >= at - near).sum()), int((values <= at + near).sum()))
    return min(1.0, 2 * (1 + rarer) / (len(values) + 1))


def _ends(ordered: Numbers, level: float) -> tuple[float, float]:
    """The outermost values that `two_sided` does not refuse at 1 - *level*."""
    rank = int(np.floor((1 - level) * (len(ordered) + 1) / 2 + 1e-9))
    return float(ordered[rank - 1]), float(ordered[-rank])
