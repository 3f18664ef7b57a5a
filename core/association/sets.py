"""The parts of a corpus of associations: templates, person words, professions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from evenhand.core.errors import N_, BadFile

Gender = Literal["male", "female", "neutral"]
Attribute = Literal["word", "piece"]
Target = Literal["all", "first_piece"]
GENDERS: tuple[Gender, ...] = get_args(Gender)
ATTRIBUTES: tuple[Attribute, ...] = get_args(Attribute)
TARGETS: tuple[Target, ...] = get_args(Target)
CLASSES = ("male", "female", "balanced")

SLOT = re.compile(r"\{(\w*)\}")
SLOTS = ("person", "profession", "a", "un", "el")
MOST_SENTENCES = 200_000


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with the slots {person} and {profession}, each once; {a}, {un} and {el} are articles."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Person:
    """A person word: a noun or pronoun, its determiner ("" for none), and the pair that it belongs to ("" for none).

    Two words of one `pair` differ in gender only (he, she). `key` tells apart words that read the same. `acting` is
    the form as the subject of templates 2 and up where the language has a case for it ("": the same).
    """

    word: str
    gender: Gender
    determiner: str = ""
    pair: str = ""
    acting: str = ""

    @property
    def key(self) -> str:
        """What a table groups by; stable, distinct inside a set."""
        return f"{self.word} ({self.pair})" if self.pair else self.word


@dataclass(frozen=True, slots=True)
class Profession:
    """A profession with its forms beside male and female person words (neutral ones take the male form).

    `kind` is its class: male, female, balanced, or "" where none is given; `field` a grouping of the set's author;
    `women` the share of women in per cent, None where not known.
    """

    name: str
    male: str
    female: str
    kind: str = ""
    field: str = ""
    women: float | None = None

    def form(self, gender: Gender) -> str:
        """The word as it stands beside a person word of that gender."""
        return self.female if gender == "female" else self.male


@dataclass(frozen=True, slots=True)
class AssociationSet:
    """A whole set: every template with every person word and every profession is one sentence.

    `professions` stand in the order in which sentences run inside a template. `an`: the article {a} is "an" before
    a vowel. `attribute` is how this language's professions are masked unless asked otherwise. `options` says how
    the set was made, for records.
    """

    language: str
    templates: tuple[Template, ...]
    persons: tuple[Person, ...]
    professions: tuple[Profession, ...]
    attribute: Attribute = "word"
    an: bool = False
    options: dict[str, str] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The classes of its professions, in the order in which they come."""
        return tuple(dict.fromkeys(profession.kind for profession in self.professions))

    @property
    def sentences(self) -> int:
        """How many sentences it makes."""
        return len(self.templates) * len(self.persons) * len(self.professions)


def check_template(text: str, file: str, line: int) -> None:
    """Refuse a template that has not each of {person} and {profession} once, or a slot that is none. Raises BadFile."""
    found = SLOT.findall(text)
    unknown = next((slot for slot in found if slot not in SLOTS), None)
    if unknown is not None:
        message = N_("{file}, line {line}: {slot} is not a slot. Slots are {known}.")
        known = ", ".join(f"{{{slot}}}" for slot in SLOTS)
        raise BadFile(message, file=file, line=line, slot=f"{{{unknown}}}", known=known)
    for slot in ("person", "profession"):
        if found.count(slot) != 1:
            message = N_(
                "{file}, line {line}: a template contains {slot} exactly once; this one contains it {count} times."
            )
            raise BadFile(message, file=file, line=line, slot=f"{{{slot}}}", count=found.count(slot))


def check_size(found: AssociationSet) -> AssociationSet:
    """*found*, or BadFile where it lacks a part or makes more sentences than anybody would score."""
    parts: dict[str, Sequence[object]] = {
        "templates": found.templates,
        "persons": found.persons,
        "professions": found.professions,
    }
    for name, part in parts.items():
        if not part:
            raise BadFile(N_("The list of {part} is empty; a set needs at least one line in each list."), part=name)
    if found.sentences > MOST_SENTENCES:
        message = N_("This set makes {sentences} sentences; one run scores at most {most}. Split the set.")
        raise BadFile(message, sentences=f"{found.sentences:,}", most=f"{MOST_SENTENCES:,}")
    return found
