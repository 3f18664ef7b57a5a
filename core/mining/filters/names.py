"""Filter `names`: a full name, a given name or a foreign name tells the gender; a surname alone is kept.

No model of named entities: the tags of the segmenter are leads only (they take
one accepted sentence in four for a name). A lead counts where it has the shape
surname + given name and its given part looks like one (naive Bayes over the
characters of 27,000 names of the dictionary), and it is no ordinary word: a
dictionary name that is part of longer words which are no persons is none
(高雅 in 高雅艺术). Foreign names are told by the characters they are written with,
nicknames by their shapes.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from core.mining.filters.name_words import (
    DOTS,
    DOTTED,
    NAMED_AFTER,
    ONLY_SURNAMES,
    PLACES,
    RUN,
    SURELY_PLACES,
    TITLES,
    given_score,
    known_names,
    nickname_hints,
    nickname_shapes,
    ordinary_words,
    surname_length,
)
from core.mining.types import Finding, Sentence
from core.text.dictionary import AFTER_SURNAME, Token, is_word, surnames
from core.types import Span

PERSON = ("nr", "nrt", "nrfg")
# Least scores of the given part: of two characters, of one; for words of the dictionary and for others. One new
# character after a surname that is also a common word (余温, 牛河) must look like a given name more clearly.
KNOWN_TWO, KNOWN_ONE = -0.5, -1.0
NEW_TWO, NEW_ONE, NEW_ONE_DOUBTFUL = 0.0, 0.5, 1.5
DIVIDED, DIVIDED_LATE = 1.0, 1.5  # a name cut after the surname, after the first given character
END = Token("", "x", -1, -1)
HAN = re.compile("[一-龥]+")
LEAST_FOREIGN = 2  # characters of a foreign name that is told by its characters alone


def names(sentence: Sentence) -> Finding | None:
    """A finding where a personal name stands in the sentence, whoever it names: reason dot, nickname, full, foreign."""
    found = sentence.candidate
    if found.pair.language != "zh":
        return None
    dotted = DOTS.search(sentence.text) and DOTTED.search(sentence.text)
    if dotted:
        return Finding("dot", dotted.span())
    if nickname_hints().search(sentence.text):
        for hit in nickname_shapes().finditer(sentence.text):
            if hit.lastgroup is not None and (hit.end() <= found.start or hit.start() >= found.end):
                return Finding("nickname", hit.span())
    for token, following in pairwise([*sentence.tokens, END]):
        if token.start < found.end and found.start < token.end:
            continue
        span = _full_name(token) or _divided_name(token, following)
        if span is not None:
            return Finding("full", span)
    span = _foreign_name(sentence.tokens) or _japanese_name(sentence.tokens)
    return None if span is None else Finding("foreign", span)


def _full_name(token: Token) -> Span | None:
    """Where a surname with a given name stands in *token*."""
    word = token.word
    if word in known_names():
        return token.start, token.end
    if token.tag not in PERSON or len(word) < 2 or word in ordinary_words():
        return None
    known, surname = is_word(word), surname_length(word)
    if surname == 0:
        return _after_first(token) if len(word) == 4 and not known else None
    given = word[surname:]
    if len(given) > 2 and not known:
        given = given[:2]  # 王守华干: the tagger took one character too many
    if word[-1] in (SURELY_PLACES if known else PLACES) and len(word) <= 3:
        return None
    if not 1 <= len(given) <= 2 or given in AFTER_SURNAME or given[0] == "某" or TITLES.match(given):
        return None
    if len(given) == 2:
        least = KNOWN_TWO if known else NEW_TWO
    else:
        least = KNOWN_ONE if known else NEW_ONE if word[0] in ONLY_SURNAMES else NEW_ONE_DOUBTFUL
    return (token.start, token.start + surname + len(given)) if given_score(given) >= least else None


def _after_first(token: Token) -> Span | None:
    """召朱守谦: the tagger took the character before the name into it."""
    word = token.word[1:]
    fits = surname_length(word) == 1 and not TITLES.match(word[1:]) and word[1] != "某" and word[-1] not in PLACES
    return (token.start + 1, token.end) if fits and given_score(word[1:]) >= DIVIDED_LATE else None


def _divided_name(token: Token, following: Token) -> Span | None:
    """梁|邦彦, 潘均|顺, 欧阳|雪晴: a full name that the segmenter cut in two."""
    whole = token.word + following.word
    if len(token.word) == 2 == surname_length(whole) and following.tag in PERSON and len(following.word) <= 2:
        return token.start, following.end  # 欧阳|雪晴
    if token.tag not in PERSON or len(whole) != 3 or is_word(whole) or surname_length(whole) != 1:
        return None
    rest = following.tag in PERSON if len(token.word) == 1 else len(following.word) == 1
    if not rest or token.word in ordinary_words() or following.word in ordinary_words() or not HAN.fullmatch(whole):
        return None
    if whole[1] == "某" or whole[1] in AFTER_SURNAME or TITLES.match(whole[1:]) or whole[-1] in PLACES:
        return None
    least = DIVIDED if len(token.word) == 1 else DIVIDED_LATE
    return (token.start, following.end) if given_score(whole[1:]) >= least else None


def _foreign_name(tokens: Sequence[Token]) -> Span | None:
    for run, following in _runs(tokens):
        text = "".join(token.word for token in run)
        if NAMED_AFTER.match(following):
            continue
        person = any(token.tag in PERSON and len(token.word) > 1 for token in run)
        if person and len(text) >= LEAST_FOREIGN and text not in ordinary_words():
            return run[0].start, run[-1].end
    return None


def _japanese_name(tokens: Sequence[Token]) -> Span | None:
    """丰臣|秀吉: a surname of two characters or more that is Japanese, and a given name that is no ordinary word."""
    for token, following in pairwise(tokens):
        if token.word not in surnames("japanese") or following.tag not in (*PERSON, "x", "nz"):
            continue
        if 1 <= len(following.word) <= 3 and HAN.fullmatch(following.word) and following.word not in ordinary_words():
            return token.start, following.end
    for token in tokens:
        whole = token.tag in PERSON or (token.tag in ("n", "nz") and len(token.word) == 4)
        whole = whole and 3 <= len(token.word) <= 5
        if whole and token.word[:2] in surnames("japanese") and token.word not in ordinary_words():
            return token.start, token.end
    return None


def _runs(tokens: Sequence[Token]) -> Iterator[tuple[list[Token], str]]:
    """Neighbouring tokens written with the characters of foreign names that are no ordinary words, and what follows."""
    run: list[Token] = []
    for token in [*tokens, END]:
        foreign = RUN.fullmatch(token.word) is not None and token.word not in ordinary_words()
        if foreign and (token.tag in PERSON or not is_word(token.word)):
            run.append(token)
            continue
        if run:
            yield run, token.word
        run = []
