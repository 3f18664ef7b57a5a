"""Find the word to which the characters of a keyword belong where the keyword is only a part of it.

See docs/methods.md#keywords-in-a-sentence.

The rule "the token is longer than the keyword" would be wrong: 女司机 and 男篮 are
fine, and that rule throws away one good sentence in five. Three tests are used instead:
- a list of words, per keyword (mining_inside.tsv), unless the segmenter shows the ends of two other words: 母亲|节俭;
- a cut through the keyword: 对|外|公布 for 外公;
- the swap test: a word of the dictionary contains the keyword; the same word with the
  counterpart is not a word (宫女, 宫男); it is not on the list of accepted compounds
  (女兵, 男兵); and the rest without the keyword is not a word of two or more characters
  (女|司机: fine).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Literal, NamedTuple

from evenhand.core.resources import table
from evenhand.core.text.dictionary import AFTER_SURNAME, Token, beside, cut, dictionary, is_surname, is_word, tagged
from evenhand.core.types import Candidate, Span

NEVER = re.compile(r"(?!)")
REACH = 8  # characters on either side of a keyword: a listed word that contains it lies within them
LOOKBEHIND = re.compile(r"\(\?<([!=])([^()]*)\)(.+)")
GROUP = re.compile(r"\(\?:((?:[^()]|\([^()]*\))*)\)(?![?*+{])(.*)")
CLASS = re.compile(r"\[([^\^\]\-\\]+)\](?![?*+{])(.*)")
PLACE = "〇"  # stands for the keyword in patterns
# The syntax of the lists: a lookaround, a group, a class, a plain character; ? makes one of the last three optional.
_ITEM = re.compile(
    r"(?P<looking>\(\?<?[!=](?:[^()]|\([^()]*\))*\))"
    r"|(?:\(\?:(?P<group>(?:[^()]|\([^()]*\))*)\)|\[(?P<listed>[^\^\]\-\\]+)\]|(?P<plain>[^\\()\[\]{}?*+.^$|]))(?P<may>\??)"
)


def alternatives(words: str) -> list[str]:
    """Return the parts of *words*, cut at every | outside brackets; empty parts are left out."""
    found, depth = [""], 0
    for character in words:
        depth += (character in "([") - (character in ")]")
        if character == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [word for word in found if word]


def _literal_first(word: str) -> list[str]:
    """Return expressions that match the same texts but begin with a plain character.

    (?<!尤)其他 becomes 其(?<!尤其)他, and (?:每|任何)人 becomes two expressions. Where
    every alternative begins with a plain character, `re` skips to the places of
    these characters: ten times faster than trying each alternative everywhere.
    """
    looking = LOOKBEHIND.match(word)
    if looking is not None:
        sign, before, rest = looking.groups()
        return [f"{one[0]}(?<{sign}(?:{before}){one[0]}){one[1:]}" for one in _literal_first(rest)]
    group = GROUP.match(word)
    if group is not None:
        return [one for some in alternatives(group[1]) for one in _literal_first(some + group[2])]
    listed = CLASS.match(word)
    if listed is not None:
        return [character + listed[2] for character in listed[1]]
    return [word]


def joined(words: list[str]) -> re.Pattern[str]:
    """Return one expression for all alternatives of *words*, in their order; `NEVER` where there are none."""
    parts = [part for some in words for word in alternatives(some) for part in _literal_first(word)]
    return re.compile("|".join(parts)) if parts else NEVER


@cache
def inside_words(keyword: str, *, sure: bool) -> re.Pattern[str]:
    """Return an expression for words that contain *keyword* but are other words: 吉他, 妇女, 对外公布.

    *sure*: True for words that count regardless of how the segmenter cuts the text; False for the others.
    """
    rows = [row for row in table("mining_inside") if keyword in row["keywords"].split()]
    return joined([row["words"] for row in rows if (row["sure"] != "") == sure])


def _spelt(word: str) -> list[str]:
    """Return every text that an alternative of a list can match. Raises ValueError for syntax that is not `_ITEM`."""
    found, at = [""], 0
    while at < len(word):
        item = _ITEM.match(word, at)
        if item is None:
            raise ValueError(word)
        at = item.end()
        if item["looking"]:
            continue
        some = [item["plain"]] if item["plain"] else list(item["listed"] or "")
        if item["group"]:
            some = [text for alternative in alternatives(item["group"]) for text in _spelt(alternative)]
        found = [text + one for text in found for one in [*some, *([""] if item["may"] else [])]]
    return found


@cache
def beside_listed(keyword: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the characters right before and right behind *keyword* in its listed words.

    A match that shares a character with the keyword and reaches beyond it contains one of these characters. None
    where a listed text is a part of the keyword, so that the neighbours decide nothing.
    """
    rows = [row["words"] for row in table("mining_inside") if keyword in row["keywords"].split()]
    texts = [text for words in rows for word in alternatives(words) for text in _spelt(word)]
    if any(text in keyword for text in texts):
        return None
    neighbours = [pair for text in texts for pair in pairwise(text)]
    before = frozenset(one for one, other in neighbours if other == keyword[0])
    return before, frozenset(other for one, other in neighbours if one == keyword[-1])


