"""Filter `names`: a full name, a given name or a foreign name tells the gender; a surname alone is kept.

No model of named entities: the tags of the segmenter are leads only (they take
one accepted sentence in four for a name), and every fifth name of an
encyclopedia has no such tag. What counts is the shape, with scores of characters
learned from the names of a dictionary (training/name_characters.py): a surname
with what looks like a given name, also where the segmenter cut it apart
(name_words.py has what a word says by itself); what is written with the
characters of transliterations; a Japanese surname with a given name. A word that
begins a clause needs less: that is where texts name a person. Nicknames, rulers and
introductions (名叫……) are recognised by their forms.
"""

import re
from functools import lru_cache

from evenhand.core.mining.filters.name_frames import by_context, by_frame
from evenhand.core.mining.filters.name_marks import (
    DIES,
    DOES,
    FITS,
    FREE,
    GOES_ON,
    JAPANESE,
    LEADS,
    LETTER,
    LIKELY,
    NO_NAME_TAGS,
    RARE,
    Cut,
    Word,
    context,
)
from evenhand.core.mining.filters.name_words import (
    CAPITAL,
    DOTS,
    DOTTED,
    FOREIGN,
    FOREIGN_TAGGED,
    FUNCTION,
    HAN,
    JAPANESE_KNOWN,
    JAPANESE_SURE,
    NAMED_AFTER,
    PLACE_BEFORE,
    PLACE_BEHIND,
    PLACES,
    RULERS,
    SURE_LETTER,
    SURE_PLACE,
    TAIL,
    fits_behind_surname,
    foreign_score,
    given_score,
    inflected_forms,
    is_japanese,
    is_rare,
    japanese_score,
    japanese_surnames,
    nickname_hints,
    nickname_shapes,
    ordinary_words,
    read_as_none,
    sure_surnames,
    surname_length,
)
from evenhand.core.mining.types import Finding, Sentence
from evenhand.core.text.dictionary import is_surname, is_word, surnames
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
    """Return the span of a name in *text* that its *paragraph* tells, or None.

    The span lies outside the *keyword* or is longer. An encyclopedia names a person in full once (格罗弗·克利夫兰,
    雨侨（…），本名廖羽翘) and then by a part of the name, which looks like a place or an ordinary word.
    """
    for name in _names_in(paragraph):
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            apart = end <= keyword[0] or keyword[1] <= start or end - start > keyword[1] - keyword[0]
            if apart and not NAMED_AFTER.match(text, end) and not PLACE_BEFORE.search(text[max(0, start - 2) : start]):
                return start, end
            start = text.find(name, end)
    return None


# Least scores of a given part that the segmenter cut from its surname: after the surname, after the first character.
DIVIDED, DIVIDED_LATE = 1.0, 1.5
SURE, SURE_APART = (
    3.0,
    2.5,
)  # of an ordinary word behind a surname tagged as a person: 蔡|崇信, 卓|一夫
DOUBLE = 2.0  # of two characters behind a surname of two: 南宫|飞云
APART = 4.0  # of two characters behind a surname that the tagger took for no person
RARE_BEHIND = 1.5  # of one rare character behind such a surname
FOREIGN_NEW = 8.5  # sum over a run of transliteration without a person's tag
LEAST_FOREIGN, LEAST_NEW = 2, 3  # characters of such runs
PLACES_IN_A_ROW = 3  # so many places do not follow each other: 阿尔西|比亚|德斯
AFTER_SYLLABLE = 2.0  # of what follows a keyword that is itself a syllable of a name
# Titles behind the name: 在塞巴斯蒂亚诺将军及……协助下.
CALLED = RULERS | frozenset("将军 上校 少校 上将 爵士 神父 先生 女士 总统 总理 教授 博士 主教".split())  # noqa: SIM905
LIKE_A_NAME = 6.0  # of a new word tagged as a proper noun


def names(sentence: Sentence) -> Finding | None:
    """Return a finding if the sentence has a personal name, of any person.

    Reasons: dot, nickname, full, foreign, told (by a form, or by the words next to it), elsewhere (the paragraph
    tells), likely.
    """
    candidate, text = sentence.candidate, sentence.text
    if candidate.pair.language != "zh":
        return None
    dotted = DOTS.search(text) and DOTTED.search(text)
    if dotted:
        return Finding("dot", dotted.span())
    if nickname_hints().search(text):
        for hit in nickname_shapes().finditer(text):
            if hit.lastgroup is not None and (hit.end() <= candidate.start or hit.start() >= candidate.end):
                return Finding("nickname", hit.span())
    told = inflected_forms(latin=CAPITAL.search(text) is not None).search(text)
    if told:
        return Finding("told", told.span())
    cut = Cut(text, (candidate.start, candidate.end))
    span = _chinese_name(cut)
    if span is not None:
        return Finding("full", span)
    span = _around_keyword(cut) or _foreign_name(cut) or _japanese_name(cut)
    if span is not None:
        return Finding("foreign", span)
    span = by_frame(cut)
    if span is not None:
        return Finding("told", span)
    span = named_elsewhere(text, sentence.paragraph(), cut.keyword)
    if span is not None:
        return Finding("elsewhere", span)
    span = by_context(cut)
    if span is not None:
        return Finding("told", span)
    for place, mark in cut.some:
        if mark & LIKELY:
            likely = cut.words[place].likely
            if likely is not None and likely + context(cut.words, place, place + 1) >= LIKE_A_NAME:
                return Finding("likely", (cut.starts[place], cut.starts[place + 1]))
    return None


