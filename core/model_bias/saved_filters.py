"""Filters of sentences that were given a name: the papers' case study, and what people save beside their runs."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.whole_file import whole_file
from evenhand.core.model_bias import matching

FILE = ".filters.json"  # beside the runs; no run's name begins with a dot
LONGEST = 60  # characters of a name
MOST = 200


@dataclass(frozen=True, slots=True)
class SavedFilter:
    """Which sentences: each part that is not empty narrows it further, as `core.model_bias.matching` does."""

    name: str
    pair: str = ""
    word: str = ""
    contains: str = ""
    followed_by: str = ""

    @property
    def empty(self) -> bool:
        """Whether it keeps every sentence."""
        return not (self.pair or self.word or self.contains or self.followed_by)

    def keep(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows that it keeps."""
        return matching(
            rows,
            pair=self.pair or None,
            word=self.word or None,
            contains=self.contains or None,
            followed_by=self.followed_by or None,
        )


# The case study of the papers (SPEC 1.11): sentences on boys and girls, the keyword 男 or 女 followed by 童.
CASE_STUDY = SavedFilter("男童/女童", pair="男/女", followed_by="童")
BUILT_IN = (CASE_STUDY,)


def saved_filters(folder: Path) -> list[SavedFilter]:
    """The built-in filters, then those saved in *folder*, in the order of saving. Raises BadFile for a broken file."""
    return [*BUILT_IN, *_file_of(folder)]


def _file_of(folder: Path) -> list[SavedFilter]:
    path = folder / FILE
    if not path.is_file():
        return []
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [SavedFilter(**{key: str(value) for key, value in row.items()}) for row in rows]
    except (OSError, ValueError, TypeError, AttributeError) as error:
        message = N_("The saved filters in {file} cannot be read. Move the file away to start afresh.")
        raise BadFile(message, file=str(path)) from error


def save_filter(folder: Path, new: SavedFilter) -> None:
    """Keep a filter under its name; one of that name that was saved before is replaced.

    Raises Refused for an empty filter, a name that is none, or the name of a built-in one.
    """
    name = new.name.strip()
    if not name or len(name) > LONGEST or not name.isprintable():
        raise Refused(N_("Give the filter a name of at most 60 characters on one line."))
    if new.empty:
        raise Refused(N_("This filter keeps every sentence; choose a pair, a word or a text first."))
    if name in {one.name for one in BUILT_IN}:
        raise Refused(N_("{name} is the name of a built-in filter; choose another name."), name=name)
    others = [one for one in _file_of(folder) if one.name != name]
    if len(others) >= MOST:
        raise Refused(N_("There are already {most} saved filters; remove one first."), most=MOST)
    _write(folder, [*others, SavedFilter(name, new.pair, new.word, new.contains, new.followed_by)])


def remove_filter(folder: Path, name: str) -> None:
    """Forget a saved filter; built-in ones stay."""
    _write(folder, [one for one in _file_of(folder) if one.name != name])


def _write(folder: Path, filters: list[SavedFilter]) -> None:
    with whole_file(folder / FILE) as write:
        write(json.dumps([asdict(one) for one in filters], ensure_ascii=False, indent=1) + "\n")
