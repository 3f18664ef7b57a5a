"""What can be said of a change, in one of four verdicts (SPEC 9.1), each with what it rests on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from evenhand.core.before_after.compare import Cost
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.equivalence import equivalence

Verdict = Literal["less", "knows less", "none shown", "more"]
VERDICTS: dict[Verdict, str] = {
    "less": N_("leans less"),
    "knows less": N_("leans less because it knows less"),
    "none shown": N_("no difference shown"),
    "more": N_("leans more"),
}
COST_MARGIN = 0.05  # ln: a perplexity of 5 % more
NO_PLACEBO = Note(
    N_(
        "There is no placebo. Training on any text changes a model, and how much of this change is due to"
        " training alone is unknown."
    )
)
ONE_SEED = Note(
    N_("There is only one seed, and another might change the model differently. Use three seeds, each with a placebo.")
)
NO_COST = Note(N_("The cost is unknown: no held-out text was given."))
NO_INTERVAL = Note(N_("Without an interval, no difference can be shown."))


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The verdict on a change, in English, and the `notes` on what it cannot rule out.

    `equivalence`, `remark`: whether the change is smaller than the user's `margin`, and why.
    """

    verdict: str
    margin: float | None = None
    remark: Note | None = None
    equivalence: dict[str, object] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(cls, change: Estimate, verdict: str, notes: Sequence[Note], margin: float | None) -> "Finding":
        """Return the verdict on a change with its interval, or without one."""
        bare = change.low is None and not (change.note or change.reason)
        equal = equivalence(change, margin)
        return cls(
            verdict=verdict, margin=margin, remark=equal.remark, equivalence=equal.data,
            notes=(*notes, *([NO_INTERVAL] if bare else [])),
        )  # fmt: skip


def finding(
    effect: Estimate, costs: Sequence[Cost], *, margin: float | None, cost_margin: float = COST_MARGIN, placebo: bool,
    seeds: int,
) -> Finding:  # fmt: skip
    """Return the verdict on an *effect* on the size, below 0: leans less.

    *costs*: of every changed model; their mean rise is compared with *cost_margin* (ln of a token's probability).
    """
    notes = [*([] if placebo else [NO_PLACEBO]), *([ONE_SEED] if seeds < 2 else []), *([] if costs else [NO_COST])]
    rises = [cost.rise.value for cost in costs if cost.rise.value is not None]
    knows_less = bool(rises) and sum(rises) / len(rises) > cost_margin
    verdicts = (VERDICTS["knows less" if knows_less else "less"], VERDICTS["none shown"], VERDICTS["more"])
    return Finding.of(effect, verdict_of(effect, verdicts), notes, margin)


def verdict_of(change: Estimate, verdicts: tuple[str, str, str]) -> str:
    """Return the verdict for an interval below 0, one that holds 0 or is missing, or one above 0."""
    if change.low is None or change.high is None:
        return verdicts[1]
    return verdicts[0] if change.high < 0 else verdicts[2] if change.low > 0 else verdicts[1]
