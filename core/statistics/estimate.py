"""A number with its interval, or the reason why there is none; proportions, p-values of several intervals at once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.errors import N_
from evenhand.core.language import Say, same


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence with {named} values, so that a page can translate the sentence first."""

    message: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message.format(**self.values) if self.values else self.message

    def to_json(self) -> dict[str, object]:
        """Return the message and its values, so that a page can translate a stored note."""
        return {"message": self.message, "values": self.values}


def note_text(note: Note | str | None, say: Say = same) -> str:
    """Return a note in the language of *say*, also the values that are messages; "" for None."""
    if note is None or isinstance(note, str):
        return note or ""
    values = {name: say(value) if isinstance(value, str) else value for name, value in note.values.items()}
    return str(Note(say(note.message), values))


Reasons = Literal["first", "every", "value", "messages", "note"]
DASH = "—"
NO_INTERVAL = Note("This measure has no interval.")
NO_TWO_LABELS = Note(N_("No item has labels by two annotators yet."))
NO_SHARED_ITEM = Note(N_("These two annotators have no labelled item in common yet."))
NO_LABEL = Note(N_("There are no labels yet."))
ONE_CATEGORY = Note(N_("Only one category was used: chance agreement is 1, so the coefficient is undefined."))
CATEGORY_UNUSED = Note(N_("This category was not used."))
TOO_FEW_CATEGORIES = Note(N_("There is only one category, so agreement is undefined."))
ONE_ITEM = Note(N_("One item: no interval."))
ONE_UNIT = Note(N_("There is only one unit: no interval."))
WILSON = N_("Wilson interval")
MODIFIED_WILSON = N_("Wilson interval, modified for rare counts")
DIRICHLET = N_("Dirichlet posterior over label patterns")
CLUSTERED = N_("Bayesian bootstrap over units, with weight for unseen label patterns")
BOOTSTRAP = N_("percentiles of resampled units")
SUBSETS = N_("values of all subsets of the units")
ACROSS_SEEDS = N_("t interval over the seeds of a model")
AGAINST_SEEDS = N_("Welch's t over the seeds of a model and those of its placebo")
BY_T = N_("jackknife t interval, clustered by unit")
BY_T_SKEWED = N_("jackknife t interval, clustered by unit, corrected for skewness")
BY_T_OF_DRAWS = N_("t interval with bootstrap standard error, clustered by unit")
BY_SANDWICH = N_("t interval with cluster-robust standard error")
BY_T_CROSSED = N_("two-way jackknife t interval")
ALL_ALIKE = Note(N_("All units gave the same value, so their spread cannot be estimated: no interval."))
NO_VARIATION = Note(N_("All resamples gave the same value: the interval understates the uncertainty."))

AT_ITS_BOUND = Note(
    N_(
        "The maximum reaches 1 where both choose each category equally often; near a bound a 95% interval is"
        " not reliable, so there is none."
    )
)


