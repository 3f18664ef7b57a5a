"""WEAT, the word embedding association test (Caliskan et al. 2017), exactly: docs/other_measures.md#seat-and-weat.

s(w) = mean over A of cos(w, a) - mean over B of cos(w, b). The effect is (mean over X of s - mean over Y of s)
divided by the standard deviation of s over X and Y with ddof 1. p is the share of all partitions of X and Y into sets
of these sizes whose statistic, the sum over the first, reaches the observed one: P(s >= s_obs) as exact tests have it,
and P(s > s_obs) as Caliskan et al. write it. Both are exact up to 20,000 partitions, else from 20,000 distinct other
ones drawn without replacement: (k + 1) / (n + 1) and k / (n + 1). A vector of length 0 has no cosine, so neither the
effect nor p is defined.
"""

import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.resources import table
from evenhand.core.statistics import Note

MOST = 20_000  # partitions
SAME = 1e-9  # statistics that differ by less are equal
LEAST = 2  # words of a set
NAMED = 10  # words that a reason names
MOST_WIDTH = 100_000  # numbers of a vector

UNREADABLE = N_("{file} cannot be read: {why}.")
NO_SETS = N_("{file} contains no word sets: it must be a JSON object of names and lists of words.")
NO_SET = N_("There is no word set {name}. Available sets: {known}.")
NOT_FOUR = N_("A test is four sets, X,Y,A,B, separated by commas, not {test}.")
NO_VECTORS = N_("{file} is not a text file of word vectors: each line needs a word and its numbers.")
ODD_LINE = N_("{file}, line {line}: {found} numbers where the first vector has {expected}.")
ZERO = N_("The cosine is undefined for zero or infinite vectors: {words}.")
ALL_ALIKE = Note(N_("All words of X and Y have the same association, so the effect is 0 divided by 0."))
FEW_WORDS = N_("Words of the set {name} with a vector: {found}; at least {least} are needed.")

# The tests of Caliskan et al. 2017 on gender, and the others that have no names of ethnic groups.
TESTS = {
    "career": "male_names,female_names,career,family",
    "math": "math,arts,male_terms,female_terms",
    "science": "science,arts_2,male_terms_2,female_terms_2",
    "flowers": "flowers,insects,pleasant_5,unpleasant_5a",
    "instruments": "instruments,weapons,pleasant_5,unpleasant_5b",
    "disease": "mental_disease,physical_disease,temporary,permanent",
    "age": "young_people_names,old_people_names,pleasant_9,unpleasant_9",
}
FRAMES = {
    "en": ("this is {word}.", "that is {word}.", "there is {word}.", "here is {word}.", "{word} is here.",
           "{word} is there."),
    "zh": ("这是{word}。", "那是{word}。", "这里有{word}。", "那里有{word}。", "{word}在这里。", "{word}在那里。"),
}  # fmt: skip

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WeatTest:
    """One test: `effect` (a difference of standard deviations), p, whether that is exact, over how many partitions.

    `p`: P(s >= s_obs); `p_greater`: P(s > s_obs). `effect_reason`, `p_reason`: why they are undefined. `missing`: words
    of each set that have no vector; they are left out. `band`: 95 of 100 effects of the partitions.
    """

    test: str
    effect: float | None
    p: float | None
    p_greater: float | None
    exact: bool
    partitions: int
    sizes: tuple[int, int, int, int]
    missing: dict[str, tuple[str, ...]]
    band: tuple[float, float] | None
    effect_reason: Note | None = None
    p_reason: Note | None = None
    also_in_json: ClassVar = ("p_at_least",)

    @property
    def p_at_least(self) -> float | None:
        """The value of `p` under a name that tells its direction."""
        return self.p


def read_sets(path: Path) -> dict[str, tuple[str, ...]]:
    """Read named word sets from a JSON file. Raises BadFile."""
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadFile(UNREADABLE, file=path.name, why=error.strerror or str(error)) from error
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):  # as the files of SEAT have them: targ1 and so on, each with examples
        data = {name: entry.get("examples") if isinstance(entry, dict) else entry for name, entry in data.items()}
    if not isinstance(data, dict) or not all(isinstance(words, list) for words in data.values()) or not data:
        raise BadFile(NO_SETS, file=path.name)
    return {str(name): tuple(dict.fromkeys(map(str, words))) for name, words in data.items()}


