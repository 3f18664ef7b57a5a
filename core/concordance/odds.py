"""Two-by-two tables: how much more often something occurs in sentences with a word than in the others.

The four counts are a (word, thing), b (word, no thing), c (no word, thing),
d (neither). ln odds ratio = ln(a d / (b c)); ratio of shares =
(a / (a+b)) / (c / (c+d)). Sentences of one text are alike, so the standard
error sums the influence of each text, x_i / a - y_i / b - ..., before it
squares (linearised, as for a ratio in cluster samples); with every sentence
on its own this is Woolf's 1/a + 1/b + 1/c + 1/d (Woolf 1955).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note

Z = 1.959963984540054
FEW = 15  # texts with the word; below that a t interval is wide and says so

NO_WORD = Note(N_("The word does not occur in this text."))
NO_OTHER = Note(N_("Every sentence contains the word, so there is nothing to compare it with."))
NOT_NEAR = Note(N_("The collocate occurs neither with the word nor elsewhere."))
ALWAYS_NEAR = Note(N_("The collocate occurs in every sentence, so there is nothing to compare."))
NEVER_ELSEWHERE = Note(N_("The collocate never occurs without the word, so there is no share to compare with."))
ONE_TEXT = Note(N_("All sentences with the word come from one text: no interval."))
Counts = tuple[int, int, int, int]
Numbers = NDArray[np.float64]


class Table:
    """The four counts, added up text by text; memory does not grow with the texts."""

    def __init__(self) -> None:
        self._sums = np.zeros(4)
        self._squares = np.zeros((4, 4))
        self._none = 0
        self._none_squares = 0
        self.texts_with_word = 0

    def add(self, counts: Sequence[int]) -> None:
        """Add the counts a, b, c, d of one text."""
        a, b, c, d = counts
        if not (a or b or c):  # most texts: nothing but sentences without either
            self._none += d
            self._none_squares += d * d
            return
        row = np.array(counts, dtype=float)
        self._sums += row
        self._squares += np.outer(row, row)
        self.texts_with_word += bool(a or b)

    @property
    def counts(self) -> Counts:
        """a, b, c, d over all texts."""
        a, b, c, d = (int(number) for number in self._sums)
        return a, b, c, d + self._none

    @property
    def squares(self) -> Numbers:
        """Sum over texts of the outer product of their counts, 4 x 4."""
        whole = self._squares.copy()
        whole[3, 3] += self._none_squares
        return whole


@dataclass(frozen=True, slots=True)
class Contrast:
    """The contrast of a table.

    `log_odds`: natural log; above 0: more often with the word. `times`: ratio of the two shares.
    `share`, `share_elsewhere`: 0 to 1, of sentences with and without the
    word; None without such sentences. `corrected`: one of the four
    counts is 0, so 1/2 was added to each (Haldane 1956, Anscombe 1956) for the
    log odds and both intervals; `times` itself is uncorrected.
    """

    counts: Counts
    share: float | None
    share_elsewhere: float | None
    log_odds: Estimate
    times: Estimate
    corrected: bool


def contrast(table: Table, *, clustered: bool) -> Contrast:
    """Return the contrast of *table*; *clustered*: its texts are the units, otherwise its sentences.

    With texts as units the larger of the two standard errors counts, with t
    on (texts with the word - 1) degrees of freedom; a single such text gives
    no interval. Undefined, with the reason, where a margin is empty.
    """
    a, b, c, d = table.counts
    share = a / (a + b) if a + b else None
    elsewhere = c / (c + d) if c + d else None
    if reason := _empty(table.counts):
        undefined = Estimate.undefined(reason)
        return Contrast(table.counts, share, elsewhere, undefined, undefined, False)
    corrected = 0 in table.counts
    half = 0.5 if corrected else 0.0
    a_, b_, c_, d_ = a + half, b + half, c + half, d + half
    odds = math.log(a_ * d_ / (b_ * c_))
    times = math.log(a_ / (a_ + b_)) - math.log(c_ / (c_ + d_))
    with_word, without = a_ + b_, c_ + d_
    by_odds = np.array([1 / a_, -1 / b_, -1 / c_, 1 / d_])
    by_times = np.array([1 / a_ - 1 / with_word, -1 / with_word, 1 / without - 1 / c_, 1 / without])
    sizes = np.array([a_, b_, c_, d_])
    reach = [_reach(table, by, sizes, clustered) for by in (by_odds, by_times)]
    return Contrast(
        table.counts,
        share,
        elsewhere,
        _estimate(odds, reach[0], table, clustered, exponent=False),
        _as_counted(_estimate(times, reach[1], table, clustered, exponent=True), share, elsewhere),
        corrected,
    )


def _as_counted(times: Estimate, share: float | None, elsewhere: float | None) -> Estimate:
    """Return the ratio of the plain counts; 1/2 added to small counts would turn "never" into "more often"."""
    assert share is not None and elsewhere is not None
    if not elsewhere:
        return replace(times, value=None, high=None, reason=NEVER_ELSEWHERE)
    value = share / elsewhere
    low = None if times.low is None else min(times.low, value)
    high = None if times.high is None else max(times.high, value)
    return replace(times, value=value, low=low, high=high)


def _empty(counts: Counts) -> Note | None:
    a, b, c, d = counts
    if not a + b:
        return NO_WORD
    if not c + d:
        return NO_OTHER
    if not a + c:
        return NOT_NEAR
    return None if b + d else ALWAYS_NEAR


def _reach(table: Table, by: Numbers, sizes: Numbers, clustered: bool) -> float:
    """Return half the width of the 95% interval on the log scale; infinite if only one text contains the word."""
    alone = float(np.sqrt(np.sum(by**2 * sizes)))
    if not clustered:
        return Z * alone
    texts = table.texts_with_word
    if texts < 2:
        return math.inf
    variance = float(by @ table.squares @ by)
    together = math.sqrt(max(0.0, variance) * texts / (texts - 1))
    from scipy import stats  # scipy.stats takes a while to import

    return float(stats.t.ppf(0.975, texts - 1)) * max(alone, together)


def _estimate(value: float, reach: float, table: Table, clustered: bool, *, exponent: bool) -> Estimate:
    shown = math.exp if exponent else float
    units = table.texts_with_word if clustered else table.counts[0] + table.counts[1]
    if math.isinf(reach):
        return Estimate(shown(value), units=units, note=ONE_TEXT)
    note = Note(N_("Few texts contain the word ({units}): t interval."), {"units": units})
    few = note if clustered and units < FEW else None
    return Estimate(shown(value), shown(value - reach), shown(value + reach), units, note=few)
