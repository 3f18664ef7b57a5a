"""The filters on words next to the keyword, and the packaged lists: one compiled expression per keyword.

See docs/methods.md#criteria.
"""

import re
from collections.abc import Iterable
from functools import cache

from evenhand.core.mining.types import Finding, Sentence
from evenhand.core.resources import table
from evenhand.core.text.containing_words import PLACE, joined, other_word
from evenhand.core.text.dictionary import is_surname
from evenhand.core.types import Candidate, Side, Span

PRONOUNS = ("他", "她")


@cache
def group_of(keyword: str) -> str:
    """Return who *keyword* can be: pronoun, person, partner, child, parent, sibling or elder.

    An unlisted keyword is a person.
    """
    return next((row["group"] for row in table("mining_groups") if keyword in row["keywords"].split()), "person")


@cache
def gendered_words(keyword: str, side: Side) -> re.Pattern[str]:
    """Other words with a gender that can refer to *keyword*: those of its own side, all for a pronoun."""
    group, sides = group_of(keyword), {"both", "male", "female"} if keyword in PRONOUNS else {"both", side}
    rows = [row for row in table("mining_gender_terms") if group in row["groups"].split() and row["side"] in sides]
    return joined([row["words"] for row in rows])


@cache
def relatives(side: Side) -> re.Pattern[str]:
    """Return the pattern of words for relatives of one side that are not keywords."""
    return joined([row["words"] for row in table("mining_relatives") if row["side"] == side])


@cache
def biological_words(keyword: str, side: Side, *, birth: bool) -> re.Pattern[str]:
    """Return the pattern of words about a body that *keyword* can have.

    `birth`: only words about giving birth, else all others.
    """
    any_body = keyword in PRONOUNS or group_of(keyword) == "partner"
    sexes = {"both", "male", "female"} if any_body else {"both", side}
    return joined(
        [row["words"] for row in table("mining_biological") if (row["born"] != "") == birth and row["sex"] in sexes]
    )


@cache
def generic_forms(keyword: str) -> re.Pattern[str]:
    """Return the pattern in which *keyword* means anybody, or a genderless form is used next to it."""
    rows = [row["pattern"] for row in table("mining_generic") if keyword in row["keywords"].split()]
    return joined([pattern.replace(PLACE, re.escape(keyword)) for pattern in rows])


