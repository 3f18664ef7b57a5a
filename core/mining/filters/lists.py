"""The packaged word lists of the filters, made ready to search: one compiled expression a keyword."""

import re
from collections.abc import Iterable
from functools import cache

from evenhand.core.resources import table
from evenhand.core.text.word_lists import PLACE, joined
from evenhand.core.types import Side, Span

PRONOUNS = ("他", "她")


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


def apart(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterable[Span]:
    """The matches that share no character with text[start:end], as spans."""
    if pattern.search(text) is None:  # of nearly every sentence
        return ()
    spans = (hit.span() for hit in pattern.finditer(text))
    return (span for span in spans if span[1] <= start or span[0] >= end)
