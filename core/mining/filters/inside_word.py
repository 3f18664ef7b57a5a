"""Filter `inside_word`: the characters of the keyword belong to another word (core.text.other_words)."""

from evenhand.core.mining.types import Finding, Sentence
from evenhand.core.text.other_words import other_word


def inside_word(sentence: Sentence) -> Finding | None:
    """A finding where the keyword is not the word that stands there: reason list, crossing, swap or name."""
    found = other_word(sentence.text, sentence.candidate)
    return None if found is None else Finding(found.reason, found.span)
