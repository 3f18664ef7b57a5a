"""Filter `generic`: 他 stands for anybody, or a form without gender stands beside the keyword."""

from evenhand.core.mining.filters.lists import generic_forms
from evenhand.core.mining.types import Finding, Sentence


def generic(sentence: Sentence) -> Finding | None:
    """A finding where 每个人 ... 他, 如果有人 ... 他 or TA makes the keyword neutral.

    A lead, not a verdict: who is meant often stands in the sentence before.
    """
    found = sentence.candidate
    if found.pair.language != "zh":
        return None
    for hit in generic_forms(found.keyword).finditer(sentence.text):
        if hit.end() == found.end or hit.end() <= found.start or hit.start() >= found.end:
            return Finding("generic", hit.span())
    return None
