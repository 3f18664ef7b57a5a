"""Names that stand where names do: 总统 before a word and 率军 behind it speak for one, 的 and 了 against it.

The scores are log ratios of frequencies (training/name_contexts.py), to be added to those
of characters; a name needs less of one the more it has of the other.
"""

from evenhand.core.mining.filters.name_marks import FITS, HINT, NO_NAME_TAGS, Cut, Word, context
from evenhand.core.mining.filters.name_shapes import SURE_PLACE, fits_behind_surname
from evenhand.core.mining.filters.name_words import (
    HAN,
    NAMED_AFTER,
    PLACE_BEHIND,
    PLACES,
    given_score,
    read_as_none,
)
from evenhand.core.text.dictionary import AFTER_SURNAME, is_surname, is_word
from evenhand.core.types import Span

# Least context, and least sum of both, of a name cut in two: behind its first character, behind its second, and
# behind two that are a word.
CUT_FIRST, CUT_SECOND, CUT_KNOWN = (0.5, 2.0), (0.0, 1.0), (1.5, 2.0)
AT = frozenset("位于 在 到 至 从 赴 前往 抵达 生于 出生于 来自 移居 定居".split())  # noqa: SIM905


def by_context(cut: Cut) -> Span | None:
    """Where a word stands that looks somewhat like a name, and stands where names do: 总统|金泳三, 与|王有|才."""
    words, starts, last = cut.words, cut.starts, len(cut.words) - 1
    for place, mark in cut.some:
        if not mark & HINT or cut.first <= place < cut.stop:
            continue
        word = words[place]
        if word.least is not None:
            found = context(words, place, place + 1)
            if found >= word.least and not _is_place(words, place):
                return starts[place], starts[place + 1]
        if place == last or place + 1 == cut.first:
            continue
        behind = words[place + 1]
        if word.size + behind.size == 3 and is_surname(word.word[0]) and _may_be_cut(word, behind):
            found, like = context(words, place, place + 2), given_score((word.word + behind.word)[1:]) / 2
            least = CUT_FIRST if word.size == 1 else CUT_KNOWN if is_word(word.word) else CUT_SECOND
            if found >= least[0] and found + like >= least[1]:
                return starts[place], starts[place + 2]
    return None


def _may_be_cut(word: Word, behind: Word) -> bool:
    """Whether both, of three characters, may be one full name: 许|兰亭, 王有|才."""
    if word.size == 1:
        if behind.tag in NO_NAME_TAGS or not behind.marks & FITS:
            return False
    elif not HAN.fullmatch(behind.word) or not fits_behind_surname(word.word[1] + behind.word):
        return False
    whole = word.word + behind.word
    return (
        not AFTER_SURNAME.intersection(whole[1:])
        and (whole[-1] not in PLACES or given_score(whole[1:]) >= SURE_PLACE)
        and whole not in read_as_none()
        and not is_word(whole)
    )


def _is_place(words: list[Word], place: int) -> bool:
    """Whether what stands beside the word says that it is a place: 哈德逊|河, 位于|布拉德利."""
    behind = words[place + 1].word if place + 1 < len(words) else ""
    before = words[place - 1].word if place else ""
    return before in AT or NAMED_AFTER.match(behind) is not None or PLACE_BEHIND.search(behind) is not None
