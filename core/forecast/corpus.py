"""Can a corpus meet the quotas? Candidates found, times the share that annotators keep, with intervals.

Two quantities are uncertain, and both are simulated: the share p of candidates that all annotators accept (a pilot
reviewed r and kept a: p ~ Beta(a + 1/2, r - a + 1/2), Jeffreys' prior), and how often a candidate occurs in text of
this kind (c in N characters: d ~ Gamma(c + 1/2) / N). The number kept of m candidates is binomial in p. Intervals are
the 2.5 and 97.5 percentiles of the draws; the share itself is shown with the Wilson interval.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.forecast.quota import (
    NONE_KEPT,
    NOTHING_REVIEWED,
    QUOTA_OUTCOMES,
    QuotaOutcome,
    candidates_needed,
    share_kept,
    verdict,
)
from evenhand.core.mining.report import Report
from evenhand.core.statistics import Estimate, Note

DRAWS = 20_000
METHOD = 3  # version of this forecast, in its signature
Cell = tuple[str, str]
Draws = NDArray[np.float64]

NO_CANDIDATE = Note(N_("No candidate was found in this text, so only a lower bound of the amount needed can be given."))
NO_CANDIDATE_AT_ALL = Note(N_("No candidate was found in this text, so the amount needed cannot be estimated."))
NO_SHARE = Note(N_("With an assumed acceptance rate of 0, no amount of text is enough."))
NO_TEXT = Note(N_("No text was read."))
MET = Note(N_("The quota is already met."))
ASSUMED = Note(N_("The acceptance rate is assumed, not measured: no interval."))


@dataclass(frozen=True, slots=True)
class Supply:
    """The counts of one pair and side.

    `found`: candidates in the text that was read. `left`: candidates still to be reviewed. `kept`: accepted already.
    `reviewed`, `accepted`: the pilot, which gives the share.
    """

    quota: int
    found: int
    left: int
    kept: int = 0
    reviewed: int = 0
    accepted: int = 0


@dataclass(frozen=True, slots=True)
class CellForecast:
    """One pair and side: how many will be kept, whether that is enough, how much text is missing.

    `rate`: share of candidates that are kept, 0 to 1, Wilson interval; `own` says whether it rests on this pair and
    side alone. `expected`: sentences kept in the end, with those of today, and a 95% prediction interval. `verdict`:
    as in core.forecast.quota. `characters`: how much more text of the same kind is needed, 0 or more, with
    interval; without a value, `low` may still give a lower bound.
    """

    pair: str
    side: str
    supply: Supply
    rate: Estimate
    own: bool
    expected: Estimate
    verdict: QuotaOutcome
    characters: Estimate
    json_names: ClassVar = {"supply": "", "own": None}
    also_in_json: ClassVar = ("rate_from",)
    flat_estimates: ClassVar = True

    @property
    def rate_from(self) -> str:
        """The source of the rate: "own", or "all" for all cells together."""
        return "own" if self.own else "all"


@dataclass(frozen=True, slots=True)
class Forecast:
    """All pairs and sides, and together: kept sentences count up to the quota only.

    `characters`: the need of the scarcest pair and side, since one corpus serves all; `scarcest` names it, None if
    nothing is missing or nothing is known.
    """

    cells: tuple[CellForecast, ...]
    quota: int
    expected: Estimate
    characters: Estimate
    scarcest: Cell | None
    signature: str
    also_in_json: ClassVar = ("verdicts",)
    flat_estimates: ClassVar = True

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of pairs and sides with each verdict."""
        return {answer: self.count(answer) for answer in QUOTA_OUTCOMES if answer != "none"}

    def count(self, answer: QuotaOutcome) -> int:
        """Return the number of pairs and sides with a verdict."""
        return sum(1 for cell in self.cells if cell.verdict == answer)


