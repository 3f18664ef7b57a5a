"""The packaged word lists of the filters, made ready to search: one compiled expression a keyword."""

import re
from collections.abc import Iterator
from functools import cache

from core.resources import table
from core.types import Side, Span

NEVER = re.compile(r"(?!)")
REACH = 8  # characters on either side of a keyword within which a listed word that holds it must stand
LOOKBEHIND = re.compile(r"\(\?<([!=])([^()]*)\)(.+)")
CLASS = re.compile(r"\[([^\^\]\-\\]+)\](?![?*+{])(.*)")
PRONOUNS = ("他", "她")
PLACE = "〇"  # stands for the keyword in patterns


def alternatives(words: str) -> list[str]:
    """*words* cut at every | that stands in no bracket."""
    found, depth = [""], 0
    for character in words:
        depth += (character in "([") - (character in ")]")
        if character == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [word for word in found if word]


def _literal_first(word: str) -> list[str]:
    """The same expression with a plain character at its beginning: (?<!尤)其他 -> 其(?<!尤其)他.

    Where every alternative begins with a plain character, `re` skips to places
    where one of them stands: ten times faster than trying each everywhere.
    """
    looking = LOOKBEHIND.match(word)
    if looking is not None:
        sign, before, rest = looking.groups()
        return [f"{one[0]}(?<{sign}(?:{before}){one[0]}){one[1:]}" for one in _literal_first(rest)]
    listed = CLASS.match(word)
    if listed is not None:
        return [character + listed[2] for character in listed[1]]
    return [word]


def joined(words: list[str]) -> re.Pattern[str]:
    """One expression for all alternatives of *words*, in their order."""
    parts = [part for some in words for word in alternatives(some) for part in _literal_first(word)]
    return re.compile("|".join(parts)) if parts else NEVER


@cache
def inside_words(keyword: str, *, sure: bool) -> re.Pattern[str]:
    """Words that hold the characters of *keyword* and are not it: 吉他, 妇女, 对外公布; `sure`: however it is cut."""
    rows = [row for row in table("mining_inside") if keyword in row["keywords"].split()]
    return joined([row["words"] for row in rows if (row["sure"] != "") == sure])


@cache
def accepted_words(keyword: str) -> re.Pattern[str]:
    """Compounds of *keyword* whose swapped form people say although no dictionary has it: 女兵."""
    rows = [row["words"] for row in table("mining_accepted") if keyword in row["keywords"].split()]
    return joined([words.replace(PLACE, re.escape(keyword)) for words in rows])


@cache
def group_of(keyword: str) -> str:
    """Who *keyword* can be: person, partner, child, parent, sibling or elder; person where it is not listed."""
    return next((row["group"] for row in table("mining_groups") if keyword in row["keywords"].split()), "person")


@cache
def gendered_words(keyword: str, side: Side) -> re.Pattern[str]:
    """Other words with a gender that can refer to *keyword*: those of its own side, all for a pronoun."""
    group, sides = group_of(keyword), {"both", "male", "female"} if keyword in PRONOUNS else {"both", side}
    rows = [row for row in table("mining_gender_terms") if group in row["groups"].split() and row["side"] in sides]
    return joined([row["words"] for row in rows])


@cache
def biological_words(keyword: str, side: Side, *, birth: bool) -> re.Pattern[str]:
    """Words about a body that *keyword* can have; `birth`: those about who gives birth, else all others."""
    any_body = keyword in PRONOUNS or group_of(keyword) == "partner"
    sexes = {"both", "male", "female"} if any_body else {"both", side}
    return joined(
        [row["words"] for row in table("mining_biological") if (row["born"] != "") == birth and row["sex"] in sexes]
    )


@cache
def generic_forms(keyword: str) -> re.Pattern[str]:
    """Patterns in which *keyword* stands for anybody, or a form without gender beside it."""
    rows = [row["pattern"] for row in table("mining_generic") if keyword in row["keywords"].split()]
    return joined([pattern.replace(PLACE, re.escape(keyword)) for pattern in rows])


def touching(pattern: re.Pattern[str], text: str, start: int, end: int) -> Span | None:
    """The first match that shares a character with text[start:end], as a span, or None."""
    for hit in pattern.finditer(text, max(0, start - REACH), end + REACH):
        if hit.start() < end and start < hit.end():
            return hit.span()
    return None


def apart(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Span]:
    """The matches that share no character with text[start:end], as spans."""
    for hit in pattern.finditer(text):
        if hit.end() <= start or hit.start() >= end:
            yield hit.span()
