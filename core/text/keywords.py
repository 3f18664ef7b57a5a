"""Keyword pairs in a sentence: find the word, mask its stem, repair published positions."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

from evenhand.core.errors import N_, BadLine
from evenhand.core.resources import keyword_pairs
from evenhand.core.text.containing_words import other_word
from evenhand.core.types import Candidate, KeywordPair, MaskedSentence, Side

EAST_ASIAN = 0x2E80  # from this code point on: scripts that put no space between words
SpanStatus = Literal["ok", "one_too_large", "one_too_small", "wrong"]


class _Lexicon:
    """The words of some pairs, ready for searching."""

    def __init__(self, pairs: tuple[KeywordPair, ...]) -> None:
        self.words: dict[str, tuple[KeywordPair, Side]] = {}
        for pair in pairs:
            self.words.setdefault(pair.male, (pair, "male"))
            self.words.setdefault(pair.female, (pair, "female"))
        longest_first = sorted(self.words, key=len, reverse=True)
        self.pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        self.by_stems: dict[tuple[str, str, int], list[str]] = {}
        for word, (pair, side) in self.words.items():
            own, other = pair.stems if side == "male" else pair.stems[::-1]
            self.by_stems.setdefault((own, other, len(word)), []).append(word)


@cache
def _lexicon(pairs: tuple[KeywordPair, ...] | None) -> _Lexicon:
    return _Lexicon(keyword_pairs() if pairs is None else pairs)


def candidate(sentence: str, start: int, pair: KeywordPair, side: Side) -> Candidate:
    """Return the candidate whose word of *pair* begins at code point *start* of *sentence*."""
    first, last = pair.stem_span(side)
    return Candidate(sentence, start, start + len(pair.word(side)), start + first, start + last, pair, side)


def find(text: str, pairs: Iterable[KeywordPair] | None = None) -> list[Candidate]:
    """Return the keywords of *text*, from left to right: words of *pairs* (default: the 19 of the released file).

    At each place the longest word counts, and words never overlap: 女孩子 contains
    女孩, not 女; 姥姥 is one word. Words, not characters, are counted (docs/methods.md#keywords-in-a-sentence):
    他 in 吉他, 女 in 子女 and 外公 in 对外公布 are not keywords (core.text.containing_words).
    A sentence fit for the data gives a list of exactly one.
    """
    return [one for one in occurrences(text, pairs) if other_word(text, one) is None]


def occurrences(text: str, pairs: Iterable[KeywordPair] | None = None) -> list[Candidate]:
    """Return every place where the characters of a word of *pairs* occur, also inside other words.

    For callers that already know the word. `find` returns only the places that are words by themselves.
    """
    lexicon = _lexicon(None if pairs is None else tuple(pairs))
    return [candidate(text, hit.start(), *lexicon.words[hit[0]]) for hit in lexicon.pattern.finditer(text)]


def is_keyword(text: str, start: int, word: str) -> bool:
    """Return whether *word*, at *start* of *text*, is a word by itself; True for a word that belongs to no pair."""
    known = _lexicon(None).words.get(word)
    return known is None or other_word(text, candidate(text, start, *known)) is None


def unspaced(text: str) -> bool:
    """Return whether a text has only Chinese or Japanese characters, each of which takes one mask."""
    return all(ord(character) >= EAST_ASIAN for character in text)


def probe(found: Candidate) -> MaskedSentence:
    """Return the probe of a candidate: its stem is the slot, the stems of both sides are the options, male first.

    Only the part that differs is masked (docs/methods.md#released-file): 女孩 -> [MASK]孩, 姥姥 -> 姥[MASK].
    """
    return MaskedSentence(found.sentence, found.stem_start, found.stem_end, found.pair.stems)


def repair(
    sentence: str,
    start: int,
    end: int,
    stem: str,
    counter_stem: str,
    pairs: Iterable[KeywordPair] | None = None,
) -> tuple[Candidate, SpanStatus]:
    """Return the word that a row of the released file names, and how the given position compares.

    See docs/methods.md#released-file.

    `start`, `end`: the published half-open span of the word; `stem`,
    `counter_stem`: the published keyword columns. A position that holds a
    word of that length with these stems is taken. Otherwise only its length
    is reliable, and the sentence must hold exactly one such word; where it
    holds several, those inside other words do not count, as in `find` (他 in
    其他). "one_too_large": the given start is the true one plus 1. Raises
    BadLine (reason bad_span, file and line left to the caller) where no word
    fits or more than one does.
    """
    chosen = None if pairs is None else tuple(pairs)
    lexicon = _lexicon(chosen)
    fitting = lexicon.by_stems.get((stem, counter_stem, end - start), [])
    if not fitting:
        message = N_("No keyword pair has the stems {stem} and {counter_stem} and a word of {length} characters.")
        raise BadLine("", 0, "bad_span", message, stem=stem, counter_stem=counter_stem, length=end - start)
    if sentence[start:end] in fitting:
        return candidate(sentence, start, *lexicon.words[sentence[start:end]]), "ok"
    hits = [(hit.start(), word) for word in fitting for hit in re.finditer(f"(?={re.escape(word)})", sentence)]
    if len(hits) > 1:
        alone = {(word.start, word.keyword) for word in find(sentence, chosen)}
        hits = [hit for hit in hits if hit in alone]
    if len(hits) != 1:
        message = N_("The position cannot be repaired: {found} words match, but exactly one must.")
        raise BadLine("", 0, "bad_span", message, found=len(hits))
    true_start, word = hits[0]
    return candidate(sentence, true_start, *lexicon.words[word]), _status(start - true_start)


def _status(difference: int) -> SpanStatus:
    match difference:
        case 0:
            return "ok"
        case 1:
            return "one_too_large"
        case -1:
            return "one_too_small"
        case _:
            return "wrong"
