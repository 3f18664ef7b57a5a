"""Values that annotations shares: projects, guidelines, items, what annotators did."""

from dataclasses import dataclass, field
from typing import Any, Literal

from core.types import Side, Span

Kind = Literal["sentences", "generations"]
Form = Literal["original", "masked"]
Status = Literal["pending", "accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice or reject reason: labels store `code`, `key` is only how it is typed."""

    code: str
    key: str
    zh: str
    en: str


@dataclass(frozen=True, slots=True)
class Guideline:
    """One version of what annotators are asked to judge."""

    id: int
    version: int
    text: str
    choices: tuple[Choice, ...]
    reasons: tuple[Choice, ...]
    created: str


@dataclass(frozen=True, slots=True)
class Project:
    """A guideline with its items and annotators."""

    id: int
    uid: str
    name: str
    kind: Kind
    language: str
    per_item: int
    gold: Literal["unanimous", "majority"]
    presentation: Form
    opinion_model: str | None
    seed: int
    created: str
    archived: str | None


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody who labels."""

    id: int
    uid: str
    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """What is labelled: for `sentences` a text with its keyword, spans in half-open code points."""

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


@dataclass(frozen=True, slots=True)
class Operation:
    """One decision from a desk. `choice` None takes the label back; "skip" stores no label."""

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
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of an operation: stored (perhaps beside another desk's label) or refused with a reason."""

    op_id: str
    stored: bool
    reason: str = ""
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """One line of a file that could not be used."""

    file: str
    line: int
    reason: str
    message: str
    values: dict[str, Any] = field(default_factory=dict)
