"""Filter `names`: a full name, a given name or a foreign name tells the gender; a surname alone is kept.

No model of named entities: the tags of the segmenter are leads only (they take
one accepted sentence in four for a name), and every fifth name of an
encyclopedia has no such tag. What counts is the shape, with scores of characters
learned from the names of a dictionary (training/name_characters.py): a surname
with what looks like a given name, also where the segmenter cut it apart
(name_shapes.py has what a word says by itself); what is written with the
characters of transliterations; a Japanese surname with a given name. A word that
begins a clause needs less: that is where somebody is named. Nicknames, rulers and
introductions (名叫……) are told by their forms.
"""

from collections.abc import Iterator, Sequence

from core.mining.filters.name_contexts import by_context, context
from core.mining.filters.name_frames import NO_NAME_TAGS, by_frame, is_done_by_people
from core.mining.filters.name_shapes import (
    FOREIGN_TAGGED,
    FUNCTION,
    JAPANESE_KNOWN,
    JAPANESE_SURE,
    SURE_LETTER,
    SURE_PLACE,
    Shape,
    fits_behind_surname,
    is_japanese,
    shape_of,
)
from core.mining.filters.name_words import (
    DOTS,
    DOTTED,
    HAN,
    NAMED_AFTER,
    PLACE_BEFORE,
    PLACE_BEHIND,
    PLACES,
    RULERS,
    TAIL,
    foreign_score,
    given_score,
    is_rare,
    japanese_score,
    japanese_surnames,
    nickname_hints,
    nickname_shapes,
    ordinary_words,
    read_as_none,
    sure_surnames,
    told_forms,
)
from core.mining.filters.names_elsewhere import named_elsewhere
from core.mining.types import Finding, Sentence
from core.text.dictionary import Token, is_surname, is_word, surnames
from core.types import Span

# Least scores of a given part that the segmenter cut from its surname: after the surname, after the first character.
DIVIDED, DIVIDED_LATE = 1.0, 1.5
SURE, SURE_APART = (
    3.0,
    2.5,
)  # of an ordinary word behind a surname tagged as a person: 蔡|崇信, 卓|一夫
DOUBLE = 2.0  # of two characters behind a surname of two: 南宫|飞云
APART = 4.0  # of two characters behind a surname that the tagger took for no person
RARE_BEHIND = 1.5  # of one rare character behind such a surname
FOREIGN_NEW = 8.5  # sum over a run of transliteration without a person's tag
LATER_LETTER = 2.0  # of a piece that goes on such a run: 乌布利|希
LEAST_FOREIGN, LEAST_NEW = 2, 3  # characters of such runs
PLACES_IN_A_ROW = 3  # so many places do not follow each other: 阿尔西|比亚|德斯
AFTER_SYLLABLE = 2.0  # of what follows a keyword that is itself a syllable of a name
# What somebody is called, behind the name: 在塞巴斯蒂亚诺将军及……协助下.
CALLED = RULERS | frozenset("将军 上校 少校 上将 爵士 神父 先生 女士 总统 总理 教授 博士 主教".split())  # noqa: SIM905
LIKELY = 6.0  # of a new word tagged as a proper noun


def names(sentence: Sentence) -> Finding | None:
    """A finding where a personal name stands in the sentence, whoever it names.

    Reasons: dot, nickname, full, foreign, told (by a form, or by what stands beside it), elsewhere (the paragraph
    tells), likely.
    """
    found, text = sentence.candidate, sentence.text
    if found.pair.language != "zh":
        return None
    dotted = DOTS.search(text) and DOTTED.search(text)
    if dotted:
        return Finding("dot", dotted.span())
    if nickname_hints().search(text):
        for hit in nickname_shapes().finditer(text):
            if hit.lastgroup is not None and (hit.end() <= found.start or hit.start() >= found.end):
                return Finding("nickname", hit.span())
    told = told_forms().search(text)
    if told:
        return Finding("told", told.span())
    tokens = sentence.tokens
    shapes = [shape_of(word, tag) for word, tag, _, _ in tokens]
    span = _chinese_name(tokens, shapes, (found.start, found.end))
    if span is not None:
        return Finding("full", span)
    keyword = found.start, found.end
    span = _around_keyword(text, tokens, shapes, keyword) or _foreign_name(tokens, shapes)
    span = span or _japanese_name(text, tokens)
    if span is not None:
        return Finding("foreign", span)
    span = by_frame(text, tokens, shapes, keyword)
    if span is not None:
        return Finding("told", span)
    span = named_elsewhere(text, sentence.paragraph(), keyword)
    if span is not None:
        return Finding("elsewhere", span)
    span = by_context(tokens, keyword)
    if span is not None:
        return Finding("told", span)
    for place, shape in enumerate(shapes):
        if shape.likely is not None and shape.likely + context(tokens, place, place + 1) >= LIKELY:
            return Finding("likely", (tokens[place].start, tokens[place].end))
    return None


