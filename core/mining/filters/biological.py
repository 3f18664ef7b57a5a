"""Filter `biological`: the sentence tells the sex by the body (SPEC 1.4, criterion 4)."""

import re
from functools import cache

from evenhand.core.mining.filters.lists import apart, biological_words
from evenhand.core.mining.types import Finding, Sentence
from evenhand.core.types import Candidate, Side

CHILDREN = ("儿子", "女儿", "男孩", "女孩")
OF_A_CHILD = "婴童宝娃"  # 男婴, 女童, 男宝宝: what may follow 男 or 女 where it is about a child


def biological(sentence: Sentence) -> Finding | None:
    """A finding where a word about pregnancy, birth or organs stands in the sentence.

    Words of birth do not count for the child that was born (产妇生下一名男婴), words
    about the other sex not for a noun (男教练, 怀孕的队员): they speak of somebody else.
    """
    found = sentence.candidate
    if found.pair.language != "zh":
        return None
    body, birth = _words(found.keyword, found.side)
    for span in apart(body, sentence.text, found.start, found.end):
        return Finding("body", span)
    for span in apart(birth, sentence.text, found.start, found.end):
        if not (span[1] <= found.start and _is_child(found)):
            return Finding("birth", span)
    return None


@cache
def _words(keyword: str, side: Side) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return biological_words(keyword, side, birth=False), biological_words(keyword, side, birth=True)


def _is_child(found: Candidate) -> bool:
    following = found.sentence[found.end : found.end + 1]
    return found.keyword in CHILDREN or (found.keyword in ("男", "女") and following != "" and following in OF_A_CHILD)
