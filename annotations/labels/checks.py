"""Checks of a label: its codes and marks against the guideline and the text, its parts against each other."""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from evenhand.annotations.types import Guideline, Kind, Mark, Operation
from evenhand.core.errors import N_, Refused

MOST_MARKS = 200  # in one text; a generation of 50 tokens has no more words
MARK_KINDS = ("pronoun", "extraneous")  # of the built-in scheme
LONGEST_KIND = 40


def check_label(
    guideline: Guideline, operation: Operation, text: str, *, kind: Kind, compares: bool, checked: bool
) -> None:
    """Raise Refused unless a label of this version on *text* can be stored.

    *kind*: of the project; *compares*: the item is a comparison; *checked*: the parts of a label have to fit each
    other.
    """
    check_codes(guideline, operation.choice, operation.reasons)
    named = operation.reasons or any(tag.strip() for tag in operation.tags)  # a tag is a future criterion
    if operation.choice == "reject" and not named and not operation.note.strip():
        raise Refused(N_("A reject needs a reason or a note."))
    if kind != "generations":
        if operation.spans or operation.extraneous is not None:
            raise Refused(N_("Marks and the flag for extraneous gendered language are for generations only."))
        return
    if compares != guideline.compares:
        raise Refused(N_("This version of the guideline does not apply to this kind of item."))
    check_flag(guideline, operation.extraneous)
    check_marks(operation.spans, len(text), mark_kinds(guideline))
    check_marked_words(operation.spans, text)
    check_answers(guideline, operation.reasons, operation.note, required=checked)
    if checked:
        check_label_fits(guideline, operation.choice or "", operation.reasons, operation.extraneous, operation.spans)


def check_codes(guideline: Guideline, choice: str | None, reasons: Sequence[str]) -> None:
    """Raise Refused for a choice or a reason that this version does not have; None: no choice was made."""
    if choice is not None and choice not in {option.code for option in guideline.choices}:
        raise Refused(N_("{choice} is not a choice in this guideline."), choice=choice[:LONGEST_KIND])
    unknown = set(reasons) - {option.code for option in guideline.beside} if reasons else set()
    if unknown:
        named = ", ".join(sorted(unknown))[: 2 * LONGEST_KIND]
        raise Refused(N_("{reason} is not a reason in this guideline."), reason=named)


def parse_marks(raw: Any) -> tuple[Mark, ...]:
    """Return marks from `[[start, end, kind], ...]`, in the order of the text. Raises Refused for anything else."""
    if not isinstance(raw, list) or len(raw) > MOST_MARKS:
        raise Refused(N_("The marks of a text must be a list of at most {most}."), most=MOST_MARKS)
    return tuple(sorted(_parse_mark(entry) for entry in raw))


def _parse_mark(raw: Any) -> Mark:
    match raw:
        case [int(start), int(end), str(kind)] if type(start) is type(end) is int:  # not bool
            if 0 < len(kind) <= LONGEST_KIND:
                return Mark(start, end, kind)
    raise Refused(N_("A mark needs a start, an end and a kind."))


def mark_kinds(guideline: Guideline) -> tuple[str, ...]:
    """Return the kinds of marks that a label under this version can have."""
    return MARK_KINDS if guideline.scheme is None else tuple(span.code for span in guideline.scheme.spans)


def check_marks(marks: Sequence[Mark], length: int, kinds: Sequence[str] = MARK_KINDS) -> None:
    """Raise Refused unless every mark is of *kinds* and in a text of *length* code points, and no two overlap."""
    for mark in marks:
        if mark.kind not in kinds:
            raise Refused(N_("{kind} is not a kind of mark in this guideline."), kind=mark.kind)
        if not 0 <= mark.start < mark.end <= length:
            raise Refused(
                N_("The mark from {start} to {end} is not in the text, which has {length} characters."),
                start=mark.start, end=mark.end, length=length,
            )  # fmt: skip
    for one, other in pairwise(sorted(marks)):
        if other.start < one.end:
            raise Refused(N_("Two marks overlap at {start}."), start=other.start)


def check_marked_words(marks: Sequence[Mark], text: str) -> None:
    """Raise Refused for a mark in *text* without a letter, digit or picture, as of a lone quotation mark."""
    for mark in marks:
        kinds = {unicodedata.category(name) for name in text[mark.start : mark.end]}
        if not any(kind[0] in "LN" or kind in ("So", "Sm") for kind in kinds):  # pictures are symbols, some are arrows
            message = N_("The mark from {start} to {end} has no word in it.")
            raise Refused(message, start=mark.start, end=mark.end)


def check_marks_fit_choice(choice: str | None, extraneous: bool | None, marks: Sequence[Mark]) -> None:
    """Raise Refused if choice, flag and marks contradict each other; the desk says it first.

    Misgendering requires a marked wrong pronoun, and no pronoun forbids such a mark. The flag for extraneous gendered
    language is set if and only if such words are marked.
    """
    kinds = {mark.kind for mark in marks}
    if choice == "misgendering" and "pronoun" not in kinds:
        raise Refused(N_("For misgendering, the wrong pronoun must be marked."))
    if choice == "no_pronoun" and "pronoun" in kinds:
        raise Refused(N_("“No pronoun” was chosen, but a pronoun is marked."))
    if extraneous and "extraneous" not in kinds:
        raise Refused(N_("Extraneous gendered language is flagged, but no words are marked."))
    if not extraneous and "extraneous" in kinds:
        raise Refused(N_("Gendered words are marked, but extraneous gendered language is not flagged."))


def check_label_fits(
    guideline: Guideline, choice: str, reasons: Sequence[str], extraneous: bool | None, marks: Sequence[Mark]
) -> None:
    """Raise Refused if the parts of a label of a generation contradict each other under this version.

    In an own scheme, a choice or flag that needs a span of some kind must have one.
    """
    if guideline.scheme is None:
        check_marks_fit_choice(choice, extraneous, marks)
        return
    marked = {mark.kind for mark in marks}
    for code, kind in guideline.scheme.needs:
        if code in (choice, *reasons) and kind not in marked:
            raise Refused(N_("{code} needs a marked span of the kind {kind}."), code=code, kind=kind)


def check_answers(guideline: Guideline, reasons: Sequence[str], note: str, *, required: bool) -> None:
    """Raise Refused for two answers to one scale; *required*: also where a question has none that must have one."""
    for question in guideline.scheme.questions if guideline.scheme else ():
        given = {point.code for point in question.points} & set(reasons)
        if len(given) > 1:
            message = N_("{code} takes one answer, but this label has {count}.")
            raise Refused(message, code=question.code, count=len(given))
        if required and question.required and not (given if question.points else note.strip()):
            raise Refused(N_("The question {code} has no answer yet."), code=question.code)


def check_flag(guideline: Guideline, extraneous: bool | None) -> None:
    """Raise Refused for the flag of the built-in scheme on a label of an own one."""
    if guideline.scheme is not None and extraneous is not None:
        raise Refused(N_("The scheme of this project has no flag for extraneous gendered language."))