def _chinese_name(tokens: Sequence[Token], shapes: Sequence[Shape], keyword: Span) -> Span | None:
    last = len(tokens) - 1
    for place, (token, shape) in enumerate(zip(tokens, shapes, strict=True)):
        if not shape.leads or (token.start < keyword[1] and keyword[0] < token.end):
            continue
        following = tokens[place + 1] if place < last else None
        if following is not None and PLACE_BEHIND.fullmatch(following.word) and shape.new:
            continue  # 南圩|镇, 李官|村
        if shape.full is not None and shape.score + context(tokens, place, place + 1) >= 0:
            return token.start + shape.full[0], token.start + shape.full[1]
        if place == 0 and following is not None and following.word[0] == "（" and shape.new and len(token.word) < 4:
            return (token.start, token.end) if shape.begins_with_surname else None  # 符泳（...），香港男游泳选手
        if following is None or (following.start < keyword[1] and keyword[0] < following.end):
            continue
        end = _divided_name(tokens, shapes, place) or _apart(tokens, shapes, place, keyword)
        if end is not None and token.word + following.word not in read_as_none():
            return token.start, end
    return None


def _divided_name(tokens: Sequence[Token], shapes: Sequence[Shape], place: int) -> int | None:
    """Where a full name ends whose first piece is the token at *place*: 梁|邦彦, 潘均|顺, 欧阳|雪晴, 慕容|恪."""
    token, following, shape, after = tokens[place], tokens[place + 1], shapes[place], shapes[place + 1]
    word, whole = following.word, token.word + following.word
    if not fits_behind_surname(word):
        return None
    if shape.surname and len(token.word) == 2:
        named = following.tag not in NO_NAME_TAGS or is_rare(word)
        one = len(word) == 1 and named and given_score(word) > -1.0
        two = len(word) == 2 and (after.person or given_score(word) + context(tokens, place, place + 2) >= DOUBLE)
        return following.end if one or two else None
    if shape.surname and shape.person and is_rare(token.word[0]):
        return following.end if len(word) <= 2 else token.end + 1  # 苻|坚杀: a rare character that is a surname
    if is_rare(word) and len(word) == 1 and (shape.person or shape.surname):
        # 蒋家|旻, 张|湟: what is rare lives on in names.
        return following.end if given_score(word) >= RARE_BEHIND and len(token.word) <= 2 else None
    if len(whole) != 3 or not shape.begins_with_surname or is_word(whole) or shape.ordinary or "某" in whole:
        return None
    if whole[-1] in PLACES and given_score(whole[1:]) < SURE_PLACE:
        return None
    given = given_score(whole[1:]) + context(tokens, place, place + 2)
    if shape.person and shape.surname and given >= (SURE if after.person else SURE_APART):
        return following.end
    if after.ordinary:
        return None
    if shape.person and (after.person if len(token.word) == 1 else len(word) == 1 and after.free):
        return following.end if given >= (DIVIDED if len(token.word) == 1 else DIVIDED_LATE) else None
    return following.end if shape.surname and given >= APART else None


def _apart(tokens: Sequence[Token], shapes: Sequence[Shape], place: int, keyword: Span) -> int | None:
    """Where a full name ends that lies across new words and single characters: 父赵希|瓐, 据林|越峰, 赵|与|莒."""
    token = tokens[place]
    at = next((i for i, character in enumerate(token.word) if is_surname(character)), -1) if shapes[place].free else -1
    if at < 0 or len(token.word) - at > 2:
        return None
    given, taken = token.word[at + 1 :], place
    while len(given) < 2 and taken + 1 < len(tokens):
        taken += 1
        if not shapes[taken].free or tokens[taken].end > keyword[0] >= tokens[taken].start:
            return None
        given += tokens[taken].word
    # 许月|凤于: what the segmenter took into the last piece.
    fits = len(given) == 2 or (len(given) == 3 and given[2] in TAIL and shapes[taken].new)
    if not fits or "某" in given or not fits_behind_surname(given[:2]) or given_score(given[:2]) < APART:
        return None
    return token.start + at + 3


