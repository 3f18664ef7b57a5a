"""Reports of comparisons of before and after; as JSON the record of a run.

A change gets one of four verdicts (docs/before_after.md), each with its basis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeVar

from evenhand.core.before_after.compare import Comparison, Cost, Shares
from evenhand.core.errors import N_, BadFile
from evenhand.core.runs.loop import Report
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.equivalence import Scale, equivalence
from evenhand.core.typed_json import Writers, fields_of, from_json

ChangeOutcome = Literal["less", "knows less", "none shown", "more"]
CHANGE_OUTCOMES: dict[ChangeOutcome, str] = {
    "less": N_("leans less"),
    "knows less": N_("leans less; predicts held-out text less well"),
    "none shown": N_("no difference shown"),
    "more": N_("leans more"),
}
Verdict = TypeVar("Verdict", bound=str)
COST_MARGIN = 0.05  # ln: a perplexity of 5 % more
NO_PLACEBO = Note(
    N_(
        "There is no placebo. Training on any text changes a model, so it is unknown how much of this change"
        " is due to training alone."
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


@dataclass(frozen=True, kw_only=True)
class ChangeFinding(Finding):
    """The verdict on a changed model. `code`: which one; None in records that do not name it."""

    code: ChangeOutcome | None = None

    @property
    def outcome(self) -> str:
        """The verdict in its present wording, by its code; without a code as it was stored."""
        return self.verdict if self.code is None else CHANGE_OUTCOMES[self.code]


def finding(
    effect: Estimate, costs: Sequence[Cost], *, margin: float | None, cost_margin: float = COST_MARGIN, placebo: bool,
    seeds: int,
) -> ChangeFinding:  # fmt: skip
    """Return the verdict on an *effect* on the size, below 0: leans less.

    *costs*: of every changed model; their mean rise is compared with *cost_margin* (ln of a token's probability).
    """
    notes = [*([] if placebo else [NO_PLACEBO]), *([ONE_SEED] if seeds < 2 else []), *([] if costs else [NO_COST])]
    rises = [cost.rise.value for cost in costs if cost.rise.value is not None]
    knows_less = bool(rises) and sum(rises) / len(rises) > cost_margin
    codes: tuple[ChangeOutcome, ChangeOutcome, ChangeOutcome] = (
        "knows less" if knows_less else "less", "none shown", "more",
    )  # fmt: skip
    code = verdict_of(effect, codes)
    return ChangeFinding(**fields_of(Finding.of(effect, CHANGE_OUTCOMES[code], notes, margin)), code=code)


def verdict_of(change: Estimate, verdicts: tuple[Verdict, Verdict, Verdict]) -> Verdict:
    """Return the verdict for an interval below 0, around 0 (or missing), or above 0."""
    if change.low is None or change.high is None:
        return verdicts[1]
    return verdicts[0] if change.high < 0 else verdicts[2] if change.low > 0 else verdicts[1]


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """A model and how its numbers were made. `table`: of its run, where finished runs are compared."""

    model: str
    signature: str = ""
    table: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedModel(Comparison):
    """A model after the change, or a placebo, against the model before. `way`: how it was made."""

    model: str
    signature: str = ""
    way: str = ""
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class PairMeans:
    """The means of a word pair by model: `mean` of signed values, `size` of their sizes (log10); None: no value."""

    pair: str
    items: int
    models: dict[str, dict[str, float] | None]


@dataclass(frozen=True, slots=True)
class PartEffect(Estimate):
    """The effect on a part of the items."""

    items: int = 0


def recorded(estimate: Estimate) -> dict[str, object]:
    """Return an estimate for a record, with its note, so that a page can translate it."""
    return estimate.to_json("units", reasons="note")


IN_RECORD: Writers = {Estimate: recorded, PartEffect: lambda part: recorded(part) | {"items": part.items}}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The effect on pairs that were left out of the swap in training, and on the others."""

    pairs: list[str]
    left_out: PartEffect
    swapped: PartEffect


@dataclass(frozen=True, slots=True)
class MovedItem:
    """An item that moved far; values in log10."""

    row: str
    sentence: str
    pair: str
    before: float
    after: float
    difference: float


@dataclass(frozen=True, kw_only=True)
class ModelsReport(ChangeFinding, Report[MeasuredModel]):
    """A model before a change against the models after and placebos, on the same items.

    `effect`: after - before of the size, minus the placebo's if there is one. `text`: the name of the held-out text
    and its number of `texts`.
    """

    before: MeasuredModel
    after: list[ChangedModel]
    placebo: list[ChangedModel] = field(default_factory=list)
    beyond: list[Comparison] = field(default_factory=list)
    effect: Estimate
    cost_margin: float | None = None
    source: dict[str, object] = field(default_factory=dict)
    sentences: int = 0
    by_pair: list[PairMeans] = field(default_factory=list)
    left_out: LeftOut | None = None
    moved: list[MovedItem] = field(default_factory=list)
    text: dict[str, object] | None = None
    also_in_json: ClassVar = ("rests",)
    written_with: ClassVar = IN_RECORD

    @property
    def rests(self) -> list[str]:
        """The notes in English."""
        return [str(note) for note in self.notes]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure before and after. `label`: words to translate, one after the other; `change`: after - before."""

    label: tuple[str, ...]
    before: float | None
    after: float | None
    change: Estimate
    items: int

    @property
    def key(self) -> str:
        """The label in English, by which the measure is named in files."""
        return " · ".join(self.label)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureShares(Shares):
    """Right and wrong of one measure. `label`: words to translate; `model`: after, among several."""

    label: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class MovedRow:
    """A row of two runs: its values, or answers, before and after."""

    text: str
    before: float | str
    after: float | str


@dataclass(frozen=True, kw_only=True)
class RunsReport(Finding, Report[MeasuredModel]):
    """Finished runs, or judgements by people, before and after. The verdict is on the first of `measures`.

    `unit`: what the intervals are over. `alone`: rows that not every run has. `contexts`, `annotators`: of people.
    """

    kind: str
    scale: Scale
    unit: str
    measures: list[Measure]
    items: int
    before: MeasuredModel
    after: MeasuredModel
    afters: list[MeasuredModel] = field(default_factory=list)
    placebos: list[MeasuredModel] = field(default_factory=list)
    source: dict[str, object] = field(default_factory=dict)
    shares: list[MeasureShares] = field(default_factory=list)
    moved: list[MovedRow] = field(default_factory=list)
    alone: int = 0
    contexts: int = 0
    annotators: int = 0
    written_with: ClassVar = IN_RECORD


def read_record(record: Mapping[str, object]) -> ModelsReport | RunsReport | None:
    """Return the report that a record of a run holds; None where it holds none."""
    try:
        return from_json(RunsReport, record) if "measures" in record else from_json(ModelsReport, record)
    except BadFile:
        return None
