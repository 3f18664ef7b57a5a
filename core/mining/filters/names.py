"""Filter `names`: a personal name tells the gender; a surname alone, or with a title, is kept.

A few forms are certain. Beyond them a tagger decides (`core.mining.filters.tagger`), where it is installed. Rules say
which of the persons that it finds are allowed, as in the released data: 小王, 张师傅, a name in the title of a work.
Names that it finds in some sentences of a block are names in the others too.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby

from evenhand.core.mining.filters import tagger
from evenhand.core.mining.filters.word_lists import in_title
from evenhand.core.mining.types import Finding, Sentence
from evenhand.core.resources import table
from evenhand.core.text.dictionary import AFTER_SURNAME, Token, is_surname, is_word, tagged
from evenhand.core.types import Span

LETTER = "(?![的了是在和不没什么很都说与把被给])[一-龥A-Za-z]"  # of a foreign name in Chinese
DOTTED = re.compile(f"(?:{LETTER}){{1,8}}[·•・‧](?:{LETTER}){{2,8}}")
NAME_TAGS = ("nr", "nrt", "nrfg")  # of persons, by the segmenter
CHINESE = re.compile("[一-龥]{2,}")
DOUBLED = re.compile(r"([一-龥])\1")  # 拉拉, 翠翠
FAMILIAR = "小老大阿"  # before a surname: 小王, 老杨
PLACE = re.compile("[镇乡县市区寺庙路街省州村]$")  # 李官镇
PLACE_OF_WORLD = re.compile("..(?:斯坦|[尼利西比]亚)$")  # 塔吉克斯坦, 肯尼亚
SET_PHRASES = frozenset(("i", "l", "o"))  # tags
# Characters that transliterate foreign names; a new word of several of them hardly means anything else.
FOREIGN = re.compile(
    "[热阿埃艾爱安昂奥巴拜班邦贝比彼毕宾波伯勃博布查茨达戴丹德登迪蒂丁杜多厄恩尔法凡菲费芬佛夫弗福盖甘冈戈哥格古哈海汉豪赫亨胡华霍基吉加贾杰卡凯坎康科克"
    "肯孔库昆拉莱赖兰朗劳勒雷里利丽莉列琳柳卢鲁路吕伦罗洛马玛迈麦曼芒梅门蒙米密摩莫姆穆内纳娜南尼年涅纽诺欧帕潘佩彭皮珀普奇齐恰乔琼丘瑞萨塞桑沙尚绍舍申圣"
    "施什史斯丝苏索塔泰坦汤陶特提图托脱瓦万韦维威翁沃乌武西希夏肖谢辛休亚延扬耶叶伊英尤约泽扎詹芝佐甫娅妮薇]+"
)
FEWEST = 3  # characters of a foreign name; one more if the segmenter cuts it
BEHIND_PLACES = re.compile(
    "[人语族队大学王帝国州省市县区山河江湖海岛湾港城堡郡宫街奖杯牌节舞派式型]|草原|机场|公司|教堂|组织"
)


def names(sentence: Sentence) -> Finding | None:
    """Return a finding if the sentence has a personal name, of any person.

    Reasons: dot, told (by a form), doubled and foreign (by the characters), person (by the tagger), known (from
    another sentence), full (without the tagger).
    """
    return names_of([sentence])[0]


def names_of(sentences: Sequence[Sentence]) -> list[Finding | None]:
    """Return for each sentence what `names` says of it; the tagger takes many together in a fraction of the time."""
    found = [_certain(sentence) for sentence in sentences]
    open_ = [number for number, finding in enumerate(found) if finding is None and _is_chinese(sentences[number])]
    if not tagger.installed():
        for number in open_:
            found[number] = _full_name(sentences[number])
        return found
    persons = tagger.persons([sentences[number].text for number in open_])
    named = [list(_named(sentences[number], spans)) for number, spans in zip(open_, persons, strict=True)]
    known = _known([sentences[number] for number in open_], named)
    for number, spans in zip(open_, named, strict=True):
        found[number] = Finding("person", spans[0]) if spans else _known_name(sentences[number], known)
    return found


def _is_chinese(sentence: Sentence) -> bool:
    return sentence.candidate.pair.language == "zh"


@cache
def forms() -> re.Pattern[str]:
    """Return the pattern of forms that name a person: 名叫……, 明世宗, 本笃十六世."""
    return re.compile("|".join(row["pattern"] for row in table("mining_name_forms")))


@cache
def parts(kind: str) -> frozenset[str]:
    """Return the words of one kind: title, familiar (given names that are surnames too), clear (surnames)."""
    return frozenset(word for row in table("mining_name_parts") if row["kind"] == kind for word in row["words"].split())


def _certain(sentence: Sentence) -> Finding | None:
    if not _is_chinese(sentence):
        return None
    for reason, pattern in (("dot", DOTTED), ("told", forms())):
        hit = pattern.search(sentence.text)
        if hit is not None:
            return Finding(reason, hit.span())
    doubtful = DOUBLED.search(sentence.text) or any(len(run) >= FEWEST for run in FOREIGN.findall(sentence.text))
    return _by_its_characters(sentence) if doubtful else None


def _by_its_characters(sentence: Sentence) -> Finding | None:
    """Return a finding for a person by the segmenter of a doubled character (翠翠), or of foreign ones (尼亚佐夫)."""
    text, keyword = sentence.text, sentence.candidate.keyword
    tokens = [token for token in tagged(text) if token.word != keyword and not in_title(text, token.start)]
    for word, tag, start, end in tokens:
        if tag in NAME_TAGS and DOUBLED.fullmatch(word) and not is_allowed(word):
            return Finding("doubled", (start, end))
    for foreign, together in groupby(tokens, lambda token: FOREIGN.fullmatch(token.word) is not None):
        span = _foreign_name(list(together)) if foreign else None
        if span is not None and not BEHIND_PLACES.match(text, span[1]):
            return Finding("foreign", span)
    return None


def _foreign_name(tokens: Sequence[Token]) -> Span | None:
    """Return the span of neighbours that transliterate a name: one new word, or several with a person among them."""
    start, end = tokens[0].start, tokens[-1].end
    persons = [token for token in tokens if token.tag in NAME_TAGS or (len(token.word) > 2 and not is_word(token.word))]
    if end - start < FEWEST + (len(tokens) > 1) or not persons or any(is_allowed(token.word) for token in persons):
        return None
    return None if any(token.word in parts("world") for token in tokens) else (start, end)


def _named(sentence: Sentence, persons: Sequence[Span]) -> Iterator[Span]:
    """Yield those of *persons* who are called by more than is allowed."""
    text, first, last = sentence.text, sentence.candidate.start, sentence.candidate.end
    for start, end in persons:
        names = [text[start:end]]
        if start < last and first < end:  # 李奶奶 with the keyword 奶奶: what is left of the word counts
            names = [text[start:first], text[last:end]]
        if not all(map(is_allowed, names)) and not in_title(text, start) and not _is_cut_from_word(text, start, end):
            yield start, end


def _is_cut_from_word(text: str, start: int, end: int, *, both: bool = False) -> bool:
    """Return whether a dictionary word begins before *start* and goes on behind it: 人丁|兴旺.

    At the *end* the segmenter often takes the last character of a name for a part of the next word (李炳文|说的). So
    there a word counts only where *both* is true.
    """
    for word, tag, first, last in tagged(text):
        cut = first < start < last or (both and first < end < last)
        if cut and is_word(word) and (both or tag not in NAME_TAGS):
            return True
    return False


def _known(sentences: Sequence[Sentence], named: Sequence[Sequence[Span]]) -> re.Pattern[str] | None:
    """Return the pattern of names that some sentences make sure of: found twice, or of three characters or more.

    So is what follows the surname of a name that was found twice: 鸿渐 after 方鸿渐.
    """
    counts: Counter[str] = Counter()
    for sentence, spans in zip(sentences, named, strict=True):
        counts.update(filter(None, {_sure_name(sentence, start, end) for start, end in spans}))
    names = {name for name, count in counts.items() if count > 1 or len(name) > 2}
    given = {name[1:] for name in names if len(name) == 3 and counts[name] > 1 and is_surname(name[0])}
    names |= {name for name in given if not is_word(name)}
    return re.compile("|".join(sorted(names, key=len, reverse=True))) if names else None


def _sure_name(sentence: Sentence, start: int, end: int) -> str:
    """Return the name to look for elsewhere; "" for 李奶奶 with the keyword 奶奶, or for another word.

    The segmenter often has more of a name than the tagger: 高松年, not 高松.
    """
    text, place = sentence.text, sentence.candidate
    for token in tagged(text):
        if token.tag in NAME_TAGS and token.start <= start and end <= token.end:
            start, end = token.start, token.end
    name = text[start:end]
    if not CHINESE.fullmatch(name) or (start < place.end and place.start < end):
        return ""
    sure = len(name) > 2 or not is_word(name) or all(token.tag in NAME_TAGS for token in tagged(name))
    return name if sure and not is_allowed(name) else ""


def _known_name(sentence: Sentence, known: re.Pattern[str] | None) -> Finding | None:
    text, place = sentence.text, sentence.candidate
    for hit in known.finditer(text) if known is not None else ():
        start, end = hit.span()
        apart = end <= place.start or place.end <= start
        if apart and not in_title(text, start) and not _is_cut_from_word(text, start, end, both=True):
            return Finding("known", (start, end))
    return None


def is_allowed(word: str) -> bool:
    """Return whether a word that a tagger calls a person is not a whole name: 小王, 老杨, 高阿姨, 张师傅.

    李某 is the matter of another filter.

    So are a place and a set phrase. The dictionary calls many names nouns and adjectives (三毛, 高松).
    """
    if len(word) <= 1 or "某" in word or is_surname(word):
        return True
    if word[0] in FAMILIAR and is_surname(word[1:]):
        return word[0] == "老" or word not in parts("familiar")
    titled = _is_title(word[1:]) or (is_surname(word[:2]) and _is_title(word[2:]))
    return titled or (word[0] in FAMILIAR and _is_title(word[2:])) or _is_ordinary(word)


def _is_title(word: str) -> bool:
    return (
        word in AFTER_SURNAME or word in parts("title") or (word[:1] in "副总大老小二三" and word[1:] in parts("title"))
    )


def _is_ordinary(word: str) -> bool:
    if (
        word in parts("ordinary")
        or word in parts("world")
        or PLACE_OF_WORLD.search(word)
        or (len(word) > 2 and PLACE.search(word))
    ):
        return True
    if word.isascii():
        return not word.istitle()  # VISTA, checkin
    tags = {token.tag for token in tagged(word)} if len(word) > 2 and is_word(word) else {""}
    return tags == {"z"} or (len(word) > 3 and tags <= SET_PHRASES)  # 红彤彤, 花言巧语


def _full_name(sentence: Sentence) -> Finding | None:
    """Return a finding for a new word of three characters that the segmenter calls a person, behind a clear surname."""
    for word, tag, start, end in tagged(sentence.text):
        likely = len(word) == 3 and tag in NAME_TAGS and word[0] in parts("clear") and not is_word(word)
        if likely and word[1] not in "家某" and not is_allowed(word):
            return Finding("full", (start, end))
    return None
