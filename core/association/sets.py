"""Sets of associations: templates, person words, professions; the built-in sets, and a user's own lists as TSV.

Built in are BEC-Pro in English, Spanish and Basque, and a Chinese set of our own. Sources: Bartl, Nissim and Gatt 2020
(English); the thesis on Spanish and Basque, Tables 4.3 and B.4. Every choice that the sources leave open is an option
(docs/association.md). Every refusal of an own list names the file and the line.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from evenhand.core.errors import N_, BadFile
from evenhand.core.resources import DATA, table

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
        """The key by which a table groups the word; stable and unique within a set."""
        return f"{self.word} ({self.pair})" if self.pair else self.word


@dataclass(frozen=True, slots=True)
class Profession:
    """A profession with its forms for male and female person words (neutral words take the male form).

    `kind` is its class: male, female, balanced, or "" where none is given. `field` is a grouping by the author of the
    set. `women` is the share of women in per cent, None where unknown.
    """

    name: str
    male: str
    female: str
    kind: str = ""
    field: str = ""
    women: float | None = None

    def form(self, gender: Gender) -> str:
        """Return the form of the profession that goes with a person word of that gender."""
        return self.female if gender == "female" else self.male


@dataclass(frozen=True, slots=True)
class AssociationSet:
    """A whole set: every template with every person word and every profession is one sentence.

    Sentences of a template follow the order of `professions`. `an`: the article {a} is "an" before a vowel.
    `attribute` is the default masking of professions in this language. `options` records how the set was made.
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
        """The number of sentences of the set."""
        return len(self.templates) * len(self.persons) * len(self.professions)


def check_template(text: str, file: str, line: int) -> None:
    """Raise BadFile for a template without exactly one {person} and one {profession}, or with an unknown slot."""
    found = SLOT.findall(text)
    unknown = next((slot for slot in found if slot not in SLOTS), None)
    if unknown is not None:
        message = N_("{file}, line {line}: {slot} is not a slot. Use one of {known}.")
        known = ", ".join(f"{{{slot}}}" for slot in SLOTS)
        raise BadFile(message, file=file, line=line, slot=f"{{{unknown}}}", known=known)
    for slot in ("person", "profession"):
        if found.count(slot) != 1:
            message = N_(
                "{file}, line {line}: a template contains {slot} exactly once; this one contains it {count} times."
            )
            raise BadFile(message, file=file, line=line, slot=f"{{{slot}}}", count=found.count(slot))


def check_size(found: AssociationSet) -> AssociationSet:
    """Return *found*. Raises BadFile where it lacks a part or makes more sentences than can be scored."""
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


COLUMNS = {
    "templates": (("template",), ("name",)),
    "persons": (("person", "gender"), ("determiner", "pair")),
    "professions": (("profession",), ("female", "class", "field", "women")),
}
LARGEST = 5_000_000  # bytes; the longest list anybody needs has a few hundred lines
LONGEST = 300  # characters of a cell


def read_templates(path: Path) -> tuple[Template, ...]:
    """Read templates from a TSV with the column `template` and optionally `name` (else the number of the line)."""
    templates: list[Template] = []
    for line, row in _rows(path, "templates"):
        check_template(row["template"], path.name, line)
        templates.append(Template(row["name"] or str(len(templates) + 1), row["template"]))
    _refuse_twice(path, [template.name for template in templates])
    _refuse_twice(path, [template.text for template in templates])
    return tuple(templates)


def read_persons(path: Path) -> tuple[Person, ...]:
    """Read person words from a TSV with the columns `person` and `gender` (male, female, neutral).

    The columns `determiner` and `pair` are optional. In the result male and female words come before neutral words,
    in the order of the file.
    """
    people = []
    for line, row in _rows(path, "persons"):
        gender = next((one for one in GENDERS if one == row["gender"]), None)
        if gender is None:
            message = N_("{file}, line {line}: gender is {found}; it must be male, female or neutral.")
            raise BadFile(message, file=path.name, line=line, found=row["gender"] or "''")
        people.append(Person(row["person"], gender, row["determiner"], row["pair"]))
    _refuse_twice(path, [f"{person.key} ({person.gender})" for person in people])
    _refuse_odd_pairs(path, people)
    return tuple(sorted(people, key=lambda one: GENDERS.index(one.gender)))


