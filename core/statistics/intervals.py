"""From draws to an interval: percentiles, or t where few units were drawn (SPEC 6)."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.errors import N_
from core.statistics.estimate import NO_VARIATION, Estimate, Note, few_units

Numbers = NDArray[np.float64]

HANGS_ON_ONE = N_("Few units ({units}), and without one of them the measure is undefined: no interval.")
MOSTLY_UNDEFINED = N_("Undefined in {count} of {resamples} resamples: no interval.")
PARTLY_UNDEFINED = N_("Undefined in {count} of {resamples} resamples, which are left out of the interval.")


def by_percentiles(draws: Numbers, found: Estimate) -> Estimate:
    """*found* with the 2.5 and 97.5 percentiles of *draws* (one number a draw, NaN where it was undefined).

    No interval where more than half of the draws are undefined; where some
    are, or all are equal, the note says so. `se` is the draws' deviation, ddof 1.
    """
    known = draws[np.isfinite(draws)]
    lost = {"count": len(draws) - len(known), "resamples": len(draws)}
    if len(known) < len(draws) / 2:
        return replace(found, note=Note(MOSTLY_UNDEFINED, lost))
    low, high = (float(end) for end in np.percentile(known, [2.5, 97.5]))
    note = Note(PARTLY_UNDEFINED, lost) if len(known) < len(draws) else None
    if low == high:
        note = NO_VARIATION
    return replace(found, low=low, high=high, note=note, se=float(known.std(ddof=1)))


def by_t(found: Estimate, se: float, units: int, bounds: tuple[float, float] | None = None) -> Estimate:
    """*found* +- t(units - 1) times *se*, cut at *bounds*; marked as resting on few units, or on none that differ."""
    from scipy import stats  # scipy.stats takes a while to import

    assert found.value is not None
    reach = float(stats.t.ppf(0.975, units - 1)) * se
    least, most = bounds or (-np.inf, np.inf)
    low, high = max(least, found.value - reach), min(most, found.value + reach)
    return replace(found, low=low, high=high, note=few_units(units) if se else NO_VARIATION, se=se, df=units - 1)
