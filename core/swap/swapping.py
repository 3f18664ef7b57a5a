"""Make the counterfactual of a text, and list the words that were swapped or left alone and why (docs/swap.md).

The law: swapping twice gives the original text. A text for which the law fails is refused as a whole, so that the two
texts of a pair differ only in the gender of their words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from evenhand.core.resources import table
from evenhand.core.sentence_bias.keyword_packs import pack
from evenhand.core.swap.word_tables import PRONOUNS, WordTable
from evenhand.core.text.containing_words import other_word
from evenhand.core.text.pronoun_cases import NEXT, WORD, case_of, like, word_list
from evenhand.core.text.pronouns import set_named
from evenhand.core.types import Candidate, KeywordPair, Span

Why = Literal["other_word", "idiom", "pair", "none", "unclear"]
Outcome = Literal["swapped", "left", "refused"]
# Nouns that are verbs too: swapped only where something before them says that they are nouns.
VERBS_TOO = frozenset({"count", "counts", "host", "hosts", "countess", "countesses", "hostess", "hostesses"})
BEFORE_NOUNS = re.compile(r"\b(?:the|an?|his|her|their|our|my|your|this|that|every|each|no|and|old|young)\s+$", re.I)
CLAUSE = re.compile(r"[.,;:!?\n]")
TO = re.compile(r"\bto\b")
SIMPLE = {"he": "she", "she": "he", "him": "her", "hers": "his", "himself": "herself", "herself": "himself"}
HER = {"acc": "him", "pos_dep": "his"}
HIS = {"pos_dep": "her", "pos_ind": "hers"}


@dataclass(frozen=True, slots=True)
class Change:
    """A word at `start` of the source and the word that replaces it."""

    start: int
    word: str
    counterpart: str

    @property
    def end(self) -> int:
        """The end of the word in the source."""
        return self.start + len(self.word)


@dataclass(frozen=True, slots=True)
class UnchangedWord:
    """Characters of the source that look like a word of a pair, or name a gender, but are not swapped.

    `why` is one of `Why`. other_word: they belong to another word (他 in 其他). idiom: no person is meant. pair: both
    sides are named. none: no counterpart would lead back. unclear: a verb as well as a noun.
    """

    start: int
    end: int
    why: Why


@dataclass(frozen=True, slots=True)
class Swapped:
    """A text and its counterfactual. `text` is `source` where nothing was swapped, or where the law fails.

    `back`: the result of swapping twice, for a text that is refused; else None.
    """

    source: str
    text: str
    changes: tuple[Change, ...] = ()
    left: tuple[UnchangedWord, ...] = ()
    back: str | None = None

    @property
    def outcome(self) -> Outcome:
        """The outcome: swapped, left (no word to swap), refused (swapping twice does not give the text)."""
        return "refused" if self.back is not None else "swapped" if self.changes else "left"


class Swapper:
    """Swaps texts of one language; one object serves many texts. *reported*: find words without a counterpart too."""

    def __init__(self, words: WordTable, *, reported: bool = False) -> None:
        self.words = words
        self._reported = reported
        spaced = words.language == "en"
        known = [*words.counterparts, *(PRONOUNS if spaced else ())]
        # In English a name must have its capitals, a word may have any; Chinese has no capitals.
        longest_first = sorted(known, key=len, reverse=True)
        inner = "|".join(map(re.escape, longest_first)) or "(?!)"
        self._pattern = re.compile(rf"(?<!\w)(?:{inner})(?!\w)", re.IGNORECASE) if spaced else re.compile(inner)
        self._find = self._english if spaced else self._chinese
        self._lower = {word.lower(): word for word in words.counterparts if word not in words.names}

    def __call__(self, text: str) -> Swapped:
        """Return *text* and its counterfactual."""
        changed, changes, left = self._once(text)
        if not changes:
            return Swapped(text, text, (), left)
        back = self._once(changed)[0]
        if back != text:
            return Swapped(text, text, changes, left, back)
        return Swapped(text, changed, changes, left)

    def _once(self, text: str) -> tuple[str, tuple[Change, ...], tuple[UnchangedWord, ...]]:
        changes: list[Change] = []
        left: list[UnchangedWord] = []
        for found in self._find(text):
            if isinstance(found, Change):
                changes.append(found)
            else:
                left.append(found)
        parts, at = [], 0
        for change in changes:
            parts += [text[at : change.start], change.counterpart]
            at = change.end
        return "".join([*parts, text[at:]]), tuple(changes), tuple(sorted(left, key=lambda one: one.start))

    def _chinese(self, text: str) -> Iterator[Change | UnchangedWord]:
        taken: list[Span] = []
        for hit in self._pattern.finditer(text):
            word = hit[0]
            held = None if word in self.words.names else other_word(text, self._candidate(text, hit.start(), word))
            if held is not None:
                yield UnchangedWord(*held.span, "other_word")
                taken.append(held.span)
            else:
                yield Change(hit.start(), word, self.words.counterparts[word])
                taken.append(hit.span())
        if self._reported:
            yield from _without_counterpart(text, "zh", taken)

    def _candidate(self, text: str, start: int, word: str) -> Candidate:
        """Return the candidate for the tests of Chinese words; nothing is masked, so that the stems are the words."""
        side, other = self.words.sides[word], self.words.counterparts[word]
        male, female = (word, other) if side == "male" else (other, word)
        pair = KeywordPair(male, female, (0, len(male)), (0, len(female)))
        return Candidate(text, start, start + len(word), start, start + len(word), pair, side)

    def _english(self, text: str) -> Iterator[Change | UnchangedWord]:
        kept = [(hit.span(), why) for why, pattern in _what_stays("en") for hit in pattern.finditer(text)]
        for span, why in kept:
            yield UnchangedWord(*span, why)
        taken = [span for span, _ in kept]
        for hit in self._pattern.finditer(text):
            word, start = hit[0], hit.start()
            if any(first <= start < last for first, last in taken):
                continue
            if word in self.words.names:
                yield Change(start, word, self.words.counterparts[word])
            elif word.lower() in PRONOUNS:
                yield Change(start, word, like(word, _pronoun(word.lower(), text[hit.end() :], text[:start])))
            elif (known := self._lower.get(word.lower())) is None:
                continue  # the name of a list, written otherwise
            elif word.lower() in VERBS_TOO and not _is_noun(text, start, hit.end()):
                yield UnchangedWord(start, hit.end(), "unclear")
            else:
                yield Change(start, word, like(word, self.words.counterparts[known]))
        if self._reported:
            yield from _without_counterpart(text, "en", taken)


def _pronoun(form: str, rest: str, before: str) -> str:
    """Return the English pronoun of the other side; where the form could be two cases, the words around it decide."""
    if form in SIMPLE:
        return SIMPLE[form]
    if form == "her":
        return "him" if _is_given(before[-200:], rest[:400]) else HER[case_of("her", set_named("she"), rest, before)]
    return HIS[case_of("his", set_named("he"), rest, before)]


def _is_given(before: str, rest: str) -> bool:
    """Return whether her receives a thing without an article: gave her advice.

    False for gave her mother advice, told her story and gave her book to him.
    """
    match = NEXT.match(rest)
    if match is None:
        return False
    following = match.group(1).lower()
    if following in word_list("objects") or following in PRONOUNS:
        return True
    words = WORD.findall(before)
    if not words or words[-1].lower() not in word_list("giving"):
        return False
    clause = CLAUSE.split(rest, maxsplit=1)[0]
    return not (following in word_list("own_gifts") or _is_person(following) or TO.search(clause))


@cache
def _people() -> frozenset[str]:
    """Return words for people, singular and plural, as far as a table has them."""
    plurals = {word for row in table("people_words") for word in row["words"].split()}
    kin = {word for pack_word in pack("en").words for word in (pack_word.pair.male, pack_word.pair.female)} - set(
        PRONOUNS
    )
    return frozenset(plurals | {plural.removesuffix("s") for plural in plurals} | kin)


def _is_person(word: str) -> bool:
    return word in _people() or word.endswith(("er", "or", "ist"))


def _is_noun(text: str, start: int, end: int) -> bool:
    return BEFORE_NOUNS.search(text[max(0, start - 30) : start]) is not None and not text.startswith(" of", end)


@cache
def _what_stays(language: str) -> tuple[tuple[Why, re.Pattern[str]], ...]:
    """Return expressions for texts that contain a word of a pair but are not swapped, each with its reason."""
    rows = [row for row in table("swap_left") if row["language"] == language and row["why"] != "none"]
    return tuple((row["why"], re.compile(rf"(?<!\w)(?:{row['words']})(?!\w)", re.IGNORECASE)) for row in rows)  # type: ignore[misc]


@cache
def _gendered(language: str) -> re.Pattern[str]:
    """Return an expression for other words that name a gender."""
    if language == "zh":
        return re.compile("|".join(dict.fromkeys(row["words"] for row in table("mining_gender_terms"))))
    words = "|".join(row["words"] for row in table("swap_left") if (row["language"], row["why"]) == (language, "none"))
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


def _without_counterpart(text: str, language: str, taken: list[Span]) -> Iterator[UnchangedWord]:
    for hit in _gendered(language).finditer(text):
        if not any(first < hit.end() and hit.start() < last for first, last in taken):
            yield UnchangedWord(*hit.span(), "none")
