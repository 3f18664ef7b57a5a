"""Can the candidates that are left meet the quotas? The share that was kept so far, with its interval, says.

A simple reading of what is known today, for the lead's eye: candidates needed = sentences missing / share kept, with
the ends of the share's 95 % Wilson interval in its place. (`forecast` of a mining run draws the number that will be
kept instead, and takes the text that is left to read into account: annotations.forecast.corpus.)

Items whose labels were sent back count by what was last said of them, in the share as in what is needed: they will all
be reviewed again, and are expected to come out as before. What is needed are these, and as many more as the rest takes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from annotations.forecast.keep_rate import Followed
from core.errors import N_
from core.statistics import Estimate, Note, wilson

OWN_RATE = 20  # reviewed candidates from which on a pair and side, or else its pair, speaks for itself
Cell = tuple[str, str]
Rate = tuple[float, int]
Basis = Literal["own", "pair", "all"]
Verdict = Literal["none", "met", "enough", "open", "short", "unknown"]

NOTHING_REVIEWED = Note(N_("Nothing has been reviewed yet, so nobody knows which share is kept."))
NOT_SO_FAR = Note(N_("No item that everybody accepted has all its labels yet, so nobody knows which share is kept."))
NO_QUOTA = Note(N_("There is no quota."))
NONE_KEPT = Note(N_("None of the {reviewed} reviewed ones was kept: no number can be named."))


@dataclass(frozen=True, slots=True)
class Counted:
    """One pair and side: numbers of items.

    `mined`: in the project. `reviewed`: with as many blind labels as they want. `unanimous`: reviewed, and accepted by
    all who labelled (generations: all chose the same). `kept`: accepted as gold (generations: with a gold label).
    `left`: still pending, without those `aside` (skipped by all). `quota` None: as many as there are. `returned`: of
    `left`, those that were reviewed until their labels were sent back; `returned_kept`: of these, kept until then.
    """

    quota: int | None
    mined: int
    reviewed: int
    unanimous: int
    kept: int
    left: int
    aside: int = 0
    returned: int = 0
    returned_kept: int = 0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What one pair and side can expect.

    `missing`: kept ones that the quota still wants, 0 or more; None without a quota. `rate`: share of reviewed ones
    that are kept, 0 to 1, of this pair and side alone ("own"), of both sides of the pair, or of all ("all"), as
    `basis` says. `needed`: candidates that have to be reviewed for what is missing, rounded up, with the ends of
    the rate's interval; `high` None: no end can be named. `verdict`: "none" (no quota), "met", "enough" (what is left
    suffices even at the lower end of the rate), "short" (it cannot, even at the upper end), "open" (in between),
    "unknown".
    `to_find`: candidates to be found beside those that are left, 0 or more.
    """

    missing: int | None
    rate: Estimate
    basis: Basis
    needed: Estimate
    verdict: Verdict
    to_find: Estimate


def outlooks(cells: Mapping[Cell, Counted], stopped: Mapping[Cell, Followed] | None = None) -> dict[Cell, Outlook]:
    """The outlook of every (pair, side). With fewer than 20 reviewed, the pair speaks for it, else all together.

    `stopped`: where items stop at a first reject, their stages; the shares are then those of `Followed.rate`.
    """
    everything = _rate(cells, list(cells), stopped)
    pairs: dict[str, list[Cell]] = {}
    for cell in cells:
        pairs.setdefault(cell[0], []).append(cell)
    of_pair = {pair: _rate(cells, of, stopped) for pair, of in pairs.items()}
    return {
        cell: _outlook(one, *_basis(_rate(cells, [cell], stopped), of_pair[cell[0]], everything))
        for cell, one in cells.items()
    }


def _rate(cells: Mapping[Cell, Counted], which: Sequence[Cell], stopped: Mapping[Cell, Followed] | None) -> Rate:
    """(kept, of how many) of some cells together."""
    if stopped is None:
        counted = [cells[cell] for cell in which]
        kept = sum(one.kept + one.returned_kept for one in counted)
        return kept, sum(one.reviewed + one.returned for one in counted)
    found = [stopped[cell] for cell in which if cell in stopped]
    return sum(found[1:], found[0]).rate if found else (0, 0)


def _basis(own: Rate, pair: Rate, everything: Rate) -> tuple[Basis, float, int]:
    if own[1] >= OWN_RATE:
        return "own", *own
    return ("pair", *pair) if pair[1] >= OWN_RATE else ("all", *everything)


def _outlook(one: Counted, basis: Basis, kept: float, reviewed: int) -> Outlook:
    # An item that was decided before all its labels were in counts as kept and not as reviewed.
    rate = wilson(min(kept, reviewed), reviewed, nothing=NOT_SO_FAR if one.reviewed else NOTHING_REVIEWED)
    if one.quota is None:
        return Outlook(None, rate, basis, Estimate.undefined(NO_QUOTA), "none", Estimate.undefined(NO_QUOTA))
    missing = max(0, one.quota - one.kept)
    needed = _needed(missing, rate)
    if missing and one.returned:
        needed = _beside(one, _needed(max(0, missing - one.returned_kept), rate))
    return Outlook(missing, rate, basis, needed, _verdict(one, missing, needed), _beyond(needed, one.left))


def _needed(missing: int, rate: Estimate) -> Estimate:
    """Candidates for *missing* kept ones at a *rate*; a lower end is known where no value is."""
    if missing == 0:
        return Estimate(0.0, 0.0, 0.0, rate.units)
    if rate.value is None:
        return Estimate.undefined(rate.reason or NOTHING_REVIEWED)
    low = _whole(missing, rate.high)
    if not rate.value:
        reason = Note(NONE_KEPT.message, {"reviewed": f"{rate.units:,}"})
        return Estimate(None, low, None, rate.units, reason)
    return Estimate(_whole(missing, rate.value), low, _whole(missing, rate.low), rate.units)


def _beside(one: Counted, needed: Estimate) -> Estimate:
    """What is *needed* beside the items whose labels were sent back, and these: all of them are reviewed again."""
    value, low, high = (None if end is None else end + one.returned for end in (needed.value, needed.low, needed.high))
    return replace(needed, value=value, low=low, high=high)


def _whole(missing: int, share: float | None) -> float | None:
    """Candidates to review for *missing* at a *share* kept: nobody reviews half a candidate."""
    return float(math.ceil(missing / share - 1e-9)) if share else None


def _verdict(one: Counted, missing: int, needed: Estimate) -> Verdict:
    if missing == 0:
        return "met"
    if needed.low is None:
        return "unknown"
    if one.left < needed.low:
        return "short"
    return "enough" if needed.high is not None and one.left >= needed.high else "open"


def _beyond(needed: Estimate, left: int) -> Estimate:
    """What is *needed* beside what is *left*."""
    value, low, high = (
        None if end is None else max(0.0, end - left) for end in (needed.value, needed.low, needed.high)
    )
    return Estimate(value, low, high, needed.units, needed.reason)
