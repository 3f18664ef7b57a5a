"""What can be said of a change, in one of four verdicts (SPEC 9.1), each with what it rests on."""

from dataclasses import dataclass
from typing import Any, Literal

from evenhand.core.before_after.compare import Cost
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.equivalence import Equivalence, equivalence

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


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on a change. `effect`: after - before of the size, less the placebo's where there is one; below 0
    leans less. `rests`: what the verdict cannot rule out. `equivalent`: whether the effect is smaller than the user's
    margin.
    """

    verdict: Verdict
    effect: Estimate
    equivalent: Equivalence
    rests: tuple[Note, ...]

    def as_json(self) -> dict[str, Any]:
        """For a record."""
        return {
            "verdict": VERDICTS[self.verdict], "code": self.verdict, "rests": [str(note) for note in self.rests],
            "notes": [note.to_json() for note in self.rests], "remark": self.equivalent.remark.to_json(),
            "equivalence": self.equivalent.data,
        }  # fmt: skip


def finding(
    effect: Estimate, costs: list[Cost], *, margin: float | None, cost_margin: float = COST_MARGIN, placebo: bool,
    seeds: int,
) -> Finding:  # fmt: skip
    """The verdict on an *effect* with its interval. *costs*: of every changed model; their mean rise is compared with
    *cost_margin* (ln of a token's probability)."""
    rests = [] if placebo else [NO_PLACEBO]
    rests += [ONE_SEED] if seeds < 2 else []
    rests += [] if costs else [NO_COST]
    equivalent = equivalence(effect, margin)
    if effect.value is None or effect.low is None or effect.high is None:
        known = effect.note or effect.reason  # stands beside the effect
        return Finding("none shown", effect, equivalent, (*rests, *([] if known else [NO_INTERVAL])))
    if effect.low > 0:
        return Finding("more", effect, equivalent, tuple(rests))
    if effect.high >= 0:
        return Finding("none shown", effect, equivalent, tuple(rests))
    rises = [one.rise.value for one in costs if one.rise.value is not None]
    knows_less = bool(rises) and sum(rises) / len(rises) > cost_margin
    return Finding("knows less" if knows_less else "less", effect, equivalent, tuple(rests))
