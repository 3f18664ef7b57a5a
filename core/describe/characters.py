"""Characters and lengths of texts. A character is a Unicode code point; nothing is normalised before counting."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

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
    json_names: ClassVar = {"counts": None, "listed": "commonest"}
    also_in_json: ClassVar = ("total", "distinct", "listed")

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The commonest characters, as JSON has them."""
        return counted(dict(self.commonest()))

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


def counted(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return characters with their counts, as JSON has them."""
    return [{"character": character, "count": count} for character, count in counts.items()]


def characters(texts: Iterable[str]) -> Characters:
    """Count the characters of *texts*."""
    found = Counter("".join(texts))
    return Characters(dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))))


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of texts in one unit; `by[n]`: how many texts have length n. Undefined (None) where there is no text."""

    texts: int
    least: int | None
    median: float | None
    mean: float | None
    most: int | None
    by: dict[int, int]
    json_names: ClassVar = {"texts": None, "least": "min", "most": "max", "by": "counts"}
    also_in_json: ClassVar = ("reason",)
    explained_by: ClassVar = "reason"

    @property
    def reason(self) -> Note:
        """Why a length is undefined."""
        return NO_TEXT


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
    found = Counter(text[-1] for text in texts if text)
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))
