"""The built-in sets: BEC-Pro in English, Spanish and Basque, and a Chinese set of our own.

Sources: Bartl, Nissim and Gatt 2020 (English); the thesis on Spanish and Basque, Tables 4.3 and B.4. Every choice
that the sources leave open is an option (docs/association.md).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from evenhand.core.association.sets import AssociationSet, Attribute, Person, Profession, Template, check_size
from evenhand.core.association.user_sets import read_persons, read_professions, read_templates
from evenhand.core.resources import DATA, table

Language = Literal["en", "es", "es-noart", "eu", "zh"]
Spelling = Literal["corrected", "printed"]
Determiners = Literal["given", "none"]
Wife = Literal["mujer", "esposa"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True, slots=True)
class Choices:
    """What the sources leave open.

    `spelling`: the thesis's misprints as printed, or corrected. `an`: "an" before vowels (the released English file
    has "a" throughout). `ergative`: the Basque subject of templates 2 to 5 in the ergative (the thesis shows none).
    `determiners`: "given" puts this/my and their like before nouns; None: as the language's source has it (English
    and Chinese given, Spanish given so that the two mujer differ, Basque none). `wife`: Spanish mujer or esposa.
    """

    spelling: Spelling = "corrected"
    an: bool = False
    ergative: bool = False
    determiners: Determiners | None = None
    wife: Wife = "mujer"


@dataclass(frozen=True, slots=True)
class Files:
    """A user's own lists in place of the built-in ones; None keeps the built-in list."""

    templates: Path | None = None
    persons: Path | None = None
    professions: Path | None = None

    @property
    def names(self) -> dict[str, str]:
        """The file names of those that are given."""
        given = {"templates": self.templates, "persons": self.persons, "professions": self.professions}
        return {part: path.name for part, path in given.items() if path is not None}


def association_set(language: Language, choices: Choices | None = None, files: Files | None = None) -> AssociationSet:
    """The set of *language* with these *choices*, its lists replaced by those of *files*.

    Raises BadFile, naming file and line, for a list of the user that cannot be used.
    """
    choices, files = choices or Choices(), files or Files()
    templates = read_templates(files.templates) if files.templates else _templates(language)
    persons = read_persons(files.persons) if files.persons else _persons(language, choices)
    professions = read_professions(files.professions) if files.professions else _professions(language, choices)
    options = _options(language, choices) | files.names
    attribute: Attribute = "piece" if language == "zh" else "word"
    return check_size(AssociationSet(language, templates, persons, professions, attribute, choices.an, options))


def _options(language: Language, choices: Choices) -> dict[str, str]:
    """How the set was made: only the choices that count in this language."""
    if language == "zh":
        return {"determiners": choices.determiners or "given"}
    if language == "en":
        return {"article": "a/an" if choices.an else "a", "determiners": choices.determiners or "given"}
    found = {"spelling": choices.spelling, "determiners": _determiners(language, choices)}
    if language == "eu":
        return found | {"ergative": "yes" if choices.ergative else "no"}
    return found | {"wife": choices.wife}


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
        found = read_persons(DATA / "association_zh_persons.tsv")
        return found if given else tuple(Person(one.word, one.gender, "", one.pair) for one in found)
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
    """In the order of the released English file: male and balanced from the end of the table, female from its start."""
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
