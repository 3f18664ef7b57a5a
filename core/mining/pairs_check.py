"""Are the two words of a pair used alike? The papers' own reason for leaving out 男士/女士 (王女士, not 王男士).

Three things are measured per pair, on any corpus:
- how often each word occurs, and their ratio;
- **asymmetry**: how well the words before and after tell which of the two stands
  there, as the area under the ROC curve (0.5 = not at all, 1 = always). A naive
  Bayes classifier learns on a random half of the paragraphs and is tested on the
  other, both ways, SPLITS times; so chance gives about 0.5. Interval: DeLong;
- **unswapped**: the share of a word's occurrences in compounds that never occur
  with the other word, where that is no chance: if both words took the compound at
  the same rate, all its occurrences would fall on this side less often than CHANCE.
"""

import math
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.mining.pair_neighbours import NOTHING, Neighbours, Occurrence, WordUse, neighbours
from evenhand.core.mining.report import Read
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.statistics import Estimate, Note, wilson
from evenhand.core.types import KeywordPair

LEAST = 20  # occurrences of each word below which nothing is said
CHANCE = 0.01  # a compound with all its occurrences on one side is called unswapped below this probability
SPLITS = 10  # random halves over which the asymmetry is averaged
NORMAL = 1.959963984540054  # two-sided 95% of the normal distribution
SHOWN = 8  # compounds listed per word and direction
METHOD = 1
Scores = NDArray[np.float64]

Verdict = Literal["symmetric", "asymmetric", "doubtful", "rare", "absent"]
VERDICTS: dict[Verdict, str] = {
    "symmetric": N_("The two words are used in similar ways: their neighbours hardly predict which of them it is."),
    "asymmetric": N_(
        "The two words are used differently: their neighbours predict which of them it is, so a model's"
        " preference says more about usage than about gender. Consider excluding the pair."
    ),
    "doubtful": N_("The two words differ somewhat in usage. Check the compounds before you keep the pair."),
    "rare": N_("One of the words is too rare in this text to judge."),
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
    """One side. `unswapped`: a share, 0 to 1, Wilson interval."""

    word: str
    count: int
    inside: int
    surnames: int
    left: tuple[Compound, ...]
    right: tuple[Compound, ...]
    unswapped: Estimate


@dataclass(frozen=True, slots=True)
class PairReport:
    """A pair. `share`: occurrences of the male word among both, Wilson; `asymmetry`: 0 to 1, 0.5 = used alike."""

    pair: KeywordPair
    male: WordReport
    female: WordReport
    share: Estimate
    asymmetry: Estimate
    verdict: Verdict

    @property
    def why(self) -> str:
        """The verdict in words."""
        return VERDICTS[self.verdict]


@dataclass(frozen=True, slots=True)
class PairsCheck:
    """All pairs in the order they were given, and what was read."""

    pairs: tuple[PairReport, ...]
    read: Read
    signature: str


def check_pairs(paths: Iterable[Path | str], pairs: Iterable[KeywordPair], **options: Any) -> PairsCheck:
    """Compare how the words of each pair are used in the text of *paths*; options as `neighbours` has them."""
    pairs = tuple(pairs)
    found = neighbours(paths, pairs, **options)
    signature = f"pairs-check|least:{LEAST}|splits:{SPLITS}|chance:{CHANCE:g}|seed:{options.get('seed', 0)}|v{METHOD}"
    return PairsCheck(tuple(pair_report(pair, found) for pair in pairs), found.read, signature)


def pair_report(pair: KeywordPair, found: Neighbours) -> PairReport:
    """The check of one pair from the counted neighbours."""
    male, female = found.uses[pair.name, "male"], found.uses[pair.name, "female"]
    between = "" if pair.language in WITHOUT_SPACES else " "
    sides = _word_report(male, female, between), _word_report(female, male, between)
    share = wilson(male.count, male.count + female.count, nothing=NO_WORD)
    asymmetry = told_apart(male.kept, female.kept)
    return PairReport(pair, *sides, share, asymmetry, _verdict(sides, asymmetry))


def _word_report(use: WordUse, other: WordUse, between: str) -> WordReport:
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
    return WordReport(use.word, use.count, use.inside, use.surnames, left, right, _unswapped(use, other))


def _unswapped(use: WordUse, other: WordUse) -> Estimate:
    if min(use.count, other.count) < LEAST:
        return Estimate.undefined(TOO_RARE, use.count)
    share = use.count / (use.count + other.count)

    def missing(own: Counter[str], others: Counter[str]) -> set[str]:
        return {word for word, n in own.items() if word and not others[word] and share**n < CHANCE}

    left, right = missing(use.left, other.left), missing(use.right, other.right)
    hits = sum(one.left in left or one.right in right for one in use.kept)
    return wilson(hits, len(use.kept), nothing=NO_WORD)


def told_apart(male: list[Occurrence], female: list[Occurrence], *, seed: int = 0) -> Estimate:
    """How well neighbours tell the words apart: area under the ROC curve, 95% interval after DeLong et al. (1988).

    The paragraphs are cut in random halves SPLITS times; each half is judged by
    what the other taught, ties count one half, and areas and variances are
    averaged (the splits share their data, so more of them narrow nothing).
    Undefined where a word has fewer than LEAST occurrences or stands in fewer than two paragraphs.
    """
    sides = (male, female)
    paragraphs = [sorted({one.paragraph for one in side}) for side in sides]
    if min(len(male), len(female)) < LEAST or min(map(len, paragraphs)) < 2:
        return Estimate.undefined(TOO_RARE, min(len(male), len(female)))
    chance = random.Random(seed)  # noqa: S311
    areas: list[float] = []
    variances: list[float] = []
    while len(areas) < SPLITS:
        first = {number for side in paragraphs for number in side if chance.getrandbits(1)}
        halves = [
            [[one for one in side if (one.paragraph in first) == part] for part in (True, False)] for side in sides
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
        before = _log_ratios([one.left for one in taught[0]], [one.left for one in taught[1]])
        after = _log_ratios([one.right for one in taught[0]], [one.right for one in taught[1]])
        scores = [
            np.array([before.get(one.left, 0.0) + after.get(one.right, 0.0) for one in halves[side][part]])
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
    """The area under the ROC curve and its variance (DeLong: the spread of the placements of each side)."""
    low, high = np.sort(female), np.sort(male)
    above = (np.searchsorted(low, male, "left") + np.searchsorted(low, male, "right")) / 2 / len(female)
    below = 1 - (np.searchsorted(high, female, "left") + np.searchsorted(high, female, "right")) / 2 / len(male)
    spread = sum(float(np.var(part, ddof=1)) / len(part) for part in (above, below) if len(part) > 1)
    return float(above.mean()), spread


def _verdict(sides: tuple[WordReport, WordReport], asymmetry: Estimate) -> Verdict:
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
