"""Characters and lengths of texts. A character is a Unicode code point; nothing is normalised before counting."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenhand.core.errors import N_
from evenhand.core.statistics.estimate import Note

NO_TEXT = Note(N_("There is no text to describe."))
COMMONEST = 10  # characters, as in the papers' Table 2


@dataclass(frozen=True, slots=True)
class Characters:
    """How often each character stands in the texts, the commonest first; equally common ones in the order of Unicode.

    Punctuation, digits and blanks count as characters, as in the papers.
    """

    counts: dict[str, int]

    @property
    def total(self) -> int:
        """Characters of all texts."""
        return sum(self.counts.values())

    @property
    def distinct(self) -> int:
        """Different characters."""
        return len(self.counts)

    def commonest(self, number: int = COMMONEST) -> list[tuple[str, int]]:
        """The *number* commonest characters with their counts."""
        return list(self.counts.items())[:number]


def characters(texts: Iterable[str]) -> Characters:
    """Count the characters of *texts*."""
    counted = Counter("".join(texts))
    return Characters(dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))))


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of texts in one unit; `by[n]`: how many texts have length n. Undefined (None) where there is no text."""

    texts: int
    least: int | None
    median: float | None
    mean: float | None
    most: int | None
    by: dict[int, int]


def lengths(values: Sequence[int]) -> Lengths:
    """Least, median (of an even number: the mean of the middle two), mean and most of *values*."""
    by = dict(sorted(Counter(values).items()))
    if not values:
        return Lengths(0, None, None, None, None, by)
    return Lengths(
        len(values), min(values), float(statistics.median(values)), sum(values) / len(values), max(values), by
    )


def endings(texts: Iterable[str]) -> dict[str, int]:
    """How often each character is the last one of a text, the commonest first."""
    counted = Counter(text[-1] for text in texts if text)
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