def few_units(units: int) -> Note:
    """Return the mark of an interval over fewer than 15 units (docs/methods.md#intervals)."""
    return Note(N_("Few units ({units}): t interval."), {"units": units})


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure with its 95% interval.

    `value`, `low`, `high` are None where undefined; `reason` then says why the
    value is missing, `note` why the interval is, or what it rests on. `units`
    is the number of items that went in. `se` is the standard error that the
    resampling gave (None for a Wilson interval); `df` the degrees of freedom
    of a t interval (None: it is none). `method` names how the interval was
    made, in English; "" where there is none. Where that method is a test of its
    own, `p` is its two-sided p of the neutral value and `inner` its 90% interval;
    elsewhere both follow from `se` and `df`.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    units: int = 0
    reason: Note | None = None
    note: Note | None = None
    se: float | None = None
    df: int | None = None
    method: str = ""
    clusters: int = 0
    p: float | None = None
    inner: tuple[float, float] | None = None

    @property
    def missing(self) -> Note:
        """Return why the value, or else the interval, is missing."""
        return self.reason or self.note or NO_INTERVAL

    @property
    def method_data(self) -> dict[str, object]:
        """`method` for JSON, and `p` of the neutral value where it is a test; empty without an interval."""
        if self.low is None or not self.method:
            return {}
        return {"method": self.method} | ({} if self.p is None else {"p": self.p})

    def __str__(self) -> str:
        return self.text()

    def text(self, form: str = ".2f", *, note: bool = False) -> str:
        """Return `0.42 [0.31, 0.53]`, the number alone without an interval, or a dash with the reason.

        *note*: with what the interval rests on, or why it is missing, in brackets.
        """
        if self.value is None:
            return f"{DASH} ({self.missing_text(form)})"
        rests = f"({self.note})" if note and self.note else ""
        return " ".join(part for part in (f"{self.value:{form}}", self.interval_text(form), rests) if part)

    def missing_text(self, form: str = ".2f") -> str:
        """Return the reason for a missing value, after the lower end if that end is known."""
        least = "" if self.low is None else f"at least {self.low:{form}}, "
        return f"{least}{self.reason}"

    def interval_text(self, form: str = ".2f") -> str:
        """Return `[0.31, 0.53]`, or "" without an interval."""
        return "" if self.low is None or self.high is None else f"[{self.low:{form}}, {self.high:{form}}]"

    def numbers(self, count: str = "") -> dict[str, object]:
        """Return value, low and high, and the units under the key *count* ("": without them)."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {**ends, **({count: self.units} if count else {})}

    def reason_of(self, key: str) -> dict[str, str]:
        """Return why the value is missing as `<key>_reason`; empty where there is a value."""
        return {} if self.value is not None else {f"{key}_reason": str(self.reason)}

    def under(self, name: str, count: str = "") -> dict[str, object]:
        """Return the numbers under *name*, and `<name>_reason` without a value or `<name>_note` of the interval."""
        note = {f"{name}_note": str(self.note)} if self.note and self.value is not None else {}
        return {name: self.numbers(count), **self.reason_of(name), **note}

    def named(self, name: str) -> dict[str, object]:
        """Return the numbers as columns *name*, `<name>_low` and `<name>_high`, and `<name>_reason` without a value."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high, **self.reason_of(name)}

    def to_json(self, count: str = "n", *, reasons: Reasons = "first") -> dict[str, object]:
        """Return the public form: the numbers, why one is missing, and how the interval was made.

        *count* is the key of the units ("": without them). *reasons* says what a missing number has: "first" a reason
        of the value, or else of both ends; "every" one of each; "value" one of the value only; "messages" the message
        and its values; "note" also the note itself. The last two are for records that a page translates.
        """
        data = self.numbers(count) | self._reasons(reasons)
        if reasons not in ("first", "messages"):
            return data | self.method_data
        return data | {key: fact for key, fact in (("method", self.method), ("clusters", self.clusters)) if fact}

    def interval_json(self) -> dict[str, object]:
        """Return low and high with their reasons and the units, for a value that has a key of its own."""
        data = self.to_json("units", reasons="every")
        return {key: fact for key, fact in data.items() if not key.startswith("value")}

    def _reasons(self, reasons: Reasons) -> dict[str, object]:
        missing = self.reason if self.value is None else self.note
        if reasons == "messages":
            keys = ("value_reason", "value_values") if self.value is None else ("note", "note_values")
            return {} if missing is None else dict(zip(keys, (missing.message, missing.values), strict=True))
        if reasons == "note":
            key, note = ("value" if self.value is None else "low"), missing if self.low is None else None
            return {} if note is None else {f"{key}_reason": str(note), "note": note.to_json()}
        if self.value is None:
            return {f"{key}_reason": str(self.reason) for key in (self.numbers() if reasons == "every" else ("value",))}
        if reasons == "value":
            return {}
        if self.low is None:
            return dict.fromkeys(("low_reason", "high_reason"), str(self.note or NO_INTERVAL))
        return {"note": str(self.note)} if self.note else {}

    @classmethod
    def undefined(cls, reason: Note, units: int = 0) -> "Estimate":
        """Return an estimate without a value, and the reason."""
        return cls(None, units=units, reason=reason)


