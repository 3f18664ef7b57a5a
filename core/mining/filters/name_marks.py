"""What each word of a sentence says to the rules for names: worked out once a word, then looked up.

Nine words of ten say nothing to most rules. So each word bears marks, and a rule looks only at the words that bear
its mark; what else it may ask of a word is remembered with it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from typing import Generic, TypeVar

from evenhand.core.mining.filters.name_words import (
    KIN,
    KNOWN,
    NOTHING,
    PLACES,
    TITLES,
    Shape,
    foreign_score,
    given_score,
    introduces,
    is_rare,
    japanese_surnames,
    likely_name,
    likeness,
    may_be_name,
    shape_of,
    surname_length,
    words_beside,
)
from evenhand.core.resources import table
from evenhand.core.text.dictionary import AFTER_SURNAME, Token, cut, dictionary, is_surname
from evenhand.core.types import Span

# What a rule begins with: a Chinese name; a run of transliteration; a title or relative; a new word in a clause, and
# its first two characters; a word that only its place tells; a surname given to the word before; a word that looks
# somewhat like a name, or rather like one; a Japanese surname; a rare character.
LEADS, LETTER, NAMES, NEW_WORD, PIECE, ROLE, GIVES, HINT, LIKELY, JAPANESE, RARE = (1 << n for n in range(11))
RULES = (1 << 11) - 1
# What the words next to them need: what continues a run of transliteration; what may be a piece of a name, and a given
# part; a single character that may be one; what only people do, and verbs about the dead; whom people speak to;
# titles and relatives; words behind a known name; the beginning of a clause, and of a sentence within; what is done
# to people.
GOES_ON, FREE, FITS, LONE, DOES, DIES, TO, RELATES, SHOWS, OPENS, SIGN, DONE_TO = (1 << n for n in range(11, 23))

NO_NAME_TAGS = frozenset(["m", "t", "x", "eng", "p", "c", "u", "uj", "ul", "d", "r", "f", "q"])
TO_WHOM = frozenset("对 与 和 由 被 向 给 让 跟 把 将".split())  # noqa: SIM905
ADDRESSED = frozenset("同志 老人 先生 女士 活佛 法师 大师 上人 小姐".split())  # noqa: SIM905
COUPLES = frozenset(["夫妇", "夫妻", "父子", "父女", "母子", "母女", "兄弟", "姐妹", "姊妹"])
NO_BEGIN = frozenset("小老大这那每各其此")  # no name begins so
LATER_LETTER = 2.0  # of a piece that goes on a run of transliteration: 乌布利|希
FOREIGN_DOING = 4.0  # of a known word written with the characters of transliterations
# Half the score of the characters of a word is added to that of its context, within these bounds.
LEAST_LIKE, MOST_LIKE = -2.0, 3.0
# Least context, and least sum of both: of a word tagged as a person, in the dictionary and new; of another new word;
# of a rare character behind a surname that the dictionary calls a place (朱棣).
KNOWN_PERSON, NEW_PERSON, NEW_NOUN, NEW_VERB = (-0.5, 2.5), (1.0, 2.5), (0.5, 2.0), (1.0, 2.0)
RARE_PLACE = (0.0, 2.5)
NUMBER = re.compile("[0-9.,%]+")
INSIDE = "、（）《》「」“”『』"  # signs that end no clause
UNSEEN = (-1.5, 1.0)  # what a tag alone may count
# Of words that the table does not have: titles, relatives; what people do, what opens a clause.
TITLE, RELATIVE, DONE, OPENING = 2.0, 1.0, 1.5, 0.5
CACHE_SIZE = 1 << 15  # words that are remembered, and as many that were seen before them

Value = TypeVar("Value")


class lazy_attribute(Generic[Value]):
    """An attribute of a word that is worked out when it is first read, and stored with the word.

    The word stores it under the same name, which Python reads before this (not a data descriptor). `__getattr__` would
    make every attribute of a word twice as slow to read.
    """

    def __init__(self, work: "Callable[[Word], Value]") -> None:
        self.work = work

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, one: "Word", owner: type) -> Value:
        value = self.work(one)
        setattr(one, self.name, value)
        return value


class Word:
    """A word with its tag, its shape and its marks; the rest is worked out when it is first read.

    `size`: characters. `before`, `behind`: how much more often it occurs on that side of names than of other words
    (ln). `given`, `foreign`: its scores as a given part and as a transliteration. `likely`: the best of its scores as
    a name, if it has that mark. `least`: the least score of its context for a name; `named`: whether nothing in it
    speaks against a name; `surname_at`: the index of its first surname, -1 where that is not among its last two
    characters.
    """

    __slots__ = ("__dict__", "marks", "shape", "size", "tag", "word")
    word: str
    tag: str
    size: int
    shape: Shape
    marks: int
    before = lazy_attribute(lambda one: _score("before", one.word, one.tag))
    behind = lazy_attribute(lambda one: _score("behind", one.word, one.tag))
    given = lazy_attribute(lambda one: given_score(one.word))
    foreign = lazy_attribute(lambda one: foreign_score(one.word))
    likely = lazy_attribute(lambda one: likely_name(one.word, one.tag))
    least = lazy_attribute(lambda one: _least_context(one.word, one.tag, one.shape))
    surname_at = lazy_attribute(lambda one: _surname_at(one.word))
    named = lazy_attribute(lambda one: may_be_name(one.word))

    def __init__(self, word: str, tag: str) -> None:
        self.word, self.tag, self.size = word, tag, len(word)
        self.shape = shape = shape_of(word, tag)
        marks = _marks_of_any(word, tag, shape)
        if shape is not NOTHING:
            marks |= _listed().get(word, 0)
            if word not in AFTER_SURNAME and word[0] != "某" and not TITLES.match(word):
                marks |= FITS
            marks |= _marks_of_known(word, tag) if shape is KNOWN else _own_marks(word, tag, shape)
        self.marks = marks


def _marks_of_any(word: str, tag: str, shape: Shape) -> int:
    """Marks that a word with other than Chinese characters may bear too."""
    pairs, firsts = _japanese_begins()
    if len(word) > 1:
        return (JAPANESE if word[:2] in pairs else 0) | (GIVES if shape.new and is_surname(word[-1]) else 0)
    return (
        (JAPANESE if word in firsts else 0) | (GIVES if is_surname(word) else 0) | (OPENS | SIGN if tag == "x" else 0)
    )


def _marks_of_known(word: str, tag: str) -> int:
    """Return the marks of a word of the dictionary that has nothing that speaks for a name."""
    return (ROLE if tag[0] == "n" and _has_role(word, tag, KNOWN) else 0) | (
        HINT if len(word) == 2 and is_surname(word[0]) else 0
    )


def _own_marks(word: str, tag: str, shape: Shape) -> int:
    size, foreign, may = len(word), shape.foreign, tag not in NO_NAME_TAGS
    asked = shape.new or shape.person
    marks = (
        (LEADS if shape.leads else 0)
        | (LETTER | GOES_ON if shape.letter else 0)
        | (NAMES if shape.introduces or shape.ruler or shape.named_ruler else 0)
        | (RELATES if shape.introduces else 0)
        | (FREE if shape.free else 0)
        | (GOES_ON if shape.free and foreign is not None and foreign >= LATER_LETTER else 0)
    )
    if size == 1:
        rare = is_rare(word)
        marks |= (RARE | ROLE if rare else ROLE if shape.surname else 0) | (LONE if may else 0)
    elif shape.ordinary:
        return marks
    else:
        marks |= (
            (NEW_WORD if asked and may and size <= 5 else 0)
            | (PIECE if shape.new and may and size == 2 else 0)
            | (ROLE if tag[0] == "n" and _has_role(word, tag, shape) else 0)
            | (LIKELY if shape.new else 0)
        )
    hint = not shape.ordinary and ((size <= 2 and is_surname(word[0])) or asked or tag == "ns")
    return marks | (HINT if hint else 0)


@cache
def _listed() -> dict[str, int]:
    """Return the marks of the words that occur next to names."""
    marks, found = {"behind": DOES | SHOWS, "die": DIES, "opening": OPENS, "before": DONE_TO}, dict[str, int]()
    kinds = [(words_beside(kind), mark) for kind, mark in marks.items()]
    for words, mark in [*kinds, (TO_WHOM, TO), (ADDRESSED, SHOWS), (COUPLES, SHOWS)]:
        for word in words:
            found[word] = found.get(word, 0) | mark
    return found


def _has_role(word: str, tag: str, shape: Shape) -> bool:
    """Tell whether *word*, a noun, may be a name that only its place tells.

    It may be if it is a new word, a person, or looks like one.
    """
    if len(word) > 8 or tag == "nt":
        return False
    if shape.new or shape.person or (len(word) == 3 and surname_length(word) > 0 and word[-1] not in PLACES):
        return True
    return tag != "nz" and foreign_score(word) >= FOREIGN_DOING


def _surname_at(word: str) -> int:
    at = next((at for at, character in enumerate(word) if is_surname(character)), -1)
    return at if len(word) - at <= 2 else -1


def _least_context(word: str, tag: str, shape: Shape) -> float | None:
    """Return the least score of the context of *word* for a name; None if *word* cannot be one."""
    if shape.ordinary or not 2 <= len(word) <= 5 or word[0] in NO_BEGIN:
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
    if least is None or not may_be_name(word):
        return None
    return max(least[0], least[1] - min(MOST_LIKE, max(LEAST_LIKE, likeness(word) / 2)))


@cache
def _japanese_begins() -> tuple[frozenset[str], frozenset[str]]:
    """Return the beginnings of Japanese surnames: all of two characters, and all of one."""
    return frozenset(japanese_surnames()), frozenset(begin[0] for begin in japanese_surnames())


SIDES = ("before", "behind")


def key_of(word: str, tag: str) -> str:
    """Return *word* as the table of contexts writes it: ^ for the end of a clause, 0 for a number."""
    if tag == "x":
        return word if word in INSIDE else "^"
    return "0" if NUMBER.fullmatch(word) else word


@cache
def _scores(side: str) -> dict[str, float]:
    rows = [row for row in table("mining_name_contexts") if row["side"] == side]
    return {word: float(row["score"]) for row in rows for word in row["words"].split()}


def _score(side: str, word: str, tag: str) -> float:
    """Return how much more often *word* occurs on that side of names than of other words (ln)."""
    scores, key = _scores(side), key_of(word, tag)
    found = scores.get(key)
    if found is not None:
        return found
    if side == "before" and introduces(word):
        return RELATIVE if KIN.search(word) else TITLE
    if side == "behind" and (word in words_beside("behind") or word in words_beside("die")):
        return DONE
    if side == "before" and word in words_beside("opening"):
        return OPENING
    return min(UNSEEN[1], max(UNSEEN[0], scores.get("/" + tag, 0.0)))


# Words that were seen lately, and those before them: a word that comes again moves to the first.
_known: dict[str, Word] = {}
_older: dict[str, Word] = {}


def words_of(parts: list[str]) -> list[Word]:
    """The words of a sentence that `cut` made *parts* of, with the tags that `tagged` gives them."""
    try:
        return list(map(_known.__getitem__, parts))
    except KeyError:
        pass
    if len(_known) > CACHE_SIZE:
        _older.clear()
        _older.update(_known)
        _known.clear()
    words = list(map(_known.get, parts))
    for place, word in enumerate(words):
        if word is None:
            part = parts[place]
            words[place] = _known[part] = _older.get(part) or Word(part, _tag(parts, place))
    return [word for word in words if word is not None]


def _tag(parts: list[str], place: int) -> str:
    """The tag of a word that was never seen, which is the same wherever rjieba cuts it."""
    tag = dictionary().tag
    alone: list[tuple[str, str]] = tag(parts[place])
    # 打进 alone is cut in two: only a sentence has it as one word.
    return alone[0][1] if len(alone) == 1 else str(tag("".join(parts))[place][1])


END = Word("。", "x")  # the neighbour of the first and the last word


class Cut:
    """A sentence as the rules see it.

    `starts`: where each word begins, and the last one ends; `marks` of each word; `some`: the words with which a rule
    begins, and their marks; words from `first` to before `stop` share a character with the `keyword`.
    """

    __slots__ = ("first", "keyword", "marks", "some", "starts", "stop", "text", "words")

    def __init__(self, text: str, keyword: Span) -> None:
        self.text, self.keyword = text, keyword
        parts = cut(text)
        self.words = words = words_of(parts)
        self.starts = starts = list(accumulate(map(len, parts), initial=0))
        self.marks = marks = [word.marks for word in words]
        self.some = [(place, mark) for place, mark in enumerate(marks) if mark & RULES]
        self.first = bisect_right(starts, keyword[0]) - 1
        self.stop = bisect_left(starts, keyword[1])


def context(words: Sequence[Word], first: int, last: int) -> float:
    """Return how much more often the two words around a span occur around names (ln).

    The span is the words from *first* to before *last*.
    """
    return (words[first - 1] if first else END).before + (words[last] if last < len(words) else END).behind


def beside(tokens: Sequence[Token], place: int, side: str) -> tuple[str, str]:
    """Return the word before or behind the token at *place*, and its tag.

    Both are written as in the table of contexts.
    """
    at = place - 1 if side == "before" else place + 1
    word, tag = (tokens[at].word, tokens[at].tag) if 0 <= at < len(tokens) else (END.word, END.tag)
    return key_of(word, tag), "/" + tag
