"""Filter `biological`: the sentence tells the sex by the body (SPEC 1.4, criterion 4)."""

from core.mining.filters.lists import apart, biological_words
from core.mining.types import Finding, Sentence
from core.types import Candidate

CHILDREN = ("儿子", "女儿", "男孩", "女孩")
OF_A_CHILD = "婴童宝娃"  # 男婴, 女童, 男宝宝: what may follow 男 or 女 where it is about a child


def biological(sentence: Sentence) -> Finding | None:
    """A finding where a word about pregnancy, birth or organs stands in the sentence.

    Words of birth do not count for the child that was born: 产妇生下一名男婴.
    """
    found = sentence.candidate
    if found.pair.language != "zh":
        return None
    for span in apart(biological_words(birth=False), sentence.text, found.start, found.end):
        return Finding("body", span)
    child = _is_child(found)
    for span in apart(biological_words(birth=True), sentence.text, found.start, found.end):
        if not (child and span[1] <= found.start):
            return Finding("birth", span)
    return None


def _is_child(found: Candidate) -> bool:
    following = found.sentence[found.end : found.end + 1]
    return found.keyword in CHILDREN or (found.keyword in ("男", "女") and following != "" and following in OF_A_CHILD)