def apart(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterable[Span]:
    """Return the spans of the matches that share no character with text[start:end]."""
    if pattern.search(text) is None:  # of nearly every sentence
        return ()
    spans = (hit.span() for hit in pattern.finditer(text))
    return (span for span in spans if span[1] <= start or span[0] >= end)


def length(sentence: Sentence) -> Finding | None:
    """Return a finding if the sentence has fewer or more characters than `sentence.limits` allows."""
    shortest, longest = sentence.limits
    if len(sentence.text) < shortest:
        return Finding("short")
    return Finding("long") if len(sentence.text) > longest else None


def in_title(text: str, place: int) -> bool:
    """Return whether the character at *place* is between 《 and 》."""
    return text.rfind("《", 0, place) > text.rfind("》", 0, place)


def inside_word(sentence: Sentence) -> Finding | None:
    """Return a finding if the keyword is not a word of its own in the sentence.

    The reason is list, crossing, swap, name, or title (in 《》).
    """
    candidate = sentence.candidate
    if in_title(sentence.text, candidate.start):
        return Finding("title", (candidate.start, candidate.end))
    word = other_word(sentence.text, candidate)
    return None if word is None else Finding(word.reason, word.span)


def gender_terms(sentence: Sentence) -> Finding | None:
    """Return a finding if the sentence also has 先生, 姐妹俩 ..., which the keyword can refer back to.

    Which words count depends on who the keyword can be: 李大妈 says who 她 is,
    but not whether 李大妈的〇〇 is 儿子 or 女儿; 兄弟 counts for 哥哥 and not for 他.
    A noun of the other side is another person: 壮汉 and 女民警.
    """
    candidate = sentence.candidate
    if candidate.pair.language != "zh":
        return None
    terms = gendered_words(candidate.keyword, candidate.side)
    for span in apart(terms, sentence.text, candidate.start, candidate.end):
        return Finding("term", span)
    relative = _relative_meant(candidate) if candidate.keyword in PRONOUNS else None
    return None if relative is None else Finding("term", relative)


# Between a pronoun and what it is said to be.
IS_A = re.compile("(?:[就也还才正都]?是|成了|成为|当上?了)[^，。！？；、]{0,6}$")


def _relative_meant(candidate: Candidate) -> Span | None:
    """Return the span of a relative to whom the pronoun refers: 给外甥买的，他最喜欢; 他是我外甥. None without one.

    A relative of the other side is another person: 外甥 and 她.
    """
    text = candidate.sentence
    for start, end in apart(relatives(candidate.side), text, candidate.start, candidate.end):
        before = end <= candidate.start
        if before or (not text.startswith("的", end) and IS_A.match(text[candidate.end : start])):
            return start, end
    return None


CHILDREN = ("儿子", "女儿", "男孩", "女孩")
OF_A_CHILD = "婴童宝娃"  # 男婴, 女童, 男宝宝: what may follow 男 or 女 where it is about a child


def biological(sentence: Sentence) -> Finding | None:
    """Return a finding if the sentence has a word about pregnancy, birth or organs.

    Words of birth do not count for the child that was born (产妇生下一名男婴). Words
    about the other sex do not count for a noun (男教练, 怀孕的队员): they mean another person.
    """
    candidate = sentence.candidate
    if candidate.pair.language != "zh":
        return None
    body, birth = _words(candidate.keyword, candidate.side)
    for span in apart(body, sentence.text, candidate.start, candidate.end):
        return Finding("body", span)
    for span in apart(birth, sentence.text, candidate.start, candidate.end):
        if not (span[1] <= candidate.start and _is_child(candidate)):
            return Finding("birth", span)
    return None


@cache
def _words(keyword: str, side: Side) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return biological_words(keyword, side, birth=False), biological_words(keyword, side, birth=True)


def _is_child(candidate: Candidate) -> bool:
    following = candidate.sentence[candidate.end : candidate.end + 1]
    return candidate.keyword in CHILDREN or (
        candidate.keyword in ("男", "女") and following != "" and following in OF_A_CHILD
    )


def generic(sentence: Sentence) -> Finding | None:
    """Return a finding if the keyword is anybody (每个人 ... 他) or a thing (他是一本好书), or TA makes it neutral.

    It is a lead, not a verdict: the sentence before often says who is meant.
    """
    candidate = sentence.candidate
    if candidate.pair.language != "zh":
        return None
    for hit in generic_forms(candidate.keyword).finditer(sentence.text):
        if hit.end() == candidate.end or hit.end() <= candidate.start or hit.start() >= candidate.end:
            return Finding("generic", hit.span())
    return None


NO_NAME_AFTER = "个些种类项天日年月次位条处地市县区省段间家"  # 某 before one of these is "some"
PLACE_ENDS = "路阳曲山水城关"  # surnames that end names of places: 北星路某住宅
PLACE_BEGINS = "住部小学公中大工医酒商"


def anonymous(sentence: Sentence) -> Finding | None:
    """Return a finding if a surname with 某 stands for a personal name: 李某, 陆某丁, 欧阳某."""
    text = sentence.text
    if sentence.candidate.pair.language != "zh" or "某" not in text:
        return None
    for hit in re.finditer("某+", text):
        before, behind = text[hit.start() - 1 : hit.start()], text[hit.end() : hit.end() + 1]
        place = before in PLACE_ENDS and behind in PLACE_BEGINS
        if before and is_surname(before) and not place and not (behind and behind in NO_NAME_AFTER):
            return Finding("anonymous", (hit.start() - 1, hit.end()))
    return None
