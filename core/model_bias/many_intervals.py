"""Many intervals at once: how many exclude the neutral value by chance alone, and which stay after Holm (SPEC 6)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.core.errors import N_
from evenhand.core.language import Count, significant
from evenhand.core.statistics import Estimate, Note, holm


@dataclass(frozen=True, slots=True)
class ManyIntervals:
    """A table of intervals: `intervals` of them, `by_chance` expected to exclude the neutral value if all were neutral.

    `exclude[i]`: interval i excludes it. `stays[i]`: it does so after Holm's adjustment; False without an interval.
    """

    intervals: int
    by_chance: float
    exclude: tuple[bool, ...]
    stays: tuple[bool, ...]
    neutral: float

    @property
    def sentence(self) -> Note:
        """The sentence below a table."""
        values = {
            "intervals": Count(self.intervals),
            "chance": significant(self.by_chance),
            "neutral": f"{self.neutral:g}",
            "exclude": Count(sum(self.exclude)),
            "stays": Count(sum(self.stays)),
        }
        message = N_(
            "Of {intervals} {intervals:interval|intervals}, about {chance} would exclude {neutral} by chance; here"
            " {exclude} {exclude:does|do}, and {stays} {stays:remains|remain} after the Holm correction."
        )
        return Note(message, values)

    def to_json(self) -> dict[str, float]:
        """Return how many there are, how many exclude the neutral value, and how many would by chance."""
        exclude, stays = sum(self.exclude), sum(self.stays)
        return {"intervals": self.intervals, "by_chance": self.by_chance, "exclude_0": exclude, "after_holm": stays}


def many_intervals(estimates: Sequence[Estimate], *, neutral: float = 0.0) -> ManyIntervals:
    """What the intervals of a table, a heatmap or a list say together; *neutral* is 0.5 for an AUC."""
    moved = [e if e.value is None else replace(e, value=e.value - neutral) for e in estimates]
    exclude = tuple(e.low is not None and e.high is not None and not e.low <= neutral <= e.high for e in estimates)
    intervals = sum(e.low is not None for e in estimates)
    return ManyIntervals(intervals, 0.05 * intervals, exclude, tuple(holm(moved)), neutral)
