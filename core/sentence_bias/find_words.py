"""The language of a sentence, its words from a keyword pack, and the forms that change with a Spanish word.

la maestra está cansada, el maestro está cansado: no parser is used. Before the word, adjacent articles and adjectives
change. After the word, adjacent adjectives change, and adjectives after a verb such as está that has no subject of its
own in between (dijo que la puerta estaba cerrada is kept). Only forms of the pack change, so users check the result.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.sentence_bias.keyword_packs import FORMS, Pack, PackWord, language_words, pack
from evenhand.core.text.keywords import find
from evenhand.core.text.pronoun_cases import case_of, like
from evenhand.core.text.pronouns import CASES, more_sets, sets
from evenhand.core.types import AgreeingForm, KeywordPair, Side

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
    """Return the language of a sentence: zh, ja, en or es, or the language of the user's *own* words.

    The language of *own* words counts if the sentence contains no word of the pack of its guessed language. Kana is
    Japanese, other Chinese characters are Chinese. In Latin letters common words decide; a tie counts as English.
    """
    guessed = _by_script(text)
    mine = tuple(own)
    if mine and not find_words(text, pack(guessed, mine)):
        for language in dict.fromkeys(pack_word.pair.language for pack_word in mine):
            if find_words(text, pack(language, mine)):
                return language
    return guessed


def _by_script(text: str) -> str:
    if KANA.search(text):
        return "ja"
    if HAN.search(text):
        return "zh"
    words = [word.lower() for word in LATIN_WORD.findall(text.replace("[MASK]", " "))]
    counts = {name: sum(word in language_words(name, "common") for word in words) for name in LATIN}
    counts["es"] += SURE * bool(SPANISH.search(text))
    if counts["es"] == counts["en"]:
        counts = {name: len(find_words(text, pack(name))) for name in LATIN}
    return "es" if counts["es"] > counts["en"] else "en"


def find_words(text: str, words: Pack) -> list[FoundWord]:
    """Return the words of a pack in a text, from left to right: the longest at each place, without overlap.

    In languages with spaces a word stands by itself (no part of a word with a hyphen), capitals do not count. Where a
    form is in two entries (her: him or his) the words around it tell the case. In Japanese a single character that
    touches another Chinese character is a part of another word (父母, 長男), unless that ends a word such as 昨日.
    """
    if words.language == "zh":
        entries = {pack_word.pair: pack_word for pack_word in reversed(words.words)}
        hits = find(text, tuple(entries)) if entries else []
        return [FoundWord(hit.start, hit.end, entries[hit.pair], hit.side) for hit in hits]
    pattern, entries_of = _lexicon(words)
    found_words = []
    for hit in pattern.finditer(text):
        if words.language == "ja" and len(hit[0]) == 1 and not _alone(text, hit):
            continue
        word, side = _fitting(text, hit, entries_of[hit[0].lower()])
        found_words.append(FoundWord(hit.start(), hit.end(), word, side))
    return found_words


def find_other_pronouns(text: str, words: Pack) -> list[FoundWord]:
    """Return the English pronouns of *text* on neither side (they, xe, their), each with he and she in its case.

    Not it, which is a pronoun of things. The side of each is "male", which says nothing here.
    """
    if words.language != "en":
        return []
    entries = {word.kind: word for word in words.words if word.kind in CASES}
    known = [
        pronoun_set
        for pronoun_set in (*sets("own").values(), *more_sets().values())
        if pronoun_set.name not in ("he", "she", "it")
    ]
    found_words = []
    for hit in LATIN_WORD.finditer(text):
        form = hit[0].lower()
        one = next((pronoun_set for pronoun_set in known if form in pronoun_set.forms), None)
        if one is None:
            continue
        case = case_of(form, one, text[hit.end() :], text[: hit.start()])
        if case in entries:
            found_words.append(FoundWord(hit.start(), hit.end(), entries[case], "male"))
    return found_words


Entries = dict[str, list[tuple[PackWord, Side]]]


@lru_cache(maxsize=64)
def _lexicon(words: Pack) -> tuple[re.Pattern[str], Entries]:
    entries: Entries = {}
    for word in words.words:
        entries.setdefault(word.pair.male.lower(), []).append((word, "male"))
        entries.setdefault(word.pair.female.lower(), []).append((word, "female"))
    longest = sorted(entries, key=len, reverse=True)
    if words.language in WITHOUT_SPACES:
        return re.compile("|".join(map(re.escape, longest)) or r"(?!)"), entries
    joined = "|".join(map(re.escape, longest))
    return re.compile(rf"(?<![\w-])(?:{joined})(?![\w-])" if joined else r"(?!)", re.IGNORECASE), entries


def _alone(text: str, hit: re.Match[str]) -> bool:
    """Tell if a word of one Chinese character is not part of a longer word of such characters."""
    if KANJI.match(text, hit.end()):
        return False
    before = text[: hit.start()]
    if not before or not KANJI.match(before[-1]):
        return True
    return hit[0] == "彼" or any(before.endswith(word) for word in language_words("ja", "before"))


def _fitting(text: str, hit: re.Match[str], entries: list[tuple[PackWord, Side]]) -> tuple[PackWord, Side]:
    """Return the entry of a form: of several English pronouns the one in the case of the form, else the first."""
    cases = {word.kind: (word, side) for word, side in reversed(entries)}
    if len(entries) == 1 or entries[0][0].pair.language != "en":
        return entries[0]
    side = entries[0][1]
    pronoun_set = sets("own")["he" if side == "male" else "she"]
    form = hit[0].lower()
    if form not in pronoun_set.forms:
        return entries[0]
    return cases.get(case_of(form, pronoun_set, text[hit.end() :], text[: hit.start()]), entries[0])


_WORD = re.compile(r"\w+")
_END = re.compile(r"[.;:!?…]")
AND = frozenset({"y", "e", "o", "u", "ni"})
CONTRACTED = frozenset({"del", "al"})  # a preposition is in them, so no subject begins there
CLITICS = frozenset({"se", "me", "te", "le", "les", "nos", "lo", "no"})

Words = Sequence[re.Match[str]]
Place = tuple[int, int, KeywordPair]


def agreeing(text: str, found_word: FoundWord, words: Pack) -> tuple[AgreeingForm, ...]:
    """Return the places of *text* that agree with a word, with the male and the female form, in order."""
    agrees = _Agreement(text, found_word, words)
    places = sorted([*agrees.before(), *agrees.after()], key=lambda place: place[0])
    forms = []
    for start, end, pair in places:
        written = text[start:end]
        if pair.male != pair.female:
            forms.append(AgreeingForm(start, end, (like(written, pair.male), like(written, pair.female))))
    return tuple(forms)


@lru_cache(maxsize=64)
def _forms(words: Pack, side: Side, plural: bool) -> dict[str, dict[str, KeywordPair]]:
    """Return by kind (article, adjective) the forms of that side and number, each with its pair."""
    forms: dict[str, dict[str, KeywordPair]] = {"article": {}, "adjective": {}}
    for form in words.forms:
        if form.plural == plural:
            forms[FORMS[form.kind]].setdefault(form.pair.word(side), form.pair)
    return forms


class _Agreement:
    """One word in its sentence."""

    def __init__(self, text: str, found_word: FoundWord, words: Pack) -> None:
        self.text, self.found = text, found_word
        forms = _forms(words, found_word.side, found_word.word.plural)
        self.adjectives = forms["adjective"]
        self.any = forms["adjective"] | forms["article"]
        articles = (form.pair for form in words.forms if FORMS[form.kind] == "article")
        self.articles = {form for pair in articles for form in (pair.male, pair.female)} - CONTRACTED
        self.linking = language_words("es", "linking")
        self.adverbs = language_words("es", "adverbs")
        self.prepositions = language_words("es", "prepositions")

    def before(self) -> list[Place]:
        """Return the forms directly to the left of the word: a la buena maestra."""
        words = list(_WORD.finditer(self.text, 0, self.found.start))
        places: list[Place] = []
        at, edge = len(words) - 1, self.found.start
        while at >= 0 and not self.text[words[at].end() : edge].strip():
            two = f"{words[at - 1][0]} {words[at][0]}".lower() if at else ""
            text = words[at][0].lower()
            if two in self.any and self.text[words[at - 1].end() : words[at].start()] == " ":
                places.append((words[at - 1].start(), words[at].end(), self.any[two]))
                at -= 1
            elif text in self.any:
                places.append((*words[at].span(), self.any[text]))
            elif text not in self.adverbs:
                break
            edge = words[at].start()
            at -= 1
        return places

    def after(self) -> list[Place]:
        """Return the adjectives after the word, in its sentence, that describe it."""
        stop = match.start() if (match := _END.search(self.text, self.found.end)) else len(self.text)
        words = list(_WORD.finditer(self.text, self.found.end, stop))
        places: list[Place] = []
        mine: set[int] = set()
        for at, word in enumerate(words):
            pair = self.adjectives.get(word[0].lower())
            if pair is not None and self._belongs(words, at, mine):
                mine.add(at)
                places.append((*word.span(), pair))
        return places

    def _belongs(self, words: Words, at: int, mine: set[int]) -> bool:
        back = self._skip(words, at - 1, self.adverbs)
        if back < 0:
            return self.text[self.found.end : words[0].start()].strip() in ("", ",")
        if words[back][0].lower() in AND or back in mine:
            earlier = back if back in mine else self._skip(words, back - 1, self.adverbs)
            return earlier in mine
        if words[back][0].lower() not in self.linking:
            return False
        return not self._other_subject(words, back)

    def _other_subject(self, words: Words, verb: int) -> bool:
        """Tell if a noun with an article comes right before a verb and is not a complement: que la puerta estaba."""
        noun = self._skip(words, verb - 1, self.adverbs | CLITICS | self.linking)
        if noun < 1 or words[noun - 1][0].lower() not in self.articles:
            return False
        return noun < 2 or words[noun - 2][0].lower() not in self.prepositions

    @staticmethod
    def _skip(words: Words, at: int, skipped: frozenset[str]) -> int:
        while at >= 0 and words[at][0].lower() in skipped:
            at -= 1
        return at
