"""One sentence through the filters: what tests of the filters share."""

from evenhand.core.mining.filters import FILTERS
from evenhand.core.mining.find_keywords import Finder
from evenhand.core.mining.types import Finding, Sentence
from evenhand.core.resources import keyword_pairs
from evenhand.core.text.containing_words import other_word
from evenhand.core.types import KeywordPair


def sentence_of(text: str, pairs: tuple[KeywordPair, ...] | None = None) -> Sentence:
    """Return *text* as filters see it; it must contain exactly one keyword, or one outside of other words."""
    pairs = keyword_pairs() if pairs is None else pairs
    hits = Finder(pairs, spaced=pairs[0].language not in ("zh", "ja")).hits(text)
    if len(hits) > 1:
        hits = [(at, word) for at, word in hits if other_word(text, word.at(at, text)) is None]
    assert len(hits) == 1, f"{text}: {len(hits)} keywords"
    start, word = hits[0]
    return Sentence(text, word.at(start, text))


def finding_of(code: str, text: str, pairs: tuple[KeywordPair, ...] | None = None) -> Finding | None:
    """Return the finding of the filter *code* on *text*."""
    check = FILTERS[code].check
    assert check is not None
    return check(sentence_of(text, pairs))


def meant(text: str, found: Finding | None) -> str:
    """Return the characters that a finding means."""
    assert found is not None and found.span is not None, text
    return text[slice(*found.span)]
