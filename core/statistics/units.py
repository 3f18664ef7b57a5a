"""The units that rows have in common and that are drawn for an interval (docs/methods.md#intervals)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # a third of a second to import; a share on a page needs none of it
    import pandas as pd

UnitKind = Literal["sentence", "source", "stem"]
UnitChoice = Literal["auto", "sentence", "source"]
Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]

KINDS = ("template", "name")
FEWEST_FILES = 15  # as many units as an interval needs not to be marked (docs/methods.md#intervals)
# Mined or imported files; a number at the end separates places with one short name (core/files/display_paths.py).
FILE = re.compile(r"\.(?:txt|md|html?|jsonl?|csv|tsv|xlsx|zip)(?:\.gz)?(?: \(\d+\))?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Units:
    """Units of one kind: `codes[i]` is the unit of row i, 0 to `count` - 1."""

    kind: UnitKind
    codes: Codes
    count: int

    def sums(self, *columns: Numbers) -> Numbers:
        """Return for each unit the sum of each column over its rows, units x columns."""
        return np.stack([np.bincount(self.codes, weights=column, minlength=self.count) for column in columns], axis=1)


def units_of(rows: "pd.DataFrame", unit: UnitChoice = "auto") -> Units:
    """Return the units of *rows*.

    "sentence": each distinct text (rows without text count each). "source": each article; a row that names none is
    a unit of its own. "auto": source where the rows name at least two, some article has several rows, and they are not
    just a few files (`units_of_sources`).
    """
    kind = units_of_sources(rows["source"].tolist()) if unit == "auto" else unit
    return Units(kind, *codes_of(rows["source" if kind == "source" else "sentence"]))


def units_of_sources(sources: Sequence[str]) -> UnitKind:
    """Return the usual units of rows with articles *sources* ("" where a row names none); see `units_of`.

    A text file that names no articles may be one article or hold many: few of them are taken for collections, whose
    articles are not known, as one file is; from FEWEST_FILES on each counts as an article.
    """
    named = [source for source in sources if source]
    distinct = set(named)
    if few_files(distinct):
        return "sentence"
    return "source" if 2 <= len(distinct) < len(named) else "sentence"


def few_files(sources: Iterable[str]) -> int:
    """Return the number of files if *sources* are only files, too few to count as articles; else 0."""
    files = {source for source in sources if source}
    return len(files) if len(files) < FEWEST_FILES and all(map(FILE.search, files)) else 0


@dataclass(frozen=True)
class Clusters:
    """Units of one kind or of two that are crossed: per kind the unit of every row, 0 to the number of units - 1."""

    kinds: tuple[str, ...]
    codes: tuple[Codes, ...]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The number of units of each kind."""
        return tuple(int(codes.max()) + 1 if len(codes) else 0 for codes in self.codes)

    @property
    def units(self) -> int:
        """The number of units of the scarcer kind: what decides whether they are few."""
        return min(self.counts)

    @property
    def cells(self) -> Codes:
        """The cell of every row: rows that share their units of both kinds have one."""
        first, second = self.codes
        cells: Codes = np.unique(first * (int(second.max()) + 1) + second, return_inverse=True)[1].astype(np.int64)
        return cells

    @property
    def unit(self) -> str:
        """The kinds of units that are drawn, for a signature: `template+name`."""
        return "+".join(self.kinds)

    def of(self, rows: NDArray[np.bool_]) -> "Clusters":
        """Return the units of some rows only, numbered from 0 again."""
        return Clusters(self.kinds, tuple(np.unique(codes[rows], return_inverse=True)[1] for codes in self.codes))


def clusters_of(rows: "pd.DataFrame") -> Clusters:
    """Return the units of *rows*: template and name where these columns have two or more values, else instances.

    A row without a template (or name) is a unit of its own of that kind.
    """
    texts = {kind: rows[kind].fillna("").astype(str) for kind in KINDS if kind in rows}
    named = [kind for kind, column in texts.items() if bool((column != "").any())]
    kinds = [kind for kind in named if texts[kind].nunique() > 1] or named[:1]
    if not kinds:
        return Clusters(("instance",), (np.arange(len(rows), dtype=np.int64),))
    return Clusters(tuple(kinds), tuple(codes_of(texts[kind])[0] for kind in kinds))


def effective_units(sizes: "NDArray[Any]") -> float:
    """Return how many units of equal size would tell as much of their spread as units of *sizes* rows; 0 without rows.

    These are Satterthwaite's degrees of freedom for units whose rows go together: the square of the sum of squares,
    over the sum of fourth powers. Twenty articles of 1 to 12 sentences count as 12.
    """
    squares = np.asarray(sizes, dtype=float) ** 2
    return float(squares.sum() ** 2 / (squares**2).sum()) if squares.any() else 0.0


def codes_of(names: "pd.Series[str] | Sequence[str]") -> tuple[Codes, int]:
    """Return each row's unit as a number from 0, and the number of units; a row without a name is its own unit."""
    import pandas as pd

    texts = pd.Series(names, dtype=object)
    codes, distinct = pd.factorize(texts.where(texts != ""))
    units: Codes = codes.astype(np.int64)
    alone = units < 0
    units[alone] = len(distinct) + np.arange(alone.sum())
    return units, len(distinct) + int(alone.sum())