def _chinese_name(cut: Cut) -> Span | None:
    words, starts, marks, last = cut.words, cut.starts, cut.marks, len(cut.words) - 1
    for place, mark in cut.some:
        if not mark & LEADS or cut.first <= place < cut.stop:
            continue
        word = words[place]
        shape, following = word.shape, words[place + 1] if place < last else None
        if following is not None and shape.new and PLACE_BEHIND.fullmatch(following.word):
            continue  # 南圩|镇, 李官|村
        if shape.full is not None and shape.score + context(words, place, place + 1) >= 0:
            return starts[place] + shape.full[0], starts[place] + shape.full[1]
        if following is None:
            continue
        if place == 0 and shape.new and word.size < 4 and following.word[0] == "（":
            return (0, starts[1]) if surname_length(word.word) == 1 else None  # 符泳（...），香港男游泳选手
        if cut.first <= place + 1 < cut.stop:
            continue
        end = None
        if marks[place + 1] & FITS and (shape.surname or shape.person):
            end = _divided_name(cut, place)
        if end is None and mark & FREE and marks[place + 1] & FREE and word.surname_at >= 0:
            end = _apart(cut, place)
        if end is not None and word.word + following.word not in read_as_none():
            return starts[place], end
    return None


def _divided_name(cut: Cut, place: int) -> int | None:
    """Return the end of a full name whose first piece is the word at *place*, or None.

    Examples: 梁|邦彦, 潘均|顺, 欧阳|雪晴, 慕容|恪.

    The word is a surname or tagged as a person, and the one behind it may be a given part.
    """
    words, end = cut.words, cut.starts[place + 2]
    token, following = words[place], words[place + 1]
    shape, after, size = token.shape, following.shape, following.size
    if shape.surname and token.size == 2:
        named = following.tag not in NO_NAME_TAGS or is_rare(following.word)
        one = size == 1 and named and following.given > -1.0
        two = size == 2 and (after.person or following.given + context(words, place, place + 2) >= DOUBLE)
        return end if one or two else None
    if shape.surname and shape.person and is_rare(token.word):
        return end if size <= 2 else cut.starts[place + 1] + 1  # 苻|坚杀: a rare character that is a surname
    if cut.marks[place + 1] & RARE:
        # 蒋家|旻, 张|湟: what is rare lives on in names.
        return end if following.given >= RARE_BEHIND and token.size <= 2 else None
    if token.size + size != 3 or surname_length(token.word) != 1 or shape.ordinary:
        return None
    return end if _is_divided(words, place, token, following) else None


def _is_divided(words: list[Word], place: int, token: Word, following: Word) -> bool:
    """Tell whether two words are a full name.

    They have three characters together, and the first word begins with a surname.
    """
    shape, after, whole = token.shape, following.shape, token.word + following.word
    score = given_score(whole[1:])
    if "某" in whole or (whole[-1] in PLACES and score < SURE_PLACE):
        return False
    given = score + context(words, place, place + 2)
    if shape.person and shape.surname and given >= (SURE if after.person else SURE_APART):
        return not is_word(whole)
    if after.ordinary:
        return False
    if shape.person and (after.person if token.size == 1 else following.size == 1 and after.free):
        return given >= (DIVIDED if token.size == 1 else DIVIDED_LATE) and not is_word(whole)
    return shape.surname and given >= APART and not is_word(whole)


def _apart(cut: Cut, place: int) -> int | None:
    """Return the end of a full name across new words and single characters, or None.

    Examples: 父赵希|瓐, 据林|越峰, 赵|与|莒.

    The word at *place* has a surname near its end, and both it and the one behind it may be pieces of a name.
    """
    words, at, taken, end = cut.words, cut.words[place].surname_at, place, len(cut.words)
    given = words[place].word[at + 1 :]
    while len(given) < 2 and taken + 1 < end:
        taken += 1
        if not cut.marks[taken] & FREE or taken == cut.first:
            return None
        given += words[taken].word
    # 许月|凤于: what the segmenter took into the last piece.
    fits = len(given) == 2 or (len(given) == 3 and given[2] in TAIL and words[taken].shape.new)
    if not fits or "某" in given or given_score(given[:2]) < APART or not fits_behind_surname(given[:2]):
        return None
    return cut.starts[place] + at + 3


