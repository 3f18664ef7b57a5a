"""One block of text: its sentences, those with exactly one keyword, and what the filters say. A pure function."""

import gc
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.mining.blocks import Block
from evenhand.core.mining.cleaning import BYLINE_BEGINS, FULL_WIDTH, Cleaner, block_ends, without_byline
from evenhand.core.mining.duplicates import BANDS, Keys, band_keys, masked, text_key
from evenhand.core.mining.filters import FILTERS, Check, CheckAll
from evenhand.core.mining.find_keywords import Finder, Word, Words, lines_of
from evenhand.core.mining.report import Cell, CellCounts, Example, Problem, example_key
from evenhand.core.mining.settings import Settings
from evenhand.core.mining.tables import Row, rows
from evenhand.core.mining.types import Finding, Mode, Sentence
from evenhand.core.text.containing_words import other_word, surely_alone
from evenhand.core.text.sentences import EDGES, repair_quotes
from evenhand.core.types import Candidate, JsonObject

_DAMAGED = re.compile("[\ud800-\udfff\ufffd]")
_LINE_ENDS = re.compile("[\r\n\u2028\u2029]")


class Mined(NamedTuple):
    """A candidate before it is written: its place, the original before conversion, its flags.

    Of plain values, which go from process to process in a tenth of the time.
    """

    sentence: str
    start: int  # of the word
    word: Word
    key: int  # of exactly this sentence
    file: str
    offset: int
    name: str | None
    date: str | None
    columns: Mapping[str, str] | None
    original: str | None
    findings: tuple[tuple[str, Finding], ...]

    @property
    def candidate(self) -> Candidate:
        """Return the sentence and the place of its word."""
        return self.word.at(self.start, self.sentence)

    @property
    def masked(self) -> str:
        """The sentence with one mark in place of its word."""
        return masked(self.sentence, self.start, self.start + self.word.length)


@dataclass(slots=True)
class Examined:
    """What one block gave; `keys` has a row per candidate, and is empty where no near-duplicates are looked for."""

    file: str
    position: int
    characters: int = 0
    sentences: int = 0
    damaged: int = 0
    cells: dict[Cell, CellCounts] = field(default_factory=dict)
    mined: list[Mined] = field(default_factory=list)
    keys: Keys = field(default_factory=lambda: np.zeros((0, BANDS), dtype=np.uint64))
    problems: list[Problem] = field(default_factory=list)
    encoding: str = "utf-8"

    def cell(self, where: Cell) -> CellCounts:
        """Return the counts of a pair and side."""
        cell_counts = self.cells.get(where)
        if cell_counts is None:
            cell_counts = self.cells[where] = CellCounts()
        return cell_counts


