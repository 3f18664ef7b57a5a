"""Names that only what stands beside them tells: who somebody is, what people do, and what is done to them.

A new word scores far less than a name must elsewhere where a clause begins with it
and what follows is what people do (决定, 去世), or where it stands behind what is done
to people (杀死, 采访).
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from core.mining.filters.name_shapes import (
    NOTHING,
    PERMITTED,
    Shape,
    fits_behind_surname,
    looks_like_a_name,
    shape_of,
)
from core.mining.filters.name_words import (
    HAN,
    NAMED_AFTER,
    NAMED_BEFORE,
    ONLY_SURNAMES,
    PLACE_BEFORE,
    PLACES,
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
RARE_CUT = 1.5  # of one rare character behind a surname that was cut off
# Least scores of a given part behind a surname that is cut off: after who it is, after whom something is said to;
# of a new word and of a known one written with the characters of transliterations.
RELATED, TOLD_TO, FOREIGN_NEW, FOREIGN_DOING = 0.0, 1.0, 3.0, 4.0
TO_WHOM = frozenset("对 与 和 由 被 向 给 让 跟 把 将".split())  # noqa: SIM905
ADDRESSED = frozenset("同志 老人 先生 女士 活佛 法师 大师 上人 小姐".split())  # noqa: SIM905
NOT_BEFORE = re.compile("[这那该两几每某我你他她它其本各此哪有没不非]")  # no name begins so
RARE_IN_FRAME = 3.0  # what a rare character counts here
NO_SURNAME_HERE = frozenset("于向时曾常任")  # more often a preposition or an adverb behind a noun or a year
COUPLES = frozenset(["夫妇", "夫妻", "父子", "父女", "母子", "母女", "兄弟", "姐妹", "姊妹"])
KIN = re.compile("[父母爸妈子女弟妹哥姐夫妻爷奶公婆甥友事]$")
JOINING = frozenset("和与跟同及")
LEADING = JOINING | frozenset("因由对据让被向随为")


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
    return (
        _introduced(tokens, shapes)
        or _in_clause(tokens, shapes, keyword)
        or _beside(tokens, shapes, keyword)
        or _cut(text, tokens, shapes, keyword)
    )


def _introduced(tokens: Sequence[Token], shapes: Sequence[Shape]) -> Span | None:
    """弟弟|旭烈兀, 查理|大帝: a word that no dictionary has behind one that says who it is, or before one."""
    for place, shape in enumerate(shapes):
        if shape.named_ruler:
            return tokens[place].start, tokens[place].end
        if shape.ruler and place:
            before, named = tokens[place - 1], shapes[place - 1]
            unknown = (named.new or len(before.word) > 2) and may_be_name(before.word) and before.tag != "ns"
            proper = (named.person or before.tag == "nz" or unknown) and not named.ordinary
            if proper and len(before.word) > 1 and HAN.fullmatch(before.word):
                return before.start, tokens[place].end
        if not shape.introduces or place + 1 == len(tokens):
            continue
        after = tokens[place + 1]
        if after.tag == "z" and len(after.word) == 2 and after.word[0] == after.word[1]:
            return after.start, after.end  # 妹妹|冰冰
        if not shapes[place + 1].new:
            if _known_behind_title(tokens, shapes, place):
                return after.start, after.end
            continue
        proper = shapes[place + 1].person and "某" not in after.word
        if after.tag not in NO_NAME_TAGS and (proper or looks_like_a_name(after.word)):
            return after.start, after.end
    return None


def _known_behind_title(tokens: Sequence[Token], shapes: Sequence[Shape], place: int) -> bool:
    """Whether the known word behind the one at *place*, which says who somebody is, is a name: 作家|琉善."""
    after, shape = tokens[place + 1], shapes[place + 1]
    if (shape.foreign or 0.0) >= INTRODUCED_KNOWN and len(after.word) > 2:
        return True
    if shape.ordinary or not (after.tag == "ns" or shape.person) or len(after.word) == 1:
        return False
    behind = tokens[place + 2].word if place + 2 < len(tokens) else ""
    return not KIN.search(tokens[place].word) and may_be_name(after.word) and not NAMED_AFTER.match(behind)


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
        if may_be_name(word) and likeness(word) >= least:
            return start, end
    return None


@lru_cache(maxsize=1 << 16)
def _role(word: str, tag: str) -> str:
    """What *word* may be in a name that only its place tells: rare, surname, new, known; "" for nothing."""
    if not HAN.fullmatch(word):
        return ""
    shape = shape_of(word, tag)
    if len(word) == 1:
        return "rare" if is_rare(word) else "surname" if shape.surname else ""
    if shape.ordinary or len(word) > 8 or tag[0] != "n" or tag == "nt" or not may_be_name(word):
        return ""
    if shape.new:
        return "new"
    whole = len(word) == 3 and surname_length(word) > 0 and word[-1] not in PLACES
    return "known" if shape.person or whole or (tag != "nz" and foreign_score(word) >= FOREIGN_DOING) else ""


def _beside(tokens: Sequence[Token], shapes: Sequence[Shape], keyword: Span) -> Span | None:
    """Words that need hardly any score, for where they stand: 缊|纥, 父亲|林|遵, 对|田|北辰, 荀息|派出, 比利|决定."""
    for place, (word, tag, start, end) in enumerate(tokens):
        role = _role(word, tag)
        if not role or (start < keyword[1] and keyword[0] < end):
            continue
        before = tokens[place - 1] if place else None
        related = place > 0 and shapes[place - 1].introduces
        after = tokens[place + 1] if place + 1 < len(tokens) and not end <= keyword[0] < tokens[place + 1].end else None
        if role in ("rare", "surname"):
            if after is not None and _divided(word, after.word, after.tag, before, related):
                return start, after.end
        elif _named_there(tokens[place], shapes[place], before, related, after):
            return start, end
    return None


def _divided(word: str, behind: str, tag: str, before: Token | None, related: bool) -> bool:
    """Whether two pieces are one name: two rare characters that no word holds, or a surname and what follows it."""
    if len(behind) == 1 and is_rare(word) and is_rare(behind):
        return word != behind
    if not (related or (before is not None and before.word in TO_WHOM)):
        return False
    if not is_surname(word) or not HAN.fullmatch(behind) or len(behind) > 2 or tag in NO_NAME_TAGS:
        return False
    if not fits_behind_surname(behind) or is_word(word + behind):
        return False
    if related:
        return tag != "v" and given_score(behind) >= RELATED and behind[-1] not in PLACES
    return len(behind) == 2 and given_score(behind) >= TOLD_TO


def _named_there(token: Token, shape: Shape, before: Token | None, related: bool, after: Token | None) -> bool:
    """Whether a word of two characters or more is a name for what stands before and behind it."""
    word, behind = token.word, after.word if after is not None else ""
    begins, does = before is None or before.tag == "x", behind in words_beside("behind")
    if not shape.new:
        if behind in ADDRESSED and shape.person:
            return True  # 白石|老人
        if ((begins and does) or behind in COUPLES) and token.tag != "nz" and foreign_score(word) >= FOREIGN_DOING:
            return True  # 比利|决定, 巴利|夫妇
        whole = len(word) == 3 and surname_length(word) > 0 and word[-1] not in PLACES
        return whole and (begins or related) and (does or behind == "同志")  # 邱娥国|说
    if shape.person and (does or behind in words_beside("of people")):
        return True  # 晋国|荀息|派出, 年|沙勿略|被
    if len(word) > 4:
        return False
    if related:
        return surname_length(word) > 0 or foreign_score(word) > 0  # 弟弟|高演
    if (begins and (does or behind == "成为")) or (shape.person and any(map(is_rare, word))):
        return not NOT_BEFORE.match(word)  # 雨侨|成为
    at_place = before is not None and PLACE_BEFORE.search(before.word)
    return not at_place and foreign_score(word) >= FOREIGN_NEW and not NAMED_AFTER.match(behind)


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
        if shape is NOTHING or token.tag in NO_NAME_TAGS:
            continue
        if (shape.new or shape.person) and not shape.ordinary and 2 <= len(token.word) <= 5:
            yield place, place + 1
        following = tokens[place + 1] if len(token.word) < 3 and place + 1 < len(tokens) else None
        if following is None or len(following.word) != 1 or shapes[place + 1] is NOTHING:
            continue
        piece = len(token.word) == 2 and shape.new and not shape.ordinary and following.tag not in NO_NAME_TAGS
        if piece or (len(token.word) == 1 and is_rare(following.word)):
            yield place, place + 2  # 王处|直, 社|崘


def may_be_name(word: str) -> bool:
    """Whether nothing in *word* says that it is no name: a title, 某, 家 behind a surname."""
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
    for place, shape in enumerate(shapes[:-1], 1):
        before = tokens[place - 1]
        if not shape.new and len(before.word) > 1:
            continue
        token, at = tokens[place], before.end - 1
        surname, size = text[at], len(token.word)
        if size > 2 or at < 1 or not is_surname(surname):
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
        rare = size == 1 and text[at - 1] in LEADING and is_rare(token.word) and given >= RARE_CUT  # 因张|湟
        if titled or dated or joined or dies or rare:
            return at, token.end
    return None
