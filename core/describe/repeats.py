"""Texts that come twice: exactly, but for punctuation and blanks, or but for the keyword."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

LISTED = 50  # groups that are kept with the places of their texts
_MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Repeats:
    """Texts that are the same in one sense.

    `groups`: how many different ones occur twice or more; `texts`: how many texts belong to them; `surplus`: how many
    would go if one of each group stayed, `different`: how many would stay. `places`: of the texts of the first groups.
    """

    groups: int
    texts: int
    surplus: int
    different: int
    places: tuple[tuple[str, ...], ...]


def bare(text: str) -> str:
    """*text* without punctuation, symbols and blanks; letters, digits and characters stay as they are."""
    return _MARKS.sub("", text)


def repeats(keys: Sequence[str | None], places: Sequence[str]) -> Repeats:
    """Return which of *keys* (one a text; None: left out) occur more than once, in the order of their first text.

    *places*: where each text is found.
    """
    first: dict[str, int] = {}
    groups: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        if key is None:
            continue
        if key not in first:
            first[key] = number
        else:
            groups.setdefault(key, [first[key]]).append(number)
    texts = sum(map(len, groups.values()))
    surplus, listed = texts - len(groups), sorted(groups.values())[:LISTED]
    named = tuple(tuple(places[number] for number in group) for group in listed)
    return Repeats(len(groups), texts, surplus, len(keys) - surplus, named)
