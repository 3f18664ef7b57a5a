"""What can be said of a change, in one of four verdicts (SPEC 9.1), each with what it rests on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The verdict on a change, in English and as a code.

    `effect`: after - before of the size, less the placebo's where there is one; below 0 leans less. `notes`: what the
    verdict cannot rule out. `equivalence`, `remark`: whether the effect is smaller than the user's margin, and why.
    """

    verdict: str
    code: Verdict | None = None
    effect: Estimate
    remark: Note | None = None
    equivalence: dict[str, object] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    also_in_json: ClassVar = ("rests",)

    @property
    def rests(self) -> list[str]:
        """The notes in English."""
        return [str(note) for note in self.notes]


def finding(
    effect: Estimate, costs: Sequence[Cost], *, margin: float | None, cost_margin: float = COST_MARGIN, placebo: bool,
    seeds: int,
) -> Finding:  # fmt: skip
    """Return the verdict on an *effect* with its interval.

    *costs*: of every changed model; their mean rise is compared with *cost_margin* (ln of a token's probability).
    """
    notes = [] if placebo else [NO_PLACEBO]
    notes += [ONE_SEED] if seeds < 2 else []
    notes += [] if costs else [NO_COST]
    if effect.low is None and not (effect.note or effect.reason):
        notes.append(NO_INTERVAL)
    code, equivalent = _verdict(effect, costs, cost_margin), equivalence(effect, margin)
    return Finding(
        verdict=VERDICTS[code], code=code, effect=effect, remark=equivalent.remark, equivalence=equivalent.data,
        notes=tuple(notes),
    )  # fmt: skip


def _verdict(effect: Estimate, costs: Sequence[Cost], cost_margin: float) -> Verdict:
    if effect.low is None or effect.high is None:
        return "none shown"
    if effect.low > 0:
        return "more"
    if effect.high >= 0:
        return "none shown"
    rises = [cost.rise.value for cost in costs if cost.rise.value is not None]
    return "knows less" if rises and sum(rises) / len(rises) > cost_margin else "less"