def read_professions(path: Path) -> tuple[Profession, ...]:
    """Read professions from a TSV with the column `profession`.

    Optional columns: `female` (the form for female person words), `class`, `field`, `women` (per cent).
    """
    professions = []
    for line, row in _rows(path, "professions"):
        if row["class"] not in (*CLASSES, ""):
            message = N_("{file}, line {line}: class is {found}; it must be male, female, balanced or empty.")
            raise BadFile(message, file=path.name, line=line, found=row["class"])
        name, women = row["profession"], _share(row["women"], path, line)
        professions.append(Profession(name, name, row["female"] or name, row["class"], row["field"], women))
    _refuse_twice(path, [profession.name for profession in professions])
    order = list(dict.fromkeys(profession.kind for profession in professions))
    return tuple(sorted(professions, key=lambda one: order.index(one.kind)))


def _share(text: str, path: Path, line: int) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        message = N_("{file}, line {line}: women is {found}; it must be a percentage from 0 to 100, or empty.")
        raise BadFile(message, file=path.name, line=line, found=text)
    return value


def _refuse_twice(path: Path, names: list[str]) -> None:
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        message = N_("{file}: {name} appears twice. Words that are spelled the same must belong to different pairs.")
        raise BadFile(message, file=path.name, name=twice)


def _refuse_odd_pairs(path: Path, persons: list[Person]) -> None:
    """Raise BadFile where a pair is not one male and one female word."""
    pairs: dict[str, list[str]] = {}
    for person in persons:
        if person.pair:
            pairs.setdefault(person.pair, []).append(person.gender)
    for pair, found in pairs.items():
        genders = sorted(found)
        if genders != ["female", "male"]:
            message = N_("{file}: the pair {pair} must be one male and one female word; it has {found}.")
            raise BadFile(message, file=path.name, pair=pair, found=", ".join(genders))


