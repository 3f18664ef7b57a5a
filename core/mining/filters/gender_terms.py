"""Filter `gender_terms`: another word with a gender that can refer to the same person (SPEC 1.4, criterion 3)."""

from evenhand.core.mining.filters.lists import apart, gendered_words
from evenhand.core.mining.types import Finding, Sentence


def gender_terms(sentence: Sentence) -> Finding | None:
    """A finding where 先生, 姐妹俩 ... stands beside a keyword that it can refer back to.

    Which words count depends on who the keyword can be: 李大妈 says who 她 is,
    but not whether 李大妈的〇〇 is 儿子 or 女儿; 兄弟 counts for 哥哥 and not for 他.
    A noun of the other side is another person: 壮汉 and 女民警.
    """
    found = sentence.candidate
    if found.pair.language != "zh":
        return None
    terms = gendered_words(found.keyword, found.side)
    for span in apart(terms, sentence.text, found.start, found.end):
        return Finding("term", span)
    return None
