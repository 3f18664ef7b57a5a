"""What changes together with a Spanish word: la maestra está cansada, el maestro está cansado.

There is no parser. Before the word, the articles and adjectives that touch it; after it, adjectives that touch it, and
those after a verb such as está that has no subject of its own between (dijo que la puerta estaba cerrada stays). Only
forms of the pack change, so the counterpart is shown to be checked.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from evenhand.core.sentence_bias.find_words import FoundWord
from evenhand.core.sentence_bias.keyword_packs import FORMS, Pack, language_words
from evenhand.core.text.pronoun_cases import like
from evenhand.core.types import AgreeingForm, KeywordPair, Side

_WORD = re.compile(r"\w+")
_END = re.compile(r"[.;:!?…]")
AND = frozenset({"y", "e", "o", "u", "ni"})
CONTRACTED = frozenset({"del", "al"})  # a preposition is in them, so no subject begins there
CLITICS = frozenset({"se", "me", "te", "le", "les", "nos", "lo", "no"})

Words = Sequence[re.Match[str]]
Place = tuple[int, int, KeywordPair]


def agreeing(text: str, found: FoundWord, words: Pack) -> tuple[AgreeingForm, ...]:
    """The places of *text* that agree with a word, with the form for the male and the female word, in order."""
    agrees = _Agreement(text, found, words)
    places = sorted([*agrees.before(), *agrees.after()], key=lambda place: place[0])
    forms = []
    for start, end, pair in places:
        written = text[start:end]
        if pair.male != pair.female:
            forms.append(AgreeingForm(start, end, (like(written, pair.male), like(written, pair.female))))
    return tuple(forms)


@lru_cache(maxsize=64)
def _forms(words: Pack, side: Side, plural: bool) -> dict[str, dict[str, KeywordPair]]:
    """article or adjective -> form of that side and number -> its pair."""
    found: dict[str, dict[str, KeywordPair]] = {"article": {}, "adjective": {}}
    for one in words.forms:
        if one.plural == plural:
            found[FORMS[one.kind]].setdefault(one.pair.word(side), one.pair)
    return found


class _Agreement:
    """One word in its sentence."""

    def __init__(self, text: str, found: FoundWord, words: Pack) -> None:
        self.text, self.found = text, found
        forms = _forms(words, found.side, found.word.plural)
        self.adjectives = forms["adjective"]
        self.any = forms["adjective"] | forms["article"]
        articles = (one.pair for one in words.forms if FORMS[one.kind] == "article")
        self.articles = {form for pair in articles for form in (pair.male, pair.female)} - CONTRACTED
        self.linking = language_words("es", "linking")
        self.adverbs = language_words("es", "adverbs")
        self.prepositions = language_words("es", "prepositions")

    def before(self) -> list[Place]:
        """Forms that touch the word on its left: a la buena maestra."""
        words = list(_WORD.finditer(self.text, 0, self.found.start))
        places: list[Place] = []
        at, edge = len(words) - 1, self.found.start
        while at >= 0 and not self.text[words[at].end() : edge].strip():
            two = f"{words[at - 1][0]} {words[at][0]}".lower() if at else ""
            one = words[at][0].lower()
            if two in self.any and self.text[words[at - 1].end() : words[at].start()] == " ":
                places.append((words[at - 1].start(), words[at].end(), self.any[two]))
                at -= 1
            elif one in self.any:
                places.append((*words[at].span(), self.any[one]))
            elif one not in self.adverbs:
                break
            edge = words[at].start()
            at -= 1
        return places

    def after(self) -> list[Place]:
        """Adjectives after the word in its sentence that say something of it."""
        stop = found.start() if (found := _END.search(self.text, self.found.end)) else len(self.text)
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
        """Whether a noun with an article stands right before a verb, and is no complement: que la puerta estaba."""
        noun = self._skip(words, verb - 1, self.adverbs | CLITICS | self.linking)
        if noun < 1 or words[noun - 1][0].lower() not in self.articles:
            return False
        return noun < 2 or words[noun - 2][0].lower() not in self.prepositions

    @staticmethod
    def _skip(words: Words, at: int, skipped: frozenset[str]) -> int:
        while at >= 0 and words[at][0].lower() in skipped:
            at -= 1
        return at
