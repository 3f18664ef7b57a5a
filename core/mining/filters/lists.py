"""The packaged word lists of the filters, made ready to search: one compiled expression a keyword."""

import re
from collections.abc import Iterator
from functools import cache

from core.resources import table
from core.types import Side, Span

NEVER = re.compile(r"(?!)")
REACH = 8  # characters before a keyword in which a listed word that holds it may begin
PRONOUNS = ("他", "她")
PLACE = "〇"  # stands for the keyword in patterns


def _joined(words: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(word for word in words if word)) if any(words) else NEVER


@cache
def inside_words(keyword: str) -> re.Pattern[str]:
    """Words that hold the characters of *keyword* and are not it: 吉他, 妇女, 对外公布."""
    return _joined([row["words"] for row in table("mining_inside") if keyword in row["keywords"].split()])


@cache
def accepted_words(keyword: str) -> re.Pattern[str]:
    """Compounds of *keyword* whose swapped form people say although no dictionary has it: 女兵."""
    rows = [row["words"] for row in table("mining_accepted") if keyword in row["keywords"].split()]
    return _joined([words.replace(PLACE, re.escape(keyword)) for words in rows])


@cache
def group_of(keyword: str) -> str:
    """Who *keyword* can be: person, partner, child, parent, sibling or elder; person where it is not listed."""
    return next((row["group"] for row in table("mining_groups") if keyword in row["keywords"].split()), "person")


@cache
def gendered_words(keyword: str, side: Side) -> re.Pattern[str]:
    """Other words with a gender that can refer to *keyword*: those of its own side, all for a pronoun."""
    group, sides = group_of(keyword), {"both", "male", "female"} if keyword in PRONOUNS else {"both", side}
    rows = [row for row in table("mining_gender_terms") if group in row["groups"].split() and row["side"] in sides]
    return _joined([row["words"] for row in rows])


@cache
def biological_words(*, birth: bool) -> re.Pattern[str]:
    """Words about the body; `birth`: those about who gives birth, else all others."""
    return _joined([row["words"] for row in table("mining_biological") if bool(row["born"]) == birth])


@cache
def generic_forms(keyword: str) -> re.Pattern[str]:
    """Patterns in which *keyword* stands for anybody, or a form without gender beside it."""
    rows = [row["pattern"] for row in table("mining_generic") if keyword in row["keywords"].split()]
    return _joined([pattern.replace(PLACE, re.escape(keyword)) for pattern in rows])


def touching(pattern: re.Pattern[str], text: str, start: int, end: int) -> Span | None:
    """The first match that shares a character with text[start:end], as a span, or None."""
    for hit in pattern.finditer(text, max(0, start - REACH)):
        if hit.start() >= end:
            return None
        if hit.end() > start:
            return hit.span()
    return None


def apart(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Span]:
    """The matches that share no character with text[start:end], as spans."""
    for hit in pattern.finditer(text):
        if hit.end() <= start or hit.start() >= end:
            yield hit.span()
