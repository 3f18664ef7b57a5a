"""Filter `names`: a personal name tells the gender; a surname alone, or with a title, is kept.

A few forms are certain. Beyond them a tagger decides (`core.mining.filters.tagger`), where it is installed. Rules say
which of the persons that it finds are allowed, as in the released data: 小王, 张师傅, 李某, a name in the title of a
work.
"""

import re
from collections.abc import Sequence
from functools import cache

from evenhand.core.mining.filters import tagger
from evenhand.core.mining.types import Finding, Sentence
from evenhand.core.resources import table
from evenhand.core.text.dictionary import AFTER_SURNAME, is_surname, is_word, tagged
from evenhand.core.types import Span

LETTER = "(?![的了是在和不没什么很都说与把被给])[一-龥A-Za-z]"  # of a foreign name in Chinese
DOTTED = re.compile(f"(?:{LETTER}){{1,8}}[·•・‧](?:{LETTER}){{2,8}}")
NAME_TAGS = ("nr", "nrt", "nrfg")  # of persons, by the segmenter
FAMILIAR = "小老大阿"  # before a surname: 小王, 老杨
PLACE = re.compile("[镇乡县市区寺庙路街省州村]$")  # 李官镇
DESCRIBES = frozenset(("a", "ad", "z", "i", "l", "o"))  # tags of words that describe (桀骜), and of set phrases


def names(sentence: Sentence) -> Finding | None:
    """Return a finding if the sentence has a personal name, of any person.

    Reasons: dot, told (by a form), person (by the tagger), full (without it).
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
    spans = tagger.persons([sentences[number].text for number in open_])
    for number, persons in zip(open_, spans, strict=True):
        found[number] = _person(sentences[number], persons)
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
    return None


def _person(sentence: Sentence, persons: Sequence[Span]) -> Finding | None:
    """Return a finding for the first of *persons* who is called by more than is allowed."""
    text, first, last = sentence.text, sentence.candidate.start, sentence.candidate.end
    for start, end in persons:
        names = [text[start:end]]
        if start < last and first < end:  # 李奶奶 with the keyword 奶奶: what is left of the word counts
            names = [text[start:first], text[last:end]]
        if not in_title(text, start) and not all(map(is_allowed, names)):
            return Finding("person", (start, end))
    return None


def in_title(text: str, place: int) -> bool:
    """Return whether the character at *place* is between 《 and 》."""
    return text.rfind("《", 0, place) > text.rfind("》", 0, place)


def is_allowed(word: str) -> bool:
    """Return whether a word that a tagger calls a person is not a whole name: 小王, 老杨, 高阿姨, 张师傅, 李某.

    So are a place and a word that describes (桀骜). The dictionary calls many names nouns (三毛), so nouns are names.
    """
    if len(word) <= 1 or "某" in word or is_surname(word):
        return True
    if word[0] in FAMILIAR and is_surname(word[1:]):
        return word[0] in "老大" or word not in parts("familiar")
    titled = _is_title(word[1:]) or (is_surname(word[:2]) and _is_title(word[2:]))
    return titled or (word[0] in FAMILIAR and _is_title(word[2:])) or _is_ordinary(word)


def _is_title(word: str) -> bool:
    return (
        word in AFTER_SURNAME or word in parts("title") or (word[:1] in "副总大老小二三" and word[1:] in parts("title"))
    )


def _is_ordinary(word: str) -> bool:
    if word in parts("ordinary") or (len(word) > 2 and PLACE.search(word)):
        return True
    if word.isascii():
        return not word.istitle()  # VISTA, checkin
    doubled = len(word) == 2 and word[0] == word[1]  # 婷婷
    return is_word(word) and not doubled and all(token.tag in DESCRIBES for token in tagged(word))


def _full_name(sentence: Sentence) -> Finding | None:
    """Return a finding for a new word of three characters that the segmenter calls a person, behind a clear surname."""
    for word, tag, start, end in tagged(sentence.text):
        likely = len(word) == 3 and tag in NAME_TAGS and word[0] in parts("clear") and not is_word(word)
        if likely and word[1] not in "家某" and not is_allowed(word):
            return Finding("full", (start, end))
    return None
