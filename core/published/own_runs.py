"""One's own finished run beside printed tables: the same measure on the same data, or why there is no comparison."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.core.errors import N_
from evenhand.core.misgendering.metrics import Metrics
from evenhand.core.nli.measure import Inference
from evenhand.core.nli.types import LABELS, SETS
from evenhand.core.resources import table
from evenhand.core.statistics import Estimate, Note

Row = Mapping[str, str]
Cells = Sequence[tuple[Mapping[str, str], Metrics]]  # as `core.misgendering.metrics.by_cell` gives them

NO_TEXTS = Note(N_("A run of verdicts does not measure this; it needs texts or human labels."))
NO_ANSWERS = Note(N_("The run has no answer on this set."))
JAPANESE = "ja"


@dataclass(frozen=True, slots=True)
class BesidePrinted:
    """A printed value and that of one's own run on the same data.

    `difference`: own - printed, in the unit of the table. Where there is none, `reason` says why.
    """

    row: Row
    printed: float
    own: Estimate
    reason: Note | None = None

    @property
    def difference(self) -> float | None:
        """Own less printed; None where nothing can be compared."""
        return None if self.own.value is None else self.own.value - self.printed


def beside_misgendering(found: Cells) -> list[BesidePrinted]:
    """Every printed value of the misgendering paper beside that of one model's *found* cells.

    Compared are MCC, kappa and the share of disagreement of the same set, setting and pronouns; intervals over the
    units of the run. Which model it was is left to the reader: the printed ones are named in `row`.
    """
    return [_of_cells(row, found) for row in table("published_misgendering")]


def _of_cells(row: Row, found: Cells) -> BesidePrinted:
    printed = float(row["value"])
    own = _cell_value(row, found)
    return BesidePrinted(row, printed, own) if own.value is not None else _without(row, printed, own.reason)


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


def beside_inference(found: Inference, language: str) -> list[BesidePrinted]:
    """The 45 shares of Table 3 of the inference paper beside those of one's own classifier on Japanese sentences."""
    return [_of_shares(row, label, found, language) for row in table("published_inference_shares") for label in LABELS]


def _of_shares(row: Row, label: str, found: Inference, language: str) -> BesidePrinted:
    sets, labels = list[str](SETS), list[str](LABELS)
    kind, answer = sets.index(row["set"]), labels.index(label)
    printed, counts = float(row[label]), found.counts[kind]
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
    """How many of the values have one beside them."""
    return sum(one.own.value is not None for one in found)
