"""The question of a concordance, and its answer: a word and its neighbours counted, passage by passage."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from evenhand.core.concordance.odds import Contrast, Table, contrast
from evenhand.core.errors import N_, Refused
from evenhand.core.resources import keyword_pairs
from evenhand.core.statistics import Estimate, Note
from evenhand.core.text.dictionary import is_word, tagged
from evenhand.core.text.keywords import is_keyword
from evenhand.core.types import Span

Unit = Literal["document", "paragraph", "sentence"]
UNITS: tuple[Unit, ...] = ("document", "paragraph", "sentence")
MOST_NEAR = 20
LONGEST_WORD = 40
METHOD = 1  # version of the counting, in its signature


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph (or row) of a document; passages of one document follow each other. `place`: its number, from 1."""

    document: str
    place: int
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One occurrence of the word in its sentence.

    `span`: the word; `near`: the requested words near it, as
    (start, end, number in the list); all half-open code points of `sentence`.
    """

    document: str
    place: int
    sentence: str
    span: Span
    near: tuple[tuple[int, int, int], ...]

    @property
    def parts(self) -> tuple[str, str, str]:
        """Left of the word, the word, right of it."""
        start, end = self.span
        return self.sentence[:start], self.sentence[start:end], self.sentence[end:]


@dataclass(frozen=True, slots=True)
class Question:
    """A question: a word, words near it, and the distance.

    `window` None: in the same sentence; a number: at most so many characters
    between the two, in the same sentence. Two near words that are a keyword
    pair are stored male first, even if they were given in the other order.
    """

    word: str
    near: tuple[str, ...]
    window: int | None = None
    unit: Unit | Literal["auto"] = "auto"

    @property
    def is_pair(self) -> bool:
        """True if the near words are the two words of one keyword pair."""
        return any(self.near == (pair.male, pair.female) for pair in keyword_pairs())

    def signature(self, unit: Unit) -> str:
        """Return everything that can change the numbers except the text itself."""
        window = "sentence" if self.window is None else str(self.window)
        return f"concord|word:{self.word}|near:{','.join(self.near)}|window:{window}|unit:{unit}|v{METHOD}"


@dataclass(frozen=True, slots=True)
class Concordance:
    """The counts and contrasts that answer a question.

    `near`: one contrast per near word, sentences with the word against those
    without. `contrast`: for exactly two near words, sentences that hold only
    the first or only the second of them; its `log_odds` above 0 means that the
    first (of a pair: the male word) is favoured near the word, below 0 the
    second; None for any other number of near words. `both`: sentences with the word and both of them.
    """

    question: Question
    unit: Unit
    near: tuple[Contrast, ...]
    contrast: Contrast | None
    both: int
    lines: tuple[Line, ...]
    near_lines: tuple[Line, ...]
    occurrences: int
    sentences_with: int
    sentences: int
    paragraphs: int
    documents: int
    characters: int

    @property
    def signature(self) -> str:
        """The signature of the numbers: question and unit."""
        return self.question.signature(self.unit)


def question(word: str, near: Iterable[str], *, window: int | None = None, unit: str = "auto") -> Question:
    """Check a question: words without spaces around them, each once. Raises Refused with the mistake."""
    word = word.strip()
    words = tuple(dict.fromkeys(text.strip() for text in near if text.strip()))
    if not word:
        raise Refused(N_("Type the word whose contexts you want to see."))
    if not words or len(words) > MOST_NEAR:
        raise Refused(N_("Give 1 to {most} collocates, such as 他,她."), most=MOST_NEAR)
    if word in words:
        raise Refused(N_("{word} cannot be its own collocate; give other words."), word=word)
    if long := next((text for text in (word, *words) if len(text) > LONGEST_WORD), None):
        raise Refused(N_("{word} is too long; the maximum is {most} characters."), word=long, most=LONGEST_WORD)
    if window is not None and window < 1:
        raise Refused(N_("The window must be at least 1 character."))
    if unit not in ("auto", *UNITS):
        raise Refused(N_("The unit must be document, paragraph or sentence, not {unit}."), unit=unit)
    for pair in keyword_pairs():
        if words == (pair.female, pair.male):
            words = words[::-1]
    chosen: Unit | Literal["auto"] = next((one for one in UNITS if one == unit), "auto")
    return Question(word, words, window, chosen)


AROUND = 12  # characters on either side of a word that are cut into words, to see whether it is one
PLURALS = ("他们", "她们", "它们")  # separate words: 他 in 他们 does not count, unless 他们 is searched for
# What is read is never given back: a text of dots is read once, not once for each dot.
CHINESE = re.compile('[^。？！?!]++(?:[。？！?!]+[”’」』）)》"]*)?|[。？！?!]+[”’」』）)》"]*')
SPACED = re.compile(r"""(?:[^.?!。？！]|\.(?![\s"'”’)]|$))++(?:[.?!。？！]+["'”’)\]]*)?|[.?!。？！]+["'”’)\]]*""")


class Words:
    """Finds the word and its neighbours in a sentence; parts of other words do not count."""

    def __init__(self, asked: Question) -> None:
        self.numbers = {asked.word: -1} | {word: number for number, word in enumerate(asked.near)}
        blocking = [word for pair in keyword_pairs() for word in (pair.male, pair.female)] + list(PLURALS)
        blocking = [long for long in blocking if long not in self.numbers and any(w in long for w in self.numbers)]
        parts = [_pattern(word) for word in sorted([*self.numbers, *blocking], key=len, reverse=True)]
        self.pattern = re.compile("|".join(parts), re.IGNORECASE)
        known = {word for pair in keyword_pairs() for word in (pair.male, pair.female)}
        self.ambiguous = any(word in known for word in self.numbers)
        self.folded = {word.casefold(): number for word, number in self.numbers.items()}
        self.split = SPACED if _is_spaced(asked.word) else CHINESE

    def hits(self, sentence: str) -> list[tuple[int, int, int]]:
        """Return (start, end, number) of each word found; the number is -1 for the searched word."""
        result = []
        for hit in self.pattern.finditer(sentence):
            number = self.folded.get(hit[0].casefold())
            if number is not None:
                result.append((hit.start(), hit.end(), number))
        if result and self.ambiguous:
            result = [hit for hit in result if is_keyword(sentence, hit[0], sentence[hit[0] : hit[1]])]
        return [hit for hit in result if not _is_cut(sentence, *hit[:2])] if result else result


def _is_cut(sentence: str, start: int, end: int) -> bool:
    """Check whether a Chinese word of two or more characters only joins the ends of two words: 护士 in 保护|士大夫."""
    if end - start < 2 or not all("一" <= character <= "龥" for character in sentence[start:end]):
        return False
    low, high = max(0, start - AROUND), end + AROUND
    for token in tagged(sentence[low:high]):
        first, last = token.start + low, token.end + low
        crosses = (first < start < last < end) or (start < first < end < last)
        if crosses and is_word(token.word):
            return True
    return False


def _pattern(word: str) -> str:
    escaped = re.escape(word)
    return rf"(?<!\w){escaped}(?!\w)" if _is_spaced(word) else escaped


def _is_spaced(word: str) -> bool:
    """Check whether a word belongs to a script that writes spaces between words."""
    return any(letter.isalpha() for letter in word) and all(ord(letter) < 0x2E80 for letter in word)


LISTED = 200  # lines that a result keeps; `on_line` sees all
LOOK = 500  # passages between two calls of `progress`
NOT_WITH_WINDOW = Note(N_("With a window, sentences without the word have no position to count from."))


@dataclass(slots=True)
class _Tables:
    """Counts of one kind of unit: of the passages since the last `close`, and of all units before."""

    near: int
    tables: list[Table] = field(init=False)
    open: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.tables = [Table() for _ in range(self.near + 1)]
        self.open = [[0, 0, 0, 0] for _ in self.tables]

    def count(self, has_word: bool, present: Sequence[bool]) -> None:
        """Count one sentence: whether it contains the word, and each of the near words."""
        for cells, there in zip(self.open, present, strict=False):
            cells[(0 if has_word else 2) + (not there)] += 1
        if self.near == 2 and present[0] != present[1]:
            self.open[-1][(0 if has_word else 2) + (not present[0])] += 1

    def count_none(self, sentences: int) -> None:
        """Count sentences without any of the words."""
        for cells in self.open[:-1]:
            cells[3] += sentences

    def close(self) -> None:
        """End of a unit."""
        for table, cells in zip(self.tables, self.open, strict=True):
            if any(cells):
                table.add(cells)
                cells[:] = (0, 0, 0, 0)


def concordance(
    passages: Iterable[Passage],
    asked: Question,
    *,
    on_line: Callable[[Line], object] | None = None,
    progress: Callable[[int], object] | None = None,
    listed: int = LISTED,
) -> Concordance:
    """Look *asked* up in *passages*, one after the other; memory stays flat.

    Keeps the first *listed* lines, and the first *listed* that have a near word; `on_line` is given every one.
    `progress(characters)` is called now and then. The unit "auto" is the
    document where two or more hold the word, else the paragraph.
    """
    words, state = Words(asked), _State(len(asked.near))
    for passage in passages:
        state.begin(passage)
        if words.pattern.search(passage.text) is None:
            state.skip(sum(1 for _ in words.split.finditer(passage.text)))
        else:
            for line in state.read(passage, words, asked):
                state.keep(line, listed)
                if on_line is not None:
                    on_line(line)
        state.by["paragraph"].close()
        if progress is not None and state.paragraphs % LOOK == 0:
            progress(state.characters)
    state.by["document"].close()
    return state.result(asked)


class _State:
    """The counts so far."""

    def __init__(self, near: int) -> None:
        self.by: dict[str, _Tables] = {"document": _Tables(near), "paragraph": _Tables(near)}
        self.document: str | None = None
        self.documents = self.paragraphs = self.sentences = self.characters = 0
        self.both = self.occurrences = self.sentences_with = 0
        self.lines: list[Line] = []
        self.near_lines: list[Line] = []

    def begin(self, passage: Passage) -> None:
        if passage.document != self.document:
            self.by["document"].close()
            self.document, self.documents = passage.document, self.documents + 1
        self.paragraphs += 1
        self.characters += len(passage.text)

    def keep(self, line: Line, most: int) -> None:
        if len(self.lines) < most:
            self.lines.append(line)
        if line.near and len(self.near_lines) < most:
            self.near_lines.append(line)

    def skip(self, sentences: int) -> None:
        self.sentences += sentences
        for tables in self.by.values():
            tables.count_none(sentences)

    def read(self, passage: Passage, words: Words, asked: Question) -> Iterator[Line]:
        for part in words.split.finditer(passage.text):
            self.sentences += 1
            hits = words.hits(part[0])
            if not hits:
                for tables in self.by.values():
                    tables.count_none(1)
                continue
            places = [(start, end) for start, end, number in hits if number < 0]
            others = [hit for hit in hits if hit[2] >= 0]
            if places and asked.window is not None:
                others = [hit for hit in others if any(_gap(hit, place) <= asked.window for place in places)]
            present = [any(number == hit[2] for hit in others) for number in range(len(asked.near))]
            for tables in self.by.values():
                tables.count(bool(places), present)
            self.sentences_with += bool(places)
            self.occurrences += len(places)
            self.both += bool(places) and len(present) == 2 and all(present)
            yield from _lines(passage, part[0], places, others, asked.window)

    def result(self, asked: Question) -> Concordance:
        unit: Unit
        if asked.unit == "auto":
            unit = "document" if self.by["document"].tables[0].texts_with_word > 1 else "paragraph"
        else:
            unit = asked.unit
        tables = self.by["document" if unit == "document" else "paragraph"].tables
        contrasts = [contrast(table, clustered=unit != "sentence") for table in tables]
        near = tuple(contrasts[:-1] if asked.window is None else [_with_window(one) for one in contrasts[:-1]])
        return Concordance(
            question=asked,
            unit=unit,
            near=near,
            contrast=contrasts[-1] if len(asked.near) == 2 else None,
            both=self.both,
            lines=tuple(self.lines),
            near_lines=tuple(self.near_lines),
            occurrences=self.occurrences,
            sentences_with=self.sentences_with,
            sentences=self.sentences,
            paragraphs=self.paragraphs,
            documents=self.documents,
            characters=self.characters,
        )


def _with_window(found: Contrast) -> Contrast:
    """Keep the counts near the word only; sentences without the word have no window to count in."""
    a, b, _, _ = found.counts
    undefined = Estimate.undefined(NOT_WITH_WINDOW)
    return replace(
        found, counts=(a, b, 0, 0), share_elsewhere=None, log_odds=undefined, times=undefined, corrected=False
    )


def _gap(hit: tuple[int, int, int], place: Span) -> int:
    """Return the number of characters between a near word and the word."""
    return max(place[0] - hit[1], hit[0] - place[1], 0)


def _lines(
    passage: Passage, text: str, places: Sequence[Span], others: Sequence[tuple[int, int, int]], window: int | None
) -> Iterator[Line]:
    before = len(text) - len(text.lstrip())
    sentence = text.strip()
    for start, end in places:
        near = [hit for hit in others if window is None or _gap(hit, (start, end)) <= window]
        moved = tuple((first - before, last - before, number) for first, last, number in near)
        yield Line(passage.document, passage.place, sentence, (start - before, end - before), moved)
