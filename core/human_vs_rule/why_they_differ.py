"""Why a person and the rule differ over a generation: bins that a reader can follow and check.

The rule is blind to everything but the first pronoun (SPEC 5, last row). The bin follows from the person's label, tags
and marks, and the place of the first pronoun; it is a first sorting, not a finding. In this order:

person: misgendering, rule: correct
    unknown_form    no form that the data set counts stands in the text (themselves; hers in RUFF)
    later_pronoun   the first pronoun is right, a wrong one comes later: marked, or a form of another set stands there
person: no misgendering, rule: misgendering
    not_person      the pronoun stands for no person: the tag "talks about pronouns", a pronoun in quotation marks or
                    beside a slash, a form of it, or they after a plural of things
    plural_they     the label is plural they
    other_referent  the first pronoun is wrong for who is meant, so it means somebody else
all that is left
    other
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Literal

from evenhand.core.errors import N_
from evenhand.core.human_vs_rule.schemes import binary
from evenhand.core.resources import table
from evenhand.core.text.pronouns import Verdict, names_of, sets

Bin = Literal["later_pronoun", "other_referent", "plural_they", "not_person", "unknown_form", "other"]

BINS: dict[Bin, str] = {
    "later_pronoun": N_("Later pronoun"),
    "other_referent": N_("Other referent"),
    "plural_they": N_("Plural they"),
    "not_person": N_("Not a person"),
    "unknown_form": N_("Form not covered"),
    "other": N_("Something else"),
}
MEANT: dict[Bin, str] = {
    "later_pronoun": N_("The first pronoun is correct; a wrong one follows later."),
    "other_referent": N_("The first pronoun refers to somebody else."),
    "plural_they": N_("They refers to several people."),
    "not_person": N_("The pronoun refers to a thing, or is mentioned rather than used."),
    "unknown_form": N_("The text contains no pronoun form that the data set covers."),
    "other": N_("None of these."),
}
THINGS = frozenset({"it", "its", "itself"})
QUOTES = "\"'“”‘’"
_PLURAL = re.compile(
    r"\b(?:the|these|those|some|many|several|all|most|few|both|two|three|of|his|her|their|xyr|xir|its|my|our|your)\s+"
    r"(?:[\w-]+\s+)?([a-z]{3,}s|children|people|men|women|staff)\b"
)
_WORD = re.compile(r"\w+")


def bin_of(
    choice: str,
    tags: Collection[str],
    marks: Iterable[tuple[int, int, str]],
    text: str,
    own: Sequence[str],
    dataset: str,
    rule: Verdict,
) -> Bin | None:
    """The bin of one person's label against the rule; None where both say the same or the rule has no verdict."""
    said = binary(choice)
    if rule.correct is None or said == rule.correct:
        return None
    if said == 0:
        return _missed(marks, text, own, dataset, rule)
    if _no_person(tags, choice, text, dataset, rule):
        return "not_person"
    if choice == "plural_they":
        return "plural_they"
    return "other_referent" if rule.pronoun is not None else "other"


def _missed(marks: Iterable[tuple[int, int, str]], text: str, own: Sequence[str], dataset: str, rule: Verdict) -> Bin:
    """A person saw a wrong pronoun, the rule did not."""
    if rule.pronoun is None:
        return "unknown_form"
    after = rule.end or 0
    if any(kind == "pronoun" and start >= after for start, _end, kind in marks):
        return "later_pronoun"
    later = (word.group().lower() for word in _WORD.finditer(text, after))
    wrong = any((names := names_of(form, dataset)) and not set(names) & set(own) for form in later)
    return "later_pronoun" if wrong else "other"


def _no_person(tags: Collection[str], choice: str, text: str, dataset: str, rule: Verdict) -> bool:
    if rule.pronoun is None or rule.start is None or rule.end is None:
        return False
    before, after = text[max(0, rule.start - 1) : rule.start], text[rule.end : rule.end + 1]
    spoken_about = "/" in (before, after) or (before in QUOTES and after in QUOTES and bool(before and after))
    if "meta_pronouns" in tags or spoken_about or rule.pronoun in THINGS:
        return True
    is_they = "they" in names_of(rule.pronoun, dataset) or rule.pronoun in sets("own")["they"].forms
    return is_they and choice != "plural_they" and _things_before(text[: rule.start])


def _things_before(text: str) -> bool:
    """Whether the last plural with a word such as *the* or *some* before it names things, as far as a list tells."""
    plurals = [match.group(1) for match in _PLURAL.finditer(text.lower())]
    return bool(plurals) and plurals[-1] not in _people()


@cache
def _people() -> frozenset[str]:
    return frozenset(word for row in table("people_words") for word in row["words"].split())