@cache
def accepted_words(keyword: str) -> re.Pattern[str]:
    """Return an expression for compounds of *keyword* whose swapped form is in use but in no dictionary: 女兵."""
    rows = [row["words"] for row in table("mining_accepted") if keyword in row["keywords"].split()]
    return joined([words.replace(PLACE, re.escape(keyword)) for words in rows])


def touching(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the spans of matches that share a character with text[start:end], also where they overlap."""
    at = max(0, start - REACH)
    while (hit := pattern.search(text, at, end + REACH)) is not None and hit.start() < end:
        if start < hit.end():
            yield hit.span()
        at = hit.start() + 1


HAN = re.compile("[一-龥]+")
WIDEST = 5  # characters of the longest dictionary word that is tried around a keyword before anything is cut
LONGEST_CLAUSE = 600  # characters of a clause that is cut at once
STEP = 200  # characters
NEAR = 64  # characters
IN_NAMES = frozenset("男女")  # also the last character of given names (亚男), which no dictionary holds
# What the first character of a keyword can be by itself, where the segmenter cuts behind it: 男|人民警察, 老|公路.
WORDS_OF_ONE = frozenset("男女老")


class OtherWord(NamedTuple):
    """The word that contains characters of a keyword: the test that found it, and its span."""

    reason: Literal["list", "crossing", "swap", "name"]
    span: Span


def other_word(text: str, candidate: Candidate) -> OtherWord | None:
    """Return the word to which the characters of *candidate* in *text* belong; None where the keyword is a word itself.

    Always None in languages other than Chinese. *candidate* must be the longest word at its place.
    """
    if candidate.pair.language != "zh":
        return None
    start, end = candidate.start, candidate.end
    if text.startswith(("们", "們"), end) and end - start > 1:
        return None  # 女人|们, never 女|人们
    if _stands_clear(text, start, end):
        return None
    keyword = candidate.keyword
    if _may_be_listed(text, start, end):
        sure, others = _lists(keyword)
        for certain in touching(sure, text, start, end):
            return OtherWord("list", certain)
        for listed in touching(others, text, start, end):
            if _is_there(text, candidate, listed):
                return OtherWord("list", listed)
    if not (_may_end_name(text, start) if keyword in IN_NAMES else _dictionary_disagrees(text, start, end)):
        return None
    tokens = _clause(text, candidate)
    return _by_tokens(text, tokens, candidate) or _end_of_name(tokens, candidate)


def surely_alone(text: str, start: int, end: int) -> bool:
    """Return True if a quick look shows that no other word contains the Chinese keyword at text[start:end].

    False means that only `other_word` can decide.
    """
    if _stands_clear(text, start, end):
        return True
    if _may_be_listed(text, start, end):
        return False
    if text[start:end] in IN_NAMES:
        return not _may_end_name(text, start)
    return not _dictionary_disagrees(text, start, end)


def _stands_clear(text: str, start: int, end: int) -> bool:
    """Return True if no listed word and no word of the dictionary has the neighbours of a one-character keyword.

    False for a keyword whose neighbours cannot decide; see `_told_by`.
    """
    beside_it = _told_by(text[start:end])
    if beside_it is None or text[end : end + 1] in beside_it[1]:
        return False
    return start == 0 or text[start - 1] not in beside_it[0]


@cache
def _told_by(keyword: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the characters right before and behind *keyword* in lists and dictionary; None if they cannot decide."""
    listed = beside_listed(keyword)
    if len(keyword) > 1 or keyword in IN_NAMES or listed is None:
        return None
    before, behind = beside(keyword)
    return listed[0] | before, listed[1] | behind


@cache
def _lists(keyword: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return inside_words(keyword, sure=True), inside_words(keyword, sure=False)


def _may_be_listed(text: str, start: int, end: int) -> bool:
    """Return whether text[start:end] may belong to a listed word, judged by the characters next to it."""
    beside_it = beside_listed(text[start:end])
    if beside_it is None:
        return True
    return text[end : end + 1] in beside_it[1] or (start > 0 and text[start - 1] in beside_it[0])


def _may_end_name(text: str, start: int) -> bool:
    """Return whether 男 or 女 at *start* may be in a dictionary word, or at most one character after a surname."""
    before, behind = beside(text[start])
    if text[start + 1 : start + 2] in behind or (start > 0 and text[start - 1] in before):
        return True
    return any(is_surname(one) for one in text[max(0, start - 2) : start])


def _dictionary_disagrees(text: str, start: int, end: int) -> bool:
    """Return whether a dictionary word overlaps text[start:end] and reaches beyond it: only then is cutting needed."""
    low, high = start, end  # words of the dictionary have Chinese characters only
    reaches = True, True
    if end - start == 1:  # such a word also has the character before or behind it
        before, behind = beside(text[start])
        reaches = start > 0 and text[start - 1] in before, text[end : end + 1] in behind
        if not any(reaches):
            return False
    while reaches[0] and low > max(0, start - WIDEST + 1) and "一" <= text[low - 1] <= "龥":
        low -= 1
    while reaches[1] and high < min(len(text), end + WIDEST) and "一" <= text[high] <= "龥":
        high += 1
    for first in range(low, end):
        # Words that begin inside the keyword must end beyond it; words that begin before it must reach into it.
        shortest = end + 1 if first >= start else start + 1
        for last in range(max(first + 2, shortest), min(high, first + WIDEST) + 1):
            if _known(text[first:last]):
                return True
    return False


@lru_cache(maxsize=1 << 16)
def _known(text: str) -> bool:
    return bool(dictionary().has_word(text))


def _is_there(text: str, candidate: Candidate, listed: Span) -> bool:
    """Return True if a listed word is one (乡|村女|教师), False if two words share it (母亲节 in 母亲|节俭)."""
    start, end = _bounds(text, candidate.start)
    first, last = listed
    at = start
    for word in _words(text, start, end):
        begins, at = at, at + len(word)
        if (begins < first < at or begins < last < at) and (at <= candidate.start or candidate.end <= begins):
            return False
    return True


def _clause(text: str, candidate: Candidate) -> tuple[Token, ...]:
    """Return the tokens around the keyword. Only its clause is cut, because no word crosses punctuation."""
    start, end = _bounds(text, candidate.start)
    tokens = _cut(text[start:end])
    first = bisect_left(tokens, candidate.start - 2 * REACH - start, key=lambda token: token.end)
    last = bisect_right(tokens, candidate.end + 2 * REACH - start, key=lambda token: token.start)
    return tuple(Token(word, tag, at + start, to + start) for word, tag, at, to in tokens[first:last])


def _bounds(text: str, place: int) -> Span:
    """Return the span of the clause around *place*; an empty span where the character there is not Chinese.

    Of a clause longer than `LONGEST_CLAUSE`: at most three steps of `STEP` around the place.
    """
    low = place  # most clauses are short, and looking nearby takes a tenth of the time of finding all clauses
    while low and place - low < NEAR and "一" <= text[low - 1] <= "龥":
        low -= 1
    near = HAN.match(text, place, place + NEAR)
    if near is None:
        return place, place
    if place - low < NEAR and near.end() - place < NEAR:
        return low, near.end()
    clauses = _clauses(text)
    number = bisect_right(clauses, place, key=itemgetter(0)) - 1
    if number < 0 or place >= clauses[number][1]:
        return place, place
    start, end = clauses[number]
    if end - start > LONGEST_CLAUSE:  # such a text has no punctuation: cut only as much as a clause may have
        start += max(0, (place - start) // STEP - 1) * STEP
        end = min(end, start + 3 * STEP)
    return start, end


@lru_cache(maxsize=8)
def _words(text: str, start: int, end: int) -> list[str]:
    return cut(text[start:end])


@lru_cache(maxsize=8)
def _clauses(text: str) -> tuple[Span, ...]:
    return tuple(part.span() for part in HAN.finditer(text))


@lru_cache(maxsize=64)
def _cut(clause: str) -> tuple[Token, ...]:
    return tagged(clause)


def _by_tokens(text: str, tokens: tuple[Token, ...], candidate: Candidate) -> OtherWord | None:
    for token in tokens:
        span = (token.start, token.end)
        if token.end <= candidate.start or candidate.end <= token.start:
            continue
        if candidate.start <= token.start and token.end <= candidate.end:
            continue  # the keyword itself, or a piece of it
        if token.start > candidate.start or token.end < candidate.end:
            if token.start > candidate.start and not _leaves_words(text, token, candidate):
                continue
            return OtherWord("crossing", span)
        if not is_word(token.word):
            name = token.tag.startswith("nr") and token.end == candidate.end and len(token.word) in (2, 3)
            return OtherWord("name", span) if name and is_surname(token.word[0]) else None
        if not _swappable(text, token, candidate):
            return OtherWord("swap", span)
    return None


def _leaves_words(text: str, token: Token, candidate: Candidate) -> bool:
    """Return whether a cut behind the first character of the keyword leaves words on both sides.

    True for 对外|公布, False for 外|公推. 老 precedes nouns, so before a verb the word is 老公: 老公|开了, 老公|交了.
    """
    first = text[candidate.start : token.start]
    if first == "老" and text[token.end : token.end + 1] in tuple("了着过"):
        return False
    joins = any(is_word(text[before : token.start]) for before in range(max(0, candidate.start - 2), candidate.start))
    return is_word(token.word) and (first in WORDS_OF_ONE or joins)


def _end_of_name(tokens: tuple[Token, ...], candidate: Candidate) -> OtherWord | None:
    """Return a name like 王亚|男: a surname with one character, in no dictionary, then 男 or 女 as a token."""
    alone = any(token.start == candidate.start and token.end == candidate.end for token in tokens)
    if candidate.keyword not in IN_NAMES or not alone:
        return None
    for token in tokens:
        new = token.end == candidate.start and token.tag.startswith("nr") and not is_word(token.word)
        if new and len(token.word) == 2 and is_surname(token.word[0]) and token.word[1] not in AFTER_SURNAME:
            return OtherWord("name", (token.start, candidate.end))
    return None


def _swappable(text: str, token: Token, candidate: Candidate) -> bool:
    before, after = token.word[: candidate.start - token.start], token.word[candidate.end - token.start :]
    if is_word(before + candidate.counterpart + after) or (
        is_surname(before) and not after and len(candidate.keyword) > 1
    ):
        return True  # 刘阿姨 is 阿姨 with a surname
    accepted = accepted_words(candidate.keyword)  # what follows the token may decide: 他人|在
    hits = accepted.finditer(text, token.start, token.end + REACH)
    if any(hit.end() <= token.end and _shares(hit.span(), candidate) for hit in hits):
        return True
    rest = before or after
    return not (before and after) and len(rest) >= 2 and is_word(rest)


def _shares(span: Span, candidate: Candidate) -> bool:
    return span[0] < candidate.end and candidate.start < span[1]
