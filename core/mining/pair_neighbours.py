"""Counts of the neighbours of keyword pairs in a corpus, for the check of their symmetry."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core.mining.blocks import Block, blocks, total_size
from evenhand.core.mining.cleaning import Cleaner
from evenhand.core.mining.find_keywords import Finder
from evenhand.core.mining.report import Problem, Read
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.mining.tables import rows
from evenhand.core.text.dictionary import is_surname, tagged
from evenhand.core.text.other_words import other_word
from evenhand.core.types import Candidate, KeywordPair, Side

KEPT = 20_000  # occurrences of a word that are kept with both neighbours; beyond them a random sample of that size
SURNAME = "⟨surname⟩"  # stands for any surname before a word: 王女士, 李女士
NOTHING = ""  # no word stands there: the clause begins or ends
CLAUSE = re.compile("[一-龥]+")
SPACED_CLAUSE = re.compile(r"[\w'’ -]+")
LINE_ENDS = re.compile("[\r\n\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place: the words before and after, and the number of its paragraph."""

    left: str
    right: str
    paragraph: int


@dataclass(slots=True)
class WordUse:
    """How a word is used. `count`: as a word; `inside`: its characters in another word (吉他, 其他)."""

    word: str
    count: int = 0
    inside: int = 0
    left: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    surnames: int = 0
    kept: list[Occurrence] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311

    def add(self, found: Occurrence) -> None:
        """Count one occurrence."""
        self.count += 1
        self.left[found.left] += 1
        self.right[found.right] += 1
        self.surnames += found.left == SURNAME
        if len(self.kept) < KEPT:
            self.kept.append(found)
        elif (at := self.chance.randrange(self.count)) < KEPT:
            self.kept[at] = found


@dataclass(slots=True)
class Neighbours:
    """The words of all pairs and what went in."""

    read: Read
    uses: dict[tuple[str, Side], WordUse]


def neighbours(
    paths: Iterable[Path | str],
    pairs: Iterable[KeywordPair],
    *,
    column: str | None = None,
    limit_bytes: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int | None], None] | None = None,
) -> Neighbours:
    """Read *paths* as `core.mining.run.mine` does and count the neighbours of every word of *pairs*.

    Neighbours are words of the same clause: of the segmenter for Chinese, else
    what stands between spaces. A surname before a word counts as SURNAME.
    `progress(done, total)` counts bytes. Raises BadFile where nothing can be read.
    """
    pairs, paths = tuple(pairs), list(paths)
    found = Neighbours(Read(), {})
    sides: tuple[Side, Side] = ("male", "female")
    for pair in pairs:
        for side in sides:
            word = pair.word(side)
            found.uses[pair.name, side] = WordUse(word, chance=random.Random(f"{seed} {word}"))  # noqa: S311
    spaced = pairs[0].language not in WITHOUT_SPACES
    finder, paragraph = Finder(pairs, spaced), 0
    total = total_size(paths)
    for block, position in blocks(paths, found.read, column=column, limit=limit_bytes):
        for line in _lines(block, found.read, spaced):
            paragraph += 1
            if finder.search(line) is not None:
                for use, occurrence in _in_line(line, finder, found, paragraph):
                    use.add(occurrence)
        if progress is not None:
            progress(position, total if limit_bytes is None else min(limit_bytes, total))
    return found


def _lines(block: Block, read: Read, spaced: bool) -> Iterator[str]:
    cleaner = Cleaner(block.shape, spaced)
    if block.header is not None:
        problems: list[Problem] = []
        found = rows(block.name, block.data, block.encoding, block.header, block.offset, block.line, problems)
        texts: Iterable[str] = [row.text for row in found]
        read.report(problems)
    else:
        texts = [block.data.decode(block.encoding, "replace")]
    for text in texts:
        read.characters += len(text)
        for line in LINE_ENDS.split(text):
            yield cleaner.clean(line)


def _in_line(line: str, finder: Finder, found: Neighbours, paragraph: int) -> Iterator[tuple[WordUse, Occurrence]]:
    for clause in (SPACED_CLAUSE if finder.spaced else CLAUSE).finditer(line):
        text = clause[0]
        for start, word in finder.hits(text):
            use = found.uses[word.cell]
            place = word.at(start, text)
            if finder.spaced:
                yield use, _spaced(place, paragraph)
            elif other_word(text, place) is not None:
                use.inside += 1
            else:
                yield use, _by_words(place, paragraph)


def _spaced(place: Candidate, paragraph: int) -> Occurrence:
    before, after = place.sentence[: place.start].split(), place.sentence[place.end :].split()
    return Occurrence(before[-1].lower() if before else NOTHING, after[0].lower() if after else NOTHING, paragraph)


def _by_words(place: Candidate, paragraph: int) -> Occurrence:
    """The words that touch the keyword: the rest of its own token (女|司机), else the token beside it."""
    left = right = NOTHING
    for token in tagged(place.sentence):
        if token.end <= place.start:
            left = token.word
        elif token.start < place.start:
            left = token.word[: place.start - token.start]
        if token.end > place.end and right == NOTHING:
            right = token.word[max(0, place.end - token.start) :]
    return Occurrence(SURNAME if is_surname(left) and len(place.keyword) > 1 else left, right, paragraph)
