"""Count words next to names of persons: `python -m training.name_contexts`.

Writes core/data/mining_name_contexts.tsv, which the filter of personal names
reads: how much more often a word is just before or just after a full name than
before or after another word of two to four characters (natural log,
smoothed, between -3 and 4). Counted in the tuning half of the paragraphs of
zh_wiki.txt and of the accepted sentences of SlguSet_dev.csv (training.corpora
says which half), each word once a paragraph for names. A name is here a word
that by itself has the shape of a full name; contexts play no part in that.
Counts and words, no text.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator

from evenhand.core.mining.filters.name_marks import SIDES, beside
from evenhand.core.mining.filters.name_words import FOREIGN_TAGGED, HAN, SURE_LETTER, foreign_score, is_rare, shape_of
from evenhand.core.resources import DATA
from evenhand.core.text.dictionary import Token, is_word, surnames, tagged
from evenhand.core.text.sentences import sentences
from training.corpora import SENTENCES, WIKI, is_tuning, read_sentences, read_wiki

STEP = 0.5  # scores are rounded to this
LEAST, OFTEN = 3, 150  # a word is so often next to names, or so often next to other words
LOWEST, HIGHEST = -3.0, 4.0
SMOOTHED = 3.0  # as many occurrences are added to each word, shared out as all are
VERBS = "任曾经时由应向于"  # surnames that are rather something else next to a name
KINDS = "nvajzs"  # first letters of the tags of the words that names are compared with


def paragraphs() -> Iterator[tuple[str, bool]]:
    """(text, whether names are counted in it): of the encyclopedia, and of the released sentences."""
    for texts, counts in ((read_wiki(WIKI), True), (read_sentences(SENTENCES), False)):
        yield from ((text, counts) for text in texts if is_tuning(text))


def is_name(token: Token) -> bool:
    """Return True if the whole of *token* has the shape of a full name."""
    shape = shape_of(token.word, token.tag)
    return shape.full == (0, len(token.word)) and shape.score >= 0


def tells(key: str) -> bool:
    """Return True unless *key* is itself a piece of a name: 布鲁克, 炆, 李世民."""
    if key.startswith("/") or not HAN.fullmatch(key):
        return True
    if len(key) == 1:
        return not is_rare(key) and foreign_score(key) < SURE_LETTER and (key not in surnames("single") or key in VERBS)
    shape = shape_of(key, "nr")
    return is_word(key) and foreign_score(key) < FOREIGN_TAGGED and (shape.full is None or shape.ordinary)


def counted() -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """Return side -> word or tag -> how often it is on that side of names, and the same for other words."""
    named: dict[str, Counter[str]] = defaultdict(Counter)
    other: dict[str, Counter[str]] = defaultdict(Counter)
    for text, counts in paragraphs():
        seen = set()
        for sentence in sentences(text):
            tokens = tagged(sentence)
            for place, token in enumerate(tokens):
                found = [(side, key) for side in SIDES for key in beside(tokens, place, side)]
                if is_name(token):
                    seen.update(found if counts else [])
                elif HAN.fullmatch(token.word) and 2 <= len(token.word) <= 4 and token.tag[0] in KINDS:
                    for side, key in found:
                        other[side][key] += 1
        for side, key in seen:
            named[side][key] += 1
    return named, other


def scored(named: Counter[str], other: Counter[str]) -> dict[float, list[str]]:
    """Score -> the words that have it."""
    names, others = named.total() / 2, other.total() / 2  # a word and its tag are counted each
    share = names / (names + others)
    result: dict[float, list[str]] = defaultdict(list)
    for key in filter(tells, named.keys() | other.keys()):
        if named[key] < LEAST and other[key] < OFTEN:
            continue
        above = math.log((named[key] + SMOOTHED * share) / names) - math.log(
            (other[key] + SMOOTHED * (1 - share)) / others
        )
        score = round(min(HIGHEST, max(LOWEST, above)) / STEP) * STEP
        if score or key.startswith("/"):
            result[score].append(key)
    return result


def main() -> None:
    """Write the table."""
    named, other = counted()
    lines = [
        "# How much more often a word stands just before or behind a full name than before or behind another word of",
        f"# two to four characters, natural log, rounded to {STEP}; /nr: any word of that tag, ^: the end of a clause,",
        "# 0: a number. Counted in half of the paragraphs of a Chinese encyclopedia (cmrc2018 and DRCD, CC BY-SA) and",
        "# of the released sentences. Written by training/name_contexts.py.",
        "side\tscore\twords",
    ]
    for side in SIDES:
        groups = scored(named[side], other[side])
        lines += [f"{side}\t{score}\t{' '.join(sorted(groups[score]))}" for score in sorted(groups, reverse=True)]
    (DATA / "mining_name_contexts.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{ {side: named[side].total() // 2 for side in SIDES} } names; {sum(map(len, lines))} characters")


if __name__ == "__main__":
    main()
