"""How much the words beside a place look like those beside names of persons.

总统 before it and 率军 behind it speak for a name, 的 and 了 against one; the scores
are log ratios of frequencies (training/name_contexts.py), to be added to those
of characters.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from core.mining.filters.name_frames import KIN, NO_NAME_TAGS, is_done_by_people, likeness, may_be_name, words_beside
from core.mining.filters.name_shapes import SURE_PLACE, Shape, fits_behind_surname, shape_of
from core.mining.filters.name_words import (
    HAN,
    NAMED_AFTER,
    NAMED_BEFORE,
    PLACE_BEHIND,
    PLACES,
    foreign_score,
    given_score,
    is_rare,
    read_as_none,
    surname_length,
)
from core.resources import table
from core.text.dictionary import AFTER_SURNAME, Token, is_surname, is_word
from core.types import Span

SIDES = ("before", "behind")
NUMBER = re.compile("[0-9.,%]+")
END = Token("。", "x", 0, 0)  # what stands beside the first and the last word
INSIDE = "、（）《》「」“”『』"  # signs that end no clause
UNSEEN = (-1.5, 1.0)  # what a tag alone may count
# Of words that the table has not: who somebody is, whose relative; what people do, what opens a clause.
TITLE, RELATIVE, DONE, OPENING = 2.0, 1.0, 1.5, 0.5
# Half of what the characters of a word say counts beside its context, within these bounds.
LEAST_LIKE, MOST_LIKE = -2.0, 3.0
# Least context, and least sum of both: of a word tagged as a person, in the dictionary and new; of another new word;
# of a rare character behind a surname that the dictionary calls a place (朱棣); of a name cut in two behind its
# first character, and behind its second.
KNOWN_PERSON, NEW_PERSON, NEW_NOUN, NEW_VERB = (-0.5, 2.5), (1.0, 2.5), (0.5, 2.0), (1.0, 2.0)
RARE_PLACE, CUT_FIRST, CUT_SECOND, CUT_KNOWN = (0.0, 2.5), (0.5, 2.0), (0.0, 1.0), (1.5, 2.0)
AT = frozenset("位于 在 到 至 从 赴 前往 抵达 生于 出生于 来自 移居 定居".split())  # noqa: SIM905
NO_BEGIN = frozenset("小老大这那每各其此")  # no name begins so


def _key(word: str, tag: str) -> str:
    """*word* as the table writes it: ^ for the end of a clause, 0 for a number."""
    if tag == "x":
        return word if word in INSIDE else "^"
    return "0" if NUMBER.fullmatch(word) else word


def beside(tokens: Sequence[Token], place: int, side: str) -> tuple[str, str]:
    """What stands before or behind the token at *place*, as the table writes it: a word, and its tag."""
    at = place - 1 if side == "before" else place + 1
    token = tokens[at] if 0 <= at < len(tokens) else END
    return _key(token.word, token.tag), "/" + token.tag


@cache
def _scores(side: str) -> dict[str, float]:
    rows = [row for row in table("mining_name_contexts") if row["side"] == side]
    return {word: float(row["score"]) for row in rows for word in row["words"].split()}


@lru_cache(maxsize=1 << 15)
def _score(side: str, word: str, tag: str) -> float:
    """How much more often *word* stands on that side of names than of other words (ln)."""
    scores, key = _scores(side), _key(word, tag)
    found = scores.get(key)
    if found is not None:
        return found
    if side == "before" and NAMED_BEFORE.search(word):
        return RELATIVE if KIN.search(word) else TITLE
    if side == "behind" and is_done_by_people(word):
        return DONE
    if side == "before" and word in words_beside("opening"):
        return OPENING
    return min(UNSEEN[1], max(UNSEEN[0], scores.get("/" + tag, 0.0)))


def context(tokens: Sequence[Token], first: int, last: int) -> float:
    """How much more often what stands around the tokens from *first* to before *last* stands around names (ln)."""
    before = tokens[first - 1] if first else END
    behind = tokens[last] if last < len(tokens) else END
    return _score("before", before.word, before.tag) + _score("behind", behind.word, behind.tag)


def by_context(tokens: Sequence[Token], keyword: Span) -> Span | None:
    """Where a word stands that looks somewhat like a name, and stands where names do: 总统|金泳三, 与|王有|才."""
    for place, (word, tag, start, end) in enumerate(tokens):
        hint = _hint(word, tag)
        if hint is None or (start < keyword[1] and keyword[0] < end):
            continue
        if hint.alone is not None:
            found = context(tokens, place, place + 1)
            if found >= hint.alone and not _is_place(tokens, place):
                return start, end
        if not hint.cut or place + 1 == len(tokens):
            continue
        behind, tag_behind, _, last = tokens[place + 1]
        if not end <= keyword[0] < last and _may_be_cut(word, behind, tag_behind):
            found, like = context(tokens, place, place + 2), given_score((word + behind)[1:]) / 2
            least = CUT_FIRST if len(word) == 1 else CUT_SECOND if not is_word(word) else CUT_KNOWN
            if found >= least[0] and found + like >= least[1]:
                return start, last
    return None


class _Hint(NamedTuple):
    """`alone`: what the context of a word must be for a name; `cut`: whether it may be the first piece of one."""

    alone: float | None
    cut: bool


@lru_cache(maxsize=1 << 16)
def _hint(word: str, tag: str) -> _Hint | None:
    """What a word of that tag may be where names stand; None: nothing."""
    shape = shape_of(word, tag)
    if shape.ordinary or not HAN.fullmatch(word):
        return None
    alone = _least_context(word, tag, shape)
    cut = len(word) <= 2 and is_surname(word[0])
    return _Hint(alone, cut) if alone is not None or cut else None


def _least_context(word: str, tag: str, shape: Shape) -> float | None:
    if not 2 <= len(word) <= 5 or word[0] in NO_BEGIN or not may_be_name(word):
        return None
    least = None
    if shape.person and not shape.new:
        plausible = surname_length(word) > 0 or foreign_score(word) > 0
        least = KNOWN_PERSON if plausible and (len(word) > 2 or tag == "nrt") else None
    elif shape.person:
        least = NEW_PERSON
    elif shape.new:
        least = NEW_NOUN if tag in ("n", "nz", "ns") else NEW_VERB if tag == "v" and is_surname(word[0]) else None
    elif tag == "ns" and len(word) == 2 and is_surname(word[0]) and word[1] not in PLACES and is_rare(word[1]):
        least = RARE_PLACE
    if least is None:
        return None
    return max(least[0], least[1] - min(MOST_LIKE, max(LEAST_LIKE, likeness(word) / 2)))


def _may_be_cut(word: str, behind: str, tag: str) -> bool:
    """Whether both may be one full name: 许|兰亭, 王有|才."""
    whole = word + behind
    if len(whole) != 3 or not HAN.fullmatch(behind) or (len(word) == 1 and tag in NO_NAME_TAGS) or is_word(whole):
        return False
    return (
        fits_behind_surname(whole[1:])
        and not AFTER_SURNAME.intersection(whole[1:])
        and (whole[-1] not in PLACES or given_score(whole[1:]) >= SURE_PLACE)
        and whole not in read_as_none()
    )


def _is_place(tokens: Sequence[Token], place: int) -> bool:
    """Whether what stands beside the token says that it is a place: 哈德逊|河, 位于|布拉德利."""
    behind = tokens[place + 1].word if place + 1 < len(tokens) else ""
    before = tokens[place - 1].word if place else ""
    return before in AT or NAMED_AFTER.match(behind) is not None or PLACE_BEHIND.search(behind) is not None
