"""What a word says by itself about being a name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from evenhand.core.mining.filters.name_words import (
    HAN,
    NAMED_RULER,
    ONLY_SURNAMES,
    PLACES,
    RULERS,
    SURELY_PLACES,
    TAIL,
    TITLES,
    foreign_score,
    given_score,
    introduces,
    is_rare,
    japanese_score,
    known_names,
    ordinary_words,
    read_as_none,
    surname_length,
)
from evenhand.core.text.dictionary import AFTER_SURNAME, is_surname, is_word
from evenhand.core.types import Span

PERSON = ("nr", "nrt", "nrfg")
FOREIGN_TAG = "nrt"
# No foreign name begins or ends so: 老翁, 小村庄, 李阿姨.
PROPER = (*PERSON, "nz", "j")
# Surnames with what may stand beside them, and places: 小谢, 老江, 张姓, 冯某华, 牛寨村.
PERMITTED = re.compile(
    "^[小老阿大看为那的被是把给让跟和]|[某姓]"
    "|(?:[车队厂店城楼园院馆社站路镇村区县市州湖江河山岛港坝岭寺国军人节杯党派家叔伯婶婆妈宝]|症)$"
)
NO_FOREIGN = re.compile(
    "^[老小]|(?:[村港皮瓦]$)(?<=[一-龥]{3})|(?:症|村庄|[^亨]人|阿姨|夫人|先生|小姐|女士|太太|师傅|老师|[氏某家])$"
)
# Least scores of the given part: of two characters, of one; for words of the dictionary and for others. One new
# character after a surname that is also a common word (余温, 牛河) must look like a given name more clearly.
KNOWN_TWO, KNOWN_ONE = -0.5, -1.0
NEW_TWO, NEW_ONE, NEW_ONE_DOUBTFUL = 0.0, 0.5, 1.5
UNTAGGED_TWO, UNTAGGED_ONE = 3.0, 4.0  # of a new word that the tagger took for no person
UNTAGGED_CLEAR = 0.5  # of one that begins with a surname which is hardly ever anything else
SURELY_ABOVE = 2.0  # of two characters behind such a surname, where the tagger takes all three for a person: 蒋中正
SURE_PLACE = 4.5  # of a given part that ends like a place: 蒋|巨峰
GUESSED = 1.5  # of a part of a new word
NEARLY = 4.0  # how far below its least score a name is still told, for what stands beside it
SURE_LETTER = 3.0  # a single character that may be part of such a run whatever the tagger says of it
FOREIGN_TAGGED = 4.0  # of a foreign name that is tagged as a person
FOREIGN_KNOWN = 5.0  # of a proper noun of the dictionary that it does not call a person
FOREIGN_DOUBTFUL = 4.0  # of one whose characters make ordinary words too: 路德 in 路德教
JAPANESE_NEW, JAPANESE_LONG, JAPANESE_KNOWN, JAPANESE_ONE, JAPANESE_SURE = 1.0, 2.5, 4.0, 3.0, 1.5
FUNCTION = re.compile("[的与和也及男女们在于从将把被是有个了着过到向]")  # hardly ever in a Japanese given name
JAPANESE_BEHIND_SURE = -2.0  # of two characters behind a surname of history: 北条|义时
JAPANESE_LAST = -1.5  # of two new characters at the end of a clause: 中村|法道
INTRODUCED_FOREIGN = 1.0
RARE_IN_FRAME = 3.0  # what a rare character counts where the words beside it tell a name
INTRODUCED = 3.0  # of the last two characters of a new word behind one that says who somebody is


@dataclass(slots=True, eq=False)
class Shape:
    """`full`: where a full name stands in the word, with its score above the least one; `foreign`: None: it is none.

    `free`: it may be a piece of a name that the segmenter cut wrongly.
    """

    full: Span | None
    score: float
    person: bool
    new: bool  # in no dictionary
    surname: bool  # a Chinese surname and nothing else
    ordinary: bool
    free: bool
    foreign: float | None
    place: bool  # the dictionary calls it a place
    leads: bool  # a Chinese name may begin here
    letter: bool  # part of a run of transliteration
    introduces: bool  # who somebody is, before the name
    ruler: bool  # what a ruler is called, behind the name
    named_ruler: bool  # 慈禧太后: both in one word


NOTHING = Shape(None, 0.0, False, False, False, False, False, None, False, False, False, False, False, False)
KNOWN = Shape(None, 0.0, False, False, False, False, False, None, False, False, False, False, False, False)


def shape_of(word: str, tag: str) -> Shape:
    """The shape of *word*, which the segmenter tagged as *tag*."""
    if not HAN.fullmatch(word):
        return NOTHING
    person, new, ordinary, size = tag in PERSON, not is_word(word), word in ordinary_words(), len(word)
    names, ruler, surname = introduces(word), word in RULERS, size <= 2 and is_surname(word)
    usual = size > 1 and not (new or person or ordinary or names or ruler or surname)
    if usual and tag not in ("nz", "ns") and word not in known_names():
        return KNOWN
    foreign = _foreign(word, tag, person, new, ordinary)
    full, score = (None, 0.0) if ordinary else _full_name(word, person, new)
    place = tag == "ns" and not new
    free = (new or size == 1) and not ordinary and (new or tag not in ("uj", "ul", "m", "r"))
    return Shape(
        full, score, person, new, surname, ordinary, free, foreign, place,
        full is not None or surname or person or (free and new),
        foreign is not None and (person or new or place or foreign >= SURE_LETTER),
        names, ruler,
        person and size > 2 and NAMED_RULER.search(word) is not None,
    )  # fmt: skip


def _foreign(word: str, tag: str, person: bool, new: bool, ordinary: bool) -> float | None:
    """The score of *word* as a part of a transliterated name; None: it can be none."""
    known = not (person or new or len(word) == 1)
    if known and tag not in ("nz", "ns"):
        return None
    score = foreign_score(word)
    if known and score < FOREIGN_KNOWN:
        return None
    if ordinary and (tag != FOREIGN_TAG or score < FOREIGN_DOUBTFUL):
        return None  # but 路德, also in 路德教, is a person all the same
    return None if word in read_as_none() or NO_FOREIGN.search(word) else score


def _full_name(word: str, person: bool, new: bool) -> tuple[Span | None, float]:
    """Where a surname with a given name stands in *word*, which is no ordinary word, and how clearly."""
    if word in known_names():
        return (0, len(word)), 10.0
    if new and word[-1] in TAIL and word[:-1] in known_names():
        return (0, len(word) - 1), 10.0  # 秀吉死
    if len(word) < 2 or not (person or new):
        return None, 0.0
    best: tuple[Span | None, float] = (None, 0.0)
    for start, end in _parts(word, new):
        above = _above_least(word[start:end], word, person, new)
        if above is not None and above >= -NEARLY and (best[0] is None or above > best[1]):
            best = (start, end), above
    return best


def _parts(word: str, new: bool) -> Iterator[Span]:
    """The word, and of a new one what is left without what the segmenter took into it: 王守华|干, 召|朱守谦."""
    yield 0, len(word)
    if not new:
        return
    surname = surname_length(word)
    if (surname and len(word) - surname == 3) or (surname and word[-1] in TAIL and len(word) - surname == 2):
        yield 0, len(word) - 1
    elif not surname and len(word) in (3, 4):
        yield 1, len(word)


def _above_least(name: str, word: str, person: bool, new: bool) -> float | None:
    """How far the given part of *name* scores above what is asked of it; None: it has not the shape of a name."""
    surname = surname_length(name)
    given = name[surname:]
    if surname == 0 or not 1 <= len(given) <= 2 or not fits_behind_surname(given):
        return None
    if name[-1] in (PLACES if new else SURELY_PLACES) and len(name) <= 3:
        return None
    if new and not person and name[0] in ONLY_SURNAMES:
        least = UNTAGGED_CLEAR
    elif len(given) == 2:
        least = KNOWN_TWO if not new else NEW_TWO if person else UNTAGGED_TWO
    elif not new:
        least = KNOWN_ONE
    elif not person:
        least = UNTAGGED_ONE
    else:
        least = NEW_ONE if name[0] in ONLY_SURNAMES else NEW_ONE_DOUBTFUL
    if name != word:
        least = max(least, GUESSED)
    elif person and len(given) == 2 and name[0] in ONLY_SURNAMES:
        return max(given_score(given) - least, SURELY_ABOVE)
    return given_score(given) - least


def fits_behind_surname(given: str) -> bool:
    """Whether *given* may be a given name: no title, no 某, nothing that makes the permitted form of a surname."""
    return bool(HAN.fullmatch(given)) and given not in AFTER_SURNAME and given[0] != "某" and not TITLES.match(given)


@lru_cache(maxsize=1 << 14)
def is_japanese(given: str, *, last: bool, surely: bool = False) -> bool:
    """Whether *given* looks like a Japanese given name behind a Japanese surname.

    `last`: a clause ends with it. `surely`: the surname is nothing else (丰臣).
    """
    if not HAN.fullmatch(given) or given in ordinary_words() or given in AFTER_SURNAME:
        return False
    if given[0] in AFTER_SURNAME:  # 德川|家康, but 德川家|的
        return len(given) == 2 and japanese_score(given) >= JAPANESE_SURE
    if len(given) == 1:
        return not is_word(given) or given_score(given) >= JAPANESE_ONE
    if FUNCTION.search(given) and japanese_score(given) < JAPANESE_KNOWN:
        return False
    if surely and len(given) == 2 and japanese_score(given) >= JAPANESE_BEHIND_SURE:
        return True
    if last and len(given) == 2 and not is_word(given):
        return japanese_score(given) >= JAPANESE_LAST
    return japanese_score(given) >= (
        JAPANESE_KNOWN if is_word(given) else JAPANESE_NEW if len(given) == 2 else JAPANESE_LONG
    )


def likely_name(word: str, tag: str) -> float | None:
    """The best of the scores of *word*, a new one, as a name, if the tagger took it for a proper noun."""
    if tag not in PROPER:
        return None
    if not 2 <= len(word) <= 5 or word in ordinary_words() or PERMITTED.search(word) or TITLES.search(word[1:]):
        return None
    return max(given_score(word[-2:]), foreign_score(word), japanese_score(word[-2:]))


def may_be_name(word: str) -> bool:
    """Whether nothing in *word* says that it is no name: a title, 某, 家 behind a surname."""
    return (
        word[-1] not in AFTER_SURNAME
        and word not in read_as_none()
        and not PERMITTED.search(word)
        and not TITLES.search(word)
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


@lru_cache(maxsize=1 << 14)
def looks_like_a_name(word: str) -> bool:
    """Whether a new *word* looks like any name, where what stands before it says that somebody is meant."""
    if not 2 <= len(word) <= 4 or not HAN.fullmatch(word) or word in ordinary_words() or word[-1] in AFTER_SURNAME:
        return False
    return given_score(word[-2:]) >= INTRODUCED or foreign_score(word) >= INTRODUCED_FOREIGN
