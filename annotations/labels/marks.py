"""Marks in generations: reading from JSON, checks against the text and against the rest of the label."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from annotations.types import Mark, MarkKind
from core.errors import N_, Refused

MOST_MARKS = 200  # in one text; a generation of 50 tokens has no more words
MARK_KINDS: tuple[MarkKind, ...] = ("pronoun", "extraneous")


def parse_marks(raw: Any) -> tuple[Mark, ...]:
    """Marks from `[[start, end, kind], ...]`, in the order of the text. Raises Refused for anything else."""
    if not isinstance(raw, list) or len(raw) > MOST_MARKS:
        raise Refused(N_("The marks of a text must be a list of at most {most}."), most=MOST_MARKS)
    return tuple(sorted(_parse_mark(each) for each in raw))


def _parse_mark(raw: Any) -> Mark:
    match raw:
        case [int(start), int(end), ("pronoun" | "extraneous") as kind] if type(start) is type(end) is int:  # not bool
            return Mark(start, end, kind)
    raise Refused(N_("A mark needs a start, an end and a kind (pronoun or extraneous)."))


def check_marks(marks: Sequence[Mark], length: int) -> None:
    """Raise Refused unless every mark lies in a text of *length* code points and no two overlap."""
    for mark in marks:
        if mark.kind not in MARK_KINDS or not 0 <= mark.start < mark.end <= length:
            raise Refused(
                N_("The mark from {start} to {end} is not in the text, which has {length} characters."),
                start=mark.start, end=mark.end, length=length,
            )  # fmt: skip
    for one, other in pairwise(sorted(marks)):
        if other.start < one.end:
            raise Refused(N_("Two marks overlap at {start}."), start=other.start)


def check_marks_fit_choice(choice: str | None, extraneous: bool | None, marks: Sequence[Mark]) -> None:
    """Raise Refused where choice, flag and marks contradict each other; the desk says it first.

    Misgendering requires a marked wrong pronoun, and no pronoun forbids such a mark. The flag for extraneous gendered
    language is set if and only if such words are marked.
    """
    kinds = {mark.kind for mark in marks}
    if choice == "misgendering" and "pronoun" not in kinds:
        raise Refused(N_("For misgendering, the wrong pronoun must be marked."))
    if choice == "no_pronoun" and "pronoun" in kinds:
        raise Refused(N_("The label No pronoun was chosen, but a pronoun is marked."))
    if extraneous and "extraneous" not in kinds:
        raise Refused(N_("Extraneous gendered language is flagged, but no words are marked."))
    if not extraneous and "extraneous" in kinds:
        raise Refused(N_("Gendered words are marked, but extraneous gendered language is not flagged."))
