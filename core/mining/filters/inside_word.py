"""Filter `inside_word`: the characters of the keyword stand inside another word (SPEC 1.3).

Never "the token is longer than the keyword": 女司机 and 男篮 are fine, and that
rule throws away one good sentence in five. Three tests instead:
- a list of words, per keyword (mining_inside.tsv);
- a cut through the keyword: 对|外|公布 for 外公;
- the swap test: a word of the dictionary holds the keyword, its twin with the
  counterpart is no word (宫女, 宫男), it is not on the list of accepted compounds
  (女兵, 男兵), and what is left without the keyword is no word of two characters or
  more either (女|司机: fine).
"""

import re
from functools import lru_cache

from core.mining.filters.dictionary import dictionary, is_surname, is_word
from core.mining.filters.lists import accepted_words, inside_words, touching
from core.mining.filters.name_words import AFTER_SURNAME
from core.mining.types import Finding, Sentence, Token, tagged
from core.types import Candidate, Span

HAN = re.compile("[一-龥]+")
WIDEST = 5  # characters of the longest dictionary word that is tried around a keyword before anything is cut
IN_NAMES = frozenset("男女")  # also the last character of given names (亚男), which no dictionary holds


def inside_word(sentence: Sentence) -> Finding | None:
    """A finding where the keyword is not the word that stands there: reason list, crossing, swap or name."""
    found = sentence.candidate
    if found.pair.language != "zh":
        return None
    if sentence.text.startswith("们", found.end) and len(found.keyword) > 1:
        return None  # 女人|们, never 女|人们
    certain = touching(inside_words(found.keyword, sure=True), sentence.text, found.start, found.end)
    if certain is not None:
        return Finding("list", certain)
    listed = touching(inside_words(found.keyword, sure=False), sentence.text, found.start, found.end)
    if listed is not None and (len(found.keyword) > 1 or _stands_alone(sentence, listed)):
        return Finding("list", listed)
    if found.keyword not in IN_NAMES and not _dictionary_disagrees(sentence.text, found.start, found.end):
        return None
    tokens = _clause(sentence)
    return _by_tokens(tokens, found) or _end_of_name(tokens, found)


def _dictionary_disagrees(text: str, start: int, end: int) -> bool:
    """Whether a dictionary word holds or crosses text[start:end] without being it: only then is cutting worth it."""
    low, high = start, end  # no word reaches over what is no Chinese character
    while low > max(0, start - WIDEST + 1) and "一" <= text[low - 1] <= "龥":
        low -= 1
    while high < min(len(text), end + WIDEST) and "一" <= text[high] <= "龥":
        high += 1
    for first in range(low, end):
        # From inside the keyword on, only what ends beyond it; before it, whatever reaches into it.
        shortest = end + 1 if first >= start else start + 1
        for last in range(max(first + 2, shortest), min(high, first + WIDEST) + 1):
            if _known(text[first:last]):
                return True
    return False


@lru_cache(maxsize=1 << 16)
def _known(text: str) -> bool:
    return bool(dictionary().has_word(text))


def _stands_alone(sentence: Sentence, listed: Span) -> bool:
    """Whether a listed word is there and not the ends of two others: 村女 in 乡|村女|教师, 自他 in 源自|他."""
    found = sentence.candidate
    for token in _clause(sentence):
        holds = token.start <= found.start and found.end <= token.end
        if not holds and any(token.start < end < token.end for end in listed):
            return False
    return True


def _clause(sentence: Sentence) -> tuple[Token, ...]:
    """The tokens of the clause that holds the keyword. Only that is cut: no word crosses punctuation."""
    found = sentence.candidate
    for part in HAN.finditer(sentence.text):
        if part.start() <= found.start < part.end():
            return tuple(
                Token(token.word, token.tag, token.start + part.start(), token.end + part.start())
                for token in tagged(part[0])
            )
    return ()


def _by_tokens(tokens: tuple[Token, ...], found: Candidate) -> Finding | None:
    for token in tokens:
        span = (token.start, token.end)
        if token.end <= found.start or found.end <= token.start:
            continue
        if found.start <= token.start and token.end <= found.end:
            continue  # the keyword itself, or a piece of it
        if token.start > found.start or token.end < found.end:
            return Finding("crossing", span)
        if not is_word(token.word):
            name = token.tag.startswith("nr") and token.end == found.end and len(token.word) in (2, 3)
            return Finding("name", span) if name and is_surname(token.word[0]) else None
        if not _swappable(token, found):
            return Finding("swap", span)
    return None


def _end_of_name(tokens: tuple[Token, ...], found: Candidate) -> Finding | None:
    """王亚|男: a surname with one character that no dictionary has, and right after it 男, alone."""
    alone = any(token.start == found.start and token.end == found.end for token in tokens)
    if found.keyword not in IN_NAMES or not alone:
        return None
    for token in tokens:
        new = token.end == found.start and token.tag.startswith("nr") and not is_word(token.word)
        if new and len(token.word) == 2 and is_surname(token.word[0]) and token.word[1] not in AFTER_SURNAME:
            return Finding("name", (token.start, found.end))
    return None


def _swappable(token: Token, found: Candidate) -> bool:
    before, after = token.word[: found.start - token.start], token.word[found.end - token.start :]
    if is_word(before + found.counterpart + after) or (is_surname(before) and not after and len(found.keyword) > 1):
        return True  # 刘阿姨 is 阿姨 with a surname
    if touching(accepted_words(found.keyword), token.word, len(before), len(before) + len(found.keyword)):
        return True
    rest = before or after
    return not (before and after) and len(rest) >= 2 and is_word(rest)