@contextmanager
def gc_paused() -> Iterator[None]:
    """No search for circles, of which a block makes none: it goes over the dictionary and the lists each time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Paragraph(NamedTuple):
    """A stretch of text that no sentence crosses: where it begins in the decoded block."""

    at: int
    text: str


class Examiner:
    """Examines blocks under one Settings; it keeps nothing between them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.finder = Finder(settings.pairs, settings.spaced)
        self.words = Words(self.finder.words, self.finder.may_stand)
        self.convert = converter(settings.convert)
        self.limits = settings.shortest, settings.longest
        self.steps = {pair.name: self._steps(pair.name) for pair in settings.pairs}
        self.together = self._together()
        inside = {pair.name: settings.mode(pair.name, "inside_word") for pair in settings.pairs}
        self.whole_words = {name for name, mode in inside.items() if mode == "reject"}
        self.compares = any(settings.mode(pair.name, "near_duplicate") != "off" for pair in settings.pairs)

    def _steps(self, pair: str) -> list[tuple[str, Mode, Check]]:
        alone = {code: filter_.check for code, filter_ in FILTERS.items() if filter_.check_all is None}
        modes = ((code, self.settings.mode(pair, code), check) for code, check in alone.items())
        return [(code, mode, check) for code, mode, check in modes if check is not None and mode != "off"]

    def _together(self) -> list[tuple[str, CheckAll, dict[str, Mode]]]:
        """Return the filters that take many sentences at once, with the pairs for which they are not off."""
        found = []
        for code, filter_ in FILTERS.items():
            modes = {pair.name: self.settings.mode(pair.name, code) for pair in self.settings.pairs}
            modes = {pair: mode for pair, mode in modes.items() if mode != "off"}
            if filter_.check_all is not None and modes:
                found.append((code, filter_.check_all, modes))
        return found

    def only_keyword(self, sentence: str, hits: list[tuple[int, Word]]) -> tuple[int, Word] | None:
        """Return the one keyword of *sentence*: the only one of several hits outside other words (他, not 吉他).

        None if every hit is inside another word, or if two hits are not. Callers do not ask about a single hit: the
        filter inside_word decides about it, so that its report counts the sentence.
        """
        only, doubtful = None, []
        for at, word in hits:  # those that a quick look tells first: two of them, and no other is asked about
            if self._surely_alone(sentence, at, word):
                if only is not None:
                    return None
                only = at, word
            else:
                doubtful.append((at, word))
        for at, word in doubtful:
            if other_word(sentence, word.at(at, sentence)) is None:
                if only is not None:
                    return None
                only = at, word
        return only

    def _surely_alone(self, sentence: str, at: int, word: Word) -> bool:
        if word.cell[0] not in self.whole_words:
            return True
        return word.pair.language == "zh" and surely_alone(sentence, at, at + word.length)

    def __call__(self, item: tuple[Block, int]) -> Examined:
        """Return the counts, examples and candidates of a block."""
        block, position = item
        examined = Examined(block.name, position, encoding=block.encoding)
        with gc_paused():
            work = _Work(self, block, examined)
            work.run()
            work.ask_together()
        if self.compares:
            examined.keys = band_keys([mined.masked for mined in examined.mined])
        return examined


def examiner(settings: JsonObject) -> Examiner:
    """An Examiner from what `Settings.to_json` gave: made once in each worker."""
    return Examiner(Settings.from_json(settings))


