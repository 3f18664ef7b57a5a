"""Names that only the words next to them tell: titles and relatives, and verbs of what people do or undergo.

A new word needs a far lower score than names elsewhere in two places: at the
beginning of a clause, before what people do (决定, 去世); and behind what is done to
people (杀死, 采访).
"""

import math
import re
from collections.abc import Iterator

from evenhand.core.mining.filters.name_marks import (
    ADDRESSED,
    COUPLES,
    DIES,
    DOES,
    DONE_TO,
    FITS,
    FOREIGN_DOING,
    GIVES,
    HINT,
    LONE,
    NAMES,
    NEW_WORD,
    NO_NAME_TAGS,
    OPENS,
    PIECE,
    RARE,
    RELATES,
    ROLE,
    SHOWS,
    SIGN,
    TO,
    Cut,
    Word,
    context,
)
from evenhand.core.mining.filters.name_words import (
    HAN,
    KIN,
    NAMED_AFTER,
    NAMED_BEFORE,
    ONLY_SURNAMES,
    PLACE_BEFORE,
    PLACE_BEHIND,
    PLACES,
    SURE_PLACE,
    fits_behind_surname,
    given_score,
    is_rare,
    likeness,
    looks_like_a_name,
    may_be_name,
    read_as_none,
    surname_length,
    words_beside,
)
from evenhand.core.text.dictionary import AFTER_SURNAME, is_surname, is_word
from evenhand.core.types import Span

# Least scores of a new word: before what people do, the same where it begins with a sure surname; behind what is
# done to people; of a given part behind a relative or a title (儿子|苏志永), behind a year (2011|年严|长寿|担任),
# next to the keyword (查|长生|和|他).
DOING, DOING_SURNAME, DONE_TO_IT = 3.0, 1.5, 1.0
TITLED, YEAR, BESIDE, DYING = 1.5, 0.0, 1.0, 0.0
INTRODUCED_KNOWN = 7.0  # of a place of the dictionary behind a title or a relative
ANY = -math.inf
RARE_CUT = 1.5  # of one rare character behind a surname that was cut off
# Least scores of a given part behind a surname that is cut off: after who it is, after whom something is said to;
# of a new word written with the characters of transliterations.
RELATED, TOLD_TO, FOREIGN_NEW = 0.0, 1.0, 3.0
NOT_BEFORE = re.compile("[这那该两几每某我你他她它其本各此哪有没不非]")  # no name begins so
NO_SURNAME_HERE = frozenset("于向时曾常任")  # more often a preposition or an adverb behind a noun or a year
JOINING = frozenset("和与跟同及")
LEADING = JOINING | frozenset("因由对据让被向随为")


def by_frame(cut: Cut) -> Span | None:
    """Return the span of a name that the words next to it tell; None if there is none."""
    return _introduced(cut) or _in_clause(cut) or _beside(cut) or _cut(cut)


def _introduced(cut: Cut) -> Span | None:
    """Return the span of an unknown word behind a title or relative, or before a title: 弟弟|旭烈兀, 查理|大帝."""
    words, starts = cut.words, cut.starts
    for place, mark in cut.some:
        if not mark & NAMES:
            continue
        shape = words[place].shape
        if shape.named_ruler:
            return starts[place], starts[place + 1]
        if shape.ruler and place and _is_ruler(words[place - 1]):
            return starts[place - 1], starts[place + 1]
        if not shape.introduces or place + 1 == len(words):
            continue
        span, after = (starts[place + 1], starts[place + 2]), words[place + 1]
        if after.tag == "z" and after.size == 2 and after.word[0] == after.word[1]:
            return span  # 妹妹|冰冰
        if not after.shape.new:
            if _known_behind_title(words, place):
                return span
            continue
        proper = after.shape.person and "某" not in after.word
        if after.tag not in NO_NAME_TAGS and (proper or looks_like_a_name(after.word)):
            return span
    return None


def _is_ruler(before: Word) -> bool:
    """Tell whether the word before the title of a ruler is a name."""
    named = before.shape
    if named.ordinary or before.size == 1:
        return False
    unknown = (named.new or before.size > 2) and before.tag != "ns" and may_be_name(before.word)
    return (named.person or before.tag == "nz" or unknown) and HAN.fullmatch(before.word) is not None


