"""Values shared by annotations: projects, guidelines, items, operations, progress."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from evenhand.core.typed_json import Writers, fields_of
from evenhand.core.types import Side, Span

Kind = Literal["sentences", "generations"]
Form = Literal["original", "masked"]
Status = Literal["pending", "accepted", "rejected"]
GoldRule = Literal["unanimous", "majority"]
Plan = Literal["all", "stop"]
FIRST_SIGN, SECOND_SIGN = "①", "②"  # before the texts of a comparison where they are one
LONGEST_SCALE = 100  # of a draft, which is not checked yet


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice or reject reason: labels store `code`, `key` is only how it is typed."""

    code: str
    key: str
    zh: str
    en: str


BY_CODE: Writers = {Choice: lambda choice: choice.code}  # how JSON names a choice


@dataclass(frozen=True, slots=True)
class Question:
    """A question of an own scheme: a scale of whole numbers from `low` to `high`, or, without them, a text.

    A label stores the answer to a scale as one of its `points` among its reasons, and the text as its note.
    `low_zh` ... `high_en`: what the ends of the scale are called, "" for nothing. `required`: no label without it.
    """

    code: str
    key: str
    zh: str
    en: str
    low: int | None = None
    high: int | None = None
    low_zh: str = ""
    low_en: str = ""
    high_zh: str = ""
    high_en: str = ""
    required: bool = False

    @property
    def points(self) -> tuple[Choice, ...]:
        """The answers of a scale, from its low end; () for a text, and for a scale that is none."""
        if self.low is None or self.high is None or self.high - self.low > LONGEST_SCALE:
            return ()
        return tuple(
            Choice(f"{self.code}:{n}", f"{self.key}{n}", self.zh and f"{self.zh}：{n}", self.en and f"{self.en}: {n}")
            for n in range(self.low, self.high + 1)
        )


@dataclass(frozen=True, slots=True)
class Scheme:
    """The parts of an own scheme in a guideline version, in addition to choices and flags (its reasons).

    `spans`: the kinds of spans that can be marked. `needs`: (code of a choice or flag, code of the kind of span that
    must be marked with it). `about`: (code, description). `questions`: scales, and at most one text. `compares`: its
    items are comparisons, and its choices are first, second and perhaps tie.
    """

    spans: tuple[Choice, ...] = ()
    needs: tuple[tuple[str, str], ...] = ()
    about: tuple[tuple[str, str], ...] = ()
    questions: tuple[Question, ...] = ()
    compares: bool = False

    @property
    def scales(self) -> tuple[Question, ...]:
        """The questions with a scale."""
        return tuple(question for question in self.questions if question.points)

    @property
    def points(self) -> tuple[Choice, ...]:
        """The answers of all scales."""
        return tuple(point for scale in self.scales for point in scale.points)


@dataclass(frozen=True, slots=True)
class Guideline:
    """One version of a guideline. `scheme` None: its labels are those of the built-in scheme."""

    id: int
    version: int
    text: str
    choices: tuple[Choice, ...]
    reasons: tuple[Choice, ...]
    created: str
    changes: str = ""  # what is new in this version, in words for annotators
    scheme: Scheme | None = None

    @property
    def compares(self) -> bool:
        """True for a guideline of comparisons."""
        return self.scheme is not None and self.scheme.compares

    @property
    def options(self) -> tuple[Choice, ...]:
        """All that a label can name by a code: choices, reasons or flags, points of scales, kinds of spans."""
        return (*self.choices, *self.beside, *(self.scheme.spans if self.scheme else ()))

    @property
    def beside(self) -> tuple[Choice, ...]:
        """The codes that a label may have among its reasons: reasons or flags, and the points of scales."""
        return (*self.reasons, *(self.scheme.points if self.scheme else ()))


@dataclass(frozen=True, slots=True)
class Project:
    """A guideline with its items and annotators, and how they are labelled."""

    id: int
    uid: str
    name: str
    kind: Kind
    language: str
    per_item: int
    gold: GoldRule
    presentation: Form
    opinion_model: str | None
    seed: int
    created: str
    archived: str | None
    rescue: bool = False  # may an adjudicator accept an item that the labels reject?
    checked: bool = True  # are the rules of a label checked before it is saved?
    blur: bool = False  # is a text blurred until it is opened?
    pause_minutes: int | None = None  # when the desk suggests a pause; None: never
    open_text: bool | None = None  # may texts leave in plain? None: the default of the kind
    doubled: int | None = None  # number of items with `per_item` labels, the others get one; None: all get `per_item`
    plan: Plan = "all"  # "stop": no more labels after a first reject, except for a random share
    share: float = 0.1  # the random share under the plan "stop"
    retest: float = 0.0  # the share of an annotator's own items that are retested
    retest_hours: int = 24  # least hours between the two labels
    licence: str = ""  # under which the set is passed on
    source_statement: str = ""  # where the texts come from, and by which right

    def changes(self, wanted: "Project") -> dict[str, Any]:
        """Return the values of *wanted* that differ from these, by field."""
        return {field: value for field, value in fields_of(wanted).items() if value != getattr(self, field)}


