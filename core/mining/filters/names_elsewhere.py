"""Names that the paragraph around a sentence tells: the person an article is about, and names written with a dot.

An encyclopedia names somebody in full once (格罗弗·克利夫兰, 雨侨（…），本名廖羽翘) and by a
part of the name afterwards, which looks like a place or an ordinary word.
"""

import re
from functools import lru_cache

from evenhand.core.mining.filters.name_words import DOTS, FOREIGN, NAMED_AFTER, PLACE_BEFORE
from evenhand.core.text.dictionary import is_surname, is_word
from evenhand.core.types import Span

_BEFORE_DOT, _BEHIND_DOT = re.compile(f"[{FOREIGN}]{{2,8}}$"), re.compile(f"\\s?([{FOREIGN}]{{2,9}})")
# What an article on a person begins with: 马赛（1987年……）; a word in no dictionary, also so: 楼曾瑞（Lour……）.
_SUBJECT = re.compile("([一-龥]{2,6})(?=（(?:[，、；）]|[^（）]{0,40}[0-9]{3,4}年))")
_NEW_SUBJECT = re.compile("([一-龥]{2,6})(?=（[^（）]{0,20}[A-Za-z]{3}|，(?:字|号|本名|原名|[一-龥]{1,4}氏，))")
PERSON_WITHIN = 80  # characters from the beginning in which an article says that it is about a person
_PERSON = re.compile(
    "出生|生于|逝世|去世|本名|原名|艺名|[，）][字号]|祖籍|籍贯|演员|歌手|作家|画家|诗人|学家|政治家|运动员|球员|教练|皇帝|国王"
    "|之[子女孙]|[长次三四五六七幼][子女]|将领|人物|议员|主持人|导演|选手|氏，|和尚|僧"
)
# 本名廖羽翘, ，字子瞻: what every alias holds -> its form.
_ALIASES = {
    hint: re.compile(begin + "[为是叫]?([一-龥]{2,4})(?=[，。；、（）])")
    for hint, begin in (("名", "名(?<=[本原艺别笔乳官译改又更]名)"), ("，字", "，字"))
}


@lru_cache(maxsize=64)
def _names_in(paragraph: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    if "·" in paragraph or "•" in paragraph or "・" in paragraph or "‧" in paragraph:  # quicker than to search for DOTS
        for dot in DOTS.finditer(paragraph):
            before = _BEFORE_DOT.search(paragraph, max(0, dot.start() - 8), dot.start())
            behind = _BEHIND_DOT.match(paragraph, dot.end())
            found |= dict.fromkeys([*([before[0]] if before else []), *([behind[1]] if behind else [])])
    begin = paragraph[2:7]
    if "（" in begin or "，" in begin:
        new, subject = _NEW_SUBJECT.match(paragraph), _SUBJECT.match(paragraph)
        subject = subject or (new if new and not is_word(new[1]) else None)
        if subject and _PERSON.search(paragraph, 0, PERSON_WITHIN):
            found[subject[1]] = None
    for hint, pattern in _ALIASES.items():
        if hint in paragraph:
            found |= dict.fromkeys(pattern.findall(paragraph))
    if not found:
        return ()
    given = [name[1:] for name in found if len(name) == 3 and is_surname(name[0]) and not is_word(name[1:])]
    return tuple(name for name in (*found, *given) if len(name) > 1)


def named_elsewhere(text: str, paragraph: str, keyword: Span) -> Span | None:
    """Where a name stands in *text* that its *paragraph* tells; it is more than the *keyword*."""
    for name in _names_in(paragraph):
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            apart = end <= keyword[0] or keyword[1] <= start or end - start > keyword[1] - keyword[0]
            if apart and not NAMED_AFTER.match(text, end) and not PLACE_BEFORE.search(text[max(0, start - 2) : start]):
                return start, end
            start = text.find(name, end)
    return None