def _foreign_name(tokens: Sequence[Token], shapes: Sequence[Shape]) -> Span | None:
    for first, last in _runs(shapes):
        run = range(first, last)
        text = "".join(tokens[at].word for at in run)
        following = tokens[last].word if last < len(tokens) else ""
        before = tokens[first - 1].word if first else ""
        if len(text) < LEAST_FOREIGN or text in read_as_none():
            continue
        certainly = is_done_by_people(following) or following in CALLED
        if NAMED_AFTER.match(following) or (PLACE_BEFORE.search(before) and not certainly):
            continue
        if last - first < PLACES_IN_A_ROW and all(shapes[at].place for at in run):
            continue
        total = sum(shapes[at].foreign or 0.0 for at in run) + context(tokens, first, last)
        person = any((shapes[at].person or tokens[at].tag == "nz") and len(tokens[at].word) > 1 for at in run)
        person = person or (total >= FOREIGN_NEW and any(shapes[at].person for at in run))
        new = len(text) >= LEAST_NEW and any(not shapes[at].ordinary and len(tokens[at].word) > 1 for at in run)
        if (person and total >= FOREIGN_TAGGED) or (new and total >= FOREIGN_NEW):
            return tokens[first].start, tokens[last - 1].end
    return None


def _around_keyword(text: str, tokens: Sequence[Token], shapes: Sequence[Shape], keyword: Span) -> Span | None:
    """亚[他]纳修, 余[男]: a name of which the keyword is a syllable."""
    if keyword[1] - keyword[0] > 1:
        return None
    syllable = foreign_score(text[keyword[0] - 1 : keyword[0]] or "的") >= SURE_LETTER
    for token, shape in zip(tokens, shapes, strict=True):
        if token.start == keyword[0] - 1 and shape.new and shape.person and is_surname(token.word[0]):
            return token.start, token.end  # 余[男]自: with what the segmenter took into it
        if token.start == keyword[0] and syllable and shape.new and foreign_score(token.word[1:]) >= AFTER_SYLLABLE:
            return keyword[0] - 1, token.end
        if token.start == keyword[1] and syllable and shape.person and (shape.foreign or 0.0) >= AFTER_SYLLABLE:
            return keyword[0] - 1, token.end
    return None


def _runs(shapes: Sequence[Shape]) -> Iterator[Span]:
    """Neighbouring tokens written with the characters of foreign names, as places."""
    first: int | None = None
    for place, shape in enumerate(shapes):
        if shape.letter or (first is not None and shape.free and (shape.foreign or 0.0) >= LATER_LETTER):
            first = place if first is None else first
        elif first is not None:
            yield first, place
            first = None
    if first is not None:
        yield first, len(shapes)


def _japanese_name(text: str, tokens: Sequence[Token]) -> Span | None:
    """丰臣|秀吉, 长|谷川|町子: a Japanese surname, and behind it what looks like a Japanese given name."""
    known, sure, ends = japanese_surnames(), surnames("japanese surely"), set[int]()
    for place, token in enumerate(tokens):
        for surname in known.get(text[token.start : token.start + 2], ()):
            at = token.start + len(surname)
            if not text.startswith(surname, token.start) or not HAN.match(text, at):
                continue
            ends = ends or {one.end for one in tokens}
            for size in (2, 3, 1):
                given = text[at : at + size]
                lemma = token.start == 0 and text[at + size : at + size + 1] == "（"  # 矢井田瞳（...）是
                if lemma or (
                    _ends_there(text, at + size, ends)
                    and is_japanese(given, last=not HAN.match(text, at + size), surely=surname in sure)
                ):
                    return token.start, at + size
            behind = tokens[place + 1] if place + 1 < len(tokens) else None
            if behind is not None and token.end == at and len(behind.word) == 1 and behind.tag == "nr":
                return token.start, behind.end  # 木下|樱
            if behind is not None and token.end == at and len(behind.word) == 2 and not FUNCTION.search(behind.word):
                # 杉山|正明: two words of the dictionary, for what stands beside them.
                score = japanese_score(behind.word) + context(tokens, place, place + 2)
                if score >= JAPANESE_KNOWN and behind.word not in ordinary_words():
                    return token.start, behind.end
    for hit in sure_surnames().finditer(text):  # also where the segmenter cut it: 德|川家光
        given = text[hit.end() : hit.end() + 2]
        if len(given) == 2 and is_japanese(given, last=False, surely=True) and japanese_score(given) >= JAPANESE_SURE:
            return hit.start(), hit.end() + 2
    return None


def _ends_there(text: str, at: int, ends: set[int]) -> bool:
    """Whether a word ends at *at*, or would if the segmenter had not taken what follows into it: 樱|则."""
    return at in ends or (at + 1 in ends and text[at : at + 1] in TAIL | {"的", "来", "去"})