def forecast(
    supplies: Mapping[Cell, Supply],
    characters: int,
    *,
    pilot: tuple[int, int] = (0, 0),
    assumed: float | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Forecast:
    """Return the forecast of *supplies*, by (pair, side), that were found in *characters* characters.

    A pair and side with few reviewed candidates uses the share of all together, including a `pilot` from elsewhere
    (kept, reviewed). Where nothing is reviewed, *assumed* is the share kept, from 0 to 1, and nothing has an interval:
    the spread of an assumption is not known. The same input and seed give the same numbers.
    """
    accepted, reviewed = pilot
    accepted += sum(supply.accepted for supply in supplies.values())
    pooled = (accepted, reviewed + sum(supply.reviewed for supply in supplies.values()))
    if not pooled[1] and assumed is not None:
        return _at_share(supplies, characters, assumed)
    random = np.random.default_rng(seed)
    cells, capped, needs = [], [], []
    for (pair, side), supply in supplies.items():
        rate, own = share_kept((supply.accepted, supply.reviewed), pooled)
        accepted, reviewed = (supply.accepted, supply.reviewed) if own else pooled
        share = random.beta(accepted + 0.5, reviewed - accepted + 0.5, draws) if reviewed else None
        kept = None if share is None else supply.kept + random.binomial(supply.left, share).astype(float)
        expected = _expected(supply, rate, kept)
        needed = _needed(supply, characters, share, random)
        text = _characters(supply, characters, rate, needed, draws)
        missing = max(0, supply.quota - supply.kept)
        answer = verdict(missing, supply.left, candidates_needed(missing, rate))
        cells.append(CellForecast(pair, side, supply, rate, own, expected, answer, text))
        capped.append(None if kept is None else np.minimum(kept, supply.quota))
        needs.append(needed)
    quota = sum(supply.quota for supply in supplies.values())
    method = f"forecast|beta-binomial|draws:{draws}|seed:{seed}|v{METHOD}"
    return Forecast(tuple(cells), quota, _together(capped), *_most(cells, needs), method)


def _at_share(supplies: Mapping[Cell, Supply], characters: int, assumed: float) -> Forecast:
    """Return the forecast at an assumed share of kept sentences: numbers without an interval."""
    rate = Estimate(assumed, note=ASSUMED)
    cells = []
    for (pair, side), supply in supplies.items():
        kept = supply.kept + supply.left * assumed
        missing = max(0, supply.quota - supply.kept)
        needed = missing / assumed if assumed else math.inf
        answer: QuotaOutcome = "met" if not missing else "yes" if supply.left >= needed else "no"
        more = _characters_at(supply, characters, assumed, kept)
        expected = Estimate(kept, note=ASSUMED)
        cells.append(CellForecast(pair, side, supply, rate, False, expected, answer, more))
    total = math.fsum(min(cell.expected.value or 0.0, cell.supply.quota) for cell in cells)
    unknown = [cell for cell in cells if cell.characters.value is None]
    worst = unknown[0] if unknown else max(cells, key=lambda cell: cell.characters.value or 0.0, default=None)
    more = Estimate(0.0, 0.0, 0.0, note=MET) if worst is None else worst.characters
    scarcest = None if worst is None or more.value == 0 else (worst.pair, worst.side)
    quota = sum(supply.quota for supply in supplies.values())
    method = f"forecast|assumed:{assumed:g}|v{METHOD}"
    return Forecast(tuple(cells), quota, Estimate(total, note=ASSUMED), more, scarcest, method)


def _characters_at(supply: Supply, characters: int, share: float, kept: float) -> Estimate:
    if supply.kept >= supply.quota:
        return Estimate(0.0, 0.0, 0.0, note=MET)
    if not characters:
        return Estimate.undefined(NO_TEXT)
    if not supply.found or not share:
        return Estimate.undefined(NO_CANDIDATE_AT_ALL if not supply.found else NO_SHARE)
    return Estimate(max(0.0, supply.quota - kept) / (supply.found / characters * share), note=ASSUMED)


def _percentiles(values: Draws) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def _expected(supply: Supply, rate: Estimate, kept: Draws | None) -> Estimate:
    if kept is None or rate.value is None:
        return Estimate.undefined(NOTHING_REVIEWED)
    low, high = _percentiles(kept)
    value = supply.kept + supply.left * rate.value
    return Estimate(value, min(low, value), max(high, value), supply.left)


def _needed(supply: Supply, characters: int, share: Draws | None, random: np.random.Generator) -> Draws | None:
    """Return draws of the characters needed: missing sentences / kept sentences per character."""
    if share is None or not characters:
        return None
    density = random.gamma(supply.found + 0.5, size=len(share)) / characters
    lacking = np.maximum(0.0, supply.quota - supply.kept - supply.left * share)
    needed: Draws = lacking / np.maximum(density * share, 1e-300)
    return needed


def _characters(supply: Supply, characters: int, rate: Estimate, needed: Draws | None, draws: int) -> Estimate:
    if supply.kept >= supply.quota:
        return Estimate(0.0, 0.0, 0.0, note=MET)
    if not characters:
        return Estimate.undefined(NO_TEXT)
    if needed is None or rate.value is None:
        return Estimate.undefined(NOTHING_REVIEWED)
    low, high = _percentiles(needed)
    if not supply.found:
        return Estimate(None, low=low, reason=NO_CANDIDATE)
    if not rate.value:
        return Estimate(None, low=low, reason=Note(NONE_KEPT, {"reviewed": f"{rate.units:,}"}))
    lacking = max(0.0, supply.quota - supply.kept - supply.left * rate.value)
    value = lacking / (supply.found / characters * rate.value)
    return Estimate(value, min(low, value), max(high, value), supply.found)


def _together(capped: Sequence[Draws | None]) -> Estimate:
    known = [values for values in capped if values is not None]
    if not known or len(known) < len(capped):
        return Estimate.undefined(NOTHING_REVIEWED)
    total = np.sum(known, axis=0)
    low, high = _percentiles(total)
    return Estimate(float(total.mean()), low, high, len(known))


def _most(cells: Sequence[CellForecast], needs: Sequence[Draws | None]) -> tuple[Estimate, Cell | None]:
    open_cells = [(cell, drawn) for cell, drawn in zip(cells, needs, strict=True) if cell.verdict != "met"]
    if not open_cells:
        return Estimate(0.0, 0.0, 0.0, note=MET), None
    drawn = [values for _, values in open_cells if values is not None]
    if len(drawn) < len(open_cells):
        return Estimate.undefined(
            next(cell.characters.reason for cell, d in open_cells if d is None) or NOTHING_REVIEWED
        ), None
    low, high = _percentiles(np.max(drawn, axis=0))
    unknown = [cell for cell, _ in open_cells if cell.characters.value is None]
    if unknown:
        worst = max(unknown, key=lambda cell: cell.characters.low or 0.0)
        return Estimate(None, low=low, reason=worst.characters.reason), (worst.pair, worst.side)
    worst = max((cell for cell, _ in open_cells), key=lambda cell: cell.characters.value or 0.0)
    value = worst.characters.value or 0.0
    where = (worst.pair, worst.side) if value else None
    return Estimate(value, min(low, value), max(high, value)), where


Counts = Mapping[tuple[str, str], int]


def supplies(
    report: Report,
    quotas: Counts,
    *,
    left: Counts,
    kept: Counts,
    reviewed: Counts,
    accepted: Counts,
) -> dict[tuple[str, str], Supply]:
    """Return the supply of each quota of *quotas* whose pair was mined.

    `left`: candidates still to be reviewed; `kept`: accepted already;
    `reviewed`, `accepted`: the pilot. Cells that a mapping does not name have 0.
    """
    return {
        cell: Supply(
            quota=quotas[cell],
            found=counts.candidates,
            left=left.get(cell, 0),
            kept=kept.get(cell, 0),
            reviewed=reviewed.get(cell, 0),
            accepted=accepted.get(cell, 0),
        )
        for cell, counts in report.cells.items()
        if quotas.get(cell)
    }