def built_in_sets() -> dict[str, tuple[str, ...]]:
    """Return the sets of Caliskan et al. 2017, as dccuchile/wefe has them (MIT licence)."""
    return {row["set"]: tuple(row["words"].split(" ")) for row in table("weat_words")}


def sentences_of(word: str, language: str) -> tuple[str, ...]:
    """Return the sentences for a word in SEAT, our own bleached ones; a text that ends as a sentence is used itself."""
    if word.rstrip().endswith((".", "!", "?", "。", "！", "？")):
        return (word,)
    frames = FRAMES["zh" if language == "zh" else "en"]
    return tuple((text := frame.format(word=word))[0].upper() + text[1:] for frame in frames)


def read_vectors(path: Path, words: Iterable[str]) -> dict[str, Vector]:
    """Read the vectors of *words* from a word2vec text file, with or without its first line of two numbers.

    A word that the file has only in lower case gets that one; the first line of a word counts. The file is read line by
    line. Raises BadFile.
    """
    wanted = set(words)
    lower = {word.lower() for word in wanted}
    values: dict[str, Vector] = {}
    width = 0
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                word, _, rest = line.rstrip("\n").partition(" ")
                parts = rest.split()
                if number == 1 and len(parts) == 1 and word.isdigit() and parts[0].isdigit():
                    continue
                width = width or len(parts)
                if len(parts) != width or not 1 < width <= MOST_WIDTH:
                    raise BadFile(ODD_LINE if width > 1 else NO_VECTORS, file=path.name, line=number, found=len(parts),
                                  expected=width)  # fmt: skip
                if (word in wanted or word in lower) and word not in values:
                    values[word] = np.array(parts, dtype=float)
    except OSError as error:
        raise BadFile(UNREADABLE, file=path.name, why=error.strerror or str(error)) from error
    except ValueError:
        raise BadFile(NO_VECTORS, file=path.name) from None
    if not width:
        raise BadFile(NO_VECTORS, file=path.name)
    given = {word: values.get(word, values.get(word.lower())) for word in wanted}
    return {word: vector for word, vector in given.items() if vector is not None}


def names_of(test: str, sets: Mapping[str, Sequence[str]]) -> tuple[str, str, str, str]:
    """Return the four set names of X,Y,A,B. Raises Refused for another number, or a name that is not in *sets*."""
    names = tuple(part.strip() for part in test.split(","))
    if len(names) != 4:
        raise Refused(NOT_FOUR, test=test)
    for name in names:
        if name not in sets:
            raise Refused(NO_SET, name=name, known=", ".join(sets))
    return names[0], names[1], names[2], names[3]


def weat(
    test: str, sets: Mapping[str, Sequence[str]], vectors: Mapping[str, Vector], seed: int = 0,
    texts: Mapping[str, Sequence[str]] | None = None, by_word: bool = False,
) -> WeatTest:  # fmt: skip
    """Run one test, X,Y,A,B by the names of *sets*. Raises Refused for a set with fewer than two known words.

    *texts*: for SEAT, the sentences that stand for each word; *vectors* are then theirs. *by_word*: the unit of the
    test is the word, whose s is the mean over its sentences, not each sentence.
    """
    names = names_of(test, sets)
    of = {word: (texts[word] if texts else (word,)) for name in names for word in sets[name]}
    known = [[(word, text) for word in sets[name] for text in of[word] if text in vectors] for name in names]
    for name, some in zip(names, known, strict=True):
        if len({word for word, _ in some}) < LEAST:
            raise Refused(FEW_WORDS, name=name, found=len({word for word, _ in some}), least=LEAST)
    have = {one for some in known for one, _ in some}
    lacking = {name: tuple(word for word in sets[name] if word not in have) for name in names}
    missing = {name: words for name, words in lacking.items() if words}
    undirected = list(dict.fromkeys(one for some in known for _, one in some if not _has_direction(vectors[one])))
    if undirected:
        reason = Note(ZERO, {"words": ", ".join(undirected[:NAMED])})
        sizes = _sizes(known, by_word=by_word)
        return WeatTest(test, None, None, None, False, 0, sizes, missing, None, reason, reason)
    unit = [np.stack([vectors[one] / np.linalg.norm(vectors[one]) for _, one in some]) for some in known]
    x, y = (part @ unit[2].mean(0) - part @ unit[3].mean(0) for part in unit[:2])
    if by_word:
        x, y = (_means(part, [word for word, _ in some]) for part, some in zip((x, y), known, strict=False))
    both = np.concatenate([x, y])
    alike = np.ptp(both) < SAME
    effect = None if alike else float((x.mean() - y.mean()) / both.std(ddof=1))
    value = p_value(both, len(x), seed)
    return WeatTest(
        test, effect, value.at_least, value.greater, value.exact, value.partitions, _sizes(known, by_word=by_word),
        missing, None if alike else value.band, ALL_ALIKE if alike else None,
    )  # fmt: skip