def _foreign_name(cut: Cut) -> Span | None:
    words, starts, marks, end, last = cut.words, cut.starts, cut.marks, len(cut.words), 0
    for first, mark in cut.some:
        if not mark & LETTER or first < last:
            continue
        last, total = first + 1, words[first].shape.foreign or 0.0
        while last < end and marks[last] & GOES_ON:
            total += words[last].shape.foreign or 0.0
            last += 1
        if starts[last] - starts[first] < LEAST_FOREIGN:
            continue
        total += context(words, first, last)
        if total >= FOREIGN_TAGGED and _is_foreign(cut, first, last, total):
            return starts[first], starts[last]
    return None


def _is_foreign(cut: Cut, first: int, last: int, total: float) -> bool:
    """Tell whether the words from *first* to before *last* are a foreign name.

    They are written with the characters of such names.

    *total*: their scores with those of their context, at least FOREIGN_TAGGED.
    """
    words, run, text = cut.words, cut.words[first:last], cut.text[cut.starts[first] : cut.starts[last]]
    person = any((word.shape.person or word.tag == "nz") and word.size > 1 for word in run)
    person = person or (total >= FOREIGN_NEW and any(word.shape.person for word in run))
    new = len(text) >= LEAST_NEW and any(not word.shape.ordinary and word.size > 1 for word in run)
    if not person and not (new and total >= FOREIGN_NEW):
        return False
    if last - first < PLACES_IN_A_ROW and all(word.shape.place for word in run):
        return False
    following = words[last].word if last < len(words) else ""
    if text in read_as_none() or NAMED_AFTER.match(following):
        return False
    certainly = following in CALLED or (following != "" and cut.marks[last] & (DOES | DIES))
    return bool(certainly) or not (first and PLACE_BEFORE.search(words[first - 1].word))


def _around_keyword(cut: Cut) -> Span | None:
    """亚[他]纳修, 余[男]: a name of which the keyword is a syllable."""
    (start, end), first, starts = cut.keyword, cut.first, cut.starts
    if end - start > 1:
        return None
    for place in range(max(0, first - 1), min(first + 2, len(cut.words))):
        word, shape, at = cut.words[place], cut.words[place].shape, starts[place]
        if not (shape.new or shape.person):
            continue
        if at == start - 1 and shape.new and shape.person and is_surname(word.word[0]):
            return start - 1, starts[place + 1]  # 余[男]自: with what the segmenter took into it
        rest = at == start and shape.new and foreign_score(word.word[1:]) >= AFTER_SYLLABLE
        if rest or (at == end and shape.person and (shape.foreign or 0.0) >= AFTER_SYLLABLE):
            syllable = cut.text[start - 1 : start] or "的"
            if foreign_score(syllable) >= SURE_LETTER:
                return start - 1, starts[place + 1]
    return None


def _japanese_name(cut: Cut) -> Span | None:
    """丰臣|秀吉, 长|谷川|町子: a Japanese surname, and behind it what looks like a Japanese given name."""
    text, known = cut.text, japanese_surnames()
    for place, mark in cut.some:
        if not mark & JAPANESE:
            continue
        start = cut.starts[place]
        for surname in known.get(text[start : start + 2], ()):
            at = start + len(surname)
            if text.startswith(surname, start) and HAN.match(text, at):
                end = _japanese_given(cut, place, at, surname) or _behind_japanese(cut, place, at)
                if end is not None:
                    return start, end
    for hit in sure_surnames().finditer(text):  # also where the segmenter cut it: 德|川家光
        given = text[hit.end() : hit.end() + 2]
        if len(given) == 2 and is_japanese(given, last=False, surely=True) and japanese_score(given) >= JAPANESE_SURE:
            return hit.start(), hit.end() + 2
    return None


def _japanese_given(cut: Cut, place: int, at: int, surname: str) -> int | None:
    """Return the end of a Japanese given name that begins at *at*, or None.

    It follows *surname* in the word at *place*.
    """
    text, sure = cut.text, surname in surnames("japanese surely")
    for size in (2, 3, 1):
        end = at + size
        if place == 0 and text[end : end + 1] == "（":
            return end  # 矢井田瞳（...）是
        last = not HAN.match(text, end)
        if _ends_there(text, end, cut.starts) and is_japanese(text[at:end], last=last, surely=sure):
            return end
    return None


def _behind_japanese(cut: Cut, place: int, at: int) -> int | None:
    """Return the end of the word behind a Japanese surname if it is a given name, else None.

    The surname is the word at *place*.
    """
    if place + 1 == len(cut.words) or cut.starts[place + 1] != at:
        return None
    behind, end = cut.words[place + 1], cut.starts[place + 2]
    if behind.size == 1 and behind.tag == "nr":
        return end  # 木下|樱
    if behind.size == 2 and not FUNCTION.search(behind.word):
        # 杉山|正明: two words of the dictionary that their neighbours tell.
        score = japanese_score(behind.word) + context(cut.words, place, place + 2)
        if score >= JAPANESE_KNOWN and behind.word not in ordinary_words():
            return end
    return None


def _ends_there(text: str, at: int, ends: list[int]) -> bool:
    """Tell whether a word ends at *at*, or would without the one character that the segmenter added: 樱|则."""
    return at in ends or (at + 1 in ends and text[at : at + 1] in TAIL | {"的", "来", "去"})
