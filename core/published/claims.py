"""A printed claim, compared with the result from the other numbers of the same document."""

import math
from dataclasses import dataclass

from evenhand.core.errors import N_
from evenhand.core.statistics import Note

SLGUSET = N_("SlguSet, conference paper")
THESIS = N_("BEC-Pro in Spanish and Basque")
INFERENCE = N_("Japanese NLI")
MISGENDERING = N_("Misgendering")
DOCUMENTS = (SLGUSET, THESIS, INFERENCE, MISGENDERING)

VERDICTS = {True: N_("consistent"), False: N_("inconsistent"), None: N_("undecided")}


@dataclass(frozen=True, slots=True)
class PrintedClaim:
    """A number that a document prints, and the same number calculated from other printed numbers.

    `key` is stable. `document`, `place` and `remark` are to be translated; `printed` and `recomputed` are numbers
    (`recomputed` may be a sentence). `follows`: None where the document does not give enough to decide.
    Rounding is allowed for: every printed number may be off by half a unit of its last digit.
    `calculation` holds the steps, one line each.
    """

    key: str
    document: str
    place: Note
    printed: str
    recomputed: str | Note
    follows: bool | None
    remark: Note | None = None
    calculation: tuple[Note | str, ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict in a word, to be translated."""
        return VERDICTS[self.follows]


def half_unit(printed: str) -> float:
    """Return half a unit of the last digit of a number as printed: 0.0005 for "1.428", 5e-5 for "1.234e-1"."""
    mantissa, _, power = printed.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(0.5 * 10.0 ** (int(power or 0) - decimals))


def agrees(printed: str, low: float, high: float) -> bool:
    """Return whether a printed number lies, within its own rounding, in the range that the rounded inputs allow."""
    slack = half_unit(printed) * (1 + 1e-9) + 1e-12
    return math.isfinite(low) and low - slack <= float(printed) <= high + slack
