"""Which language a sentence is in, and which words of a keyword pack stand in it."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.sentence_bias.keyword_packs import Pack, PackWord, language_words, pack
from evenhand.core.text.keywords import find
from evenhand.core.text.pronoun_cases import case_of
from evenhand.core.text.pronouns import CASES, more_sets, sets
from evenhand.core.types import Side

KANA = re.compile(r"[ぁ-ゖァ-ヺ]")
HAN = re.compile(r"[㐀-鿿]")
KANJI = re.compile(r"[㐀-鿿々]")
SPANISH = re.compile(r"[ñ¿¡]", re.IGNORECASE)
LATIN_WORD = re.compile(r"[^\W\d_]+")
LATIN = ("en", "es")
SURE = 2  # common words that a letter of Spanish alone is worth


class FoundWord(NamedTuple):
    """A word of a pack in a text: its half-open span, its entry, its side."""

    start: int
    end: int
    word: PackWord
    side: Side


def language_of(text: str, own: Iterable[PackWord] = ()) -> str:
    """The language of a sentence: zh, ja, en or es; or that of somebody's *own* words, where only these stand in it.

    Kana is Japanese, other Chinese characters Chinese; Latin letters go by common words, English where that is even.
    """
    guessed = _by_script(text)
    mine = tuple(own)
    if mine and not find_words(text, pack(guessed, mine)):
        for language in dict.fromkeys(one.pair.language for one in mine):
            if find_words(text, pack(language, mine)):
                return language
    return guessed


def _by_script(text: str) -> str:
    if KANA.search(text):
        return "ja"
    if HAN.search(text):
        return "zh"
    words = [word.lower() for word in LATIN_WORD.findall(text.replace("[MASK]", " "))]
    counts = {one: sum(word in language_words(one, "common") for word in words) for one in LATIN}
    counts["es"] += SURE * bool(SPANISH.search(text))
    if counts["es"] == counts["en"]:
        counts = {one: len(find_words(text, pack(one))) for one in LATIN}
    return "es" if counts["es"] > counts["en"] else "en"


def find_words(text: str, words: Pack) -> list[FoundWord]:
    """The words of a pack in a text, from left to right; at each place the longest, never overlapping.

    In languages with spaces a word stands by itself (no part of a word with a hyphen), capitals do not count. Where a
    form is in two entries (her: him or his) the words around it tell the case. In Japanese a single character that
    touches another Chinese character is a part of another word (父母, 長男), unless that ends a word such as 昨日.
    """
    if words.language == "zh":
        entries = {one.pair: one for one in reversed(words.words)}
        hits = find(text, tuple(entries)) if entries else []
        return [FoundWord(one.start, one.end, entries[one.pair], one.side) for one in hits]
    pattern, entries_of = _lexicon(words)
    found = []
    for hit in pattern.finditer(text):
        if words.language == "ja" and len(hit[0]) == 1 and not _alone(text, hit):
            continue
        word, side = _fitting(text, hit, entries_of[hit[0].lower()])
        found.append(FoundWord(hit.start(), hit.end(), word, side))
    return found


def find_other_pronouns(text: str, words: Pack) -> list[FoundWord]:
    """The English pronouns of *text* that are on neither side (they, xe, their), each with he and she of its case.

    Not it, which is a pronoun of things. The side of each is "male", which says nothing here.
    """
    if words.language != "en":
        return []
    entries = {word.kind: word for word in words.words if word.kind in CASES}
    known = [one for one in (*sets("own").values(), *more_sets().values()) if one.name not in ("he", "she", "it")]
    found = []
    for hit in LATIN_WORD.finditer(text):
        form = hit[0].lower()
        one = next((one for one in known if form in one.forms), None)
        if one is None:
            continue
        case = case_of(form, one, text[hit.end() :], text[: hit.start()])
        if case in entries:
            found.append(FoundWord(hit.start(), hit.end(), entries[case], "male"))
    return found


Entries = dict[str, list[tuple[PackWord, Side]]]


@lru_cache(maxsize=64)
def _lexicon(words: Pack) -> tuple[re.Pattern[str], Entries]:
    entries: Entries = {}
    for one in words.words:
        entries.setdefault(one.pair.male.lower(), []).append((one, "male"))
        entries.setdefault(one.pair.female.lower(), []).append((one, "female"))
    longest = sorted(entries, key=len, reverse=True)
    if words.language in WITHOUT_SPACES:
        return re.compile("|".join(map(re.escape, longest)) or r"(?!)"), entries
    joined = "|".join(map(re.escape, longest))
    return re.compile(rf"(?<![\w-])(?:{joined})(?![\w-])" if joined else r"(?!)", re.IGNORECASE), entries


def _alone(text: str, hit: re.Match[str]) -> bool:
    """Whether a word of one Chinese character is no part of a longer word of such characters."""
    if KANJI.match(text, hit.end()):
        return False
    before = text[: hit.start()]
    if not before or not KANJI.match(before[-1]):
        return True
    return hit[0] == "彼" or any(before.endswith(word) for word in language_words("ja", "before"))


def _fitting(text: str, hit: re.Match[str], entries: list[tuple[PackWord, Side]]) -> tuple[PackWord, Side]:
    """The entry of a form: of several of English pronouns that of the case in which it stands, else the first."""
    cases = {word.kind: (word, side) for word, side in reversed(entries)}
    if len(entries) == 1 or entries[0][0].pair.language != "en":
        return entries[0]
    side = entries[0][1]
    one = sets("own")["he" if side == "male" else "she"]
    form = hit[0].lower()
    if form not in one.forms:
        return entries[0]
    return cases.get(case_of(form, one, text[hit.end() :], text[: hit.start()]), entries[0])
