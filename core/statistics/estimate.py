"""A number with its interval, or the reason why there is none."""

from dataclasses import dataclass, field
from typing import Any

from evenhand.core.errors import N_


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence with {named} values, so that a page can translate the sentence first."""

    message: str
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message.format(**self.values) if self.values else self.message


NO_TWO_LABELS = Note(N_("No item has labels by two annotators yet."))
NO_SHARED_ITEM = Note(N_("These two annotators have no labelled item in common yet."))
NO_LABEL = Note(N_("There are no labels yet."))
ONE_CATEGORY = Note(N_("Only one category was used: chance agreement is complete, so there is nothing to measure."))
CATEGORY_UNUSED = Note(N_("Nobody used this category."))
TOO_FEW_CATEGORIES = Note(N_("With a single category there is nothing to disagree about."))
ONE_ITEM = Note(N_("One item: no interval."))
ONE_UNIT = Note(N_("There is only one unit: no interval."))
WILSON = N_("Wilson's interval")
MODIFIED_WILSON = N_("Wilson's interval, modified for rare counts")
DIRICHLET = N_("Dirichlet posterior over label patterns")
CLUSTERED = N_("Bayesian bootstrap of units, with weight for unseen label patterns")
BOOTSTRAP = N_("percentiles of resampled units")
SUBSETS = N_("values of all subsets of the units")
ACROSS_SEEDS = N_("t over the seeds of a model")
AGAINST_SEEDS = N_("Welch's t over the seeds of a model and those of its placebo")
BY_T = N_("t on the jackknife over units")
BY_T_SKEWED = N_("t on the jackknife over units, corrected for skewness")
BY_T_OF_DRAWS = N_("t on the spread of resampled units")
BY_SANDWICH = N_("t on the robust standard error over units")
BY_T_CROSSED = N_("t on the two-way jackknife")
ALL_ALIKE = Note(N_("All units gave the same value, so their spread cannot be estimated: no interval."))
NO_VARIATION = Note(N_("All resamples gave the same value: this interval is less informative than it looks."))

AT_ITS_BOUND = Note(
    N_(
        "The maximum reaches 1 where both choose each category equally often; near a bound a 95% interval is"
        " not reliable, so there is none."
    )
)


def few_units(units: int) -> Note:
    """The mark of an interval that rests on fewer than 15 units (SPEC 6)."""
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
    def method_data(self) -> dict[str, Any]:
        """`method` for JSON, and `p` of the neutral value where it is a test; empty without an interval."""
        if self.low is None or not self.method:
            return {}
        return {"method": self.method} | ({} if self.p is None else {"p": self.p})

    @classmethod
    def undefined(cls, reason: Note, units: int = 0) -> "Estimate":
        """A measure that has no value, and why."""
        return cls(None, units=units, reason=reason)
