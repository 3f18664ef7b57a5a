"""Compare a user's own numbers and finished runs with printed ones.

Does a printed Bias_c follow from two printed probabilities, and in which base? A run is compared with printed tables by
the same measure on the same data; otherwise a reason says why they cannot be compared.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.core.errors import N_, EvenhandError
from evenhand.core.misgendering.metrics import Metrics
from evenhand.core.nli.measure import Inference
from evenhand.core.nli.types import LABELS, SETS
from evenhand.core.resources import table
from evenhand.core.sentence_bias.bias import PrintedCheck, check_printed
from evenhand.core.statistics import Estimate, Note

Row = Mapping[str, str]
Cells = Sequence[tuple[Mapping[str, str], Metrics]]  # as `core.misgendering.metrics.by_cell` gives them

NO_TEXTS = Note(N_("A run of verdicts does not measure this; it needs texts or human labels."))
NO_ANSWERS = Note(N_("The run has no answer on this set."))
JAPANESE = "ja"


@dataclass(frozen=True, slots=True)
class BesidePrinted:
    """A printed value and the value of a user's run on the same data.

    `difference`: own - printed, in the unit of the table; None with `reason`.
    """

    row: Row
    printed: float
    own: Estimate
    reason: Note | None = None

    @property
    def difference(self) -> float | None:
        """The own value minus the printed one; None where the two cannot be compared."""
        return None if self.own.value is None else self.own.value - self.printed


def beside_misgendering(found: Cells) -> list[BesidePrinted]:
    """Pair every printed value of the misgendering paper with the value of one model's *found* cells.

    MCC, kappa and the share of disagreement are compared, for the same set, setting and pronouns; intervals are over
    the units of the run. `row` names the printed model; readers must judge whether it is the model of the run.
    """
    beside = []
    for row in table("published_misgendering"):
        printed, own = float(row["value"]), _cell_value(row, found)
        known = own.value is not None
        beside.append(BesidePrinted(row, printed, own) if known else _without(row, printed, own.reason))
    return beside


def _cell_value(row: Row, found: Cells) -> Estimate:
    if row["measure"] not in ("mcc", "kappa", "disagreement"):
        return Estimate.undefined(NO_TEXTS)
    if row["origin"] != "paper" or row["pronoun"] == "all" or not row["dataset"]:
        return Estimate.undefined(
            Note(N_("The paper pools several sets or models here; the run has a separate cell for each."))
        )
    left = list(found)
    for key, message in (
        ("dataset", N_("The run used {own}; the table is for {printed}.")),
        ("setting", N_("The setting of the run is {own}; that of the table is {printed}.")),
        ("pronoun", N_("The run has the pronouns {own}, not {printed}.")),
    ):
        wanted = row[key]
        if not wanted:
            continue
        there = list(dict.fromkeys(cell.get(key, "") for cell, _ in left))
        left = [one for one in left if one[0].get(key, "") == wanted]
        if not left:
            own = ", ".join(name for name in there if name) or "?"
            return Estimate.undefined(Note(message, {"own": own, "printed": wanted}))
    return left[0][1].by_units[row["measure"]]


def beside_inference(inference: Inference, language: str) -> list[BesidePrinted]:
    """Pair the 45 shares of Table 3 of the inference paper with those of a user's classifier on Japanese sentences."""
    return [
        _of_shares(row, label, inference, language) for row in table("published_inference_shares") for label in LABELS
    ]


def _of_shares(row: Row, label: str, inference: Inference, language: str) -> BesidePrinted:
    sets, labels = list[str](SETS), list[str](LABELS)
    kind, answer = sets.index(row["set"]), labels.index(label)
    printed, counts = float(row[label]), inference.counts[kind]
    cell = {"model": row["model"], "set": row["set"], "label": label}
    if language != JAPANESE:
        values = {"own": language or "?", "printed": JAPANESE}
        return _without(cell, printed, Note(N_("The run used {own}; the table is for {printed}."), values))
    if not sum(counts):
        return _without(cell, printed, NO_ANSWERS)
    return BesidePrinted(cell, printed, Estimate(counts[answer] / sum(counts), units=sum(counts)))


def _without(row: Row, printed: float, reason: Note | None) -> BesidePrinted:
    own = Estimate.undefined(reason or NO_ANSWERS)
    return BesidePrinted(row, printed, own, own.reason)


def compared(found: Iterable[BesidePrinted]) -> int:
    """Return how many of the printed values have an own value to compare with."""
    return sum(beside_printed.own.value is not None for beside_printed in found)


BASES = {"log10": 10.0, "ln": math.e, "log2": 2.0}
SEPARATORS = re.compile(r"[\s,;，；、\t]+")
DIGITS = re.compile(r"[0-9]")


@dataclass(frozen=True, slots=True)
class OwnCheck:
    """One row: the numbers as typed, and the check of the printed value in each base."""

    p_male: str
    p_female: str
    printed: str
    found: dict[str, PrintedCheck]

    @property
    def fits(self) -> list[str]:
        """The bases in which the printed value follows from the probabilities, within rounding."""
        return [base for base, check in self.found.items() if check.consistent]


def check_own(p_male: str, p_female: str, printed: str) -> OwnCheck:
    """Check one row as it is printed; the digits of each number tell how it was rounded.

    Raises EvenhandError where a cell is not a number, or a probability is not above 0 and at most 1.
    """
    male, female, value = _number(p_male), _number(p_female), _number(printed)
    for cell, probability in ((p_male, male), (p_female, female)):
        if not 0 < probability <= 1:
            raise EvenhandError(N_("{cell} is not a probability: it must be above 0 and at most 1."), cell=cell)
    digits = min(_digits(p_male), _digits(p_female))
    decimals = len(printed.lower().partition("e")[0].partition(".")[2])
    result = {
        name: check_printed(male, female, value, digits=digits, decimals=decimals, base=base)
        for name, base in BASES.items()
    }
    return OwnCheck(p_male, p_female, printed, result)


def read_rows(text: str) -> list[OwnCheck]:
    """Check rows of three numbers (male, female, printed), one row per line, separated by spaces, tabs or commas.

    Raises EvenhandError for the first line that cannot be used. Empty lines are skipped.
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
    """Return the number of significant digits of a number as written: 4 for 9.865e-1, 1 for 0.3."""
    mantissa = cell.lower().replace("×10^", "e").partition("e")[0]
    return max(1, len("".join(DIGITS.findall(mantissa)).lstrip("0")))
