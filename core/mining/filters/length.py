"""Filter `length`: sentences that are too short to say anything, or too long to judge."""

from evenhand.core.mining.types import Finding, Sentence


def length(sentence: Sentence) -> Finding | None:
    """A finding where the sentence has fewer or more characters than `sentence.limits` allows."""
    shortest, longest = sentence.limits
    if len(sentence.text) < shortest:
        return Finding("short")
    return Finding("long") if len(sentence.text) > longest else None