def _known_behind_title(words: list[Word], place: int) -> bool:
    """Tell whether a known word is a name behind the title or relative at *place*: 作家|琉善."""
    after, shape = words[place + 1], words[place + 1].shape
    if (shape.foreign or 0.0) >= INTRODUCED_KNOWN and after.size > 2:
        return True
    if shape.ordinary or not (after.tag == "ns" or shape.person) or after.size == 1:
        return False
    behind = words[place + 2].word if place + 2 < len(words) else ""
    return not KIN.search(words[place].word) and may_be_name(after.word) and not NAMED_AFTER.match(behind)


def _in_clause(cut: Cut) -> Span | None:
    """渊田美津雄|决定, 杀死|清康: a new word that does what people do, or suffers it."""
    marks, places = cut.marks, len(cut.marks)
    possessed = cut.first - 1 if cut.keyword[1] - cut.keyword[0] > 1 else -1  # the 的 of X的[父亲]
    for first, last in _new_words(cut):
        told = (first and marks[first - 1] & DONE_TO) or (last < places and marks[last] & (DOES | DIES))
        if not told and last != possessed:
            continue
        start, end = cut.starts[first], cut.starts[last]
        if start < cut.keyword[1] and cut.keyword[0] < end:
            continue
        least = _least(cut, first, last)
        if least is None:
            continue
        word = cut.text[start:end]
        if may_be_name(word) and likeness(word) >= least:
            return start, end
    return None


def _new_words(cut: Cut) -> Iterator[Span]:
    """Words that no dictionary has, and two pieces of which one is a rare character (社|崘), as places."""
    marks, end = cut.marks, len(cut.marks)
    for place, mark in cut.some:
        if mark & RARE and place and marks[place - 1] & LONE:
            yield place - 1, place + 1  # 社|崘
        if mark & NEW_WORD:
            yield place, place + 1
        if mark & PIECE and place + 1 < end and marks[place + 1] & LONE:
            yield place, place + 2  # 王处|直


def _least(cut: Cut, first: int, last: int) -> float | None:
    """The least score of a name that the words from *first* to before *last* make; None: nothing tells one."""
    words, marks, keyword = cut.words, cut.marks, cut.keyword
    before, behind = marks[first - 1] if first else OPENS, marks[last] if last < len(marks) else 0
    begins = before & OPENS
    if behind & DIES and (
        begins or (words[first].shape.new and not PLACE_BEFORE.search(words[first - 1].word if first else ""))
    ):
        return ANY
    if (begins and behind & DOES) or (
        # X的[父亲]
        cut.starts[min(last + 1, len(words))] == keyword[0]
        and keyword[1] - keyword[0] > 1
        and last < len(words)
        and words[last].word == "的"
    ):
        if not words[first].shape.new and last - first == 1:
            return ANY  # a person in the dictionary
        return DOING_SURNAME if words[first].word[0] in ONLY_SURNAMES else DOING
    return DONE_TO_IT if before & DONE_TO else None


def _beside(cut: Cut) -> Span | None:
    """Return the span of a name that needs hardly any score, because of its place.

    Examples: 缊|纥, 父亲|林|遵, 对|田|北辰, 荀息|派出, 比利|决定.
    """
    words, starts, marks, end = cut.words, cut.starts, cut.marks, len(cut.marks)
    for place, mark in cut.some:
        if not mark & ROLE or cut.first <= place < cut.stop:
            continue
        word = words[place]
        if word.size > 1 and not word.named:
            continue
        after = place + 1 if place + 1 < end and place + 1 != cut.first else None
        before = marks[place - 1] if place else SIGN
        if word.size == 1:
            if after is None:
                continue
            if mark & RARE and marks[after] & RARE:
                if word.word != words[after].word:
                    return starts[place], starts[after + 1]
            elif before & (RELATES | TO) and marks[after] & FITS and _divided(word, words[after], before):
                return starts[place], starts[after + 1]
        elif word.shape.new:
            if _new_there(cut, word, place, before, after):
                return starts[place], starts[place + 1]
        elif after is not None and marks[after] & SHOWS and _known_there(word, words[after], before):
            return starts[place], starts[place + 1]
    return None


def _divided(word: Word, after: Word, before: int) -> bool:
    """Tell whether the words before a surname make it one name with the word after it.

    The word after it may be a given part.
    """
    if not is_surname(word.word) or after.size > 2 or after.tag in NO_NAME_TAGS or is_word(word.word + after.word):
        return False
    if before & RELATES:
        return after.tag != "v" and after.given >= RELATED and after.word[-1] not in PLACES
    return after.size == 2 and after.given >= TOLD_TO