_NORMAL_97_5 = 1.9599639845400545  # 97.5% of the standard normal distribution lie below
_POISSON_5 = (0.0512933, 0.3553615, 0.8176914)  # means of which 5% give 1, 2, 3 or more: half of chi2(2x) at 5%


def wilson(successes: float, units: int, *, nothing: Note) -> Estimate:
    """Return *successes* of *units* as a share of 1, with the Wilson score interval, 95% (Wilson 1927).

    No units: undefined, with *nothing* as the reason.
    """
    if units == 0:
        return Estimate.undefined(nothing)
    # statsmodels' proportion_confint to the last digit (a test compares them): importing it takes a second, for which
    # every page with a share on it would wait.
    share, square = successes / units, _NORMAL_97_5 * _NORMAL_97_5
    whole = 1 + square / units
    middle = (share + square / (2 * units)) / whole
    reach = _NORMAL_97_5 * math.sqrt(share * (1.0 - share) / units + square / (4.0 * units * units)) / whole
    # At 0 and 1 rounding leaves the ends 1e-17 outside or off the mark.
    low, high = max(0.0, float(middle - reach)), min(1.0, float(middle + reach))
    return Estimate(share, low, high, units, method=WILSON)


def modified_wilson(successes: float, units: int, *, nothing: Note) -> Estimate:
    """Return `wilson` with a wider interval where one to three units are on one side (Brown, Cai and DasGupta 2001).

    For so few units Wilson's own interval covers as little as 83%, so the end on that side becomes the exact end for a
    Poisson count. Wilson's interval stays where *successes* has a fraction, as with unfinished items.
    """
    estimate = wilson(successes, units, nothing=nothing)
    if estimate.value is None or successes != int(successes):
        return estimate
    successes = int(successes)
    assert estimate.low is not None and estimate.high is not None
    few = _POISSON_5[: 2 if units <= 50 else 3]
    low, high, others = estimate.low, estimate.high, units - successes
    if 0 < successes <= len(few):
        low = min(low, few[successes - 1] / units)
    if 0 < others <= len(few):
        high = max(high, 1 - few[others - 1] / units)
    return replace(estimate, low=low, high=high, method=MODIFIED_WILSON)


def holm(estimates: Sequence[Estimate]) -> list[bool]:
    """Return which estimates still differ from 0 after Holm's adjustment, at 0.05.

    An estimate is tested by its own `p` where it has one, else by its value over its standard error: as t where the
    interval is a t interval, else as normal. False for an estimate that is not tested: it has none of these, an error
    of 0, or no interval.
    """
    tested = [i for i, e in enumerate(estimates) if e.value is not None and e.se and e.low is not None]
    stays = [False] * len(estimates)
    for i, p in zip(tested, holm_adjusted([two_sided(estimates[i]) for i in tested]), strict=True):
        stays[i] = bool(p <= 0.05)
    return stays


def holm_adjusted(p: ArrayLike) -> NDArray[np.float64]:
    """Return the p-values *p* (0 to 1) after Holm's adjustment (Holm 1979), in the same order, at most 1."""
    # statsmodels' multipletests to the last digit (a test compares them): it collects garbage in every call, for which
    # a page of the app would wait half a second.
    found = np.asarray(p, dtype=np.float64)
    order = np.argsort(found)
    adjusted = np.empty_like(found)
    adjusted[order] = np.minimum(np.maximum.accumulate(found[order] * np.arange(len(found), 0, -1)), 1.0)
    return adjusted


def two_sided(estimate: Estimate) -> float:
    """Return p of 0 for an estimate: its own, else from its standard error by t or the normal distribution."""
    assert estimate.value is not None and estimate.se
    if estimate.p is not None:
        return estimate.p
    if estimate.df is not None:
        from scipy import stats  # scipy.stats takes a while to import

        return 2 * float(stats.t.sf(abs(estimate.value) / estimate.se, estimate.df))
    return math.erfc(abs(estimate.value) / estimate.se / math.sqrt(2))