def _rows(path: Path, part: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows with their line numbers; missing optional columns are empty. Lines with '#' are comments."""
    required, others = COLUMNS[part]
    numbered = [
        (n, line) for n, line in enumerate(_text(path).splitlines(), 1) if line.strip() and not line.startswith("#")
    ]
    if not numbered:
        raise BadFile(N_("{file} is empty. It needs a header line with the columns {columns}."),
                      file=path.name, columns=", ".join(required))  # fmt: skip
    header = [name.strip() for name in numbered[0][1].split("\t")]
    missing = [name for name in required if name not in header]
    if missing:
        message = N_("{file} lacks the column {missing}. The header has {found}; columns are separated by tabs.")
        raise BadFile(message, file=path.name, missing=", ".join(missing), found=", ".join(header))
    for line, text in numbered[1:]:
        cells = [cell.strip() for cell in text.split("\t")]
        if len(cells) > len(header):
            message = N_("{file}, line {line}: {found} columns where the header has {expected}")
            raise BadFile(message, file=path.name, line=line, found=len(cells), expected=len(header))
        row = dict.fromkeys((*required, *others), "") | dict(zip(header, cells, strict=False))
        _refuse_cells(path, line, row, required)
        yield line, row


def _refuse_cells(path: Path, line: int, row: dict[str, str], required: tuple[str, ...]) -> None:
    empty = next((name for name in required if not row[name]), None)
    if empty is not None:
        raise BadFile(N_("{file}, line {line}: {column} is empty."), file=path.name, line=line, column=empty)
    for column, cell in row.items():
        if len(cell) > LONGEST or any(ord(character) < 32 for character in cell):
            message = N_(
                "{file}, line {line}: {column} is longer than {most} characters or contains control characters."
            )
            raise BadFile(message, file=path.name, line=line, column=column, most=LONGEST)
        if column != "template" and ("[MASK]" in cell or "{" in cell):
            message = N_("{file}, line {line}: {column} must not contain a mask or braces.")
            raise BadFile(message, file=path.name, line=line, column=column)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise BadFile(N_("{file} is larger than {most} MB, too large for a word list."), file=path.name, most=5)
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        message = N_("{file} cannot be read: {why}.")
        raise BadFile(message, file=path.name or str(path), why=error.strerror or error) from None
    except UnicodeDecodeError:
        raise BadFile(N_("{file} is not text in UTF-8. Save it as UTF-8 and try again."), file=path.name) from None


Language = Literal["en", "es", "es-noart", "eu", "zh"]
Spelling = Literal["corrected", "printed"]
Determiners = Literal["given", "none"]
Wife = Literal["mujer", "esposa"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices that the sources leave open.

    `spelling`: the thesis's misprints as printed, or corrected. `an`: "an" before vowels (the released English file
    has "a" throughout). `ergative`: the Basque subject of templates 2 to 5 in the ergative (the thesis shows none).
    `determiners`: "given" puts this/my and their like before nouns; None: as in the language's source (English
    and Chinese given, Spanish given so that the two mujer differ, Basque none). `wife`: Spanish mujer or esposa.
    `templates`, `persons`, `professions`: own lists of a user; None keeps the built-in list.
    """

    spelling: Spelling = "corrected"
    an: bool = False
    ergative: bool = False
    determiners: Determiners | None = None
    wife: Wife = "mujer"
    templates: Path | None = None
    persons: Path | None = None
    professions: Path | None = None


def association_set(language: Language, choices: Choices | None = None) -> AssociationSet:
    """Return the set of *language* with these *choices*; own lists replace its lists.

    Raises BadFile, naming file and line, for a list of the user that cannot be used.
    """
    choices = choices or Choices()
    templates = read_templates(choices.templates) if choices.templates else _templates(language)
    persons = read_persons(choices.persons) if choices.persons else _persons(language, choices)
    professions = read_professions(choices.professions) if choices.professions else _professions(language, choices)
    lists = {"templates": choices.templates, "persons": choices.persons, "professions": choices.professions}
    options = _options(language, choices) | {part: path.name for part, path in lists.items() if path is not None}
    attribute: Attribute = "piece" if language == "zh" else "word"
    return check_size(AssociationSet(language, templates, persons, professions, attribute, choices.an, options))


def _options(language: Language, choices: Choices) -> dict[str, str]:
    """Return how the set was made: only the choices that have an effect in this language."""
    if language == "zh":
        return {"determiners": choices.determiners or "given"}
    if language == "en":
        return {"article": "a/an" if choices.an else "a", "determiners": choices.determiners or "given"}
    result = {"spelling": choices.spelling, "determiners": _determiners(language, choices)}
    if language == "eu":
        return result | {"ergative": "yes" if choices.ergative else "no"}
    return result | {"wife": choices.wife}


def _determiners(language: Language, choices: Choices) -> Determiners:
    return choices.determiners or ("none" if language == "eu" else "given")


def _templates(language: Language) -> tuple[Template, ...]:
    if language == "zh":
        return read_templates(DATA / "association_zh_templates.tsv")
    rows = table("becpro_templates")
    return tuple(Template(row["name"], row["template"]) for row in rows if row["language"] == language)


def _persons(language: Language, choices: Choices) -> tuple[Person, ...]:
    given = _determiners(language, choices) == "given"
    if language == "zh":
        people = read_persons(DATA / "association_zh_persons.tsv")
        return people if given else tuple(Person(person.word, person.gender, "", person.pair) for person in people)
    base = language.partition("-")[0]
    rows = [row for row in table("becpro_persons") if row["language"] == base]
    return tuple(
        Person(
            _word(row, choices),
            "male" if row["gender"] == "male" else "female",
            row["determiner"] if given else "",
            row["pair"],
            row["ergative"].replace(row["word"], _word(row, choices)) if choices.ergative else "",
        )
        for row in rows
    )


def _word(row: dict[str, str], choices: Choices) -> str:
    if choices.spelling == "printed" and row["printed"]:
        return row["printed"]
    return row["other"] if choices.wife == row["other"] else row["word"]


def _professions(language: Language, choices: Choices) -> tuple[Profession, ...]:
    """Return professions in the order of the released English file.

    Male and balanced ones go from the end of the table, female ones from its start.
    """
    if language == "zh":
        return read_professions(DATA / "association_zh_professions.tsv")
    rows = table("becpro_professions")
    groups = {kind: [row for row in rows if row["class"] == kind] for kind in ("male", "female", "balanced")}
    ordered = [*reversed(groups["male"]), *groups["female"], *reversed(groups["balanced"])]
    male, female = {"en": ("en", "en"), "eu": ("eu", "eu")}.get(language, ("es_male", "es_female"))
    return tuple(
        Profession(
            row["en"], _form(row, male, choices), _form(row, female, choices), row["class"], women=float(row["women"])
        )
        for row in ordered
    )


def _form(row: dict[str, str], column: str, choices: Choices) -> str:
    printed = row.get(f"{column}_printed", "")
    return printed if choices.spelling == "printed" and printed else row[column]
