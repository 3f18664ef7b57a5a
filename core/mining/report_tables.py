"""A report as rows: sentences after each step, and each pair before and after the filters."""

from dataclasses import dataclass

from evenhand.core.errors import N_
from evenhand.core.mining.filters import FILTERS
from evenhand.core.mining.report import CellCounts, Report

ALL = ""  # in place of a pair or a side: all of them


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """One step: `left` sentences after it, `lost` by it, `flagged` kept with a doubt; `name` is to be translated."""

    code: str
    name: str
    left: int
    lost: int
    flagged: int


def chosen(report: Report, pair: str = ALL, side: str = ALL) -> CellCounts:
    """Return the counts of a pair and side, or of all pairs or both sides together."""
    together = CellCounts()
    for (name, own), counts in report.cells.items():
        if pair in (ALL, name) and side in (ALL, own):
            together.merge(counts)
    return together


def funnel_steps(counts: CellCounts) -> list[FunnelStep]:
    """From the sentences with a keyword to the candidates, one step after the other."""
    left = counts.exactly_one
    repeated = max(0, counts.with_keyword - left)
    steps = [FunnelStep("exactly_one", N_("Exactly one keyword"), left, repeated, 0)]
    for code, filter_ in FILTERS.items():
        lost, flagged = counts.rejected[code], counts.flagged[code]
        left -= lost
        steps.append(FunnelStep(code, filter_.name, left, lost, flagged))
    return steps


def before_after(report: Report) -> list[dict[str, str | int]]:
    """Per pair: sentences with exactly one keyword, and candidates, of both sides."""
    pairs = dict.fromkeys(pair for pair, _ in report.cells)
    rows: list[dict[str, str | int]] = []
    for pair in pairs:
        male, female = report.cells[pair, "male"], report.cells[pair, "female"]
        row: dict[str, str | int] = {"pair": pair, "male_before": male.exactly_one, "male_after": male.candidates}
        rows.append(row | {"female_before": female.exactly_one, "female_after": female.candidates})
    return rows