def _known_there(word: Word, after: Word, before: int) -> bool:
    """Tell whether the words around a known word make it a name."""
    behind, does = after.word, after.marks & DOES
    if behind in ADDRESSED and word.shape.person:
        return True  # 白石|老人
    if ((before & SIGN and does) or behind in COUPLES) and word.tag != "nz" and word.foreign >= FOREIGN_DOING:
        return True  # 比利|决定, 巴利|夫妇
    if not before & (SIGN | RELATES) or not (does or behind == "同志"):
        return False
    return word.size == 3 and surname_length(word.word) > 0 and word.word[-1] not in PLACES  # 邱娥国|说


def _new_there(cut: Cut, word: Word, place: int, before: int, after: int | None) -> bool:
    """Tell whether the words around a new word make it a name."""
    behind, does = (cut.words[after].word, cut.marks[after] & DOES) if after is not None else ("", 0)
    person = word.shape.person
    if person and (does or behind in words_beside("of people")):
        return True  # 晋国|荀息|派出, 年|沙勿略|被
    if word.size > 4:
        return False
    if before & RELATES:
        return surname_length(word.word) > 0 or word.foreign > 0  # 弟弟|高演
    if (before & SIGN and (does or behind == "成为")) or (person and any(map(is_rare, word.word))):
        return not NOT_BEFORE.match(word.word)  # 雨侨|成为
    if word.foreign < FOREIGN_NEW or NAMED_AFTER.match(behind):
        return False
    return not (place and PLACE_BEFORE.search(cut.words[place - 1].word))


def _cut(cut: Cut) -> Span | None:
    """Names of which the segmenter gave the surname to the word before: 农艺|家马|一龙, 2011|年严|长寿|担任."""
    starts, marks, end = cut.starts, cut.marks, len(cut.marks)
    for before, mark in cut.some:
        place = before + 1
        if not mark & GIVES or place == end or not marks[place] & FITS or starts[place] < 2:
            continue
        token, at = cut.words[place], starts[place] - 1
        if (
            token.size > 2
            or token.given < min(YEAR, DYING)
            or (at < cut.keyword[1] and cut.keyword[0] < starts[place + 1])
        ):
            continue
        if _surname_before(cut, place) and not is_word(cut.text[at] + token.word):
            return at, starts[place + 1]
    return None


def _surname_before(cut: Cut, place: int) -> bool:
    """Tell whether the word before the one at *place* ends with the surname of the latter.

    The words next to both decide.
    """
    text, token, at = cut.text, cut.words[place], cut.starts[place] - 1
    given, surname = token.given, text[at]
    behind, marks = (cut.words[place + 1].word, cut.marks[place + 1]) if place + 1 < len(cut.words) else ("", 0)
    if given >= DYING and marks & DIES:
        return True
    if given >= YEAR and marks & DOES and text[at - 1] in "年月日" and text[at - 2].isdigit():
        return True
    if given >= BESIDE and behind in JOINING and cut.keyword[0] == cut.starts[place + 1] + 1:
        return True
    if token.size == 1 and text[at - 1] in LEADING and cut.marks[place] & RARE and given >= RARE_CUT:
        return True  # 因张|湟
    titled = given >= TITLED and surname not in NO_SURNAME_HERE
    return titled and NAMED_BEFORE.search(text[max(0, at - 3) : at]) is not None


# Least context, and least sum of both, of a name cut in two: behind its first character, behind its second, and
# behind two that are a word.
CUT_FIRST, CUT_SECOND, CUT_KNOWN = (0.5, 2.0), (0.0, 1.0), (1.5, 2.0)
AT = frozenset("位于 在 到 至 从 赴 前往 抵达 生于 出生于 来自 移居 定居".split())  # noqa: SIM905


def by_context(cut: Cut) -> Span | None:
    """Return the span of a word that looks somewhat like a name, in a place of names: 总统|金泳三, 与|王有|才.

    总统 before a word and 率军 behind it speak for a name, 的 and 了 against it. The scores are log ratios of
    frequencies (training/name_contexts.py). They are added to the scores of characters: the higher one score of a
    name is, the lower the other may be.
    """
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
    """Tell whether both words, of three characters together, may be one full name: 许|兰亭, 王有|才."""
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
    """Tell whether the words next to the word say that it is a place: 哈德逊|河, 位于|布拉德利."""
    behind = words[place + 1].word if place + 1 < len(words) else ""
    before = words[place - 1].word if place else ""
    return before in AT or NAMED_AFTER.match(behind) is not None or PLACE_BEHIND.search(behind) is not None
