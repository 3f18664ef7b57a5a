"""Numbers of one's own: does a printed Bias_c follow from two printed probabilities, and in which base?"""

import math
import re
from dataclasses import dataclass

from evenhand.core.errors import N_, EvenhandError
from evenhand.core.sentence_bias.bias import PrintedCheck, check_printed

BASES = {"log10": 10.0, "ln": math.e, "log2": 2.0}
SEPARATORS = re.compile(r"[\s,;，；、\t]+")
DIGITS = re.compile(r"[0-9]")


@dataclass(frozen=True, slots=True)
class OwnCheck:
    """One row: the numbers as typed, what they give in each base, and the bases in which the printed one follows."""

    p_male: str
    p_female: str
    printed: str
    found: dict[str, PrintedCheck]

    @property
    def fits(self) -> list[str]:
        """The bases in which the printed value follows from the probabilities, within rounding."""
        return [base for base, check in self.found.items() if check.consistent]


def check_own(p_male: str, p_female: str, printed: str) -> OwnCheck:
    """Check one row as it is printed; the digits that are written say how far each number was rounded.

    Raises EvenhandError where a cell is no number or a probability is not above 0 and at most 1.
    """
    male, female, value = _number(p_male), _number(p_female), _number(printed)
    for cell, probability in ((p_male, male), (p_female, female)):
        if not 0 < probability <= 1:
            raise EvenhandError(N_("{cell} is not a probability: it must be above 0 and at most 1."), cell=cell)
    digits = min(_digits(p_male), _digits(p_female))
    decimals = len(printed.lower().partition("e")[0].partition(".")[2])
    found = {
        name: check_printed(male, female, value, digits=digits, decimals=decimals, base=base)
        for name, base in BASES.items()
    }
    return OwnCheck(p_male, p_female, printed, found)


def read_rows(text: str) -> list[OwnCheck]:
    """Rows of three numbers (male, female, printed), one a line, with spaces, tabs or commas between.

    Raises EvenhandError that names the first line which cannot be used. Empty lines are passed over.
    """
    rows = []
    for line, written in enumerate(text.splitlines(), 1):
        cells = [cell for cell in SEPARATORS.split(written.strip()) if cell]
        if not cells:
            continue
        if len(cells) != 3:
            message = N_("Line {line} has {found} numbers; it needs three: male, female, reported.")
            raise EvenhandError(message, line=line, found=len(cells))
        rows.append(check_own(*cells))
    return rows


def _number(cell: str) -> float:
    try:
        value = float(cell.replace("−", "-").replace("×10^", "e"))
    except ValueError:
        raise EvenhandError(N_("{cell} is not a number."), cell=cell[:40]) from None
    if not math.isfinite(value):
        raise EvenhandError(N_("{cell} is not a number."), cell=cell[:40])
    return value


def _digits(cell: str) -> int:
    """Significant digits of a number as written: 4 of 9.865e-1, 1 of 0.3."""
    mantissa = cell.lower().replace("×10^", "e").partition("e")[0]
    return max(1, len("".join(DIGITS.findall(mantissa)).lstrip("0")))
