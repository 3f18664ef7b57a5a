"""Sentences per keyword before and after selection (the papers' figure 2), and the 1:1 balance of each pair."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, modified_wilson
from evenhand.core.statistics.estimate import holm_adjusted
from evenhand.core.typed_json import Writers

Cell = tuple[str, str]  # name of the pair (male word first), side

NOT_KNOWN = Note(N_("A file does not record how many candidates there were."))
NOTHING_DECIDED = Note(N_("No sentence with this word has been decided yet."))
NEITHER = Note(N_("Texts that models wrote are not accepted or rejected."))
BY_QUOTA = Note(
    N_(
        "Both quotas of the pair are met: they determine how many sentences of each word are"
        " accepted, so there is nothing random to estimate or to test."
    )
)
VALUE_ONLY: Writers = {Estimate: lambda estimate: estimate.to_json(reasons="value")}
NO_SENTENCE = Note(N_("There are no sentences with this pair."))


@dataclass(frozen=True, slots=True)
class KeywordCount:
    """One word. `before`: candidates (None: not known); `decided`: kept or rejected; `after`: kept.

    `share`: after / decided (where `decided` is not known: after / before), 0 to 1, with Wilson's interval,
    modified; of generations undefined: what has a label that counts is neither kept nor dropped.
    """

    pair: str
    side: str
    word: str
    before: int | None
    decided: int | None
    after: int
    share: Estimate
    json_names: ClassVar = {"share": "kept_share"}
    also_in_json: ClassVar = ("unknown",)
    explained_by: ClassVar = "unknown"
    written_with: ClassVar = VALUE_ONLY

    @property
    def unknown(self) -> Note:
        """The reason why a count is missing."""
        return NOT_KNOWN


@dataclass(frozen=True, slots=True)
class PairBalance:
    """A pair: sentences with its male and with its female word. 1:1 is a share of 0.5.

    `share`: male / both, with Wilson's interval, modified; `p`: exact binomial test of one half, two-sided; `p_holm`:
    the same after Holm's adjustment for the number of pairs. None where the pair has no sentence, and where met quotas
    of both words decide how many are kept: then chance has no part in it, and `share` has no interval. `untested` says
    why.
    """

    pair: str
    male: int
    female: int
    share: Estimate
    p: float | None
    p_holm: float | None
    untested: Note | None = None
    json_names: ClassVar = {"share": "male_share"}
    also_in_json: ClassVar = ("missing",)
    explained_by: ClassVar = "untested"
    written_with: ClassVar = VALUE_ONLY

    @property
    def missing(self) -> int:
        """The number of sentences of the rarer word that are missing for a balance of 1:1."""
        return abs(self.male - self.female)


def word_of(pair: str, side: str) -> str:
    """Return the word of one side of a pair named male/female; any other name is returned unchanged."""
    words = pair.split("/")
    return words[side == "female"] if len(words) == 2 and side in ("male", "female") else pair


def keyword_counts(
    after: Mapping[Cell, int],
    before: Mapping[Cell, int] | None = None,
    decided: Mapping[Cell, int] | None = None,
    *,
    kind: str = "sentences",
) -> tuple[KeywordCount, ...]:
    """Count the words of *after* and *before*: pairs with most sentences first, in a pair the male word first."""
    cells = {**(before or {}), **after}
    of_pair: dict[str, int] = {}
    for (pair, side), _ in cells.items():
        counted = (before or after).get((pair, side), 0)
        of_pair[pair] = of_pair.get(pair, 0) + counted
    order = sorted(cells, key=lambda cell: (-of_pair[cell[0]], cell[0], cell[1] != "male", cell[1]))
    counts = tuple(_count(cell, after, before, decided) for cell in order)
    if kind == "sentences":
        return counts
    return tuple(replace(keyword_count, share=Estimate.undefined(NEITHER)) for keyword_count in counts)


def _count(
    cell: Cell, after: Mapping[Cell, int], before: Mapping[Cell, int] | None, decided: Mapping[Cell, int] | None
) -> KeywordCount:
    kept = after.get(cell, 0)
    earlier = None if before is None else before.get(cell, 0)
    judged = None if decided is None else decided.get(cell, 0)
    base = earlier if judged is None else judged
    if base is None:
        share = Estimate.undefined(NOT_KNOWN)
    elif kept > base:  # the second file is not a part of the first
        share = Estimate.undefined(
            Note(N_("More sentences after filtering than before: the files do not belong together."))
        )
    else:
        share = modified_wilson(kept, base, nothing=NOTHING_DECIDED)
    return KeywordCount(*cell, word_of(*cell), earlier, judged, kept, share)


def pair_balances(counts: Mapping[Cell, int], by_quota: Collection[str] = ()) -> tuple[PairBalance, ...]:
    """Return the balance of each pair, pairs with most sentences first; texts without a side are left out.

    `by_quota`: pairs whose quotas for both words are met; they are not tested, and their shares have no interval.
    """
    pairs: dict[str, list[int]] = {}
    for (pair, side), number in counts.items():
        if side in ("male", "female"):
            pairs.setdefault(pair, [0, 0])[side == "female"] += number
    order = sorted(pairs.items(), key=lambda row: (-sum(row[1]), row[0]))
    from scipy import stats  # takes a while to import

    plain = {
        pair: float(stats.binomtest(m, m + f, 0.5).pvalue) for pair, (m, f) in order if m + f and pair not in by_quota
    }
    adjusted = dict(zip(plain, map(float, holm_adjusted(list(plain.values()))), strict=True))
    return tuple(
        PairBalance(
            pair,
            male,
            female,
            _share(male, male + female, fixed=pair in by_quota),
            plain.get(pair),
            adjusted.get(pair),
            BY_QUOTA if pair in by_quota else None if male + female else NO_SENTENCE,
        )
        for pair, (male, female) in order
    )


def _share(male: int, both: int, *, fixed: bool) -> Estimate:
    estimate = modified_wilson(male, both, nothing=NO_SENTENCE)
    return replace(estimate, low=None, high=None, note=BY_QUOTA, method="") if fixed and both else estimate


def largest_imbalance(balances: Sequence[PairBalance]) -> PairBalance | None:
    """Return the pair that lacks most sentences of its rarer word; None where every pair is 1:1."""
    worst = max(balances, key=lambda one: one.missing, default=None)
    return worst if worst is not None and worst.missing else None
