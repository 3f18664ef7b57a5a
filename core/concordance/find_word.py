"""Finding words in sentences: longest first, never inside another word of a keyword pair."""

import re

from core.concordance.question import Question
from core.resources import keyword_pairs
from core.text.keywords import OTHER_WORDS
from core.types import Span

PLURALS = ("他们", "她们", "它们")  # words of their own: 他 in 他们 does not count, unless 他们 is what is asked for
CHINESE = re.compile('[^。？！?!]*[。？！?!]+[”’」』）)》"]*|[^。？！?!]+')
SPACED = re.compile(r"""(?:[^.?!。？！]|\.(?![\s"'”’)]|$))*[.?!。？！]+["'”’)\]]*|[^.?!。？！]+""")


class Words:
    """Finds the word and its neighbours in a sentence; what is only part of another word does not count."""

    def __init__(self, asked: Question) -> None:
        self.numbers = {asked.word: -1} | {word: number for number, word in enumerate(asked.near)}
        blocking = [word for pair in keyword_pairs() for word in (pair.male, pair.female)] + list(PLURALS)
        blocking = [long for long in blocking if long not in self.numbers and any(w in long for w in self.numbers)]
        parts = [_pattern(word) for word in sorted([*self.numbers, *blocking], key=len, reverse=True)]
        self.pattern = re.compile("|".join(parts), re.IGNORECASE)
        known = {word for pair in keyword_pairs() for word in (pair.male, pair.female)}
        self.ambiguous = any(word in known for word in self.numbers)
        self.folded = {word.casefold(): number for word, number in self.numbers.items()}
        self.split = SPACED if _is_spaced(asked.word) else CHINESE

    def hits(self, sentence: str) -> list[tuple[int, int, int]]:
        """(start, end, number) of each word, -1 for the word that is asked for."""
        found = []
        for hit in self.pattern.finditer(sentence):
            number = self.folded.get(hit[0].casefold())
            if number is not None:
                found.append((hit.start(), hit.end(), number))
        if found and self.ambiguous:
            others = [other.span() for other in OTHER_WORDS.finditer(sentence)]
            found = [hit for hit in found if not any(_inside(hit, other) for other in others)]
        return found


def _pattern(word: str) -> str:
    escaped = re.escape(word)
    return rf"(?<!\w){escaped}(?!\w)" if _is_spaced(word) else escaped


def _is_spaced(word: str) -> bool:
    """Whether a word belongs to a script that writes spaces between words."""
    return any(letter.isalpha() for letter in word) and all(ord(letter) < 0x2E80 for letter in word)


def _inside(hit: tuple[int, int, int], other: Span) -> bool:
    return other[0] <= hit[0] and hit[1] <= other[1] and hit[1] - hit[0] < other[1] - other[0]
