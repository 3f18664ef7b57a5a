"""Names that only what stands beside them tells: who somebody is, what people do, and what is done to them.

A new word scores far less than a name must elsewhere where a clause begins with it
and what follows is what people do (决定, 去世), or where it stands behind what is done
to people (杀死, 采访).
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache

from core.mining.filters.name_shapes import (
    PERMITTED,
    Shape,
    fits_behind_surname,
    looks_like_a_name,
)
from core.mining.filters.name_words import (
    HAN,
    NAMED_BEFORE,
    ONLY_SURNAMES,
    PLACE_BEFORE,
    TITLES,
    foreign_score,
    given_score,
    is_rare,
    japanese_score,
    read_as_none,
    surname_length,
)
from core.resources import table
from core.text.dictionary import AFTER_SURNAME, Token, is_surname, is_word
from core.types import Span

NO_NAME_TAGS = frozenset(["m", "t", "x", "eng", "p", "c", "u", "uj", "ul", "d", "r", "f", "q"])
# Least scores of a new word: before what people do, the same where it begins with a sure surname; behind what is
# done to people; of a given part behind a relative or a title (儿子|苏志永), behind a year (2011|年严|长寿|担任),
# beside the keyword (查|长生|和|他).
DOING, DOING_SURNAME, DONE_TO = 3.0, 1.5, 1.0
TITLED, YEAR, BESIDE, DYING = 1.5, 0.0, 1.0, 0.0
INTRODUCED_KNOWN = 7.0  # of a place of the dictionary behind a word that says who somebody is
ANY = -math.inf
RARE_IN_FRAME = 3.0  # what a rare character counts here
NO_SURNAME_HERE = frozenset("于向时曾常任")  # more often a preposition or an adverb behind a noun or a year
JOINING = frozenset("和与跟同及")


@cache
def words_beside(kind: str) -> frozenset[str]:
    """Words that stand beside a name: die, behind, before, opening (mining_name_frames.tsv)."""
    return frozenset(
        word for row in table("mining_name_frames") if row["kind"] == kind for word in row["words"].split()
    )


def is_done_by_people(word: str) -> bool:
    """Whether *word*, behind a name, is what only people do."""
    return word in words_beside("behind") or word in words_beside("die")


def by_frame(text: str, tokens: Sequence[Token], shapes: Sequence[Shape], keyword: Span) -> Span | None:
    """Where a name stands that what is beside it tells."""
    return _introduced(tokens, shapes) or _in_clause(tokens, shapes, keyword) or _cut(text, tokens, shapes, keyword)


def _introduced(tokens: Sequence[Token], shapes: Sequence[Shape]) -> Span | None:
    """弟弟|旭烈兀, 查理|大帝: a word that no dictionary has behind one that says who it is, or before one."""
    for place, shape in enumerate(shapes):
        if shape.named_ruler:
            return tokens[place].start, tokens[place].end
        if shape.ruler and place:
            before, named = tokens[place - 1], shapes[place - 1]
            proper = (named.person or before.tag == "nz") and not named.ordinary
            if proper and len(before.word) > 1 and HAN.fullmatch(before.word):
                return before.start, tokens[place].end
        if not shape.introduces or place + 1 == len(tokens):
            continue
        after = tokens[place + 1]
        if after.tag == "z" and len(after.word) == 2 and after.word[0] == after.word[1]:
            return after.start, after.end  # 妹妹|冰冰
        if not shapes[place + 1].new:
            # 皇帝|奥古斯都: a name that the dictionary takes for a place.
            if (shapes[place + 1].foreign or 0.0) >= INTRODUCED_KNOWN and len(after.word) > 2:
                return after.start, after.end
            continue
        proper = shapes[place + 1].person and "某" not in after.word
        if after.tag not in NO_NAME_TAGS and (proper or looks_like_a_name(after.word)):
            return after.start, after.end
    return None


def _in_clause(tokens: Sequence[Token], shapes: Sequence[Shape], keyword: Span) -> Span | None:
    """渊田美津雄|决定, 杀死|清康: a new word that does what people do, or suffers it."""
    for first, last in _new_words(tokens, shapes):
        start, end = tokens[first].start, tokens[last - 1].end
        if start < keyword[1] and keyword[0] < end:
            continue
        least = _least(tokens, shapes, first, last, keyword)
        if least is None:
            continue
        word = "".join(token.word for token in tokens[first:last])
        if _may_be_name(word) and likeness(word) >= least:
            return start, end
    return None


def _least(tokens: Sequence[Token], shapes: Sequence[Shape], first: int, last: int, keyword: Span) -> float | None:
    """The least score of a name that the tokens from *first* to before *last* make; None: nothing tells one."""
    before = tokens[first - 1].word if first else ""
    behind = tokens[last].word if last < len(tokens) else ""
    begins = first == 0 or tokens[first - 1].tag == "x" or before in words_beside("opening")
    if behind in words_beside("die") and (begins or (shapes[first].new and not PLACE_BEFORE.search(before))):
        return ANY
    if (begins and behind in words_beside("behind")) or (
        behind == "的" and tokens[last].end == keyword[0] and keyword[1] - keyword[0] > 1  # X的[父亲]
    ):
        if not shapes[first].new and last - first == 1:
            return ANY  # a person in the dictionary
        return DOING_SURNAME if tokens[first].word[0] in ONLY_SURNAMES else DOING
    return DONE_TO if before in words_beside("before") else None


def _new_words(tokens: Sequence[Token], shapes: Sequence[Shape]) -> Iterator[Span]:
    """Words that no dictionary has, and two pieces of which one is a rare character (社|崘), as places."""
    for place, (token, shape) in enumerate(zip(tokens, shapes, strict=True)):
        if token.tag in NO_NAME_TAGS or not HAN.fullmatch(token.word):
            continue
        if (shape.new or shape.person) and not shape.ordinary and 2 <= len(token.word) <= 5:
            yield place, place + 1
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        if following is None or len(following.word) != 1 or not HAN.fullmatch(following.word):
            continue
        piece = len(token.word) == 2 and shape.new and not shape.ordinary and following.tag not in NO_NAME_TAGS
        if piece or (len(token.word) == 1 and is_rare(following.word)):
            yield place, place + 2  # 王处|直, 社|崘


def _may_be_name(word: str) -> bool:
    return (
        not PERMITTED.search(word)
        and not TITLES.search(word)
        and word not in read_as_none()
        and word[-1] not in AFTER_SURNAME
    )


def likeness(word: str) -> float:
    """The best of the scores of *word* as a Chinese, foreign or Japanese name."""
    surname = surname_length(word)
    scores = [foreign_score(word)]
    if surname and 1 <= len(word) - surname <= 2:
        scores.append(given_score(word[surname:]) + 1.0)
    if len(word) == 2:
        scores.append(given_score(word))
    if len(word) > 3:
        scores.append(japanese_score(word[-2:]))
    if any(is_rare(character) for character in word):
        scores.append(RARE_IN_FRAME)
    return max(scores)


def _cut(text: str, tokens: Sequence[Token], shapes: Sequence[Shape], keyword: Span) -> Span | None:
    """Names of which the segmenter gave the surname to the word before: 农艺|家马|一龙, 2011|年严|长寿|担任."""
    for place, token in enumerate(tokens[1:], 1):
        before, size = tokens[place - 1], len(token.word)
        at = before.end - 1
        surname = text[at]
        if size > 2 or at < 1 or not (shapes[place - 1].new or len(before.word) == 1) or not is_surname(surname):
            continue
        if not HAN.fullmatch(token.word) or (at < keyword[1] and keyword[0] < token.end):
            continue
        if not fits_behind_surname(token.word) or is_word(surname + token.word):
            continue
        given = given_score(token.word)
        behind = tokens[place + 1].word if place + 1 < len(tokens) else ""
        titled = given >= TITLED and surname not in NO_SURNAME_HERE and NAMED_BEFORE.search(text[max(0, at - 3) : at])
        dated = (
            given >= YEAR and behind in words_beside("behind") and text[at - 1] in "年月日" and text[at - 2].isdigit()
        )
        joined = given >= BESIDE and behind in JOINING and keyword[0] == token.end + 1
        dies = given >= DYING and behind in words_beside("die")
        if titled or dated or joined or dies:
            return at, token.end
    return None