def _has_direction(vector: Vector) -> bool:
    length = float(np.linalg.norm(vector))
    return math.isfinite(length) and length > 0


def _sizes(known: Sequence[Sequence[tuple[str, str]]], *, by_word: bool) -> tuple[int, int, int, int]:
    """Return how many units X, Y, A and B have; *by_word*: those of X and Y are words, not their sentences."""
    x, y, a, b = (len(some) for some in known)
    if by_word:
        x, y = (len({word for word, _ in some}) for some in known[:2])
    return x, y, a, b


def _means(values: Vector, words: Sequence[str]) -> Vector:
    result = [values[[i for i, text in enumerate(words) if text == word]].mean() for word in dict.fromkeys(words)]
    return np.array(result)


class PValue(NamedTuple):
    """P(s >= s_obs); whether exact; over how many partitions; the band of 95 of 100 effects; P(s > s_obs)."""

    at_least: float
    exact: bool
    partitions: int
    band: tuple[float, float]
    greater: float


def p_value(associations: Vector, first: int, seed: int = 0) -> PValue:
    """Return p of the partition whose first part are the first *first* associations.

    The statistic, sum over X - sum over Y, grows with the sum over X alone, since both add up to the same.
    """
    observed = float(associations[:first].sum())
    total = math.comb(len(associations), first)
    if total <= MOST:
        sums = np.array([associations[list(part)].sum() for part in combinations(range(len(associations)), first)])
        at_least, greater = (float(np.mean(sums >= observed + by)) for by in (-SAME, SAME))
        return PValue(at_least, True, total, _band(sums, associations, first), greater)
    draw = random.Random(seed)  # noqa: S311  a test by chance, no secret
    own, drawn = tuple(range(first)), set[tuple[int, ...]]()
    while len(drawn) < MOST:
        part = tuple(sorted(draw.sample(range(len(associations)), first)))
        if part != own:
            drawn.add(part)
    sums = associations[np.array(sorted(drawn))].sum(axis=1)
    reached, passed = (int((sums >= observed + by).sum()) for by in (-SAME, SAME))
    return PValue((reached + 1) / (MOST + 1), False, MOST, _band(sums, associations, first), passed / (MOST + 1))


def _band(sums: Vector, associations: Vector, first: int) -> tuple[float, float]:
    """Return the effects between which 95 of 100 partitions lie, by the sums over their first parts."""
    others, spread = len(associations) - first, associations.std(ddof=1)
    effects = (sums / first - (associations.sum() - sums) / others) / spread if spread > 0 else np.zeros(len(sums))
    low, high = np.percentile(effects, [2.5, 97.5])
    return float(low), float(high)


def without_direction(names: Sequence[str], sets: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return a control of a test: X and Y unchanged, A and B mixed so that both sides have equally many of each.

    What the attributes differ in cancels; the effect should lie in the band of chance.
    """
    x, y, a, b = names
    mixed = [*sets[a][::2], *sets[b][::2]], [*sets[a][1::2], *sets[b][1::2]]
    return {x: tuple(sets[x]), y: tuple(sets[y]), a: tuple(mixed[0]), b: tuple(mixed[1])}