class _Work:
    """The examination of one block."""

    def __init__(self, examiner: Examiner, block: Block, examined: Examined) -> None:
        self.examiner, self.block, self.found = examiner, block, examined
        self.finder, self.settings = examiner.finder, examiner.settings
        self.cleaner = Cleaner(block.shape, examiner.settings.spaced)
        self.text = ""
        self.row: Row | None = None  # of a table
        self.places: tuple[_Paragraph | None, list[int]] = (None, [])
        self.marked = (0, block.offset)  # a character of self.text, and its byte in the file
        self.surely_whole = False

    def run(self) -> None:
        """Go through the paragraphs."""
        careful = self.examiner.convert is not None or self.settings.spaced
        if not careful and self.block.header is None and self.block.shape == "text":
            text, whole = self._decoded()
            if whole:
                self._in_lines(text)
                return
        for paragraph in self._paragraphs():
            self._paragraph(paragraph, careful)

    def _in_lines(self, text: str) -> None:
        """Examine all lines of plain text at once."""
        self._begin(text, whole=True)
        self.cleaner.wide = True  # asked of the few lines that need cleaning
        text = self._one_line_end(text)
        lines = lines_of(text, self.examiner.words)
        self.found.sentences += lines.sentences
        whole, words, how = self.finder.whole, self.finder.words, self.settings.quotes
        utf8, offset = self.block.encoding == "utf-8", self.block.offset
        for one in lines.found:
            if len(one) == 3:
                if utf8:
                    self.marked = one.start, offset + one.byte
                self._paragraph(_Paragraph(one.start, text[one.start : one.end]), careful=False)
                continue
            start, end, line_start, line_end, low, high, byte, quoted = one
            part, line, hits = text[start:end], text[line_start:line_end], lines.hits[low:high]
            # Where nothing of a sentence goes, its keywords are those of the block.
            same = whole and part[0] not in BYLINE_BEGINS
            if same and quoted:
                same = repair_quotes(part, how) is part and all(word in words for _, word in hits)
            if not same:
                self._clean_part(_Paragraph(line_start, line), line, start - line_start, part)
                continue
            origin = offset + byte if utf8 else _Paragraph(line_start, line)
            if len(hits) == 1:
                found = [(hits[0][0] - start, words[hits[0][1]])]
            else:
                found = [(at - start, words[word]) for at, word in hits]
            self._judge(part, found, line, start - line_start, origin, None)

    def _paragraph(self, paragraph: _Paragraph, careful: bool) -> None:
        line = self.cleaner.clean(paragraph.text)
        if not line:
            return
        parts = self.finder.split(line)
        self.found.sentences += len(parts) - (not parts[0].strip(EDGES))
        if careful or not self.surely_whole:
            self._with_care(paragraph, line, parts)
            return
        may_stand, end = self.finder.may_stand.search, 0
        for part in parts:
            at, end = end, end + len(part)
            if may_stand(part) is not None:
                self._clean_part(paragraph, line, at, part)

    def _clean_part(self, paragraph: _Paragraph, line: str, at: int, part: str) -> None:
        """Count and judge a part that may hold a keyword.

        Removing an orphan quotation mark may join the characters of a keyword.
        """
        sentence = repair_quotes(part, self.settings.quotes)
        if self.finder.search(sentence) is not None:
            self._sentence(paragraph, line, at, part, sentence, None)

    def _with_care(self, paragraph: _Paragraph, line: str, parts: list[str]) -> None:
        """Examine the sentences of a line that is to be converted, has spaces between words, or is damaged."""
        convert, search, end = self.examiner.convert, self.finder.search, 0
        for part in parts:
            at, end = end, end + len(part)
            if not self.surely_whole and _DAMAGED.search(part):
                self.found.damaged += 1
                continue
            sentence, original = part.strip() if self.settings.spaced else part, None
            if convert is not None:
                sentence = convert(sentence)
                original = part if sentence != part else None
            sentence = repair_quotes(sentence, self.settings.quotes)
            if search(sentence) is not None:
                self._sentence(paragraph, line, at, part, sentence, original)

    def _paragraphs(self) -> Iterator[_Paragraph]:
        block = self.block
        if block.header is not None:
            for row in rows(
                block.name, block.data, block.encoding, block.header, block.offset, block.line, self.found.problems
            ):
                self._begin(row.text, _DAMAGED.search(row.text) is None)
                self.cleaner.wide = FULL_WIDTH.search(row.text) is not None
                self.row = row
                yield from self._cut(row.text)
            return
        text, whole = self._decoded()
        self._begin(text, whole)
        self.cleaner.wide = FULL_WIDTH.search(text) is not None
        yield from self._cut(text)

    def _decoded(self) -> tuple[str, bool]:
        """Return the text of the block, and whether all of it could be decoded."""
        try:
            text, whole = self.block.data.decode(self.block.encoding), True
        except UnicodeDecodeError:
            text, whole = self.block.data.decode(self.block.encoding, "surrogateescape"), False
        return text, whole and "\ufffd" not in text

    def _begin(self, text: str, whole: bool) -> None:
        self.text, self.marked = text, (0, self.block.offset)
        self.surely_whole = whole
        self.found.characters += len(text)

    def _cut(self, text: str) -> Iterator[_Paragraph]:
        at = 0
        if self.block.shape == "html":
            for start, end in block_ends(text):
                yield _Paragraph(at, text[at:start])
                at = end
            yield _Paragraph(at, text[at:])
            return
        for line in self._one_line_end(text).split("\n"):
            if line:
                yield _Paragraph(at, line)
            at += len(line) + 1

    def _one_line_end(self, text: str) -> str:
        if "\r" in text or "\u2028" in text or "\u2029" in text:
            return _LINE_ENDS.sub("\n", text)  # one character for one: places stay
        return text

    def _sentence(
        self, paragraph: _Paragraph, line: str, at: int, part: str, sentence: str, original: str | None
    ) -> None:
        """Judge a sentence that holds a keyword, without the byline before it."""
        bare = without_byline(sentence)
        at += _lead(part, sentence) + len(sentence) - len(bare)
        self._judge(bare, self.finder.hits(bare), line, at, paragraph, original)

    def _judge(
        self,
        sentence: str,
        hits: list[tuple[int, Word]],
        line: str,
        at: int,
        origin: _Paragraph | int,
        original: str | None,
    ) -> None:
        """Count a sentence with *hits*, and keep it if it is a candidate.

        It begins at *at* of *line*; *origin*: the byte of the file where it begins, or its paragraph.
        """
        if len(hits) == 1:
            start, word = hits[0]
            counts = self.found.cell(word.cell)
            counts.with_keyword += 1
        else:
            for cell in {word.cell for _, word in hits}:
                self.found.cell(cell).with_keyword += 1
            only = self.examiner.only_keyword(sentence, hits)
            if only is None:
                return
            start, word = only
            counts = self.found.cell(word.cell)
        counts.exactly_one += 1
        candidate = word.at(start, sentence)
        examined = Sentence(sentence, candidate, self.examiner.limits)
        findings: list[tuple[str, Finding]] = []
        for code, mode, check in self.examiner.steps[word.cell[0]]:
            finding = check(examined)
            if finding is None:
                continue
            if mode == "reject":
                self._reject(counts, code, candidate, finding, lambda: self._offset(origin, line, at))
                return
            findings.append((code, finding))
        row = self.row
        name, date, columns = (row.name, row.date, row.columns) if row else (None, None, None)
        offset, key = self._offset(origin, line, at), text_key(sentence)
        file, flagged = self.block.name, tuple(findings)
        mined = Mined(sentence, start, word, key, file, offset, name, date, columns, original, flagged)
        self.found.mined.append(mined)

    def _reject(
        self, counts: CellCounts, code: str, candidate: Candidate, finding: Finding, offset: Callable[[], int]
    ) -> None:
        counts.rejected[code] += 1
        key = example_key(candidate.sentence, self.settings.seed)
        if counts.sample(code).wants(key):
            counts.sample(code).add(key, example_of(candidate, finding, self.block.name, offset()))

    def ask_together(self) -> None:
        """Ask the filters that take all sentences of the block at once, which are the last ones."""
        for code, check, modes in self.examiner.together:
            asked = [one for one in self.found.mined if one.word.cell[0] in modes]
            answers = iter(check([Sentence(one.sentence, one.candidate, self.examiner.limits) for one in asked]))
            kept = []
            for one in self.found.mined:
                mode = modes.get(one.word.cell[0])
                finding = None if mode is None else next(answers)
                if finding is not None and mode == "reject":
                    self._reject(self.found.cell(one.word.cell), code, one.candidate, finding, partial(int, one.offset))
                elif finding is not None:
                    kept.append(one._replace(findings=(*one.findings, (code, finding))))
                else:
                    kept.append(one)
            self.found.mined = kept

    def _offset(self, paragraph: _Paragraph | int, line: str, at: int) -> int:
        """The byte of the file where the sentence begins; of its row, in a table."""
        if isinstance(paragraph, int):
            return paragraph
        if self.row is not None:
            return self.row.offset
        if line is not paragraph.text:
            if self.places[0] is not paragraph:  # once per paragraph: it may be the whole block
                self.places = (paragraph, self.cleaner.positions(paragraph.text))
            at = self.places[1][at]
        at += paragraph.at
        character, byte = self.marked
        if at < character:
            character, byte = 0, self.block.offset
        byte += len(self.text[character:at].encode(self.block.encoding, "surrogateescape"))
        self.marked = (at, byte)
        return byte


def _lead(part: str, sentence: str) -> int:
    """Return the number of characters of *part* before the first one kept in *sentence*.

    They are spaces and orphan quotation marks.
    """
    if not sentence or part.startswith(sentence[0]):
        return 0
    kept = part.lstrip(" “”「」『』")
    return len(part) - len(kept) if kept.startswith(sentence[0]) else 0


def example_of(candidate: Candidate, finding: Finding, file: str, offset: int, like: str = "") -> Example:
    """Return the example for the report of a sentence that a filter rejected."""
    return Example(candidate.sentence, candidate.start, candidate.end, finding.reason, finding.span, file, offset, like)


@cache
def converter(name: str | None) -> Any:
    """Return a function from traditional to simplified text, or None."""
    if name is None:
        return None
    import opencc

    simplify = opencc.OpenCC(name).convert
    # 姊 is the 姐 of Taiwan; OpenCC does not convert it.
    return lambda text: simplify(text.replace("姊", "姐"))
