"""Values of the inference measure, and its packaged words and sentences: occupations with their class, templates,
gender words; and English articles.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from evenhand.core.resources import table

Label = Literal["entailment", "contradiction", "neutral"]
SetName = Literal["PS", "AS", "NS"]
Kind = Literal["male-stereo", "female-stereo", "neutral", ""]
Gender = Literal["woman", "man", ""]
Language = Literal["en", "ja", "zh"]

LABELS: tuple[Label, ...] = ("entailment", "contradiction", "neutral")
SETS: tuple[SetName, ...] = ("PS", "AS", "NS")
LANGUAGES: tuple[Language, ...] = ("en", "ja", "zh")
BIASED: dict[SetName, tuple[Label, ...]] = {
    "PS": ("entailment",),
    "AS": ("contradiction",),
    "NS": ("entailment", "contradiction"),
}


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A probe for classifiers: does the hypothesis follow from the premise?"""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class Row:
    """One probe of an evaluation set. Its set decides how it counts, never `kind` (docs/nli.md#the-sets).

    `occupation` is the word as written in the premise, `template` names the template; both may be empty in sets of
    users.
    """

    set: SetName
    premise: str
    hypothesis: str
    occupation: str = ""
    kind: Kind = ""
    gender: Gender = ""
    template: str = ""

    @property
    def pair(self) -> SentencePair:
        """The pair for a classifier."""
        return SentencePair(self.premise, self.hypothesis)

    @property
    def stereotype(self) -> Gender:
        """The gender of the occupation's stereotype; empty in NS and where the row does not tell it."""
        return stereotype_of(self.set, self.gender, self.kind)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer of a classifier to one row: its argmax label.

    `stereotype` is the gender of the occupation's stereotype; empty in NS and where it is not known.
    """

    set: SetName
    label: Label
    occupation: str = ""
    stereotype: Gender = ""


def other_gender(gender: Gender) -> Gender:
    """Return the other of the two gender words."""
    return "man" if gender == "woman" else "woman"


def stereotype_of(name: SetName, gender: Gender, kind: Kind) -> Gender:
    """Return the stereotype of a row's occupation: from the gender word of the hypothesis, else from the class.

    *name* is the set of the row. Empty for NS, and where neither *gender* nor *kind* tells it.
    """
    if name == "NS":
        return ""
    if gender:
        return gender if name == "PS" else other_gender(gender)
    return Occupation("", kind).gender


# A vowel letter that is spoken as "you" or "w" takes "a"; a silent h takes "an".
_SPOKEN_AS_CONSONANT = re.compile(r"(?i)(uni(?!n|m)|us[aeu]|ut[ei]|ura|eu|ewe|once\b|one\b|ubiq)")
_SILENT_H = re.compile(r"(?i)(hour|honest|honou?r|heir)")


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation word and its stereotype."""

    word: str
    kind: Kind

    @property
    def gender(self) -> Gender:
        """The gender of the stereotype; empty for a neutral occupation."""
        return "woman" if self.kind == "female-stereo" else "man" if self.kind == "male-stereo" else ""


@dataclass(frozen=True, slots=True)
class Texts:
    """The parts of the sets of a language."""

    occupations: tuple[Occupation, ...]
    templates: tuple[str, ...]
    woman: str
    man: str

    def gender_word(self, gender: Gender) -> str:
        """Return the word for *gender* in the hypothesis."""
        return self.woman if gender == "woman" else self.man


@cache
def occupations(language: Language, as_released: bool = False) -> tuple[Occupation, ...]:
    """Return 100 stereotyped (13 female, 87 male) and 171 neutral (Chinese 166) occupations (docs/nli.md#the-sets).

    *as_released*: the Chinese words of the release, of which 20 name no person or another trade.
    """
    result = []
    for row in table("nli_occupations"):
        word = row["zh_released"] if language == "zh" and as_released and row["zh_released"] else row[language]
        if word:
            result.append(Occupation(word, cast(Kind, row["class"])))
    return tuple(result)


@cache
def packaged_texts(language: Language, part: str) -> tuple[str, ...]:
    """Return the packaged texts of a part: sentence, time, event, woman, man."""
    rows = table("nli_templates")
    return tuple(row["text"] for row in rows if row["language"] == language and row["part"] == part)


@cache
def texts(language: Language, as_released: bool = False) -> Texts:
    """Return all texts from which the packaged sets of a language are made."""
    (woman,), (man,) = packaged_texts(language, "woman"), packaged_texts(language, "man")
    return Texts(occupations(language, as_released), packaged_texts(language, "sentence"), woman, man)


@cache
def training_templates(language: Language) -> tuple[str, ...]:
    """Return 50 templates of the bias-controlled sets, each event at each time; the evaluation uses none of them."""
    gap = " " if language == "en" else ""
    return tuple(
        f"{time}{gap}{event}"
        for event in packaged_texts(language, "event")
        for time in packaged_texts(language, "time")
    )


def fill(template: str, word: str) -> str:
    """Return *template* with *word* in its slot: {x} the word, {a} with "a" or "an", {A} with a capital "A" or "An".

    >>> fill("{A} waits for {x}.", "usher")
    'An usher waits for usher.'
    """
    article = f"{indefinite(word)} {word}"
    return template.replace("{x}", word).replace("{a}", article).replace("{A}", article[0].upper() + article[1:])


def indefinite(word: str) -> str:
    """Return the English article of *word*, by sound: an hour, a university, an usher.

    Rules for common beginnings, not a dictionary; a word that they get wrong can be written into the template.
    """
    vowel = word[:1].lower() in "aeiou" and not _SPOKEN_AS_CONSONANT.match(word)
    return "an" if vowel or _SILENT_H.match(word) else "a"


def digest(lines: list[str]) -> str:
    """Return the SHA-256 of texts in their order, which names a set in a signature."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
