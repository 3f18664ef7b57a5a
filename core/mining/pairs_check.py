"""Are the two words of a pair used alike? The papers' own reason for leaving out 男士/女士 (王女士, not 王男士).

Three things are measured per pair, on any corpus:
- how often each word occurs, and their ratio;
- **asymmetry**: how well the words before and after tell which of the two words
  is used, as the area under the ROC curve (0.5 = not at all, 1 = always). A naive
  Bayes classifier learns on a random half of the paragraphs and is tested on the
  other, both ways, SPLITS times; so chance gives about 0.5. Interval: DeLong;
- **unswapped**: the share of a word's occurrences in compounds that never occur
  with the other word, where chance does not explain it: if both words took the compound at
  the same rate, all its occurrences would fall on this side less often than CHANCE.
"""

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.mining.blocks import Block, blocks, total_size
from evenhand.core.mining.cleaning import Cleaner
from evenhand.core.mining.find_keywords import Finder
from evenhand.core.mining.report import Problem, Read
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.mining.tables import rows
from evenhand.core.statistics import Estimate, Note, wilson
from evenhand.core.text.containing_words import other_word
from evenhand.core.text.dictionary import is_surname, tagged
from evenhand.core.types import Candidate, KeywordPair, Side

SAMPLE_SIZE = (
    20_000  # occurrences of a word that are kept with both neighbours; beyond them a random sample of that size
)
SURNAME = "⟨surname⟩"  # stands for any surname before a word: 王女士, 李女士
NOTHING = ""  # no word: the clause begins or ends
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

    def add(self, occurrence: Occurrence) -> None:
        """Count one occurrence."""
        self.count += 1
        self.left[occurrence.left] += 1
        self.right[occurrence.right] += 1
        self.surnames += occurrence.left == SURNAME
        if len(self.kept) < SAMPLE_SIZE:
            self.kept.append(occurrence)
        elif (at := self.chance.randrange(self.count)) < SAMPLE_SIZE:
            self.kept[at] = occurrence


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
    the text between spaces. A surname before a word counts as SURNAME.
    `progress(done, total)` counts bytes. Raises BadFile where nothing can be read.
    """
    pairs, paths = tuple(pairs), list(paths)
    result = Neighbours(Read(), {})
    sides: tuple[Side, Side] = ("male", "female")
    for pair in pairs:
        for side in sides:
            word = pair.word(side)
            result.uses[pair.name, side] = WordUse(word, chance=random.Random(f"{seed} {word}"))  # noqa: S311
    spaced = pairs[0].language not in WITHOUT_SPACES
    finder, paragraph = Finder(pairs, spaced), 0
    total = total_size(paths)
    for block, position in blocks(paths, result.read, column=column, limit=limit_bytes):
        for line in _lines(block, result.read, spaced):
            paragraph += 1
            if finder.search(line) is not None:
                for use, occurrence in _in_line(line, finder, result, paragraph):
                    use.add(occurrence)
        if progress is not None:
            progress(position, total if limit_bytes is None else min(limit_bytes, total))
    return result


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
    """Return the words that touch the keyword.

    They are the rest of its own token (女|司机), else the token next to it.
    """
    left = right = NOTHING
    for token in tagged(place.sentence):
        if token.end <= place.start:
            left = token.word
        elif token.start < place.start:
            left = token.word[: place.start - token.start]
        if token.end > place.end and right == NOTHING:
            right = token.word[max(0, place.end - token.start) :]
    return Occurrence(SURNAME if is_surname(left) and len(place.keyword) > 1 else left, right, paragraph)


LEAST = 20  # occurrences of each word below which nothing is said
CHANCE = 0.01  # a compound with all its occurrences on one side is called unswapped below this probability
SPLITS = 10  # random halves over which the asymmetry is averaged
NORMAL = 1.959963984540054  # two-sided 95% of the normal distribution
SHOWN = 8  # compounds listed per word and direction
METHOD = 1
Scores = NDArray[np.float64]

PairUse = Literal["symmetric", "asymmetric", "doubtful", "rare", "absent"]
PAIR_USES: dict[PairUse, str] = {
    "symmetric": N_("The two words are used in similar ways: their neighbours hardly predict which of them occurs."),
    "asymmetric": N_(
        "The two words are used differently: their neighbours predict which of them occurs, so a"
        " model's preference reflects usage more than gender. Consider excluding the pair."
    ),
    "doubtful": N_("The two words differ somewhat in usage. Check the compounds before you keep the pair."),
    "rare": N_("One of the words is too rare in this text to assess."),
    "absent": N_("One of the words does not occur in this text."),
}
# asymmetric: the whole interval of the asymmetry above the first, or of a share of unswapped compounds above the
# second; symmetric: all of them below the third and fourth.
CLEARLY_TOLD, OFTEN_UNSWAPPED, HARDLY_TOLD, RARELY_UNSWAPPED = 0.75, 0.25, 0.7, 0.15

TOO_RARE = Note(N_("Each word must occur {least} times or more."), {"least": LEAST})
NO_WORD = Note(N_("The word does not occur."))


@dataclass(frozen=True, slots=True)
class Compound:
    """A word with its neighbour: how often it occurs, and how often with the other word of the pair."""

    text: str
    count: int
    swapped: str
    swapped_count: int


@dataclass(frozen=True, slots=True)
class WordReport:
    """One side. `unswapped`: a share, 0 to 1, Wilson interval; `per_million`: occurrences in so many characters."""

    word: str
    count: int
    inside: int
    surnames: int
    left: tuple[Compound, ...]
    right: tuple[Compound, ...]
    unswapped: Estimate
    per_million: float | None
    per_million_reason: str | None
    json_names: ClassVar = {
        "inside": "inside_other_words", "surnames": "after_a_surname", "left": "before", "right": "after",
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class PairReport:
    """A pair. `share`: occurrences of the male word among both, Wilson; `asymmetry`: 0 to 1, 0.5 = used alike."""

    pair: KeywordPair
    male: WordReport
    female: WordReport
    share: Estimate
    asymmetry: Estimate
    verdict: PairUse
    json_names: ClassVar = {"pair": None, "name": "pair", "share": "share_male"}
    also_in_json: ClassVar = ("name", "why")

    @property
    def name(self) -> str:
        """The two words of the pair."""
        return self.pair.name

    @property
    def why(self) -> str:
        """The verdict in words."""
        return PAIR_USES[self.verdict]


@dataclass(frozen=True, slots=True)
class PairsCheck:
    """All pairs in the order they were given, and what was read."""

    pairs: tuple[PairReport, ...]
    read: Read
    signature: str


def check_pairs(paths: Iterable[Path | str], pairs: Iterable[KeywordPair], **options: Any) -> PairsCheck:
    """Compare how the words of each pair are used in the text of *paths*; options as `neighbours` has them."""
    pairs = tuple(pairs)
    result = neighbours(paths, pairs, **options)
    signature = f"pairs-check|least:{LEAST}|splits:{SPLITS}|chance:{CHANCE:g}|seed:{options.get('seed', 0)}|v{METHOD}"
    return PairsCheck(tuple(pair_report(pair, result) for pair in pairs), result.read, signature)


def pair_report(pair: KeywordPair, found: Neighbours) -> PairReport:
    """Return the check of one pair from the counted neighbours."""
    male, female = found.uses[pair.name, "male"], found.uses[pair.name, "female"]
    between = "" if pair.language in WITHOUT_SPACES else " "
    characters = found.read.characters
    sides = _word_report(male, female, between, characters), _word_report(female, male, between, characters)
    share = wilson(male.count, male.count + female.count, nothing=NO_WORD)
    asymmetry = told_apart(male.kept, female.kept)
    return PairReport(pair, *sides, share, asymmetry, _verdict(sides, asymmetry))


def _word_report(use: WordUse, other: WordUse, between: str, characters: int) -> WordReport:
    def compounds(own: Counter[str], others: Counter[str], *, before: bool) -> tuple[Compound, ...]:
        listed = [(word, n) for word, n in own.items() if word != NOTHING]
        listed.sort(key=lambda one: (-one[1], one[0]))
        return tuple(
            Compound(
                between.join((word, use.word) if before else (use.word, word)),
                count,
                between.join((word, other.word) if before else (other.word, word)),
                others[word],
            )
            for word, count in listed[:SHOWN]
        )

    left = compounds(use.left, other.left, before=True)
    right = compounds(use.right, other.right, before=False)
    rate = (use.count / characters * 1e6, None) if characters else (None, "No character was read.")
    return WordReport(use.word, use.count, use.inside, use.surnames, left, right, _unswapped(use, other), *rate)


def _unswapped(use: WordUse, other: WordUse) -> Estimate:
    if min(use.count, other.count) < LEAST:
        return Estimate.undefined(TOO_RARE, use.count)
    share = use.count / (use.count + other.count)

    def missing(own: Counter[str], others: Counter[str]) -> set[str]:
        return {word for word, n in own.items() if word and not others[word] and share**n < CHANCE}

    left, right = missing(use.left, other.left), missing(use.right, other.right)
    hits = sum(occurrence.left in left or occurrence.right in right for occurrence in use.kept)
    return wilson(hits, len(use.kept), nothing=NO_WORD)


def told_apart(male: list[Occurrence], female: list[Occurrence], *, seed: int = 0) -> Estimate:
    """Return how well neighbours tell the words apart, as the area under the ROC curve.

    The 95% interval follows DeLong et al. (1988).

    The paragraphs are cut in random halves SPLITS times; each half is judged by
    what the other taught, ties count one half, and areas and variances are
    averaged (the splits share their data, so more of them narrow nothing).
    Undefined where a word has fewer than LEAST occurrences or occurs in fewer than two paragraphs.
    """
    sides = (male, female)
    paragraphs = [sorted({occurrence.paragraph for occurrence in side}) for side in sides]
    if min(len(male), len(female)) < LEAST or min(map(len, paragraphs)) < 2:
        return Estimate.undefined(TOO_RARE, min(len(male), len(female)))
    chance = random.Random(seed)  # noqa: S311
    areas: list[float] = []
    variances: list[float] = []
    while len(areas) < SPLITS:
        first = {number for side in paragraphs for number in side if chance.getrandbits(1)}
        halves = [
            [[occurrence for occurrence in side if (occurrence.paragraph in first) == part] for part in (True, False)]
            for side in sides
        ]
        if all(half for side in halves for half in side):
            area, variance = _both_ways(halves)
            areas.append(area)
            variances.append(variance)
    value, error = sum(areas) / SPLITS, NORMAL * math.sqrt(sum(variances) / SPLITS)
    return Estimate(value, max(0.0, value - error), min(1.0, value + error), len(male) + len(female))


def _both_ways(halves: list[list[list[Occurrence]]]) -> tuple[float, float]:
    """Area and variance when each half is judged by the other; `halves[side][part]`."""
    total = sum(len(halves[0][part]) * len(halves[1][part]) for part in (0, 1))
    area = variance = 0.0
    for part in (0, 1):
        taught = halves[0][1 - part], halves[1][1 - part]
        before = _log_ratios(
            [occurrence.left for occurrence in taught[0]], [occurrence.left for occurrence in taught[1]]
        )
        after = _log_ratios(
            [occurrence.right for occurrence in taught[0]], [occurrence.right for occurrence in taught[1]]
        )
        scores = [
            np.array(
                [
                    before.get(occurrence.left, 0.0) + after.get(occurrence.right, 0.0)
                    for occurrence in halves[side][part]
                ]
            )
            for side in (0, 1)
        ]
        weight = len(scores[0]) * len(scores[1]) / total
        found, spread = _area(scores[0], scores[1])
        area += weight * found
        variance += weight**2 * spread
    return area, variance


def _log_ratios(male: list[str], female: list[str]) -> dict[str, float]:
    """ln p(word | male) - ln p(word | female), half a count added to each."""
    first, second = Counter(male), Counter(female)
    kinds = len(first.keys() | second.keys())
    base = math.log((len(female) + kinds / 2) / (len(male) + kinds / 2))
    return {word: math.log((first[word] + 0.5) / (second[word] + 0.5)) + base for word in first.keys() | second.keys()}


def _area(male: Scores, female: Scores) -> tuple[float, float]:
    """Return the area under the ROC curve and its variance (DeLong: the spread of the placements of each side)."""
    low, high = np.sort(female), np.sort(male)
    above = (np.searchsorted(low, male, "left") + np.searchsorted(low, male, "right")) / 2 / len(female)
    below = 1 - (np.searchsorted(high, female, "left") + np.searchsorted(high, female, "right")) / 2 / len(male)
    spread = sum(float(np.var(part, ddof=1)) / len(part) for part in (above, below) if len(part) > 1)
    return float(above.mean()), spread


def _verdict(sides: tuple[WordReport, WordReport], asymmetry: Estimate) -> PairUse:
    if min(side.count for side in sides) == 0:
        return "absent"
    shares = [side.unswapped for side in sides]
    if asymmetry.value is None or any(share.value is None for share in shares):
        return "rare"
    assert asymmetry.low is not None and asymmetry.high is not None
    if asymmetry.low > CLEARLY_TOLD or any((share.low or 0) > OFTEN_UNSWAPPED for share in shares):
        return "asymmetric"
    if asymmetry.high < HARDLY_TOLD and all((share.high or 0) < RARELY_UNSWAPPED for share in shares):
        return "symmetric"
    return "doubtful"
