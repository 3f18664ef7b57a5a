"""The dictionary of the segmenter, and the characters that are surnames."""

from functools import cache
from typing import Any

from core.resources import table


@cache
def dictionary() -> Any:
    """The segmenter, whose `has_word` knows the dictionary; loaded when it is first asked."""
    import rjieba

    return rjieba


def is_word(text: str) -> bool:
    """Whether *text* is a word of jieba's dictionary (349,046 words)."""
    known: bool = dictionary().has_word(text)
    return known


@cache
def surnames(*kinds: str) -> frozenset[str]:
    """The surnames of some kinds: single, double, japanese."""
    return frozenset(
        name for row in table("mining_surnames") if row["kind"] in kinds for name in row["surnames"].split()
    )


def is_surname(text: str) -> bool:
    """Whether *text* is one of the usual Chinese surnames, of one or two characters."""
    return text in surnames("single", "double")
