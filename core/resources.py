"""Read the files that ship with the app: tables of `core/data` and the folders of built-in models."""

from functools import cache
from pathlib import Path
from typing import Literal

import evenhand
from evenhand.core.errors import N_, BadFile, NotFound
from evenhand.core.types import KeywordPair, Span

# The folder that holds the layers: the checkout, or the installed package.
ROOT = Path(__file__).resolve().parent.parent
# The folder from which a process that is started can import the package.
IMPORT_FOLDER = Path(evenhand.__file__).resolve().parent.parent
DATA = ROOT / "core" / "data"
MODELS = DATA / "models"

Preset = Literal["table1", "released"]


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a TSV with a header line; lines that begin with '#' are comments.

    Raises BadFile where a row has more or fewer cells than the header.
    """
    with path.open(encoding="utf-8", newline="") as lines:
        numbered = [
            (n, line.rstrip("\r\n")) for n, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")
        ]
    rows = [(n, line.split("\t")) for n, line in numbered]
    header = rows[0][1] if rows else []
    for line, row in rows[1:]:
        if len(row) != len(header):
            message = N_("{file}, line {line}: {found} columns where the header has {expected}")
            raise BadFile(message, file=path.name, line=line, found=len(row), expected=len(header))
    return [dict(zip(header, row, strict=True)) for _, row in rows[1:]]


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """Return a packaged table by its name without ending: `table("pairs")`. Raises NotFound."""
    path = DATA / f"{name}.tsv"
    if not path.is_file():
        raise NotFound(N_("There is no packaged table named {name}."), name=name)
    return tuple(read_table(path))


def _span(text: str) -> Span:
    start, end = text.split(":")
    return int(start), int(end)


def keyword_pair(row: dict[str, str]) -> KeywordPair:
    """Return a keyword pair from a row of a pair table."""
    return KeywordPair(row["male"], row["female"], _span(row["male_stem"]), _span(row["female_stem"]), row["language"])


@cache
def keyword_pairs(preset: Preset = "released") -> tuple[KeywordPair, ...]:
    """Return the 16 pairs of Table 1 or the 19 of the released file (docs/methods.md#keyword-pairs)."""
    return tuple(keyword_pair(row) for row in table("pairs") if preset == "released" or row["table1_quota"])


@cache
def _stems() -> dict[str, str]:
    return {pair.name: "/".join(pair.stems) for pair in keyword_pairs()}


def stem_of(pair: str) -> str:
    """Return the stem of a keyword pair by its name: 男/女 for 男孩/女孩; a pair of no table is its own stem."""
    return _stems().get(pair, pair)


@cache
def quotas(preset: Preset = "table1") -> dict[tuple[str, str], int]:
    """Return the wanted number of sentences per (pair name, side).

    "table1" halves the published quota of a pair (1:1 by original keyword; the
    rows sum to 19,000 although 20,000 is printed); "released" counts the file.
    """
    wanted: dict[tuple[str, str], int] = {}
    for row in table("pairs"):
        name = f"{row['male']}/{row['female']}"
        if preset == "released":
            wanted[name, "male"], wanted[name, "female"] = int(row["released_male"]), int(row["released_female"])
        elif row["table1_quota"]:
            wanted[name, "male"] = wanted[name, "female"] = int(row["table1_quota"]) // 2
    return wanted