@dataclass(frozen=True, slots=True)
class Annotator:
    """A person who labels."""

    id: int
    uid: str
    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """What is labelled: for `sentences` a text with its keyword, spans in half-open code points.

    `second`: of a comparison the other text; `extra` then names the model of each as `model` and `second_model`.
    """

    id: int
    uid: str
    pair: str
    side: Side | Literal[""]
    text: str
    word: Span | None
    stem: Span | None
    keyword: str | None
    counterpart: str | None
    file: str
    line: int
    extra: dict[str, Any]
    context: str | None = None
    status: Status = "pending"
    gold: str | None = None  # the choice that counts, by the labels or a settlement
    second: str | None = None

    @property
    def whole_text(self) -> str:
        """The text; of a comparison both, numbered as the item has them."""
        return self.text if self.second is None else f"{FIRST_SIGN} {self.text}\n\n{SECOND_SIGN} {self.second}"


class Mark(NamedTuple):
    """A mark in the text of a generation: half-open code points, and its kind.

    "pronoun": a wrong pronoun for who is meant; "extraneous": gendered words
    that the context does not imply; or a kind of the project's own scheme. Stored as [start, end, kind].
    """

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One decision from a desk. `choice` None undoes the label; "skip" stores no label.

    `left`: which text of a comparison was on the left; `choice` is first or second all the same.
    """

    op_id: str
    item: str
    choice: str | None
    desk: str
    revision: int
    base: str | None = None
    reasons: tuple[str, ...] = ()
    note: str = ""
    seconds: float | None = None
    form_shown: Form = "original"
    extraneous: bool | None = None
    spans: tuple[Mark, ...] = ()
    tags: tuple[str, ...] = ()  # free words, in a pilot
    guideline: int | None = None  # the version in view; None: the newest
    left: Literal["first", "second"] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to an operation: stored (perhaps as superseded by another desk's label) or refused with a reason.

    `reason` is an English sentence marked for translation, `values` its {names}. `conflict`: another desk of the same
    annotator was first; the operation is stored as superseded. `latest`: the op_id of the valid operation, the `base`
    of the next one.
    """

    op_id: str
    stored: bool
    reason: str = ""
    conflict: bool = False
    latest: str | None = None
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """One stored label of an annotator, as the desk lists it; `choice` None: undone.

    `covered`: the word of its item is still covered.
    """

    item: Item
    choice: str | None
    reasons: tuple[str, ...]
    note: str
    op_id: str
    revision: int
    created: str
    superseded: bool
    after_reveal: bool = False
    extraneous: bool | None = None
    spans: tuple[Mark, ...] = ()
    tags: tuple[str, ...] = ()
    covered: bool = False


@dataclass(frozen=True, slots=True)
class CellProgress:
    """An annotator's own counts in one cell; `quota` None: as many as there are."""

    pair: str
    side: Side | Literal[""]
    labelled: int
    accepted: int
    quota: int | None
    items: int


@dataclass(frozen=True, slots=True)
class OwnProgress:
    """An annotator's progress, from their own labels only.

    `total` is this annotator's share of the items; `pace` is labels per hour over the last labels without breaks, None
    with too few labels; `hours_left` = (total - labelled) / pace.
    """

    labelled: int
    total: int
    pace: float | None
    hours_left: float | None
    cells: tuple[CellProgress, ...]


@dataclass(frozen=True, slots=True)
class CellCount:
    """The items of one cell by status."""

    pair: str
    side: Side | Literal[""]
    quota: int | None
    items: int
    accepted: int
    rejected: int
    pending: int


@dataclass(frozen=True, slots=True)
class ProjectCounts:
    """Counts of items; those set `aside` are among the pending.

    `by_labels[n]` is the number of items with n blind labels.
    """

    items: int
    pending: int
    accepted: int
    rejected: int
    aside: int
    by_labels: dict[int, int]
    cells: tuple[CellCount, ...]
