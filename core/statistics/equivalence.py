"""Tests of equivalence: is a difference shown to be smaller than a margin, and what is the smallest such margin?

An interval that contains 0 does not show that the difference is 0. Two one-sided tests show equivalence within a margin
that the user sets (Schuirmann 1987): the whole 90% interval must lie inside the margin. Without a margin nothing is
decided. What is small depends on the scale, so each scale has a default margin, which pages and commands name.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evenhand.core.errors import N_
from evenhand.core.language import p_value
from evenhand.core.statistics.estimate import Estimate, Note

Answer = Literal["yes", "no", "undecided"]
ANSWERS: dict[Answer, str] = {
    "yes": N_("smaller than the margin"),
    "no": N_("larger than the margin"),
    "undecided": N_("inconclusive"),
}
Scale = Literal["log10", "ln", "auc", "share"]
Margins = Mapping[Scale, float | None]
SCALES: dict[Scale, str] = {"log10": "log10", "ln": "ln", "auc": N_("AUC, 0 to 1"), "share": N_("share, 0 to 1")}
MARGINS: dict[Scale, float | None] = {
    "log10": 0.1,  # a third of what the papers call obvious: the odds of the two words change by a quarter
    "ln": None,  # of professions: hypothesis H3 is not decided before a user sets one
    "auc": 0.05,
    "share": 0.05,  # 5 percentage points
}
LEVEL = 0.05  # of each of the two one-sided tests, and of the two-sided test of a difference
POWER = 0.8

NO_MARGIN = Note(N_("Set a margin: the largest difference that counts as negligible."))
NOT_SHOWN = Note(N_("The interval is compatible with a difference within the margin and with one beyond it."))
WITHIN = Note(N_("The two one-sided tests reject a difference as large as the margin or larger (p {p})."))
WITHIN_INTERVAL = Note(N_("The 90% interval lies within the margin (two one-sided tests)."))
OUTSIDE = Note(N_("The whole interval lies outside the margin."))
NO_TEST = Note(N_("Without an interval there is no test."))


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The test whether a difference is smaller than `margin` in size.

    `low`, `high`: the 90% interval, whose place inside the margin is the two one-sided tests. `p`: of these, where the
    interval follows from a standard error. `smallest`: about the smallest difference that data like these detect with a
    chance of 80% (two-sided, 0.05). All in the unit of the difference, None where undefined; `remark` says why.
    """

    margin: float | None
    answer: Answer
    remark: Note
    low: float | None = None
    high: float | None = None
    p: float | None = None
    smallest: float | None = None

    @property
    def data(self) -> dict[str, object]:
        """The answer for JSON; KEY_reason says why the value of KEY is None."""
        values = {"margin": self.margin, "low_90": self.low, "high_90": self.high, "smallest_shown": self.smallest}
        reasons = {f"{key}_reason": str(self.remark) for key, value in values.items() if value is None}
        return {"answer": self.answer, "says": str(self.remark), **values, **reasons}

    @property
    def text(self) -> str:
        """The answer and the smallest difference in English, for a terminal; numbers in the unit of the difference."""
        return self._text_with(f"{self.margin or 0:g}", f"{self.smallest or 0:.4f}")

    @property
    def in_points(self) -> str:
        """Return `text` for a difference of two shares of 1, with numbers in percentage points."""
        return self._text_with(f"{100 * (self.margin or 0):g} points", f"{100 * (self.smallest or 0):.1f} points")

    def _text_with(self, margin: str, smallest: str) -> str:
        answer = f"{f'margin {margin}' if self.margin else 'margin'}: {ANSWERS[self.answer]}"
        shown = f"; minimum detectable difference {smallest} (80% power)"
        return answer if self.smallest is None else answer + shown


def equivalence(difference: Estimate, margin: float | None) -> Equivalence:
    """Judge a difference with its interval; undecided without a margin above 0."""
    low, high = difference.inner or _by_error(difference)
    shown = smallest_shown(difference)
    if difference.value is None:
        return Equivalence(margin, "undecided", difference.reason or NO_TEST)
    if margin is None or margin <= 0:
        return Equivalence(None, "undecided", NO_MARGIN, low, high, smallest=shown)
    p = None  # where the interval is withheld its error decides nothing either
    if difference.inner is None and difference.se and difference.low is not None:
        p = one_sided_tests(difference.value, difference.se, margin, difference.df)
    within = p < LEVEL if p is not None else low is not None and high is not None and -margin < low and high < margin
    if within:
        written = WITHIN_INTERVAL if p is None else Note(WITHIN.message, {"p": p_value(p, "= ")})
        return Equivalence(margin, "yes", written, low, high, p, shown)
    if difference.low is not None and difference.high is not None:
        if difference.low > margin or difference.high < -margin:
            return Equivalence(margin, "no", OUTSIDE, low, high, p, shown)
        return Equivalence(margin, "undecided", NOT_SHOWN, low, high, p, shown)
    return Equivalence(margin, "undecided", difference.note or NO_TEST)


def difference_json(difference: Estimate, margin: float | None) -> dict[str, object]:
    """Return a difference for JSON with the answer of two one-sided tests against *margin* in its unit."""
    return difference.to_json() | {"equivalence": equivalence(difference, margin).data}


def one_sided_tests(value: float, se: float, margin: float, df: int | None = None) -> float:
    """Return p of two one-sided tests that |true value| < margin (Schuirmann 1987); by t with *df*, else normal."""
    lower, upper = (value + margin) / se, (value - margin) / se
    if df is None:
        return max(_normal_above(lower), _normal_above(-upper))
    from scipy import stats  # scipy.stats takes a while to import

    return float(max(stats.t.sf(lower, df), stats.t.cdf(upper, df)))


def smallest_shown(difference: Estimate) -> float | None:
    """Return the smallest true difference that such data show with a chance of about 80% (two-sided, 0.05); else None.

    Half the 95% interval times (q97.5 + q80) / q97.5 of t with its degrees of freedom, or of the normal distribution.
    """
    if difference.low is None or difference.high is None or difference.high <= difference.low:
        return None
    wide, power = _quantile(0.975, difference.df), _quantile(POWER, difference.df)
    return (difference.high - difference.low) / 2 * (wide + power) / wide


def _by_error(difference: Estimate) -> tuple[float | None, float | None]:
    """Return the 90% interval by the standard error; None without an interval."""
    if difference.value is None or difference.se is None or difference.low is None:
        return None, None
    reach = _quantile(1 - LEVEL, difference.df) * difference.se
    return difference.value - reach, difference.value + reach


def _quantile(level: float, df: int | None) -> float:
    from scipy import stats

    return float(stats.norm.ppf(level) if df is None else stats.t.ppf(level, df))


def _normal_above(z: float) -> float:
    return 0.5 * math.erfc(z / math.sqrt(2))
