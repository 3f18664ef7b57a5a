"""What sentences without a value could do to a mean: bounds if all of them leaned to one word as far as any.

A mean over the sentences that have a value is a mean of all only if the others are like them, which nobody knows.
The bounds assume nothing but the size (Manski 1989): every missing value is +v, then every one is -v.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from evenhand.core.errors import N_
from evenhand.core.statistics import Note

NO_SIZE = Note(N_("No sentence has a finite non-zero value, so there is no magnitude for the missing ones."))
NO_ROWS = Note(N_("There are no sentences."))


@dataclass(frozen=True, slots=True)
class MissingValues:
    """Bounds over all `rows`: those with a value, `infinite` ones (side known, size not), `missing` ones.

    `missing`: undefined, rejected by the scoring, or under the chosen pair mass. `size` in log10 is what each missing
    or infinite one is given, by `size_is` the largest |Bias_c| of the model's rows or one that was asked for.
    The signed mean (log10), and the share of sentences that lean to the male word (0 to 1, no size is needed), if all
    missing ones lean to the female word, and if all lean to the male word. None with `reason`.
    """

    rows: int
    missing: int
    infinite: int
    size: float | None
    size_is: Literal["largest", "asked"]
    signed_mean_if_female: float | None = None
    signed_mean_if_male: float | None = None
    male_share_if_female: float | None = None
    male_share_if_male: float | None = None
    reason: Note | None = None
    explained_by: ClassVar = "reason"


def missing_values(rows: pd.DataFrame, *, least_mass: float | None = None, size: float | None = None) -> MissingValues:
    """The bounds for one model's rows; *size*: |Bias_c| in log10 of a missing value, None for the largest observed."""
    values = rows["bias_log10"].to_numpy(dtype=float)
    small = np.zeros(len(rows), dtype=bool) if least_mass is None else (rows["pair_mass"] < least_mass).to_numpy(bool)
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max(initial=0.0)) or None
    chosen: Literal["largest", "asked"] = "largest" if size is None else "asked"
    given = largest if size is None else size
    missing = int((np.isnan(values) | small).sum())
    kept = values[~small & ~np.isnan(values)]
    infinite = int(np.isinf(kept).sum())
    if not len(rows):
        return MissingValues(0, 0, 0, given, chosen, reason=NO_ROWS)
    male = int((kept > 0).sum())
    share = (male / len(rows), (male + missing) / len(rows))
    if given is None and missing + infinite:
        return MissingValues(len(rows), missing, infinite, None, chosen, None, None, *share, NO_SIZE)
    given = given or 0.0
    total = math.fsum(np.where(np.isinf(kept), np.sign(kept) * given, kept))
    bounds = ((total - missing * given) / len(rows), (total + missing * given) / len(rows))
    return MissingValues(len(rows), missing, infinite, given, chosen, *bounds, *share)
